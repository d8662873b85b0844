//! `cargo xtask demo`: the main job on a real model, through the daemon. A busy vendor, a local model, one answer.

mod busy_vendor;
mod daemon;
mod record;

use std::io::{Read, Write};
use std::process::{Child, Command as Process, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::services::model_server::ModelServer;
use crate::steps::seconds;
use crate::workspace;
use busy_vendor::BusyVendor;
use daemon::Daemon;

pub(crate) const COMMAND: Command = Command {
    name: "demo",
    summary: "Route a real chat through the daemon: a busy vendor fails over to a local model",
    details: "\
Needs no key and no service: it sets up a real local model server (see `cargo xtask services --help`)
and a stub of a cloud vendor that answers 429, starts `llm-routerd` over both on an embedded SQLite store, and
asks it as a client would. The answer streams to standard output; decision and recorded call, read back from
the daemon, follow (who was considered, why, what failed over), and the last line is JSON built from
that record: request_id, served_by, fallback_from, status_first, input_tokens, output_tokens, text.
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

/// A small model on a busy machine is slow, but not that slow.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// Runs the demo with this prompt.
pub(crate) fn run(prompt: &str) -> Outcome {
    eprintln!("demo: building llm-routerd");
    workspace::run(&mut workspace::cargo(&[
        "build",
        "--package",
        "llm-routerd",
        "--bin",
        "llm-routerd",
    ])?)?;
    let folder = workspace::target_folder()?;
    let program = folder
        .join("debug")
        .join(format!("llm-routerd{}", std::env::consts::EXE_SUFFIX));
    let server = ModelServer::start(0)?;
    let vendor = BusyVendor::start()?;
    let daemon = Daemon::start(
        &program,
        &folder.join("demo"),
        &vendor.base_url(),
        server.base_url(),
    )?;
    eprintln!("demo: llm-routerd at http://{} over", daemon.origin());
    eprintln!(
        "demo:   cloud at {} (always busy), then local at {}",
        vendor.base_url(),
        server.base_url()
    );
    eprintln!("demo: asking: {prompt}\n");
    let request_id = format!("demo-{}", std::process::id());
    let answer = relay(daemon.client(&request_id, prompt))?;
    let rows = daemon.read(&format!("/logs?request_id={request_id}"))?["rows"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let decision = daemon.read(&format!("/decisions/{request_id}"))?;
    println!("{}", record::story(&decision, &rows));
    let line =
        record::last_line(&rows, &answer).map_err(|what| Failure::new(format!("the daemon {what}")))?;
    if vendor.times_asked() == 0 {
        return Err(Failure::new(
            "the busy vendor was never asked, so nothing has failed over",
        ));
    }
    drop(daemon);
    drop(vendor);
    drop(server);
    eprintln!("demo: stopped the daemon, the stub and the model server");
    println!("{line}");
    Ok(())
}

/// The running client; it does not outlive this value.
struct Client(Child);

impl Drop for Client {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// Passes on what the client prints as it comes, and returns all of it once the client has succeeded.
fn relay(mut client: Process) -> Outcome<String> {
    client.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut client = Client(client.spawn().while_doing("starting the client")?);
    let Some(mut stream) = client.0.stdout.take() else {
        return Err(Failure::new("the client has no standard output"));
    };
    let reader = thread::spawn(move || {
        let mut printed = Vec::new();
        let mut chunk = [0; 4096];
        let mut terminal = std::io::stdout();
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            printed.extend_from_slice(&chunk[..length]);
            // A reader of ours that has gone away must not stop the client.
            let _ = terminal
                .write_all(&chunk[..length])
                .and_then(|()| terminal.flush());
        }
        printed
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = client.0.try_wait().while_doing("waiting for the client")? {
            break status;
        }
        if start.elapsed() > LONGEST {
            return Err(Failure::new(format!(
                "the client was stopped: no answer in {}",
                seconds(LONGEST)
            )));
        }
        thread::sleep(Duration::from_millis(20));
    };
    let printed = reader
        .join()
        .map_err(|_| Failure::new("reading the client's output failed"))?;
    if !status.success() {
        return Err(Failure::new(format!(
            "`llm-routerd call` failed ({status}); its words are above"
        )));
    }
    Ok(String::from_utf8_lossy(&printed).into_owned())
}
