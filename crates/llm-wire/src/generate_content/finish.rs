//! Finish reasons, both ways (wire notes, `gemini.md`, Response, and `common.md`, Finish reasons).

use llm_core::{FinishKind, FinishReason};

/// Our word for a finish reason of this format.
pub(super) fn kind_of_word(word: &str) -> FinishKind {
    match word {
        // the second is not Google's; other hosts of the format say so where they call
        "STOP" | "FUNCTION_CALL" => FinishKind::Stop,
        // whoever does not go on with the token that comes beside it has an answer that was cut off
        "MAX_TOKENS" | "CONTINUATION" => FinishKind::Length,
        "SAFETY"
        | "RECITATION"
        | "LANGUAGE"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION"
        | "IMAGE_OTHER"
        | "MODEL_ARMOR" => FinishKind::ContentFilter,
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE"
        | "MALFORMED_RESPONSE"
        | "NO_IMAGE"
        | "OTHER" => FinishKind::ModelFault,
        _ => FinishKind::Other,
    }
}

/// Does this word say nothing? (It is the value that protobuf JSON leaves out.)
pub(super) fn is_unspecified(word: &str) -> bool {
    word.is_empty() || word == "FINISH_REASON_UNSPECIFIED"
}

/// Does a `blockReason` say that the prompt was blocked?
pub(super) fn is_block(reason: &str) -> bool {
    !reason.is_empty() && reason != "BLOCK_REASON_UNSPECIFIED" && reason != "BLOCKED_REASON_UNSPECIFIED"
}

/// The format's word for the end of an answer: its own where it has one, else the nearest.
pub(super) fn word_of(reason: &FinishReason) -> &str {
    let own = reason.raw.as_deref().filter(|word| {
        let kind = kind_of_word(word);
        kind != FinishKind::Other && kind == reason.kind
    });
    own.unwrap_or(match reason.kind {
        FinishKind::Length => "MAX_TOKENS",
        FinishKind::ContentFilter | FinishKind::Refusal => "SAFETY",
        FinishKind::ModelFault => "MALFORMED_RESPONSE",
        FinishKind::Other => "OTHER",
        _ => "STOP",
    })
}
