#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| llm_fuzz::run("generate_content_stream", data));
