//! Raw material of a case as a scripted answer: status, headers, pieces of the body, and how it ends.

use crate::case::{Fault, Fields, list, text};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use llm_driver_testkit::{Answer, End, Piece};
use serde_json::Value;
use std::time::Duration;

/// A scripted body.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) pieces: Vec<Piece>,
    /// When bytes come, counted from the headers, in order.
    bytes_at: Vec<Duration>,
}

impl Body {
    /// How long the last byte that had come by then had been there; where none had, the headers.
    pub(crate) fn silence_until(&self, moment: Duration) -> Duration {
        let before = self.bytes_at.partition_point(|at| *at <= moment);
        moment - self.bytes_at[..before].last().copied().unwrap_or_default()
    }
}

/// Reads `status` and `headers` of an input.
pub(crate) fn head(fields: &mut Fields<'_>) -> Result<Answer, Fault> {
    let status = fields.count("status")?;
    let status =
        u16::try_from(status).map_err(|_| Fault::malformed(format!("there is no status {status}")))?;
    let mut answer = Answer::status(status);
    if let Some(headers) = fields.optional("headers") {
        let at = fields.at("headers");
        let Some(headers) = headers.as_object() else {
            return Err(Fault::malformed(format!("{at} is not an object")));
        };
        for (name, value) in headers {
            answer = answer.with_header(name, text(value, &format!("{at}.{name}"))?);
        }
    }
    Ok(answer)
}

/// Reads a list of chunks.
pub(crate) fn body(chunks: &Value, at: &str) -> Result<Body, Fault> {
    let mut body = Body::default();
    let mut time = Duration::ZERO;
    for (number, chunk) in list(chunks, at)?.iter().enumerate() {
        let piece = piece(chunk, &format!("{at}[{number}]"))?;
        match &piece {
            Piece::Delay(delay) => time += *delay,
            Piece::Bytes(bytes) if !bytes.is_empty() => body.bytes_at.push(time),
            _ => {}
        }
        let hangs = piece == Piece::Hang;
        body.pieces.push(piece);
        if hangs {
            break;
        }
    }
    Ok(body)
}

fn piece(chunk: &Value, at: &str) -> Result<Piece, Fault> {
    if let Some(text) = chunk.as_str() {
        return Ok(Piece::from(text));
    }
    let mut fields = Fields::of(chunk, at)?;
    let piece = if let Some(bytes) = fields.optional_text("b64")? {
        let bytes = STANDARD
            .decode(bytes)
            .map_err(|_| Fault::malformed(format!("{at}.b64 is not base64")))?;
        Piece::from(bytes)
    } else if let Some(part) = fields.optional_text("repeat")? {
        let times = usize::try_from(fields.count("times")?).unwrap_or(usize::MAX);
        Piece::from(part.repeat(times))
    } else if fields.optional("delay_ms").is_some() {
        Piece::Delay(Duration::from_millis(fields.count("delay_ms")?))
    } else if fields.flag("hang")? {
        Piece::Hang
    } else {
        fields.end()?;
        return Err(Fault::malformed(format!("{at} holds no piece")));
    };
    fields.end()?;
    Ok(piece)
}

/// What happens after the last piece.
pub(crate) fn end(word: &str) -> Result<End, Fault> {
    Ok(match word {
        "eof" => End::Eof,
        "reset" => End::Reset,
        "hang" => End::Hang,
        other => return Err(Fault::unknown("end", other)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_a_chunk_is_read() {
        let chunks = json!([
            "a",
            {"delay_ms": 20},
            {"b64": "Yg=="},
            {"repeat": "cd", "times": 2},
            {"delay_ms": 5},
            {"hang": true},
            "never",
        ]);
        let body = body(&chunks, "input.chunks").unwrap();
        assert_eq!(
            body.pieces,
            [
                Piece::from("a"),
                Piece::Delay(Duration::from_millis(20)),
                Piece::from("b"),
                Piece::from("cdcd"),
                Piece::Delay(Duration::from_millis(5)),
                Piece::Hang,
            ]
        );
        for (moment, silence) in [(0, 0), (19, 19), (20, 0), (50, 30)] {
            let moment = Duration::from_millis(moment);
            assert_eq!(body.silence_until(moment), Duration::from_millis(silence));
        }
    }

    #[test]
    fn other_forms_are_faults() {
        let fault = |chunk: Value| body(&json!([chunk]), "input.chunks").unwrap_err().to_string();
        assert_eq!(fault(json!({"pause": 1})), "unknown key input.chunks[0].pause");
        assert_eq!(
            fault(json!({"b64": "Yg==", "times": 1})),
            "unknown key input.chunks[0].times"
        );
        for malformed in [json!(1), json!({}), json!({"b64": "?"}), json!({"repeat": "a"})] {
            assert!(fault(malformed).starts_with("malformed"));
        }
        assert_eq!(end("slam").unwrap_err().to_string(), "unknown end slam");
    }
}
