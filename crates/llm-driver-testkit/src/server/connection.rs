//! One connection: reads requests, plays answers, and notices when the client goes away.

use super::OpenConnection;
use super::parse::{read_more, read_request};
use crate::answer::{Answer, End, Framing, Head, Piece};
use crate::log::Entry;
use crate::recorded::RecordedRequest;
use bytes::Bytes;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// How much a client may send ahead while it is being answered.
const MOST_SENT_AHEAD: usize = 1024 * 1024;

/// So long the client gets to read what came before a reset.
const BEFORE_RESET: Duration = Duration::from_millis(20);

pub(super) async fn serve(socket: TcpStream, open: OpenConnection) {
    let mut connection = Connection {
        socket,
        buffer: Vec::new(),
    };
    let _ = connection.socket.set_nodelay(true);
    while let Some(request) = read_request(&mut connection.socket, &mut connection.buffer).await {
        let close = request.wants_close();
        let url = format!("http://{}{}", open.0.address, request.target);
        let record = RecordedRequest::new(request.method, url, request.headers, request.body);
        let entry = open.0.log.begin(record);
        let done = connection.play(&entry, open.0.next_answer()).await;
        match done {
            Some(Next::KeepAlive) if !close => entry.end(),
            Some(Next::Reset) => {
                entry.end();
                let _ = connection.socket.set_zero_linger();
                return;
            }
            Some(Next::KeepAlive | Next::Close) => {
                entry.end();
                return;
            }
            None => return, // the client went away: the entry marks itself as dropped
        }
    }
}

/// What happens to the connection after an answer.
enum Next {
    KeepAlive,
    Close,
    Reset,
}

/// How the body is marked on this connection.
#[derive(Clone, Copy)]
enum Marking {
    Length(usize),
    Chunked,
    UntilClose,
}

struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Plays an answer. `None`: the client went away before its end.
    async fn play(&mut self, entry: &Entry<RecordedRequest>, answer: Answer) -> Option<Next> {
        self.wait(Some(answer.pause)).await?;
        let status = match answer.head {
            Head::Status(status) => status,
            Head::Refused | Head::ConnectTimeout | Head::Closed => return Some(Next::Close),
            Head::Silent => {
                self.wait(None).await?;
                return Some(Next::Close);
            }
        };
        let marking = marking(&answer);
        self.write(head(status, &answer, marking).as_bytes()).await?;
        for piece in &answer.pieces {
            match piece {
                Piece::Bytes(bytes) => self.write_piece(entry, bytes, marking).await?,
                Piece::Delay(delay) => self.wait(Some(*delay)).await?,
                Piece::Hang => self.wait(None).await?,
                Piece::Repeat(bytes, times) => {
                    for _ in 0..*times {
                        self.write_piece(entry, bytes, marking).await?;
                    }
                }
            }
        }
        match answer.end {
            End::Eof => match marking {
                Marking::Length(length) if length == answer.body_bytes().len() => Some(Next::KeepAlive),
                Marking::Length(_) | Marking::UntilClose => Some(Next::Close),
                Marking::Chunked => {
                    self.write(b"0\r\n\r\n").await?;
                    Some(Next::KeepAlive)
                }
            },
            End::Cut => Some(Next::Close),
            End::Reset => {
                self.wait(Some(BEFORE_RESET)).await?;
                Some(Next::Reset)
            }
            End::Hang => {
                self.wait(None).await?;
                Some(Next::Close)
            }
        }
    }

    async fn write_piece(
        &mut self,
        entry: &Entry<RecordedRequest>,
        bytes: &Bytes,
        marking: Marking,
    ) -> Option<()> {
        if bytes.is_empty() {
            return Some(());
        }
        if let Marking::Chunked = marking {
            let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
            chunk.extend_from_slice(bytes);
            chunk.extend_from_slice(b"\r\n");
            self.write(&chunk).await?;
        } else {
            self.write(bytes).await?;
        }
        entry.change(|line| line.bytes_taken += bytes.len());
        Some(())
    }

    /// Writes, while noticing that the client goes away.
    async fn write(&mut self, bytes: &[u8]) -> Option<()> {
        let (mut reader, mut writer) = self.socket.split();
        tokio::select! {
            biased;
            written = writer.write_all(bytes) => written.ok(),
            () = gone(&mut reader, &mut self.buffer) => None,
        }
    }

    /// Waits this long, or (`None`) for ever, while noticing that the client goes away.
    async fn wait(&mut self, pause: Option<Duration>) -> Option<()> {
        let gone = gone(&mut self.socket, &mut self.buffer);
        match pause {
            Some(pause) if pause.is_zero() => Some(()),
            Some(pause) => tokio::time::timeout(pause, gone).await.err().map(|_| ()),
            None => {
                gone.await;
                None
            }
        }
    }
}

/// Ends when the client has closed its side. What it sends ahead is kept for the next request.
async fn gone(reader: &mut (impl tokio::io::AsyncRead + Unpin), buffer: &mut Vec<u8>) {
    while buffer.len() < MOST_SENT_AHEAD && read_more(reader, buffer).await {}
}

fn marking(answer: &Answer) -> Marking {
    let whole = answer.end == End::Eof
        && answer.pieces.len() <= 1
        && answer.pieces.iter().all(|piece| matches!(piece, Piece::Bytes(_)));
    match answer.framing {
        Framing::Auto if whole => Marking::Length(answer.body_bytes().len()),
        Framing::Auto | Framing::Chunked => Marking::Chunked,
        Framing::Length(length) => Marking::Length(length),
        Framing::UntilClose => Marking::UntilClose,
    }
}

fn head(status: u16, answer: &Answer, marking: Marking) -> String {
    let reason = http::StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason())
        .unwrap_or("Scripted");
    let mut head = format!("HTTP/1.1 {status} {reason}\r\n");
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    match marking {
        Marking::Length(length) => head += &format!("content-length: {length}\r\n"),
        Marking::Chunked => head += "transfer-encoding: chunked\r\n",
        Marking::UntilClose => head += "connection: close\r\n",
    }
    head + "\r\n"
}
