//! What vendors say of ordinary requests stays readable word for word.

use super::*;
use serde_json::json;

/// What a caller of today's formats says: a prompt that names its tool, and schemas with the words of the formats.
fn ordinary() -> ChatRequest {
    let schema = json!({
        "type": "object",
        "title": "get_weather",
        "properties": {
            "city": { "type": "string", "description": "The city to look at.", "default": "Paris" },
            "effort": { "type": "string", "enum": ["low", "medium", "high"], "default": "medium" },
            "tier": { "enum": ["default", "flex", "auto", "on_demand"], "title": "service_tier" },
            "kind": { "enum": ["function", "text", "image_url", "rate_limit_exceeded", "Unsupported"] },
            "reason": { "const": "invalid_request_error", "examples": ["max_tokens", "unsupported_value"] },
        },
    });
    let mut request = ChatRequest::new([
        Message::system(
            "You are a careful assistant. Use the function get_weather to look up the weather. Please continue until \
             the request is done, and say which values are supported.",
        ),
        Message::user("What is the weather in Paris?"),
        Message::new(
            Role::Assistant,
            vec![ContentPart::ToolCall(ToolCall::new(
                "call_1",
                "get_weather",
                "{\"city\": \"Paris\", \"days\": 3}",
            ))],
        ),
        Message::new(
            Role::Tool,
            vec![ContentPart::ToolResult(ToolResult::new("call_1", "Sunny, 21 degrees."))],
        ),
    ])
    .with_tools([ToolSpec::new("get_weather")
        .with_description("Get the weather of a city.")
        .with_parameters(schema)]);
    request.user = Some("customer-7".to_owned());
    request
}

const MESSAGES: [&str; 36] = [
    "Invalid schema for function 'get_weather': In context=(), 'additionalProperties' is required to be supplied and \
     to be false.",
    "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low', \
     'medium', and 'none'.",
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern \
     '^[a-zA-Z0-9_-]+$'.",
    "Invalid JSON payload received. Unknown name \"title\" at 'tools[0].function_declarations[0]': Cannot find field.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "Unsupported service_tier: 'flex' is not available to this model.",
    "Your request timed out... Please continue to retry.",
    "The server had an error while processing your request... Sorry about that.",
    "Rate limit reached for gpt-6-luna on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
    "rate_limit_exceeded: too many requests, please retry after 20s",
    "Invalid value: 'image_url'. Supported values are: 'text' and 'refusal'.",
    "tool call validation failed: attempted to call tool 'get_weather' which was not in request.tools",
    "Function 'get_weather' expects an object.",
    "messages.1.content.0.type: Input should be 'text', 'image', 'tool_use' or 'tool_result'",
    "messages: final assistant content cannot end with trailing whitespace",
    "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    "prompt is too long: 210457 tokens > 200000 maximum",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "Your credit balance is too low to access the API.",
    "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "exceeded model token limit",
    "the input length exceeds the context length",
    "Input is too long for requested model.",
    "message provided without its required 'reasoning' item",
    "* GenerateContentRequest.contents[0].parts: must not be empty",
    "* GenerateContentRequest.tools[0].function_declarations[0].name: [FIELD_INVALID]",
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).",
    "\"m\" does not support tools",
    "model \"x\" not found, try pulling it first",
    "server busy, please try again.  maximum pending requests exceeded",
    "Requests rate limit exceeded",
    "Unauthorized",
    "Invalid value at 'generation_config.response_schema.properties[0].value' (type), \"text\"",
    "Invalid type for 'messages[2].tool_calls[0].function_call': expected an object, but got a string instead.",
];

#[test]
fn what_is_said_of_an_ordinary_request_stays() {
    let request = ordinary();
    let body = json!({
        "messages": request.messages.iter().map(|message| json!({
            "role": "user",
            "content": message.content.iter().filter_map(ContentPart::as_text).collect::<String>(),
        })).collect::<Vec<_>>(),
        "tools": [{ "type": "function", "function": {
            "name": "get_weather",
            "description": request.tools[0].description,
            "parameters": request.tools[0].parameters,
        } }],
    });
    let sent = sent_texts(body.to_string().as_bytes());
    for message in MESSAGES {
        assert_eq!(scrub_content(message, request_texts(&request)), message);
        assert_eq!(scrub_content(message, sent.iter().map(String::as_str)), message);
    }
}

#[test]
fn a_code_and_a_way_to_a_field_stay_readable() {
    let texts = [
        "rate_limit_exceeded",
        "function_declarations are what I speak of",
        "max_tokens",
        "secret_name",
    ];
    for (code, shown) in [
        ("rate_limit_exceeded", "rate_limit_exceeded"),
        ("you sent rate_limit_exceeded", "you sent [content]"),
        ("function_declarations are what I speak of", "[content]"),
    ] {
        assert_eq!(scrub_contents([Said::code(code)], texts), [shown]);
    }
    for (param, shown) in [
        ("max_tokens", "max_tokens"),
        (
            "tools[0].function_declarations[0]",
            "tools[0].function_declarations[0]",
        ),
        ("messages.0.secret_name", "messages.0.[content]"),
        ("messages[0].of secret_name", "messages[0].of [content]"),
    ] {
        assert_eq!(scrub_contents([Said::param(param, None)], texts), [shown]);
    }
}

/// The words of a long prompt are those of every message.
#[test]
fn words_inside_of_words_and_beside_a_cut_stay() {
    let texts = [
        "support",
        "functional",
        "I made a request and retried. Please continue to write of functions.",
        "unsupported",
    ];
    for (message, shown) in [
        ("Unsupportedly so", "Unsupportedly so"),
        ("It is unsupported", "It is [content]"),
        ("the request... Please continue", "the request... Please continue"),
        ("I retry that request...", "I retry that request..."),
        ("got 'functional_calls'", "got 'functional_calls'"),
        ("got 'functions'", "got '[content]'"),
        ("got and retried. Please…", "got [content]…"),
        ("got I made a re…", "got [content]…"),
    ] {
        assert_eq!(scrub_content(message, texts), shown);
    }
}
