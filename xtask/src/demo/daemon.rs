//! The daemon of the demo: started for one command, gone with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Context, Failure, Outcome};
use crate::steps::seconds;

/// It opens a database and a port; that takes no second.
const START_LIMIT: Duration = Duration::from_secs(30);
/// It lets running calls finish first; the demo has none then.
const STOP_LIMIT: Duration = Duration::from_secs(5);
/// No answer that the demo reads back is longer.
const LONGEST_ANSWER: u64 = 16 * 1024 * 1024;
/// The only caller is the demo.
const TOKEN: &str = "demo-token";

/// A running `llm-routerd`. Dropping it stops it; if this process dies without dropping anything, the daemon sees
/// its standard input close and ends itself.
#[derive(Debug)]
pub(super) struct Daemon {
    program: PathBuf,
    child: Child,
    origin: String,
}

impl Daemon {
    /// Starts the program over two backends, `cloud` first and `local` as its fallback, on a fresh embedded
    /// store in `folder`.
    pub(super) fn start(program: &Path, folder: &Path, cloud_url: &str, local_url: &str) -> Outcome<Self> {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).while_doing("making the demo's folder")?;
        let config = folder.join("llm-routerd.yaml");
        let text = format!(
            "backends:\n  cloud: {{adapter: openai_api, url: \"{cloud_url}\", api_key: demo-key, model: cloud-large}}\n  \
             local: {{adapter: openai_api, url: \"{local_url}\", model: smollm2-135m-instruct}}\n\
             chains:\n  default: [cloud, local]\n\
             proxy: {{token: {TOKEN}}}\nlog: {{level: error}}\n"
        );
        std::fs::write(&config, text).while_doing("writing the demo's configuration")?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--port", "0", "--stop-with-stdin", "--config"])
            .arg(&config);
        command.env("LLM_ROUTERD_STATE_DIR", folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().while_doing("starting `llm-routerd`")?;
        let stderr = child.stderr.take();
        let mut daemon = Self {
            program: program.to_owned(),
            child,
            origin: String::new(),
        };
        daemon.origin = origin_from(stderr)?;
        Ok(daemon)
    }

    /// Where it listens.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// The program as a client: asks the chain, and streams the answer to standard output.
    pub(super) fn client(&self, request_id: &str, prompt: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args([
            "call",
            "--model",
            "role:default",
            "--max-tokens",
            "96",
            "--token",
            TOKEN,
        ]);
        command.args([
            "--server",
            &format!("http://{}", self.origin),
            "--request-id",
            request_id,
            "--",
            prompt,
        ]);
        command
    }

    /// Reads something back.
    pub(super) fn read(&self, path: &str) -> Outcome<Value> {
        let what = format!("reading {path} back from the daemon");
        let body = self.get(path).while_doing(&what)?;
        serde_json::from_str(&body).while_doing(&what)
    }

    /// HTTP/1.0, so that the answer ends with the connection.
    fn get(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(&self.origin)?;
        stream.set_read_timeout(Some(START_LIMIT))?;
        write!(
            stream,
            "GET {path} HTTP/1.0\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.take(LONGEST_ANSWER).read_to_string(&mut answer)?;
        match answer.split_once("\r\n\r\n") {
            Some((head, body)) if head.split_whitespace().nth(1) == Some("200") => Ok(body.to_owned()),
            _ => Err(std::io::Error::other(
                answer.lines().next().unwrap_or("no answer").to_owned(),
            )),
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let start = Instant::now();
        while start.elapsed() < STOP_LIMIT {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits for the line that says where the daemon listens. What it says besides goes on to standard error.
fn origin_from(stream: Option<impl Read + Send + 'static>) -> Outcome<String> {
    let (sender, receiver) = channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                match line.strip_prefix("listening on http://") {
                    Some(origin) => drop(sender.send(origin.to_owned())),
                    None => eprintln!("demo: llm-routerd: {line}"),
                }
            }
        });
    }
    receiver.recv_timeout(START_LIMIT).map_err(|error| {
        Failure::new(match error {
            RecvTimeoutError::Disconnected => "`llm-routerd` did not start; its words are above".to_owned(),
            RecvTimeoutError::Timeout => {
                format!("`llm-routerd` did not listen within {}", seconds(START_LIMIT))
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn the_address_is_found_among_other_lines() {
        let said = "configuration: x\nlistening on http://127.0.0.1:4711\n";
        assert_eq!(origin_from(Some(Cursor::new(said))).unwrap(), "127.0.0.1:4711");
        assert!(origin_from(Some(Cursor::new("error: no\n"))).is_err());
    }
}
