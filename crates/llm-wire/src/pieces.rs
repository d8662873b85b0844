//! What a caller says in blocks that only one vendor has.

use crate::fault::PartPath;
use llm_core::{ChatRequest, ContentPart, Replay, Role, VendorId, Warning};
use serde_json::Value;

/// What a search result is called, as a block and as state of the text that others read of it.
pub(crate) const SEARCH_RESULT: &str = "search_result";

/// Is a text of the caller's what others read of a search result?
pub(crate) fn is_search_result(replay: &Replay) -> bool {
    replay.data.get("type").and_then(Value::as_str) == Some(SEARCH_RESULT)
}

/// Search results that go to another vendor than the one that has a block for them: they are sent as text.
pub(crate) fn as_text(vendor: &VendorId, request: &ChatRequest) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut look = |path: PartPath, part: &ContentPart| {
        let ContentPart::Text(text) = part else { return };
        let Some(replay) = &text.replay else { return };
        if is_search_result(replay) && replay.origin.vendor != *vendor {
            let message = format!(
                "is a search result of {}'s; it is sent as text",
                replay.origin.vendor
            );
            warnings.push(Warning::history(path.to_string(), message));
        }
    };
    for (index, message) in request.messages.iter().enumerate() {
        if message.role == Role::Assistant {
            continue;
        }
        for (position, part) in message.content.iter().enumerate() {
            let path = PartPath::of(index, position);
            match part {
                ContentPart::ToolResult(result) => {
                    for (position, part) in result.content.iter().enumerate() {
                        look(path.inner(position), part);
                    }
                }
                part => look(path, part),
            }
        }
    }
    warnings
}
