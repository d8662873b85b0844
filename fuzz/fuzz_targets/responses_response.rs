#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| llm_fuzz::run("responses_response", data));
