//! What a caller may say, in each request form that is read, and how to know it again in any format.

use llm_core::{ChatRequest, Result, Warning};
use llm_wire::{chat_completions, messages};
use serde_json::{Value, json};

/// A request form that is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inbound {
    ChatCompletions,
    Messages,
}

/// A request as it was read.
pub(super) struct Decoded {
    pub(super) request: ChatRequest,
    pub(super) warnings: Vec<Warning>,
}

impl Inbound {
    pub(super) fn decode(self, body: &Value) -> Result<Decoded> {
        let body = body.to_string();
        Ok(match self {
            Inbound::ChatCompletions => {
                let decoded = chat_completions::decode_request(body.as_bytes())?;
                Decoded {
                    request: decoded.request,
                    warnings: decoded.warnings,
                }
            }
            Inbound::Messages => {
                let decoded = messages::decode_request(body.as_bytes())?;
                Decoded {
                    request: decoded.request,
                    warnings: decoded.warnings,
                }
            }
        })
    }
}

/// One thing that a caller says.
pub(super) struct Fact {
    pub(super) name: &'static str,
    /// The fields of a Chat Completions request that say it, as JSON; empty: the form cannot.
    chat_completions: &'static str,
    /// The same in a Messages request.
    messages: &'static str,
    /// All of these stand in a request that carries it: as a string (or a piece of one), a number or a key.
    marks: &'static [&'static str],
    /// A stated rule by which some formats do not get it, without a warning.
    pub(super) rule: Option<&'static str>,
}

const PLAIN_THOUGHT: Option<&str> =
    Some("a thought without state is for people, where it is not known to be read");

/// A picture of 8 bytes, a sound, a file: what they are is told by their Base64 text.
macro_rules! fact {
    ($name:literal, $chat:literal, $messages:literal, [$($mark:literal),*]) => {
        fact!($name, $chat, $messages, [$($mark),*], None)
    };
    ($name:literal, $chat:literal, $messages:literal, [$($mark:literal),*], $rule:expr) => {
        Fact { name: $name, chat_completions: $chat, messages: $messages, marks: &[$($mark),*], rule: $rule }
    };
}

/// Everything that either form can say and that has a meaning for a vendor.
#[rustfmt::skip]
pub(super) const FACTS: &[Fact] = &[
    fact!("system text",
        r#"{"messages":[{"role":"system","content":"KEEP1"},{"role":"user","content":"hi"}]}"#,
        r#"{"system":"KEEP1"}"#, ["KEEP1"]),
    fact!("developer text",
        r#"{"messages":[{"role":"developer","content":"KEEP1"},{"role":"user","content":"hi"}]}"#, "", ["KEEP1"]),
    fact!("system text in the middle",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"system","content":"KEEP1"},{"role":"user","content":"KEEP2"}]}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"system","content":"KEEP1"},{"role":"user","content":"KEEP2"}]}"#,
        ["KEEP1", "KEEP2"]),
    fact!("the same speaker twice",
        r#"{"messages":[{"role":"user","content":"KEEP1"},{"role":"user","content":"KEEP2"},{"role":"assistant","content":"KEEP3"},{"role":"assistant","content":"KEEP4"},{"role":"user","content":"KEEP5"}]}"#,
        r#"{"messages":[{"role":"user","content":"KEEP1"},{"role":"user","content":"KEEP2"},{"role":"assistant","content":"KEEP3"},{"role":"assistant","content":"KEEP4"},{"role":"user","content":"KEEP5"}]}"#,
        ["KEEP1", "KEEP2", "KEEP3", "KEEP4", "KEEP5"]),
    fact!("empty parts beside others",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"KEEP1"}]},{"role":"assistant","content":""},{"role":"user","content":"KEEP2"}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"KEEP1"}]},{"role":"assistant","content":""},{"role":"user","content":"KEEP2"}]}"#,
        ["KEEP1", "KEEP2"]),
    fact!("a name of the speaker",
        r#"{"messages":[{"role":"user","name":"KEEP1","content":"hi"}]}"#, "", ["KEEP1"]),
    fact!("a beginning of the answer",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"KEEP1"}]}"#,
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"KEEP1"}]}"#, ["KEEP1"]),
    fact!("a refusal in the history",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","refusal":"KEEP1"},{"role":"user","content":"so?"}]}"#, "", ["KEEP1"]),
    fact!("a picture as bytes",
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,S0VFUElNRzE="}}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"S0VFUElNRzE="}}]}]}"#,
        ["S0VFUElNRzE="]),
    fact!("a picture by address",
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/keep.png"}}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/keep.png"}}]}]}"#,
        ["https://example.com/keep.png"]),
    fact!("how closely to look at a picture",
        r#"{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,S0VFUElNRzE=","detail":"high"}}]}]}"#,
        "", ["closely"]),
    fact!("a document as bytes",
        r#"{"messages":[{"role":"user","content":[{"type":"file","file":{"filename":"keep.pdf","file_data":"data:application/pdf;base64,S0VFUFBERjE="}}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"document","title":"keep.pdf","source":{"type":"base64","media_type":"application/pdf","data":"S0VFUFBERjE="}}]}]}"#,
        ["S0VFUFBERjE="]),
    fact!("a search result", "",
        r#"{"messages":[{"role":"user","content":[{"type":"search_result","source":"KEEP1","title":"KEEP2","content":[{"type":"text","text":"KEEP3"}]}]}]}"#,
        ["KEEP1", "KEEP2", "KEEP3"]),
    fact!("a search result as a result of a tool", "",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c0","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":[{"type":"search_result","source":"KEEP1","title":"KEEP2","content":[{"type":"text","text":"KEEP3"}]}]}]}]}"#,
        ["KEEP1", "KEEP2", "KEEP3"]),
    fact!("context of a document, and that it is cited", "",
        r#"{"messages":[{"role":"user","content":[{"type":"document","title":"keep.pdf","source":{"type":"base64","media_type":"application/pdf","data":"S0VFUFBERjE="},"context":"KEEP1","citations":{"enabled":true}}]}]}"#,
        ["KEEP1", "citations"]),
    fact!("a document by address", "",
        r#"{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://example.com/keep.pdf"}}]}]}"#,
        ["https://example.com/keep.pdf"]),
    fact!("a document as text", "",
        r#"{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"KEEP1"}}]}]}"#,
        ["text:KEEP1"]),
    fact!("a file kept at the vendor",
        r#"{"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-KEEP1"}}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file-KEEP1"}}]}]}"#,
        ["file-KEEP1"]),
    fact!("sound",
        r#"{"messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"format":"wav","data":"S0VFUFdBVjE="}}]}]}"#,
        "", ["S0VFUFdBVjE="]),
    fact!("a mark for the prompt cache",
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi","prompt_cache_breakpoint":{"mode":"explicit"}}]}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#,
        ["ephemeral"]),
    fact!("a tool",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool","description":"KEEP1","parameters":{"type":"object","properties":{"keep_field":{"type":"string","description":"KEEP2"}},"required":["keep_field"]}}}]}"#,
        r#"{"tools":[{"name":"keep_tool","description":"KEEP1","input_schema":{"type":"object","properties":{"keep_field":{"type":"string","description":"KEEP2"}},"required":["keep_field"]}}]}"#,
        ["keep_tool", "KEEP1", "keep_field", "KEEP2"]),
    fact!("a tool with references and choices in its schema",
        r##"{"tools":[{"type":"function","function":{"name":"keep_tool","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/Keep"},"b":{"anyOf":[{"type":"string","enum":["KEEP2"]},{"type":"null"}]},"c":{"type":["integer","null"],"description":"KEEP3"}},"$defs":{"Keep":{"type":"object","properties":{"x":{"type":"string","description":"KEEP1"}}}}}}}]}"##,
        r##"{"tools":[{"name":"keep_tool","input_schema":{"type":"object","properties":{"a":{"$ref":"#/$defs/Keep"},"b":{"anyOf":[{"type":"string","enum":["KEEP2"]},{"type":"null"}]},"c":{"type":["integer","null"],"description":"KEEP3"}},"$defs":{"Keep":{"type":"object","properties":{"x":{"type":"string","description":"KEEP1"}}}}}}]}"##,
        ["keep_tool", "KEEP1", "KEEP2", "KEEP3"]),
    fact!("a tool with a foreign name",
        r#"{"tools":[{"type":"function","function":{"name":"files.read/all","description":"KEEP1","parameters":{"type":"object","properties":{"keep_field":{"type":"string"}}}}}]}"#,
        r#"{"tools":[{"name":"files.read/all","description":"KEEP1","input_schema":{"type":"object","properties":{"keep_field":{"type":"string"}}}}]}"#,
        ["KEEP1", "keep_field"]),
    fact!("a strict tool",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool","strict":true,"parameters":{"type":"object","properties":{},"additionalProperties":false}}}]}"#,
        r#"{"tools":[{"name":"keep_tool","strict":true,"input_schema":{"type":"object","properties":{},"additionalProperties":false}}]}"#,
        ["strict-tool"]),
    fact!("some tool must be called",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool"}},{"type":"function","function":{"name":"other_tool"}}],"tool_choice":"required"}"#,
        r#"{"tools":[{"name":"keep_tool","input_schema":{"type":"object"}},{"name":"other_tool","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}}"#,
        ["choice:required"]),
    fact!("this tool must be called",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool"}},{"type":"function","function":{"name":"other_tool"}}],"tool_choice":{"type":"function","function":{"name":"keep_tool"}}}"#,
        r#"{"tools":[{"name":"keep_tool","input_schema":{"type":"object"}},{"name":"other_tool","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"keep_tool"}}"#,
        ["choice:keep_tool"]),
    fact!("one of some tools must be called",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool"}},{"type":"function","function":{"name":"other_tool"}}],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"keep_tool"}}]}}}"#,
        "", ["choice:keep_tool"]),
    fact!("no tool may be called",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool"}}],"tool_choice":"none"}"#,
        r#"{"tools":[{"name":"keep_tool","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}"#,
        ["choice:none"]),
    fact!("one call at a time",
        r#"{"tools":[{"type":"function","function":{"name":"keep_tool"}}],"parallel_tool_calls":false}"#,
        r#"{"tools":[{"name":"keep_tool","input_schema":{"type":"object"}}],"tool_choice":{"type":"auto","disable_parallel_tool_use":true}}"#,
        ["one-at-a-time"]),
    fact!("calls and results in the history",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"KEEP0","tool_calls":[{"id":"call_1","type":"function","function":{"name":"keep_tool","arguments":"{\"q\":\"KEEP1\"}"}},{"id":"call_2","type":"function","function":{"name":"keep_tool","arguments":"{\"q\":\"KEEP2\"}"}}]},{"role":"tool","tool_call_id":"call_1","content":"KEEP3"},{"role":"tool","tool_call_id":"call_2","content":"KEEP4"}]}"#,
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"KEEP0"},{"type":"tool_use","id":"call_1","name":"keep_tool","input":{"q":"KEEP1"}},{"type":"tool_use","id":"call_2","name":"keep_tool","input":{"q":"KEEP2"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"KEEP3"},{"type":"tool_result","tool_use_id":"call_2","content":"KEEP4"}]}]}"#,
        ["keep_tool", "KEEP0", "KEEP1", "KEEP2", "KEEP3", "KEEP4"]),
    fact!("a call whose arguments do not parse",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"keep_tool","arguments":"{\"q\":\"KEEP1"}}]},{"role":"tool","tool_call_id":"call_1","content":"KEEP2"}]}"#,
        "", ["keep_tool", "KEEP1", "KEEP2"]),
    fact!("a call without its result",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"keep_tool","arguments":"{\"q\":\"KEEP1\"}"}}]},{"role":"user","content":"KEEP2"}]}"#,
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"keep_tool","input":{"q":"KEEP1"}}]},{"role":"user","content":"KEEP2"}]}"#,
        ["keep_tool", "KEEP1", "KEEP2"]),
    fact!("a result without its call",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"call_9","content":"KEEP1"}]}"#,
        r#"{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_9","content":"KEEP1"},{"type":"text","text":"hi"}]}]}"#,
        ["KEEP1"]),
    fact!("a result that is a failure", "",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"keep_tool","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","is_error":true,"content":"KEEP1"}]}]}"#,
        ["KEEP1", "failed"]),
    fact!("a result with a picture", "",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"keep_tool","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"KEEP1"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"S0VFUElNRzE="}}]}]}]}"#,
        ["KEEP1", "S0VFUElNRzE="]),
    fact!("a thought without state",
        r#"{"messages":[{"role":"user","content":"a"},{"role":"assistant","reasoning_content":"KEEP1","content":"b"},{"role":"user","content":"c"}]}"#,
        "", ["KEEP1"], PLAIN_THOUGHT),
    fact!("a signed thought of Anthropic", "",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"KEEP1","signature":"KEEP2"},{"type":"text","text":"so"}]},{"role":"user","content":"go on"}]}"#,
        ["KEEP1", "KEEP2"]),
    fact!("a hidden thought of Anthropic", "",
        r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"redacted_thinking","data":"KEEP1"},{"type":"text","text":"so"}]},{"role":"user","content":"go on"}]}"#,
        ["KEEP1"]),
    fact!("JSON", r#"{"response_format":{"type":"json_object"}}"#, "", ["output:json"]),
    fact!("JSON of a schema",
        r#"{"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object","properties":{"keep_field":{"type":"string"}},"required":["keep_field"],"additionalProperties":false}}}}"#,
        r#"{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"keep_field":{"type":"string"}},"required":["keep_field"],"additionalProperties":false}}}}"#,
        ["keep_field"]),
    fact!("temperature", r#"{"temperature":0.125}"#, r#"{"temperature":0.125}"#, ["0.125"]),
    fact!("top_p", r#"{"top_p":0.375}"#, r#"{"top_p":0.375}"#, ["0.375"]),
    fact!("top_k", r#"{"top_k":41}"#, r#"{"top_k":41}"#, ["41"]),
    fact!("seed", r#"{"seed":424242}"#, "", ["424242"]),
    fact!("frequency penalty", r#"{"frequency_penalty":0.625}"#, "", ["0.625"]),
    fact!("presence penalty", r#"{"presence_penalty":0.875}"#, "", ["0.875"]),
    fact!("the most tokens", r#"{"max_completion_tokens":777}"#, r#"{"max_tokens":777}"#, ["777"]),
    fact!("where to stop", r#"{"stop":["KEEP1","KEEP2"]}"#, r#"{"stop_sequences":["KEEP1","KEEP2"]}"#, ["KEEP1", "KEEP2"]),
    fact!("the end user", r#"{"user":"KEEP1"}"#, r#"{"metadata":{"user_id":"KEEP1"}}"#, ["KEEP1"]),
    fact!("class of service", r#"{"service_tier":"flex"}"#, r#"{"service_tier":"standard_only"}"#, ["service:tier"]),
    fact!("effort", r#"{"reasoning_effort":"high"}"#, r#"{"output_config":{"effort":"high"}}"#, ["effort"]),
    fact!("no thinking", r#"{"reasoning_effort":"none"}"#, r#"{"thinking":{"type":"disabled"}}"#, ["no-thinking"]),
    fact!("log-probabilities", r#"{"logprobs":true,"top_logprobs":3}"#, "", ["logprobs"]),
    fact!("biased tokens", r#"{"logit_bias":{"4711":-50}}"#, "", ["4711"]),
    fact!("a tool of another kind than functions",
        r#"{"tools":[{"type":"custom","custom":{"name":"keep_tool"}}]}"#, "", ["keep_tool"]),
    fact!("several answers", r#"{"n":2}"#, "", ["several"]),
    fact!("a field nobody knows", r#"{"keep_field":1}"#, r#"{"keep_field":1}"#, ["keep_field"]),
];

impl Fact {
    /// Nothing is said but "hi".
    pub(super) const EMPTY: Fact = fact!("nothing", "{}", "{}", []);

    /// The whole request that says it in this form, if the form can.
    pub(super) fn body(&self, inbound: Inbound) -> Option<Value> {
        let (fields, mut body) = match inbound {
            Inbound::ChatCompletions => (
                self.chat_completions,
                json!({"model": "demo", "messages": [{"role": "user", "content": "hi"}]}),
            ),
            Inbound::Messages => (
                self.messages,
                json!({"model": "demo", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}),
            ),
        };
        if fields.is_empty() {
            return None;
        }
        let fields: Value = serde_json::from_str(fields).unwrap();
        let given = fields.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(given);
        Some(body)
    }

    /// Does a request say it?
    pub(super) fn stands_in(&self, body: &Value) -> bool {
        !self.marks.is_empty() && self.marks.iter().all(|mark| stands(mark, body))
    }
}

/// A mark that every format writes otherwise has a word of its own here; any other is looked for as it is.
fn stands(mark: &str, body: &Value) -> bool {
    let at = |pointer: &str| body.pointer(pointer).unwrap_or(&Value::Null);
    let mode = at("/toolConfig/functionCallingConfig/mode");
    let named = at("/toolConfig/functionCallingConfig/allowedFunctionNames");
    let choice = &body["tool_choice"];
    match mark {
        "choice:required" => {
            *choice == "required"
                || *choice == "any"
                || choice["type"] == "any"
                || (*mode == "ANY" && named.is_null())
        }
        "choice:keep_tool" => {
            choice["name"] == "keep_tool"
                || choice["function"]["name"] == "keep_tool"
                || choice["allowed_tools"]["tools"][0]["function"]["name"] == "keep_tool"
                || choice["tools"][0]["name"] == "keep_tool"
                || *named == json!(["keep_tool"])
        }
        // a tool that is not offered is not called; the empty request offers none
        "choice:none" => {
            *choice == "none" || choice["type"] == "none" || *mode == "NONE" || body.get("tools").is_none()
        }
        "one-at-a-time" => {
            body["parallel_tool_calls"] == false || choice["disable_parallel_tool_use"] == true
        }
        "output:json" => {
            body["response_format"]["type"] == "json_object"
                || *at("/text/format/type") == "json_object"
                || *at("/generationConfig/responseMimeType") == "application/json"
                || body["format"] == "json"
        }
        "service:tier" => body["service_tier"].is_string() || body["serviceTier"].is_string(),
        "closely" => contains("high", body) || contains("MEDIA_RESOLUTION_HIGH", body),
        // as it is, or in Base64
        "text:KEEP1" => contains("KEEP1", body) || contains("S0VFUDE=", body),
        "strict-tool" => body.to_string().contains(r#""strict":true"#) || *mode == "VALIDATED",
        "effort" => {
            body["reasoning_effort"] == "high"
                || *at("/reasoning/effort") == "high"
                || *at("/output_config/effort") == "high"
                || *at("/generationConfig/thinkingConfig/thinkingLevel") == "high"
                || *at("/generationConfig/thinkingConfig/thinkingLevel") == "HIGH"
                || at("/generationConfig/thinkingConfig/thinkingBudget").is_u64()
                || body["think"] == "high"
                || body["think"] == true
                || body["thinking"]["budget_tokens"].is_u64()
        }
        "no-thinking" => {
            body["reasoning_effort"] == "none"
                || *at("/reasoning/effort") == "none"
                || body["thinking"]["type"] == "disabled"
                || *at("/generationConfig/thinkingConfig/thinkingBudget") == 0
                || body["think"] == false
        }
        "failed" => {
            let text = body.to_string();
            text.contains(r#""is_error":true"#)
                || text.contains("Error: KEEP1")
                || text.contains(r#""error":"#)
        }
        _ => contains(mark, body),
    }
}

fn contains(mark: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(number) => number.to_string() == mark,
        Value::String(text) => text.contains(mark),
        Value::Array(items) => items.iter().any(|item| contains(mark, item)),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| key.contains(mark) || contains(mark, value)),
    }
}
