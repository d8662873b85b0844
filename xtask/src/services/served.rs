//! A program that serves on loopback for as long as we live: it says where on its first line, and ends when its
//! standard input closes.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Context, Failure, Outcome};
use crate::steps::seconds;

/// How long a server may take to leave by itself.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// How much of the server's log is kept for an error message.
const LOG_LINES: usize = 25;

/// A running server. Dropping it stops the server; if this process dies without dropping anything, the server sees
/// its standard input close and ends itself.
#[derive(Debug)]
pub(super) struct Served {
    child: Child,
    /// What it is called in messages.
    name: &'static str,
    /// Where in `target/services` its installation is.
    installation: &'static str,
    origin: String,
    log: Log,
}

/// The last lines that the server wrote.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<VecDeque<String>>>);

impl Served {
    /// Starts a server and waits until it says where it is.
    pub(super) fn start(
        mut command: Command,
        name: &'static str,
        installation: &'static str,
        limit: Duration,
    ) -> Outcome<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        lead_a_group(&mut command);
        let mut child = command.spawn().while_doing(format_args!("starting {name}"))?;
        let log = Log::default();
        log.follow(child.stderr.take());
        let address = first_line(child.stdout.take());
        let mut served = Self {
            child,
            name,
            installation,
            origin: String::new(),
            log,
        };
        served.origin = served.wait_for_address(&address, limit)?;
        Ok(served)
    }

    /// Host and port.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Waits until the server ends by itself, which it does not do while it works.
    pub(super) fn wait(&mut self) -> Outcome {
        // `Child::wait` would close the standard input that keeps the server alive.
        loop {
            let status = self.child.try_wait();
            if let Some(status) = status.while_doing(format_args!("waiting for {}", self.name))? {
                return Err(self.failure(&format!("{} ended: {status}", self.name)));
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn wait_for_address(&self, address: &Receiver<String>, limit: Duration) -> Outcome<String> {
        let name = self.name;
        match address.recv_timeout(limit) {
            Ok(line) => match line.strip_prefix("listening http://") {
                Some(origin) => Ok(origin.trim_end_matches('/').to_owned()),
                None => Err(self.failure(&format!("{name} said `{line}` in place of its address"))),
            },
            Err(RecvTimeoutError::Disconnected) => Err(self.failure(&format!("{name} did not start"))),
            Err(RecvTimeoutError::Timeout) => {
                Err(self.failure(&format!("{name} was not up after {}", seconds(limit))))
            }
        }
    }

    pub(super) fn failure(&self, what: &str) -> Failure {
        Failure::new(format!(
            "{what}\nits last words:\n{}\nif its installation is broken, delete target/services/{} and run this again",
            self.log.text(),
            self.installation
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let start = Instant::now();
        while start.elapsed() < STOP_LIMIT {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        // It leads a group of its own, so this ends whatever it may have started too.
        let group = format!("kill -KILL -{}", self.child.id());
        let _ = Command::new("sh")
            .args(["-c", &group])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Gives the program a process group of its own, so that whatever it starts can be ended with it.
#[cfg(unix)]
fn lead_a_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn lead_a_group(_: &mut Command) {}

impl Log {
    fn follow(&self, stream: Option<impl Read + Send + 'static>) {
        let Some(stream) = stream else { return };
        let log = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                let mut lines = log.0.lock().unwrap_or_else(PoisonError::into_inner);
                if lines.len() == LOG_LINES {
                    lines.pop_front();
                }
                lines.push_back(String::from_utf8_lossy(&line).into_owned());
            }
        });
    }

    fn text(&self) -> String {
        // The last lines may still be on their way through the pipe.
        thread::sleep(Duration::from_millis(100));
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .iter()
            .map(|line| format!("  {line}"))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// The first line of a stream, sent once it is there; closed without one when the stream ends.
fn first_line(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(stream) = stream {
        thread::spawn(move || {
            let mut line = String::new();
            if BufReader::new(stream)
                .read_line(&mut line)
                .is_ok_and(|bytes| bytes > 0)
            {
                let _ = sender.send(line.trim().to_owned());
            }
        });
    }
    receiver
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn first_line_arrives_and_an_empty_stream_disconnects() {
        let receiver = first_line(Some(Cursor::new(
            b"listening http://127.0.0.1:1\nmore\n".to_vec(),
        )));
        assert_eq!(receiver.recv().unwrap(), "listening http://127.0.0.1:1");
        assert!(first_line(Some(Cursor::new(Vec::new()))).recv().is_err());
    }

    #[test]
    fn log_keeps_the_last_lines() {
        let log = Log::default();
        let text: String = (0..100).map(|number| format!("line {number}\n")).collect();
        log.follow(Some(Cursor::new(text.into_bytes())));
        let kept = log.text();
        assert!(
            kept.ends_with("line 99") && !kept.contains("line 74\n") && kept.contains("line 75"),
            "{kept}"
        );
    }
}
