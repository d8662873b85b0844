//! The count of a request's tokens, as the vendor estimates it.
//!
//! Source: `kimi.md` of the project's wire notes ("Token count and model list"), state of 2026-11-29.

use llm_core::{Error, ErrorKind, Phase, Result};
use serde_json::{Map, Value, json};

/// What of a request's body is counted: the model and the messages.
pub(crate) fn counted_body(body: &[u8]) -> Result<Vec<u8>> {
    let fields = serde_json::from_slice::<Map<String, Value>>(body);
    let mut fields = fields.map_err(|error| {
        Error::new(ErrorKind::Internal, "the request cannot be read as JSON").with_source(error)
    })?;
    let mut take = |name: &str| fields.remove(name).unwrap_or_default();
    let counted = json!({ "model": take("model"), "messages": take("messages") });
    Ok(counted.to_string().into_bytes())
}

/// The count in an answer.
pub(crate) fn read_count(body: &[u8]) -> Result<u64> {
    let answer = serde_json::from_slice::<Value>(body).unwrap_or_default();
    answer["data"]["total_tokens"].as_u64().ok_or_else(|| {
        let message = "the answer holds no count of tokens";
        Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_and_messages_are_counted() {
        let body = br#"{"model":"kimi-k3","messages":[{"role":"user","content":"hi"}],"stream":true}"#;
        let counted: Value = serde_json::from_slice(&counted_body(body).unwrap()).unwrap();
        assert_eq!(
            counted,
            json!({ "model": "kimi-k3", "messages": [{ "role": "user", "content": "hi" }] })
        );
        assert_eq!(read_count(br#"{"data":{"total_tokens":80}}"#).unwrap(), 80);
        for none in ["", "{}", r#"{"data":{"total_tokens":-1}}"#] {
            assert_eq!(
                read_count(none.as_bytes()).unwrap_err().kind(),
                ErrorKind::Protocol
            );
        }
    }
}
