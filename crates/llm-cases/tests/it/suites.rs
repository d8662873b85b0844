//! The two suites of this crate, against this build.

use std::path::Path;

/// Runs a folder of this crate; gives back whether it was good, and all lines.
pub(crate) fn run(folder: &str, options: &[&str]) -> (bool, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut words = vec!["run".to_owned(), folder.display().to_string()];
    words.extend(options.iter().map(|option| (*option).to_owned()));
    let mut lines = Vec::new();
    let good = llm_cases::run(&words, &mut |line| lines.push(line.to_owned())).unwrap();
    (good, lines)
}

fn must_pass(folder: &str, options: &[&str]) -> Vec<String> {
    let (good, lines) = run(folder, options);
    let wrong: Vec<&String> = lines.iter().filter(|line| !line.starts_with("ok ")).collect();
    assert!(good, "{wrong:#?}");
    lines
}

#[test]
fn shared_suite_passes_as_far_as_it_is_supported() {
    let lines = must_pass("cases", &["--supported"]);
    assert!(lines.len() > 50, "{} lines", lines.len());
}

#[test]
fn answers_and_failures_of_chat_completions_pass_without_leaving_anything_out() {
    must_pass("cases", &["--kind", "sse-framing,delta-tools,delta-content"]);
    must_pass(
        "cases",
        &[
            "--kind",
            "reasoning,errors,usage",
            "--wire",
            "openai-chat-sse,openai-chat-json,http-error",
            "--dialect",
            "openai,azure,groq,deepseek,kimi,mistral",
        ],
    );
}

#[test]
fn answers_of_other_vendors_pass_without_leaving_anything_out() {
    must_pass("cases", &["--kind", "anthropic,ollama"]);
    must_pass("cases", &["--wire", "gemini-sse,gemini-array-stream"]);
    must_pass(
        "cases",
        &["--kind", "usage,errors", "--dialect", "anthropic,gemini,ollama"],
    );
    must_pass(
        "cases",
        &[
            "--wire",
            "request-translation",
            "--dialect",
            "openai,kimi,anthropic,gemini,ollama",
        ],
    );
    must_pass("cases", &["--kind", "gateway-stream"]);
}

#[test]
fn time_limits_and_retries_pass_without_leaving_anything_out() {
    must_pass("cases", &["--kind", "timeouts"]);
    must_pass("cases", &["--kind", "limits"]);
}

#[test]
fn routing_passes_without_leaving_anything_out() {
    must_pass("cases", &["--kind", "routing"]);
}

#[test]
fn own_suite_passes_and_no_should_case_differs() {
    let lines = must_pass("cases-own", &[]);
    let differing: Vec<&String> = lines.iter().filter(|line| line.starts_with("differs ")).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}
