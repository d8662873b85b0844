//! Reasoning: every level of the one vocabulary is sent, clamped with a warning, or refused.

use super::capability::{claim, claims, refuse};
use super::fixtures::prove_plain;
use super::{Finding, Outcome, ensure};
use crate::subject::{Bench, Subject};
use llm_core::{
    Capability, ChatRequest, ErrorKind, ModelId, Reasoning, ReasoningEffort, ResolvedModel, Support,
    WarningKind,
};

/// The fixture's effort is sent, and no level of the vocabulary is lost in silence: a model takes it as it is, or
/// takes another with a warning, or the call is refused before sending.
pub(crate) async fn effort(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    for model in claims(subject, &bench, Capability::Reasoning, Support::Yes)? {
        let resolved = bench
            .driver
            .resolve(Some(&model))
            .map_err(|error| error.to_string())?;
        for level in ReasoningEffort::ALL {
            try_level(subject, &bench, &model, &resolved, level).await?;
        }
    }
    match claim(subject, &bench, Capability::Reasoning)? {
        Support::No => refuse(subject, &bench, Capability::Reasoning).await,
        _ => {
            prove_plain(subject, &bench, &subject.fixture("reasoning")?).await?;
            Ok(Outcome::Proved)
        }
    }
}

/// Thoughts stand in the answer when they are asked for, and only then.
pub(crate) async fn shown_when_asked(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::Reasoning)? != Support::Yes {
        return Ok(Outcome::Skipped(
            "no model of the harness claims reasoning".to_owned(),
        ));
    }
    let fixture = subject.fixture("reasoning")?;
    let thinks = fixture
        .expect
        .reasoning
        .as_ref()
        .is_some_and(|thought| !thought.is_empty());
    for include in [true, false] {
        let mut request = subject.request_of(&fixture)?;
        request.reasoning = Some(request.reasoning.unwrap_or_default().with_include(include));
        let plain = bench.chat(&request, subject.answer_of(&fixture)?).await?;
        let stream = bench
            .stream(&request, subject.stream_of(&fixture)?)
            .await?
            .outcome;
        for (verb, outcome) in [("chat", plain), ("chat_stream", stream)] {
            let shown = outcome.map_err(|error| format!("{verb}: {error}"))?.reasoning();
            ensure!(
                shown.is_empty() != (include && thinks),
                "{verb} with reasoning.include = {include} shows the thought {shown:?}"
            );
        }
    }
    Ok(Outcome::Proved)
}

async fn try_level(
    subject: &Subject,
    bench: &Bench,
    model: &ModelId,
    resolved: &ResolvedModel,
    level: ReasoningEffort,
) -> Result<(), String> {
    let request = ChatRequest::user("Say hello.")
        .with_model(model.clone())
        .with_reasoning(Reasoning::effort(level));
    let before = bench.transport.request_count();
    let outcome = bench
        .chat(&request, subject.answer_of(&subject.fixture("text")?)?)
        .await?;
    let sent = bench.transport.request_count() - before;
    let word = level.as_str();
    match outcome {
        Err(error) if error.kind() == ErrorKind::Unsupported && sent == 0 => Ok(()),
        Err(error) => Err(format!(
            "{model} with effort {word}: {error} ({sent} requests were sent)"
        )),
        Ok(response) => {
            let offered = resolved.efforts.as_deref();
            let changed = offered.is_some_and(|offered| !offered.contains(&level));
            let warned = response
                .warnings
                .iter()
                .any(|warning| warning.kind == WarningKind::Option);
            ensure!(
                !changed || warned,
                "{model} does not offer effort {word}, and the response has no warning of what was sent instead"
            );
            Ok(())
        }
    }
}
