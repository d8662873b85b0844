//! `cargo xtask demo`: the main job on a real model. A busy vendor, a local model, one answer.

mod busy_vendor;

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::services::model_server::ModelServer;
use crate::steps::seconds;
use crate::workspace;
use busy_vendor::BusyVendor;

pub(crate) const COMMAND: Command = Command {
    name: "demo",
    summary: "Route a real chat: a busy vendor fails over to a local model",
    details: "\
Needs no key and no service: it sets up a real local model server (see `cargo xtask services --help`)
and a stub of a cloud vendor that answers 429, then runs the example `route_demo` of llm-suite. The answer
streams to standard output, the decision follows (who was considered, why, what failed over), and the
last line is JSON: request_id, served_by, fallback_from, status_first, input_tokens, output_tokens, text.
Progress goes to standard error. Everything that was started is stopped.
",
    operands: &[],
    flags: &[Flag {
        name: "--prompt",
        value: Some("TEXT"),
        help: "what to ask",
    }],
    run: |arguments: &Arguments| run(arguments.value("--prompt").unwrap_or(DEFAULT_PROMPT)),
};

/// What is asked when nobody asks anything else.
pub(crate) const DEFAULT_PROMPT: &str = "Explain in two sentences why the sky is blue.";

const EXAMPLE: [&str; 6] = [
    "--package",
    "llm-suite",
    "--example",
    "route_demo",
    "--features",
    "openai,routing",
];

/// What the example's last line must hold.
const KEYS: [&str; 7] = [
    "request_id",
    "served_by",
    "fallback_from",
    "status_first",
    "input_tokens",
    "output_tokens",
    "text",
];

/// A small model on a busy machine is slow, but not that slow.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Runs the demo with this prompt.
pub(crate) fn run(prompt: &str) -> Outcome {
    eprintln!("demo: building the example");
    workspace::run(workspace::cargo(&["build"])?.args(EXAMPLE))?;
    let server = ModelServer::start(0)?;
    let vendor = BusyVendor::start()?;
    eprintln!(
        "demo: cloud at {} (always busy), local at {}",
        vendor.base_url(),
        server.base_url()
    );
    eprintln!("demo: asking: {prompt}\n");
    let mut command = workspace::cargo(&["run", "--quiet"])?;
    command
        .args(EXAMPLE)
        .arg("--")
        .args(["--cloud-url", &vendor.base_url()]);
    command.args(["--local-url", server.base_url(), "--prompt", prompt]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let example = command.spawn().while_doing("starting the example")?;
    let printed = relay(Example(example))?;
    check(&printed).map_err(|what| Failure::new(format!("the example `route_demo` {what}")))?;
    if vendor.times_asked() == 0 {
        return Err(Failure::new(
            "the busy vendor was never asked, so nothing has failed over",
        ));
    }
    drop(vendor);
    drop(server);
    eprintln!("\ndemo: stopped the model server and the stub");
    Ok(())
}

/// The running example; it does not outlive this value.
struct Example(Child);

impl Drop for Example {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Passes on what the example prints as it comes, and returns all of it once the example has succeeded.
fn relay(mut example: Example) -> Outcome<String> {
    let Some(mut stream) = example.0.stdout.take() else {
        return Err(Failure::new("the example has no standard output"));
    };
    let reader = thread::spawn(move || {
        let mut printed = Vec::new();
        let mut chunk = [0; 4096];
        let mut terminal = std::io::stdout();
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            printed.extend_from_slice(&chunk[..length]);
            // A reader of ours that has gone away must not stop the example.
            let _ = terminal
                .write_all(&chunk[..length])
                .and_then(|()| terminal.flush());
        }
        printed
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = example.0.try_wait().while_doing("waiting for the example")? {
            break status;
        }
        if start.elapsed() > LONGEST {
            return Err(Failure::new(format!(
                "the example was stopped: no answer in {}",
                seconds(LONGEST)
            )));
        }
        thread::sleep(Duration::from_millis(20));
    };
    let printed = reader
        .join()
        .map_err(|_| Failure::new("reading the example's output failed"))?;
    if !status.success() {
        return Err(Failure::new(format!(
            "the example `route_demo` failed ({status}); its words are above"
        )));
    }
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

/// Whether the last line is the JSON that scripts rely on, and tells of a fail-over.
fn check(printed: &str) -> Result<(), String> {
    let last = printed.trim_end().lines().last().ok_or("printed nothing")?;
    let value: Value =
        serde_json::from_str(last).map_err(|_| format!("ends with `{last}`, which is not JSON"))?;
    let missing: Vec<&str> = KEYS.into_iter().filter(|key| value.get(key).is_none()).collect();
    if !missing.is_empty() {
        return Err(format!("ends with JSON that lacks {}", missing.join(", ")));
    }
    if value["status_first"] != 429 {
        return Err(format!(
            "met {} first, not the 429 of the busy vendor",
            value["status_first"]
        ));
    }
    if value["text"].as_str().is_none_or(|text| text.trim().is_empty()) {
        return Err("got no text from the model".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"request_id":"r-1","served_by":"local","fallback_from":"cloud","status_first":429,"input_tokens":12,"output_tokens":30,"text":"Because."}"#;

    #[test]
    fn good_last_line_passes() {
        assert_eq!(check(&format!("Because.\n\ndecision: …\n{GOOD}\n")), Ok(()));
    }

    #[test]
    fn other_last_lines_are_told() {
        for (printed, expected) in [
            (String::new(), "printed nothing"),
            (format!("{GOOD}\nbye\n"), "`bye`, which is not JSON"),
            (GOOD.replace("served_by", "server"), "lacks served_by"),
            (GOOD.replace("429", "200"), "met 200 first"),
            (GOOD.replace("Because.", " "), "no text"),
        ] {
            let error = check(&printed).unwrap_err();
            assert!(error.contains(expected), "{printed}: {error}");
        }
    }
}
