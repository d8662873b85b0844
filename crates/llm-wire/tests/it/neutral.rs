//! Neutral data to try things with.

use llm_core::chat::AudioPart;
use llm_core::{
    CachePoint, CacheTtl, ChatRequest, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource,
    Message, ModelId, OpaquePart, Origin, OutputFormat, Reasoning, ReasoningEffort, ReasoningPart,
    RefusalPart, Replay, Role, Sampling, ToolCall, ToolChoice, ToolResult, ToolSpec, VendorId,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub(crate) const OPENAI: VendorId = VendorId::from_static("openai");

/// Text that is not empty, of any characters.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{1,12}", "\\PC{1,6}", "[\n\r\t\"\\\\\u{0}]{1,3}"]
}

pub(crate) fn word() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_-]{0,12}"
}

/// Some JSON, no number with a fraction.
pub(crate) fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(word(), inner, 0..4).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

pub(crate) fn json_object() -> impl Strategy<Value = Value> {
    btree_map(word(), json_value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()))
}

fn base64(media_types: &'static [&'static str]) -> impl Strategy<Value = MediaSource> {
    (select(media_types), vec(any::<u8>(), 1..9)).prop_map(|(kind, bytes)| MediaSource::bytes(kind, bytes))
}

fn image() -> impl Strategy<Value = ContentPart> {
    let url = "[a-z]{1,8}".prop_map(|name| MediaSource::url(format!("https://example.com/{name}.png")));
    let details = [
        ImageDetail::Auto,
        ImageDetail::Low,
        ImageDetail::High,
        ImageDetail::Original,
    ];
    let source = prop_oneof![url, base64(&["image/png", "image/jpeg"])];
    (source, of(select(details.to_vec()))).prop_map(|(source, detail)| {
        let mut image = ImagePart::new(source);
        image.detail = detail;
        ContentPart::Image(image)
    })
}

/// A part of a user message, in canonical form.
fn user_part() -> impl Strategy<Value = ContentPart> {
    let file = word().prop_map(|id| MediaSource::VendorFile { vendor: OPENAI, id });
    prop_oneof![
        4 => text().prop_map(ContentPart::text),
        1 => image(),
        1 => base64(&["audio/wav", "audio/mpeg"]).prop_map(|source| ContentPart::Audio(AudioPart::new(source))),
        1 => (base64(&["application/pdf"]), word()).prop_map(|(source, name)| {
            ContentPart::Document(DocumentPart::new(source).with_name(name))
        }),
        1 => file.prop_map(|source| ContentPart::Document(DocumentPart::new(source))),
    ]
}

/// Cache points after some of the parts.
fn with_cache_points(
    parts: impl Strategy<Value = Vec<ContentPart>>,
    cache_points: bool,
) -> impl Strategy<Value = Vec<ContentPart>> {
    let ttl = of(select(vec![CacheTtl::Short, CacheTtl::Long]));
    (parts, vec(ttl, 8)).prop_map(move |(parts, ttls)| {
        let mut marked = Vec::new();
        for (part, ttl) in parts.into_iter().zip(ttls) {
            marked.push(part);
            if let (Some(ttl), true) = (ttl, cache_points) {
                marked.push(ContentPart::CachePoint(CachePoint::new(ttl)));
            }
        }
        marked
    })
}

fn texts(cache_points: bool) -> impl Strategy<Value = Vec<ContentPart>> {
    with_cache_points(vec(text().prop_map(ContentPart::text), 0..3), cache_points)
}

fn named(role: Role, parts: impl Strategy<Value = Vec<ContentPart>>) -> impl Strategy<Value = Vec<Message>> {
    (parts, of(word())).prop_map(move |(parts, name)| {
        let mut message = Message::new(role, parts);
        message.name = name;
        vec![message]
    })
}

/// An assistant message and, where it holds calls, the message of their results.
fn assistant_turn(cache_points: bool) -> impl Strategy<Value = Vec<Message>> {
    let call = (word(), json_object(), texts(cache_points), any::<bool>());
    let calls = vec(call, 0..4);
    (texts(cache_points), of(text()), calls, of(word())).prop_map(|(mut parts, refusal, calls, audio)| {
        parts.extend(refusal.map(|text| ContentPart::Refusal(RefusalPart::new(text))));
        let own = |data: Value| Replay::new(Origin::new(OPENAI), data);
        let mut results = Vec::new();
        for (number, (name, arguments, answer, custom)) in calls.into_iter().enumerate() {
            let id = format!("call_{number}");
            parts.push(if custom && number > 0 {
                let data = json!({"id": id, "type": "custom", "custom": {"name": name, "input": "x"}});
                ContentPart::Opaque(OpaquePart::new("custom_tool_call", own(data)))
            } else {
                ContentPart::ToolCall(ToolCall::new(&id, name, arguments.to_string()))
            });
            results.push(ToolResult::new(id, "").with_content(answer));
        }
        if let Some(id) = audio {
            parts.push(ContentPart::Opaque(OpaquePart::new(
                "audio",
                own(json!({"id": id})),
            )));
        }
        let mut turn = vec![Message::new(Role::Assistant, parts)];
        if !results.is_empty() {
            turn.push(Message::tool_results(results));
        }
        turn
    })
}

/// Messages in canonical form (see `decode_request`).
pub(crate) fn messages(cache_points: bool) -> impl Strategy<Value = Vec<Message>> {
    let turn = prop_oneof![
        named(Role::System, texts(cache_points)),
        named(
            Role::User,
            with_cache_points(vec(user_part(), 0..4), cache_points)
        ),
        assistant_turn(cache_points),
    ];
    vec(turn, 1..5).prop_map(|turns| turns.concat())
}

fn sampling(top_k: bool) -> impl Strategy<Value = Sampling> {
    let hundredths = |range: std::ops::Range<i32>| of(range.prop_map(|number| f64::from(number) / 100.0));
    let penalty = || hundredths(-200..200);
    (
        hundredths(0..200),
        hundredths(0..100),
        of(1_u32..100),
        penalty(),
        penalty(),
        of(any::<i64>()),
    )
        .prop_map(move |(temperature, top_p, k, frequency, presence, seed)| {
            let mut sampling = Sampling::default();
            sampling.temperature = temperature;
            sampling.top_p = top_p;
            sampling.top_k = k.filter(|_| top_k);
            sampling.frequency_penalty = frequency;
            sampling.presence_penalty = presence;
            sampling.seed = seed;
            sampling
        })
}

fn tool() -> impl Strategy<Value = ToolSpec> {
    (of(text()), of(json_object()), of(any::<bool>())).prop_map(|(description, parameters, strict)| {
        let mut tool = ToolSpec::new("");
        tool.description = description;
        tool.parameters = parameters;
        tool.strict = strict;
        tool
    })
}

/// Tools, the choice among them, and whether they may be called side by side.
fn tools() -> impl Strategy<Value = (Vec<ToolSpec>, Option<ToolChoice>, Option<bool>)> {
    let named = vec(tool(), 0..3).prop_map(|mut tools| {
        for (number, tool) in tools.iter_mut().enumerate() {
            tool.name = format!("tool_{number}");
        }
        tools
    });
    (named, 0..6_u8, of(any::<bool>())).prop_map(|(tools, choice, parallel)| {
        let choice = match (choice, tools.last()) {
            (0, Some(_)) => Some(ToolChoice::Auto),
            (1, Some(_)) => Some(ToolChoice::None),
            (2, Some(_)) => Some(ToolChoice::Required),
            (3, Some(tool)) => Some(ToolChoice::Tool(tool.name.clone())),
            _ => None,
        };
        let parallel = parallel.filter(|_| !tools.is_empty());
        (tools, choice, parallel)
    })
}

fn output() -> impl Strategy<Value = OutputFormat> {
    prop_oneof![
        Just(OutputFormat::Text),
        Just(OutputFormat::Json),
        (word(), of(text()), json_object(), of(any::<bool>())).prop_map(
            |(name, description, schema, strict)| {
                OutputFormat::JsonSchema {
                    name,
                    description,
                    schema,
                    strict,
                }
            }
        ),
    ]
}

fn openai_options() -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let option = prop_oneof![
        word().prop_map(|word| ("verbosity", word.into())),
        any::<bool>().prop_map(|flag| ("store", flag.into())),
        json_object().prop_map(|object| ("metadata", object)),
        json_object().prop_map(|object| ("logit_bias", object)),
        (0..20_u8).prop_map(|count| ("top_logprobs", count.into())),
        word().prop_map(|key| ("prompt_cache_key", key.into())),
        json_object().prop_map(|object| ("audio", object)),
        Just(("modalities", json!(["text", "audio"]))),
        Just((
            "custom_tools",
            json!([{"type": "custom", "custom": {"name": "c"}}])
        )),
        Just((
            "tool_choice",
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}})
        )),
    ];
    vec(option, 0..4)
}

/// A request in canonical form (see `decode_request`), with everything that a host may take.
pub(crate) fn canonical(top_k: bool) -> impl Strategy<Value = ChatRequest> {
    let effort = of(select(ReasoningEffort::ALL.to_vec()));
    let tiers = ["auto", "flex", "priority"].map(str::to_owned);
    let limits = (
        of(1_u32..),
        vec(text(), 0..4),
        of(text()),
        of(select(tiers.to_vec())),
    );
    let form = (messages(false), tools(), output(), openai_options());
    (word(), form, sampling(top_k), effort, limits).prop_map(
        |(model, (messages, tools, output, options), sampling, effort, (most, stop, user, tier))| {
            let mut request = ChatRequest::new(messages)
                .with_model(ModelId::new(format!("demo-{model}")).unwrap())
                .with_output(output)
                .with_sampling(sampling)
                .with_stop(stop);
            (request.tools, request.tool_choice, request.parallel_tool_calls) = tools;
            request.reasoning = effort.map(Reasoning::effort);
            request.max_output_tokens = most;
            request.user = user;
            request.service_tier = tier;
            for (key, value) in options {
                if key == "tool_choice" {
                    // the nearest that other vendors know; the bag wins over it
                    request.tool_choice = Some(ToolChoice::Auto);
                }
                request.vendor.set(OPENAI, key, value);
            }
            request
        },
    )
}

/// Any part, in any place.
fn any_part() -> impl Strategy<Value = ContentPart> {
    let id = || select(vec!["c0", "c1", "c2"]);
    let text = || prop_oneof![Just(String::new()), text()];
    let arguments = || prop_oneof![json_object().prop_map(|object| object.to_string()), text()];
    let vendor = select(vec!["openai", "claude"]);
    let replay = (vendor, json_value())
        .prop_map(|(vendor, data)| Replay::new(Origin::new(VendorId::from_static(vendor)), data))
        .boxed();
    let inner = prop_oneof![
        text().prop_map(ContentPart::text),
        image(),
        Just(ContentPart::CachePoint(CachePoint::default())),
    ];
    prop_oneof![
        3 => text().prop_map(ContentPart::text),
        2 => user_part(),
        3 => (id(), word(), arguments()).prop_map(|(id, name, arguments)| {
            ContentPart::ToolCall(ToolCall::new(id, name, arguments))
        }),
        3 => (id(), vec(inner, 0..3), any::<bool>()).prop_map(|(id, content, failed)| {
            let mut result = ToolResult::new(id, "").with_content(content);
            result.is_error = failed;
            ContentPart::ToolResult(result)
        }),
        1 => (text(), of(replay.clone())).prop_map(|(text, replay)| {
            let mut part = ReasoningPart::new(text);
            part.replay = replay;
            ContentPart::Reasoning(part)
        }),
        1 => text().prop_map(|text| ContentPart::Refusal(RefusalPart::new(text))),
        1 => (select(vec!["audio", "custom_tool_call", "else"]), replay).prop_map(|(kind, replay)| {
            ContentPart::Opaque(OpaquePart::new(kind, replay))
        }),
        1 => Just(ContentPart::CachePoint(CachePoint::default())),
    ]
}

/// Messages of any parts in any order, most of them more or less where they belong.
pub(crate) fn messy_messages() -> impl Strategy<Value = Vec<Message>> {
    let belongs = |role: Role, part: &ContentPart| match part {
        ContentPart::Text(_) | ContentPart::CachePoint(_) => role != Role::Tool,
        ContentPart::ToolResult(_) => matches!(role, Role::Tool | Role::User),
        ContentPart::Image(_) | ContentPart::Audio(_) | ContentPart::Document(_) => role == Role::User,
        _ => role == Role::Assistant,
    };
    let role = select(vec![
        Role::System,
        Role::User,
        Role::Assistant,
        Role::Assistant,
        Role::Tool,
        Role::Tool,
    ]);
    let message = (role, vec(any_part(), 0..5), 0..20_u8).prop_map(move |(role, mut parts, strict)| {
        if strict > 0 {
            parts.retain(|part| belongs(role, part));
        }
        Message::new(role, parts)
    });
    vec(message, 0..7)
}
