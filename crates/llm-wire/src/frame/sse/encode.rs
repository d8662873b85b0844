//! Writing server-sent events.

use memchr::memchr2;

/// Writes one event. Data of several lines becomes several `data` fields, whatever its line ends; a decoder
/// joins them by LF. An event type ends at its first line break.
///
/// ```
/// let mut out = Vec::new();
/// llm_wire::frame::encode_sse(Some("ping"), "a\r\nb", &mut out);
/// assert_eq!(out, b"event: ping\ndata: a\ndata: b\n\n");
/// ```
pub fn encode_sse(event: Option<&str>, data: &str, out: &mut Vec<u8>) {
    if let Some(event) = event {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(first_line(event.as_bytes()).0);
        out.push(b'\n');
    }
    encode_lines(b"data: ", data, out);
}

/// Writes a comment: keeps a connection alive and means nothing.
///
/// ```
/// let mut out = Vec::new();
/// llm_wire::frame::encode_sse_comment("keep-alive", &mut out);
/// assert_eq!(out, b": keep-alive\n\n");
/// ```
pub fn encode_sse_comment(text: &str, out: &mut Vec<u8>) {
    encode_lines(b": ", text, out);
}

fn encode_lines(field: &[u8], text: &str, out: &mut Vec<u8>) {
    let mut rest = Some(text.as_bytes());
    while let Some(bytes) = rest {
        let (line, next) = first_line(bytes);
        out.extend_from_slice(field);
        out.extend_from_slice(line);
        out.push(b'\n');
        rest = next;
    }
    out.push(b'\n');
}

/// The first line, and what comes after its line end.
fn first_line(bytes: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr2(b'\n', b'\r', bytes) {
        None => (bytes, None),
        Some(end) => {
            let line_end = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
            (&bytes[..end], Some(&bytes[end + line_end..]))
        }
    }
}
