//! A vendor that is always busy: answers each request with 429 and asks to wait, as a real one would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::failure::{Context, Outcome};

/// What it says, in the form of the Chat Completions API.
const BODY: &str = r#"{"error":{"message":"Rate limit reached. Please try again in 30s.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#;

/// No client of ours sends more.
const LARGEST_BODY: u64 = 16 * 1024 * 1024;

/// The stub, listening on a free port of the loopback address until it is dropped.
#[derive(Debug)]
pub(super) struct BusyVendor {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

impl BusyVendor {
    pub(super) fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").while_doing("opening a port for the busy vendor")?;
        let address = listener
            .local_addr()
            .while_doing("opening a port for the busy vendor")?;
        let asked = Arc::new(AtomicUsize::new(0));
        let stopping = Arc::new(AtomicBool::new(false));
        let (count, stop) = (Arc::clone(&asked), Arc::clone(&stopping));
        let thread = thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let count = Arc::clone(&count);
                thread::spawn(move || {
                    if answer(&stream).is_ok() {
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Ok(Self {
            address,
            asked,
            stopping,
            listener: Some(thread),
        })
    }

    /// What a driver takes as its base URL.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How many requests it has turned away.
    pub(super) fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Drop for BusyVendor {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The listener waits for a connection: give it one.
        if TcpStream::connect(self.address).is_ok()
            && let Some(listener) = self.listener.take()
        {
            let _ = listener.join();
        }
    }
}

/// Reads the whole request, since closing on unread bytes would reset the connection, and turns it away.
fn answer(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut chunked = false;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let Some((name, value)) = line.trim_end().split_once(':') else {
            if line.trim_end().is_empty() {
                break;
            } else {
                continue;
            }
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
        chunked |= name.eq_ignore_ascii_case("transfer-encoding") && value.contains("chunked");
    }
    if chunked {
        let mut line = String::new();
        while line.trim_end() != "0" && reader.by_ref().take(LARGEST_BODY).read_line(&mut line)? > 0 {
            if line.trim_end() != "0" {
                line.clear();
            }
        }
    } else {
        std::io::copy(
            &mut reader.by_ref().take(LARGEST_BODY.min(length)),
            &mut std::io::sink(),
        )?;
    }
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nRetry-After: 30\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{BODY}",
        BODY.len()
    )?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(vendor: &BusyVendor, request: &str) -> String {
        let mut stream = TcpStream::connect(vendor.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn every_request_is_turned_away_with_a_hint() {
        let vendor = BusyVendor::start().unwrap();
        for request in [
            "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}",
            "POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        ] {
            let answer = ask(&vendor, request);
            assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
            assert!(answer.contains("\r\nRetry-After: 30\r\n"), "{answer}");
            let body = answer.split_once("\r\n\r\n").unwrap().1;
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(body["error"]["code"], "rate_limit_exceeded");
        }
    }

    #[test]
    fn dropping_it_closes_the_port() {
        let vendor = BusyVendor::start().unwrap();
        let address = vendor.address;
        drop(vendor);
        assert!(TcpStream::connect(address).is_err());
    }
}
