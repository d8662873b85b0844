//! Capabilities: one that is claimed is exercised by its fixture, one that is not is refused before sending.

use super::fixtures::prove;
use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::subject::{Bench, Subject};
use llm_core::chat::AudioPart;
use llm_core::{
    Capability, ChatRequest, ContentPart, DocumentPart, ErrorKind, ImagePart, MediaSource, Message, ModelId,
    OutputFormat, Reasoning, ReasoningEffort, Role, Support, ToolSpec, capability,
};
use serde_json::json;

/// Proves what each of the harness's models claims of one capability.
pub(crate) async fn honest(subject: &Subject, capability: Capability) -> Finding {
    let bench = subject.bench()?;
    let mut outcome = Outcome::Skipped(format!(
        "no model of the harness says whether it has {capability}"
    ));
    if !claims(subject, &bench, capability, Support::No)?.is_empty() {
        outcome = refuse(subject, &bench, capability).await?;
    }
    let claimants = claims(subject, &bench, capability, Support::Yes)?;
    if !claimants.is_empty() {
        exercise(subject, &bench, capability, &claimants).await?;
        outcome = Outcome::Proved;
    }
    Ok(outcome)
}

/// What the harness's models say: yes, if one does; else no, if one does.
pub(crate) fn claim(subject: &Subject, bench: &Bench, capability: Capability) -> Result<Support, String> {
    for support in [Support::Yes, Support::No] {
        if !claims(subject, bench, capability, support)?.is_empty() {
            return Ok(support);
        }
    }
    Ok(Support::Unknown)
}

/// The models that say exactly this.
pub(crate) fn claims(
    subject: &Subject,
    bench: &Bench,
    capability: Capability,
    support: Support,
) -> Result<Vec<ModelId>, String> {
    let mut models = Vec::new();
    for model in subject.models()? {
        if subject.capabilities(&*bench.driver, &model)?.support(capability) == support {
            models.push(model);
        }
    }
    Ok(models)
}

/// Every model that disclaims a capability refuses a request that needs it.
pub(crate) async fn refuse(subject: &Subject, bench: &Bench, capability: Capability) -> Finding {
    let mut outcome = Outcome::Skipped("a tuning knob: without it, nothing is to be refused".to_owned());
    for model in claims(subject, bench, capability, Support::No)? {
        if let Some(request) = request_that_needs(capability) {
            let request = request.with_model(model);
            let streaming = capability == Capability::Streaming;
            if !streaming {
                refused(bench, &request, false).await?;
            }
            if streaming
                || subject
                    .capabilities(&*bench.driver, &subject.model()?)?
                    .support(Capability::Streaming)
                    != Support::No
            {
                refused(bench, &request, true).await?;
            }
            outcome = Outcome::Refused;
        }
    }
    Ok(outcome)
}

/// The call is refused as unsupported, and nothing is sent.
pub(crate) async fn refused(bench: &Bench, request: &ChatRequest, stream: bool) -> Finding {
    let before = bench.transport.request_count();
    let error = if stream {
        bench.stream(request, Answer::closed()).await?.outcome.err()
    } else {
        bench.chat(request, Answer::closed()).await?.err()
    };
    let verb = if stream { "chat_stream" } else { "chat" };
    let sent = bench.transport.request_count() - before;
    ensure!(
        sent == 0,
        "{verb} sent {sent} requests for what the driver says it cannot do; check the needs before sending"
    );
    match error {
        Some(error) if error.kind() == ErrorKind::Unsupported => Ok(Outcome::Refused),
        Some(error) => Err(format!(
            "{verb} refuses what it cannot do with {error}; expected unsupported"
        )),
        None => Err(format!("{verb} succeeds at what the driver says it cannot do")),
    }
}

async fn exercise(
    subject: &Subject,
    bench: &Bench,
    capability: Capability,
    claimants: &[ModelId],
) -> Result<(), String> {
    let name = match capability {
        Capability::Streaming => "text",
        other => other.as_str(),
    };
    let fixture = subject
        .fixture(name)
        .map_err(|what| format!("{capability} is claimed by {claimants:?}: {what}"))?;
    let request = subject.request_of(&fixture)?;
    let asked = request.model.clone().ok_or("no model")?;
    ensure!(
        claimants.contains(&asked),
        "the fixture {name} asks {asked}, which does not claim {capability}; set \"model\" in request.json"
    );
    match capability {
        Capability::Streaming => ensure!(
            fixture.stream.is_some(),
            "the fixture {name} has no stream; add wire_stream.sse"
        ),
        Capability::PromptCache => {
            let cached = fixture
                .expect
                .usage
                .as_ref()
                .and_then(|usage| usage.cached_input_tokens);
            ensure!(
                cached.is_some_and(|tokens| tokens > 0),
                "the fixture {name} expects no usage.cached_input_tokens; record an answer from the cache"
            );
        }
        other => ensure!(
            capability::needs(&request).contains(&other),
            "the request of the fixture {name} does not need {capability}; write one that does"
        ),
    }
    prove(subject, bench, &fixture).await
}

/// A request that cannot be served without this; `None`: there is none.
fn request_that_needs(capability: Capability) -> Option<ChatRequest> {
    let request = ChatRequest::user("Say hello.");
    let with_part = |part| {
        ChatRequest::new([Message::new(
            Role::User,
            vec![ContentPart::text("What is this?"), part],
        )])
    };
    let tool = ToolSpec::new("area").with_parameters(json!({"type": "object", "properties": {}}));
    let bytes = |media_type: &str| MediaSource::bytes(media_type, b"not looked at");
    match capability {
        Capability::Tools => Some(request.with_tools([tool])),
        Capability::ParallelTools => Some(request.with_tools([tool]).with_parallel_tool_calls(true)),
        Capability::Vision => Some(with_part(ContentPart::Image(ImagePart::new(bytes("image/png"))))),
        Capability::Documents => {
            let document = DocumentPart::new(bytes("application/pdf")).with_name("a.pdf");
            Some(with_part(ContentPart::Document(document)))
        }
        Capability::AudioInput => Some(with_part(ContentPart::Audio(AudioPart::new(bytes("audio/wav"))))),
        Capability::JsonSchema => {
            let schema =
                json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
            Some(request.with_output(OutputFormat::json_schema("thing", schema)))
        }
        Capability::Reasoning => Some(request.with_reasoning(Reasoning::effort(ReasoningEffort::High))),
        Capability::Streaming => Some(request),
        _ => None,
    }
}
