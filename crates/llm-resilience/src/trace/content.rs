//! What was asked and answered, as the conventions write it: messages of a role and parts. Only for those who chose
//! to see it.

use llm_core::{Block, ChatRequest, ChatResponse, ContentPart, Role};
use serde_json::{Value, json};

/// What is asked, as JSON.
pub(super) fn of_request(request: &ChatRequest) -> String {
    let messages: Value = request
        .messages
        .iter()
        .map(|message| json!({ "role": role(message.role), "parts": parts(&message.content) }))
        .collect();
    messages.to_string()
}

/// What is answered, as JSON.
pub(super) fn of_response(response: &ChatResponse) -> String {
    let said: Vec<ContentPart> = response.blocks.iter().cloned().map(Block::into).collect();
    let finish = response.finish.kind.as_str();
    json!([{ "role": "assistant", "parts": parts(&said), "finish_reason": finish }]).to_string()
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        _ => "other",
    }
}

fn parts(parts: &[ContentPart]) -> Vec<Value> {
    parts.iter().map(part).collect()
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(part) => json!({ "type": "text", "content": part.text }),
        ContentPart::Refusal(part) => json!({ "type": "refusal", "content": part.text }),
        ContentPart::Reasoning(part) => json!({ "type": "reasoning", "content": part.text }),
        ContentPart::ToolCall(call) => {
            json!({ "type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments })
        }
        ContentPart::ToolResult(result) => {
            json!({ "type": "tool_call_response", "id": result.call_id, "response": parts(&result.content) })
        }
        // Named only: too large, or of no use to a reader.
        other => json!({ "type": other.kind() }),
    }
}
