//! Reading a request off a socket: just enough HTTP/1.1 for what drivers send.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tokio::io::{AsyncRead, AsyncReadExt};

const MOST_HEAD_BYTES: usize = 64 * 1024;
const MOST_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A request as it stood on the wire.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Incoming {
    /// Does the client want the connection closed afterwards?
    pub(super) fn wants_close(&self) -> bool {
        self.headers
            .get(http::header::CONNECTION)
            .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"close"))
    }
}

/// The next request; `None` when the client is gone, or sent what is no request of ours.
pub(super) async fn read_request(
    reader: &mut (impl AsyncRead + Unpin),
    buffer: &mut Vec<u8>,
) -> Option<Incoming> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if buffer.len() > MOST_HEAD_BYTES || !read_more(reader, buffer).await {
            return None;
        }
    };
    let rest = buffer.split_off(head_end);
    let head = std::mem::replace(buffer, rest);
    let (method, target, headers) = parse_head(&head)?;
    // A body without a length (chunked) is none that our transports send.
    let length: usize = match headers.get(http::header::CONTENT_LENGTH) {
        Some(value) => value.to_str().ok()?.parse().ok()?,
        None if headers.contains_key(http::header::TRANSFER_ENCODING) => return None,
        None => 0,
    };
    if length > MOST_BODY_BYTES {
        return None;
    }
    while buffer.len() < length {
        if !read_more(reader, buffer).await {
            return None;
        }
    }
    let rest = buffer.split_off(length);
    let body = Bytes::from(std::mem::replace(buffer, rest));
    Some(Incoming {
        method,
        target,
        headers,
        body,
    })
}

/// Reads what is there. False: nothing will come any more.
pub(super) async fn read_more(reader: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> bool {
    matches!(reader.read_buf(buffer).await, Ok(count) if count > 0)
}

fn parse_head(head: &[u8]) -> Option<(Method, String, HeaderMap)> {
    let text = std::str::from_utf8(head).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let method = Method::from_bytes(first.next()?.as_bytes()).ok()?;
    let target = first.next()?.to_owned();
    let mut headers = HeaderMap::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).ok()?,
            HeaderValue::from_str(value.trim()).ok()?,
        );
    }
    Some((method, target, headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_requests_in_one_read_are_told_apart() {
        let mut wire: &[u8] =
            b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\nconnection: close\r\n\r\n";
        let mut buffer = Vec::new();
        let first = read_request(&mut wire, &mut buffer).await.unwrap();
        assert_eq!((first.target.as_str(), &first.body[..]), ("/a", &b"hi"[..]));
        assert!(!first.wants_close());
        let second = read_request(&mut wire, &mut buffer).await.unwrap();
        assert_eq!((second.target.as_str(), second.method), ("/b", Method::GET));
        assert!(read_request(&mut wire, &mut buffer).await.is_none());
    }

    #[tokio::test]
    async fn what_is_no_request_ends_the_connection() {
        for wire in [
            "nonsense\r\n\r\n",
            "GET /\r\nbroken header\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nhi",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n",
        ] {
            let mut reader = wire.as_bytes();
            assert!(
                read_request(&mut reader, &mut Vec::new()).await.is_none(),
                "{wire:?}"
            );
        }
    }
}
