//! A request for each option, and the same request without it.

mod state;

use llm_core::chat::{AudioPart, RequestOption};
use llm_core::{
    CachePoint, CacheTtl, Capabilities, Capability, ChatRequest, ContentPart, DocumentPart, ImageDetail,
    ImagePart, MediaSource, Message, ModelId, OpaquePart, Origin, OutputFormat, Reasoning, ReasoningEffort,
    ReasoningPart, RefusalPart, Replay, Role, Sampling, Support, ToolCall, ToolChoice, ToolResult, ToolSpec,
    VendorId,
};
use serde_json::{Value, json};

pub(crate) use state::own_state;

/// An option as it is asked of a driver.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The request without it; `None`: there is nothing to compare with, the marks say all.
    pub(crate) without: Option<ChatRequest>,
    /// The same request with it.
    pub(crate) with: ChatRequest,
    /// What stands in a request that carries it, as a text or a piece of one, a number or a key. Empty: every vendor
    /// writes it in its own way, and what is sent must only differ.
    pub(crate) marks: Vec<String>,
}

/// The bytes of every picture, sound and document here, as they stand in a request.
const BYTES: &[u8] = b"KIT-BYTES";
const BASE64: &str = "S0lULUJZVEVT";
const URL: &str = "https://files.test/kit-file";

/// How an option can be asked; empty: the kit does not know it yet.
pub(crate) fn samples(option: RequestOption, vendor: &VendorId, model: &ModelId) -> Vec<Sample> {
    let hello = || ChatRequest::user("Say hello.").with_model(model.clone());
    let ask = |change: &dyn Fn(ChatRequest) -> ChatRequest, marks: &[&'static str]| {
        vec![sample(hello(), change(hello()), marks)]
    };
    let sampling = |set: &dyn Fn(&mut Sampling), marks: &[&'static str]| {
        let mut sampling = Sampling::default();
        set(&mut sampling);
        vec![sample(hello(), hello().with_sampling(sampling), marks)]
    };
    let part = |part: ContentPart, marks: &[&'static str]| {
        let content = vec![ContentPart::text("Look."), part];
        let with = ChatRequest::new([Message::new(Role::User, content)]).with_model(model.clone());
        vec![sample(
            ChatRequest::user("Look.").with_model(model.clone()),
            with,
            marks,
        )]
    };
    let bytes = |media_type: &str| MediaSource::bytes(media_type, BYTES);
    let file = || MediaSource::VendorFile {
        vendor: vendor.clone(),
        id: "kit-file-id".to_owned(),
    };
    let document = |source| ContentPart::Document(DocumentPart::new(source).with_name("kit.pdf"));
    // What the model said, between two questions.
    let history = |parts: Vec<ContentPart>| {
        ChatRequest::new([
            Message::user("Say hello."),
            Message::new(Role::Assistant, parts),
            Message::user("And now?"),
        ])
        .with_model(model.clone())
    };
    let said = |part: ContentPart, marks: &[&'static str]| {
        vec![sample(
            history(vec!["Hello.".into()]),
            history(vec![part, "Hello.".into()]),
            marks,
        )]
    };
    let foreign = || {
        Replay::new(
            Origin::new(VendorId::from_static("another")),
            json!({ "signature": "KIT-SIGNATURE" }),
        )
    };
    let tool = || ToolSpec::new("kit_tool");
    let with_tool = || hello().with_tools([tool()]);
    let specified = |changed: ToolSpec, marks: &[&'static str]| {
        vec![sample(with_tool(), hello().with_tools([changed]), marks)]
    };
    let chosen =
        |change: &dyn Fn(ChatRequest) -> ChatRequest| vec![sample(with_tool(), change(with_tool()), &[])];
    let schema = || json!({"type": "object", "properties": {"kit_field": {"type": "string"}}, "required": ["kit_field"], "additionalProperties": false});
    let answered = |result: ToolResult| {
        ChatRequest::new([
            Message::user("Say hello."),
            Message::new(
                Role::Assistant,
                vec![ContentPart::ToolCall(ToolCall::new("call_1", "kit_tool", "{}"))],
            ),
            Message::tool_results([result]),
        ])
        .with_model(model.clone())
        .with_tools([tool()])
    };
    let result = |changed: ToolResult, marks: &[&'static str]| {
        vec![sample(
            answered(ToolResult::new("call_1", "kit result")),
            answered(changed),
            marks,
        )]
    };
    match option {
        RequestOption::Model => {
            let mut named = sample(hello().with_model(None), hello(), &[]);
            // Without a name the driver's default may be the same model.
            named.without = None;
            named.marks = vec![model.to_string()];
            vec![named]
        }
        RequestOption::SystemMessage => {
            let system = |position: usize| {
                let mut request = hello()
                    .with_message(Message::assistant("Hello."))
                    .with_message(Message::user("And now?"));
                let without = request.clone();
                request.messages.insert(position, Message::system("KIT-TEXT"));
                sample(without, request, &["KIT-TEXT"])
            };
            vec![system(0), system(2)]
        }
        RequestOption::UserMessage => ask(
            &|request| request.with_message(Message::user("KIT-TEXT")),
            &["KIT-TEXT"],
        ),
        RequestOption::Text => part(ContentPart::text("KIT-TEXT"), &["KIT-TEXT"]),
        RequestOption::AssistantMessage => vec![sample(
            hello().with_message(Message::user("And now?")),
            history(vec!["KIT-TEXT".into()]),
            &["KIT-TEXT"],
        )],
        RequestOption::MessageName => {
            let named = ChatRequest::new([Message::user("Say hello.").with_name("kit_name")]);
            vec![sample(hello(), named.with_model(model.clone()), &["kit_name"])]
        }
        RequestOption::ImageUrl => part(ContentPart::Image(ImagePart::new(MediaSource::url(URL))), &[URL]),
        RequestOption::ImageBytes => part(ContentPart::Image(ImagePart::new(bytes("image/png"))), &[BASE64]),
        RequestOption::ImageFile => part(ContentPart::Image(ImagePart::new(file())), &["kit-file-id"]),
        RequestOption::ImageDetail => {
            let image = || ImagePart::new(bytes("image/png"));
            [ImageDetail::Low, ImageDetail::High, ImageDetail::Original]
                .map(|detail| {
                    let plain = part(ContentPart::Image(image()), &[]).remove(0).with;
                    let with = part(ContentPart::Image(image().with_detail(detail)), &[])
                        .remove(0)
                        .with;
                    sample(plain, with, &[])
                })
                .into()
        }
        RequestOption::AudioUrl => part(ContentPart::Audio(AudioPart::new(MediaSource::url(URL))), &[URL]),
        RequestOption::AudioBytes => part(ContentPart::Audio(AudioPart::new(bytes("audio/wav"))), &[BASE64]),
        RequestOption::AudioFile => part(ContentPart::Audio(AudioPart::new(file())), &["kit-file-id"]),
        RequestOption::DocumentUrl => part(document(MediaSource::url(URL)), &[URL]),
        RequestOption::DocumentBytes => part(document(bytes("application/pdf")), &[BASE64]),
        RequestOption::DocumentFile => part(document(file()), &["kit-file-id"]),
        RequestOption::DocumentName => {
            let named = part(document(bytes("application/pdf")), &[]).remove(0).with;
            let unnamed = ContentPart::Document(DocumentPart::new(bytes("application/pdf")));
            let unnamed = part(unnamed, &[]).remove(0).with;
            vec![sample(unnamed, named, &["kit"])]
        }
        RequestOption::ToolMessage | RequestOption::ToolResult => vec![sample(
            with_tool(),
            answered(ToolResult::new("call_1", "KIT-TEXT")),
            &["KIT-TEXT"],
        )],
        RequestOption::ToolCall => {
            let call = ToolCall::new("call_1", "kit_tool", r#"{"kit_argument":"KIT-TEXT"}"#);
            let mut with = answered(ToolResult::new("call_1", "kit result"));
            with.messages[1].content = vec![ContentPart::ToolCall(call)];
            vec![sample(with_tool(), with, &["kit_argument", "KIT-TEXT"])]
        }
        RequestOption::ToolResultName => {
            result(ToolResult::new("call_1", "kit result").with_name("kit_tool"), &[])
        }
        RequestOption::ToolResultMedia => {
            let picture = ContentPart::Image(ImagePart::new(bytes("image/png")));
            result(
                ToolResult::new("call_1", "").with_content(vec!["kit result".into(), picture]),
                &[BASE64],
            )
        }
        RequestOption::ToolResultError => result(ToolResult::new("call_1", "kit result").with_error(), &[]),
        RequestOption::ReasoningText => said(
            ContentPart::Reasoning(ReasoningPart::new("KIT-THOUGHT")),
            &["KIT-THOUGHT"],
        ),
        RequestOption::ReasoningReplay => said(
            ContentPart::Reasoning(ReasoningPart::new("").with_replay(foreign())),
            &["KIT-SIGNATURE"],
        ),
        RequestOption::Refusal => said(
            ContentPart::Refusal(RefusalPart::new("KIT-REFUSAL")),
            &["KIT-REFUSAL"],
        ),
        RequestOption::Opaque => said(
            ContentPart::Opaque(OpaquePart::new("kit_piece", foreign())),
            &["KIT-SIGNATURE"],
        ),
        RequestOption::CachePointShort | RequestOption::CachePointLong => {
            let ttl = match option {
                RequestOption::CachePointLong => CacheTtl::Long,
                _ => CacheTtl::Short,
            };
            part(ContentPart::CachePoint(CachePoint::new(ttl)), &[])
        }
        RequestOption::Tools => ask(&|request| request.with_tools([tool()]), &["kit_tool"]),
        RequestOption::ToolDescription => specified(tool().with_description("KIT-TEXT"), &["KIT-TEXT"]),
        RequestOption::ToolParameters => specified(tool().with_parameters(schema()), &["kit_field"]),
        RequestOption::ToolStrict | RequestOption::ToolLoose => {
            let tool = || tool().with_parameters(schema());
            let strict = option == RequestOption::ToolStrict;
            vec![sample(
                hello().with_tools([tool()]),
                hello().with_tools([tool().with_strict(strict)]),
                &[],
            )]
        }
        RequestOption::ToolChoiceAuto => chosen(&|request| request.with_tool_choice(ToolChoice::Auto)),
        RequestOption::ToolChoiceNone => chosen(&|request| request.with_tool_choice(ToolChoice::None)),
        RequestOption::ToolChoiceRequired => {
            chosen(&|request| request.with_tool_choice(ToolChoice::Required))
        }
        RequestOption::ToolChoiceTool => {
            chosen(&|request| request.with_tool_choice(ToolChoice::Tool("kit_tool".to_owned())))
        }
        RequestOption::ParallelToolCalls => chosen(&|request| request.with_parallel_tool_calls(true)),
        RequestOption::SingleToolCalls => chosen(&|request| request.with_parallel_tool_calls(false)),
        RequestOption::OutputJson => ask(&|request| request.with_output(OutputFormat::Json), &[]),
        RequestOption::OutputSchema => ask(
            &|request| request.with_output(schema_output(schema(), None, None)),
            &["kit_field"],
        ),
        RequestOption::OutputDescription => vec![sample(
            hello().with_output(schema_output(schema(), None, None)),
            hello().with_output(schema_output(schema(), Some("KIT-TEXT"), None)),
            &["KIT-TEXT"],
        )],
        RequestOption::OutputStrict | RequestOption::OutputLoose => {
            let strict = Some(option == RequestOption::OutputStrict);
            vec![sample(
                hello().with_output(schema_output(schema(), None, None)),
                hello().with_output(schema_output(schema(), None, strict)),
                &[],
            )]
        }
        RequestOption::Temperature => sampling(&|sampling| sampling.temperature = Some(0.125), &["0.125"]),
        RequestOption::TopP => sampling(&|sampling| sampling.top_p = Some(0.375), &["0.375"]),
        RequestOption::TopK => sampling(&|sampling| sampling.top_k = Some(4141), &["4141"]),
        RequestOption::FrequencyPenalty => {
            sampling(&|sampling| sampling.frequency_penalty = Some(0.625), &["0.625"])
        }
        RequestOption::PresencePenalty => {
            sampling(&|sampling| sampling.presence_penalty = Some(0.875), &["0.875"])
        }
        RequestOption::Seed => sampling(&|sampling| sampling.seed = Some(424_242), &["424242"]),
        RequestOption::ReasoningOff => ask(
            &|request| request.with_reasoning(Reasoning::effort(ReasoningEffort::None)),
            &[],
        ),
        RequestOption::ReasoningEffort => ReasoningEffort::ALL
            .into_iter()
            .filter(|effort| *effort != ReasoningEffort::None)
            .map(|effort| sample(hello(), hello().with_reasoning(Reasoning::effort(effort)), &[]))
            .collect(),
        RequestOption::ReasoningInclude => ask(
            &|request| request.with_reasoning(Reasoning::default().with_include(true)),
            &[],
        ),
        RequestOption::MaxOutputTokens => ask(&|request| request.with_max_output_tokens(1717), &["1717"]),
        RequestOption::Stop => ask(
            &|request| request.with_stop(["KIT-STOP".to_owned()]),
            &["KIT-STOP"],
        ),
        RequestOption::User => ask(&|request| request.with_user("kit-user"), &["kit-user"]),
        // no word is every vendor's
        RequestOption::ServiceTier => ["flex", "auto"]
            .map(|tier| sample(hello(), hello().with_service_tier(tier), &[tier]))
            .into(),
        RequestOption::Vendor => ask(
            &|request| request.with_vendor_option(vendor.clone(), "body", json!({ "kit_key": 1 })),
            &["kit_key"],
        ),
        // State of another vendor stays away without a word; what becomes of the vendor's own, its fixtures show.
        RequestOption::TextReplay | RequestOption::ToolCallReplay => Vec::new(),
        _ => Vec::new(),
    }
}

/// Why there is nothing to send for an option and nothing to warn of, whatever the driver.
pub(crate) fn rule(option: RequestOption, capabilities: &Capabilities) -> Option<&'static str> {
    let lacks = |capability| capabilities.support(capability) == Support::No;
    match option {
        RequestOption::ToolChoiceAuto => Some("what holds wherever tools are offered"),
        RequestOption::ToolResultName => Some("the call's id says which tool answered"),
        RequestOption::ToolLoose | RequestOption::OutputLoose => {
            Some("a better fit than asked for harms nobody")
        }
        RequestOption::ReasoningText => Some("a thought without vendor state is for people"),
        RequestOption::ReasoningOff if lacks(Capability::Reasoning) => Some("the model does not think"),
        RequestOption::SingleToolCalls if lacks(Capability::ParallelTools) => {
            Some("the model makes one call at a time")
        }
        _ => None,
    }
}

fn sample(without: ChatRequest, with: ChatRequest, marks: &[&str]) -> Sample {
    Sample {
        without: Some(without),
        with,
        marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
    }
}

fn schema_output(schema: Value, about: Option<&str>, strict: Option<bool>) -> OutputFormat {
    let mut output = OutputFormat::json_schema("kit_answer", schema);
    if let OutputFormat::JsonSchema {
        description,
        strict: guaranteed,
        ..
    } = &mut output
    {
        *description = about.map(str::to_owned);
        *guaranteed = strict;
    }
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_sample_that_asks_it_and_one_that_does_not() {
        let model = ModelId::new("m1").unwrap();
        for option in RequestOption::ALL {
            let samples = samples(*option, &VendorId::from_static("acme"), &model);
            let by_fixtures = matches!(option, RequestOption::TextReplay | RequestOption::ToolCallReplay);
            assert!(by_fixtures || !samples.is_empty(), "{option}: write a sample");
            for sample in samples {
                assert!(
                    RequestOption::of(&sample.with).contains(option),
                    "{option} is not asked"
                );
                let more_of_it = matches!(option, RequestOption::UserMessage | RequestOption::Text);
                let before = sample.without.map(|without| RequestOption::of(&without));
                assert!(
                    more_of_it || !before.unwrap_or_default().contains(option),
                    "{option} is asked before it is"
                );
            }
        }
    }
}
