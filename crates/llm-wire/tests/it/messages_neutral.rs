//! Neutral data in the canonical form of Messages.

use crate::neutral::{json_object, text, word};
use llm_core::{
    CachePoint, CacheTtl, ChatRequest, ContentPart, DocumentPart, ImagePart, MediaSource, Message, ModelId,
    OpaquePart, Origin, OutputFormat, Reasoning, ReasoningEffort as Effort, ReasoningPart, Replay, Role,
    TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

pub(crate) const ANTHROPIC: VendorId = VendorId::from_static("anthropic");

/// A model that takes sampling values, and one that takes efforts and system messages in the middle.
pub(crate) const MODELS: [&str; 2] = ["demo", "claude-haiku-5-5"];

pub(crate) fn replay(data: Value) -> Replay {
    Replay::new(Origin::new(ANTHROPIC), data)
}

/// A thought as its vendor signed it, shown.
pub(crate) fn signed(text: &str) -> ReasoningPart {
    let block = json!({"type": "thinking", "thinking": text, "signature": "SIG"});
    ReasoningPart::new(text).with_replay(replay(block))
}

/// A block that only the vendor can read: its kind and its fields.
pub(crate) fn piece() -> impl Strategy<Value = OpaquePart> {
    let kinds = [
        "redacted_thinking",
        "server_tool_use",
        "web_search_tool_result",
        "of_the_future",
    ];
    (select(kinds.to_vec()), json_object()).prop_map(|(kind, fields)| {
        let mut block = Map::new();
        block.insert("type".into(), kind.into());
        block.insert("own".into(), fields);
        OpaquePart::new(kind, replay(Value::Object(block)))
    })
}

/// Citations of a text.
pub(crate) fn citations() -> impl Strategy<Value = Option<Vec<Value>>> {
    of(vec(json_object(), 1..3))
}

pub(crate) fn cited(text: String, citations: Option<Vec<Value>>) -> TextPart {
    let part = TextPart::new(text);
    match citations {
        Some(citations) => part.with_replay(replay(json!({ "citations": citations }))),
        None => part,
    }
}

fn source(media_types: &'static [&'static str]) -> impl Strategy<Value = MediaSource> {
    let vendor = ANTHROPIC;
    prop_oneof![
        (select(media_types), vec(any::<u8>(), 1..9))
            .prop_map(|(kind, bytes)| MediaSource::bytes(kind, bytes)),
        word().prop_map(|name| MediaSource::url(format!("https://example.com/{name}"))),
        word().prop_map(move |id| MediaSource::VendorFile {
            vendor: vendor.clone(),
            id
        }),
    ]
}

fn image() -> impl Strategy<Value = ContentPart> {
    source(&["image/png", "image/jpeg", "image/webp"])
        .prop_map(|source| ContentPart::Image(ImagePart::new(source)))
}

fn document() -> impl Strategy<Value = ContentPart> {
    let text = text().prop_map(|text| MediaSource::bytes("text/plain", text));
    (prop_oneof![source(&["application/pdf"]), text], of(word())).prop_map(|(source, name)| {
        let mut document = DocumentPart::new(source);
        document.name = name;
        ContentPart::Document(document)
    })
}

fn found() -> impl Strategy<Value = ContentPart> {
    text().prop_map(|text| {
        let block =
            json!({"type": "search_result", "source": "s", "content": [{"type": "text", "text": text}]});
        ContentPart::Text(TextPart::new(format!("s\n{text}")).with_replay(replay(block)))
    })
}

/// It is no block, but belongs to the document before it.
fn is_document_options(part: &ContentPart) -> bool {
    matches!(part, ContentPart::Opaque(piece) if piece.kind == "document_options")
}

/// A document, and behind it what only this format says of one.
fn cited_document() -> impl Strategy<Value = Vec<ContentPart>> {
    let own = prop_oneof![
        Just(json!({"context": "c"})),
        Just(json!({"citations": {"enabled": true}})),
        Just(json!({"context": "c", "citations": {"enabled": true}})),
    ];
    let piece = own.prop_map(|own| ContentPart::Opaque(OpaquePart::new("document_options", replay(own))));
    (document(), piece).prop_map(|(document, piece)| vec![document, piece])
}

fn user_parts() -> impl Strategy<Value = Vec<ContentPart>> {
    let one = |part: ContentPart| vec![part];
    let parts = prop_oneof![
        4 => text().prop_map(move |text| one(ContentPart::text(text))),
        1 => image().prop_map(one),
        1 => document().prop_map(one),
        1 => cited_document(),
        1 => found().prop_map(one),
    ];
    vec(parts, 1..4).prop_map(|parts| parts.concat())
}

fn assistant_parts() -> impl Strategy<Value = Vec<ContentPart>> {
    let part = prop_oneof![
        4 => (text(), citations()).prop_map(|(text, citations)| ContentPart::Text(cited(text, citations))),
        2 => text().prop_map(|text| ContentPart::Reasoning(signed(&text))),
        1 => piece().prop_map(ContentPart::Opaque),
        3 => (word(), json_object(), any::<bool>()).prop_map(|(name, arguments, direct)| {
            let call = ToolCall::new("", name, arguments.to_string());
            ContentPart::ToolCall(if direct { call.with_replay(replay(json!({"caller": {"type": "direct"}}))) } else { call })
        }),
    ];
    vec(part, 1..5)
}

/// What is answered to one call.
fn answer() -> impl Strategy<Value = (Vec<ContentPart>, bool)> {
    let part = prop_oneof![
        3 => text().prop_map(ContentPart::text),
        1 => image(),
        1 => document(),
    ];
    (vec(part, 0..3), any::<bool>())
}

/// A conversation that begins with the user and ends with what the assistant is to answer.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let exchange = (user_parts(), assistant_parts(), vec(answer(), 4), any::<bool>());
    (vec(exchange, 0..4), user_parts()).prop_map(|(exchanges, last)| {
        let mut messages = Vec::new();
        let mut number = 0;
        let mut answered = false;
        for (asked, mut said, answers, at_once) in exchanges {
            if !(answered && at_once) {
                messages.push(Message::new(Role::User, asked));
            }
            let mut results = Vec::new();
            let mut answers = answers.into_iter();
            for part in &mut said {
                if let ContentPart::ToolCall(call) = part {
                    call.id = format!("call_{number}");
                    number += 1;
                    let (content, failed) = answers.next().unwrap_or_default();
                    let mut result = ToolResult::new(&call.id, "").with_content(content);
                    result.is_error = failed;
                    results.push(result);
                }
            }
            messages.push(Message::new(Role::Assistant, said));
            answered = !results.is_empty();
            if answered {
                messages.push(Message::tool_results(results));
            }
        }
        messages.push(Message::new(Role::User, last));
        messages
    })
}

fn can_be_marked(part: &ContentPart) -> bool {
    if is_document_options(part) {
        return false;
    }
    match part {
        ContentPart::Reasoning(_) => false,
        ContentPart::Opaque(piece) => piece.kind != "redacted_thinking",
        _ => true,
    }
}

/// Up to four cache points of one time, each after a part.
fn mark(messages: &mut [Message], places: &[Index], ttl: CacheTtl) {
    let mut free = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let marked = message
            .content
            .iter()
            .enumerate()
            .filter(|(_, part)| can_be_marked(part));
        free.extend(marked.map(|(position, _)| (at, position)));
    }
    if free.is_empty() {
        return;
    }
    let mut chosen: Vec<_> = places.iter().map(|place| *place.get(&free)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    for (at, position) in chosen.into_iter().rev() {
        let content = &mut messages[at].content;
        let behind = position + 1 + usize::from(content.get(position + 1).is_some_and(is_document_options));
        content.insert(behind, ContentPart::CachePoint(CachePoint::new(ttl)));
    }
}

fn tools() -> impl Strategy<Value = (Vec<ToolSpec>, u8, Option<bool>)> {
    let tool =
        (of(text()), json_object(), of(any::<bool>())).prop_map(|(description, properties, strict)| {
            let mut tool =
                ToolSpec::new("").with_parameters(json!({"type": "object", "properties": properties}));
            tool.description = description;
            tool.strict = strict;
            tool
        });
    let named = vec(tool, 1..3).prop_map(|mut tools| {
        for (number, tool) in tools.iter_mut().enumerate() {
            tool.name = format!("tool_{number}");
        }
        tools
    });
    (named, 0..6_u8, of(any::<bool>()))
}

fn output() -> impl Strategy<Value = OutputFormat> {
    let schema = vec(word(), 1..3).prop_map(|names| {
        let properties: Map<_, _> = names
            .iter()
            .map(|name| (name.clone(), json!({"type": "string"})))
            .collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    });
    of(schema).prop_map(|schema| match schema {
        Some(schema) => OutputFormat::json_schema("output", schema),
        None => OutputFormat::Text,
    })
}

fn own_options() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let option = prop_oneof![
        json_object().prop_map(|object| ("context_management", object)),
        word().prop_map(|id| ("container", id.into())),
        json_object().prop_map(|object| ("container", object)),
        Just(("speed", json!("fast"))),
        json_object().prop_map(|object| ("task_budget", object)),
        Just((
            "builtin_tools",
            json!([{"type": "web_search_20260101", "name": "web_search"}])
        )),
    ];
    vec(option, 0..3)
}

/// A request in canonical form (see `decode_request`).
pub(crate) fn canonical() -> impl Strategy<Value = ChatRequest> {
    let model = select(MODELS.to_vec());
    let efforts = [
        Effort::None,
        Effort::Low,
        Effort::Medium,
        Effort::High,
        Effort::XHigh,
        Effort::Max,
    ];
    let hundredths = || of((0..100_i32).prop_map(|number| f64::from(number) / 100.0));
    let sampling = (hundredths(), hundredths(), of(1_u32..100));
    let effort = of((select(efforts.to_vec()), any::<bool>()));
    let marks = (vec(any::<Index>(), 0..4), any::<bool>(), any::<bool>());
    let system = (of(vec(text(), 1..3)), of(text()));
    let caller = (
        1_u32..,
        vec("[a-z]{1,5} ?", 0..3),
        of(text()),
        of(select(vec!["auto", "standard_only"])),
    );
    let form = (
        conversation(),
        system,
        marks,
        of(tools()),
        output(),
        own_options(),
    );
    (model, form, sampling, effort, caller).prop_map(|(model, form, sampling, effort, caller)| {
        let (mut messages, (above, within), (places, long, keep_tools), tools, output, options) = form;
        let newer = model == MODELS[1];
        if let (Some(text), true, true) = (within, newer, messages.len() > 1) {
            // between what is answered and what is asked next, never before a result
            let at = messages
                .iter()
                .rposition(|message| message.role == Role::User)
                .unwrap();
            messages.insert(at, Message::system(text));
        }
        if let Some(texts) = above {
            let parts = texts.into_iter().map(ContentPart::text).collect();
            messages.insert(0, Message::new(Role::System, parts));
        }
        let ttl = if long { CacheTtl::Long } else { CacheTtl::Short };
        mark(&mut messages, &places, ttl);
        let called = messages.iter().flat_map(|message| &message.content);
        let called = called
            .filter(|part| matches!(part, ContentPart::ToolCall(_)))
            .count()
            > 0;
        let own_tools = options.iter().any(|(name, _)| *name == "builtin_tools");
        let mut request = ChatRequest::new(messages)
            .with_model(ModelId::new(model).unwrap())
            .with_output(output);
        let tools = tools.or((called && !own_tools).then(|| (vec![any_tool()], 5, None)));
        if let Some((tools, choice, parallel)) = tools {
            if keep_tools && places.len() < 4 && !own_tools {
                request.messages[0]
                    .content
                    .insert(0, ContentPart::CachePoint(CachePoint::new(ttl)));
            }
            request.tool_choice = match choice {
                0 => Some(ToolChoice::Auto),
                1 => Some(ToolChoice::None),
                2 => Some(ToolChoice::Required),
                3 => Some(ToolChoice::Tool(tools[0].name.clone())),
                _ => None,
            };
            let can_be = !matches!(request.tool_choice, None | Some(ToolChoice::None));
            request.parallel_tool_calls = parallel.filter(|_| can_be);
            request.tools = tools;
        }
        let (temperature, top_p, top_k) = sampling;
        if newer {
            let shown = |(effort, include): (Effort, bool)| {
                Reasoning::effort(effort).with_include(include && effort != Effort::None)
            };
            request.reasoning = effort.map(shown);
        } else {
            request.sampling.temperature = temperature;
            request.sampling.top_p = top_p;
            request.sampling.top_k = top_k;
            request.reasoning = effort
                .filter(|(effort, _)| *effort == Effort::None)
                .map(|(none, _)| Reasoning::effort(none));
        }
        let (most, stop, user, tier) = caller;
        request.max_output_tokens = Some(most);
        request.stop = stop;
        request.user = user;
        request.service_tier = tier.map(str::to_owned);
        for (key, value) in options {
            request.vendor.set(ANTHROPIC, key, value);
        }
        request
    })
}

fn any_tool() -> ToolSpec {
    ToolSpec::new("tool_0").with_parameters(json!({"type": "object"}))
}
