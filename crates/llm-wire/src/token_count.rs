//! The count of a request's tokens, where a host can be asked for it.

use llm_core::{Error, ErrorKind, Phase, Result};
use serde_json::Value;

/// Reads the count at this place (a JSON pointer) of an answer.
pub(crate) fn read_count(body: &[u8], place: &str) -> Result<u64> {
    let answer = serde_json::from_slice::<Value>(body).unwrap_or_default();
    answer.pointer(place).and_then(Value::as_u64).ok_or_else(|| {
        Error::new(ErrorKind::Protocol, "the answer holds no count of tokens").with_phase(Phase::Sent)
    })
}

/// For hosts that cannot be asked.
pub(crate) fn no_count() -> Error {
    let message = "this host cannot be asked how many tokens a request has; estimate them";
    Error::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_number_or_no_answer() {
        assert_eq!(read_count(br#"{"data":{"n":80}}"#, "/data/n").unwrap(), 80);
        for none in ["", "{}", r#"{"data":{"n":-1}}"#, r#"{"data":{"n":"many"}}"#] {
            let error = read_count(none.as_bytes(), "/data/n").unwrap_err();
            assert_eq!((error.kind(), error.phase()), (ErrorKind::Protocol, Phase::Sent));
        }
    }
}
