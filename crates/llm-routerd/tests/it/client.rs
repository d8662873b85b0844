//! An HTTP/1.1 client that does what well-behaved ones do not: leave in the middle, stop reading, send nonsense.

use serde_json::Value;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// No wait of a test is longer. Far beyond what anything takes: nothing here asserts speed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what must come.
pub(crate) async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited in vain: {what}"),
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    soon(what, async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// A connection to the daemon.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
    framing: Framing,
}

/// How much of the present answer's body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Left(usize),
    Chunked,
    UntilClose,
    Over,
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
    /// Did the body come to its end as it was announced?
    pub(crate) complete: bool,
}

impl Reply {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The code of an error envelope, which must be whole.
    pub(crate) fn error_code(&self) -> Value {
        let body = self.json();
        let error = &body["error"];
        assert!(
            error["message"].as_str().is_some_and(|said| !said.is_empty()),
            "{body}"
        );
        assert!(error["type"].is_string(), "{body}");
        assert!(
            error.as_object().unwrap().contains_key("param"),
            "param is named, if only as null: {body}"
        );
        error["code"].clone()
    }

    /// The data of all events of a stream.
    pub(crate) fn events(&self) -> Vec<String> {
        let lines = self.text().lines();
        lines
            .filter_map(|line| line.strip_prefix("data: "))
            .map(str::to_owned)
            .collect()
    }

    /// The comments of a stream.
    pub(crate) fn comments(&self) -> Vec<String> {
        let lines = self.text().lines();
        lines
            .filter_map(|line| line.strip_prefix(':'))
            .map(|comment| comment.trim().to_owned())
            .collect()
    }

    /// The text of a stream.
    pub(crate) fn streamed_text(&self) -> String {
        let chunk = |data: &String| {
            let chunk: Value = serde_json::from_str(data).unwrap();
            chunk["choices"][0]["delta"]["content"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let events = self.events();
        events
            .iter()
            .filter(|data| *data != "[DONE]")
            .map(chunk)
            .collect()
    }
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Connection::try_open(address).await.unwrap()
    }

    pub(crate) async fn try_open(address: SocketAddr) -> std::io::Result<Self> {
        TcpStream::connect(address).await.map(Connection::of)
    }

    /// One whose system holds little of what was not read yet.
    pub(crate) async fn open_narrow(address: SocketAddr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(16 * 1024).unwrap();
        Connection::of(socket.connect(address).await.unwrap())
    }

    fn of(socket: TcpStream) -> Self {
        Connection {
            socket,
            buffer: Vec::new(),
            framing: Framing::Over,
        }
    }

    /// Sends a request with a body of known length.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) {
        let length = body.len().to_string();
        let mut headers = headers.to_vec();
        if !body.is_empty() {
            headers.push(("content-length", &length));
        }
        self.send_head(method, path, &headers).await;
        // a server that answers early may close before it has read everything
        self.socket.write_all(body).await.ok();
    }

    /// Sends the head of a request.
    pub(crate) async fn send_head(&mut self, method: &str, path: &str, headers: &[(&str, &str)]) {
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send_raw((head + "\r\n").as_bytes()).await;
    }

    /// Sends bytes as they are.
    pub(crate) async fn send_raw(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).await.unwrap();
    }

    /// Sends bytes; false: the other side takes no more.
    pub(crate) async fn try_send_raw(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).await.is_ok()
    }

    /// Sends nothing more.
    pub(crate) async fn shut_down(&mut self) {
        self.socket.shutdown().await.ok();
    }

    /// The head of the next answer; `None`: the connection ended before it.
    pub(crate) async fn try_head(&mut self) -> Option<Head> {
        let end = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at;
            }
            if !self.read_more().await {
                return None;
            }
        };
        let rest = self.buffer.split_off(end + 4);
        let text = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap();
        let mut lines = text.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let head = Head { status, headers };
        self.framing = match (head.header("transfer-encoding"), head.header("content-length")) {
            (Some(_), _) => Framing::Chunked,
            (None, Some(length)) => Framing::Left(length.parse().unwrap()),
            (None, None) if status == 100 || status == 204 => Framing::Over,
            (None, None) => Framing::UntilClose,
        };
        Some(head)
    }

    pub(crate) async fn head(&mut self) -> Head {
        soon("the head of an answer", self.try_head())
            .await
            .expect("no answer")
    }

    /// The next piece of the body. `Ok(None)`: it is complete; `Err`: the connection ended before that.
    pub(crate) async fn piece(&mut self) -> Result<Option<Vec<u8>>, ()> {
        match self.framing {
            Framing::Over | Framing::Left(0) => Ok(None),
            Framing::Left(left) => {
                if self.buffer.is_empty() && !self.read_more().await {
                    return Err(());
                }
                let rest = self.buffer.split_off(self.buffer.len().min(left));
                let piece = std::mem::replace(&mut self.buffer, rest);
                self.framing = Framing::Left(left - piece.len());
                Ok(Some(piece))
            }
            Framing::UntilClose => {
                if self.buffer.is_empty() && !self.read_more().await {
                    self.framing = Framing::Over;
                    return Ok(None);
                }
                Ok(Some(std::mem::take(&mut self.buffer)))
            }
            Framing::Chunked => self.chunk().await,
        }
    }

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, ()> {
        let line = loop {
            if let Some(at) = find(&self.buffer, b"\r\n") {
                break at;
            }
            if !self.read_more().await {
                return Err(());
            }
        };
        let size = std::str::from_utf8(&self.buffer[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        while self.buffer.len() < line + 2 + size + 2 {
            if !self.read_more().await {
                return Err(());
            }
        }
        let chunk = self.buffer[line + 2..line + 2 + size].to_vec();
        self.buffer.drain(..line + 2 + size + 2);
        if size == 0 {
            self.framing = Framing::Over;
            return Ok(None);
        }
        Ok(Some(chunk))
    }

    /// The rest of the answer whose head was read.
    pub(crate) async fn rest(&mut self, head: Head) -> Reply {
        let reading = async {
            let mut body = Vec::new();
            let complete = loop {
                match self.piece().await {
                    Ok(Some(piece)) => body.extend(piece),
                    Ok(None) => break true,
                    Err(()) => break false,
                }
            };
            Reply { head, body, complete }
        };
        soon("the rest of an answer", reading).await
    }

    /// The next answer, whole.
    pub(crate) async fn reply(&mut self) -> Reply {
        let head = self.head().await;
        self.rest(head).await
    }

    /// Reads the body until it holds this.
    pub(crate) async fn read_until(&mut self, wanted: &str) -> String {
        let reading = async {
            let mut read = Vec::new();
            while find(&read, wanted.as_bytes()).is_none() {
                let piece = self.piece().await;
                let piece = piece.unwrap_or_else(|()| panic!("cut before {wanted:?}"));
                read.extend(piece.unwrap_or_else(|| panic!("over before {wanted:?}")));
            }
            String::from_utf8(read).unwrap()
        };
        soon(wanted, reading).await
    }

    /// Waits until the other side has closed the connection.
    pub(crate) async fn closed(&mut self) {
        soon("the end of a connection", async {
            while self.read_more().await {}
        })
        .await;
    }

    async fn read_more(&mut self) -> bool {
        matches!(self.socket.read_buf(&mut self.buffer).await, Ok(read) if read > 0)
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
