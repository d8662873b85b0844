//! Usage: one meaning everywhere, from plain calls and from streams.

use super::fixtures::{prove_plain, prove_stream};
use super::{Finding, Outcome, ensure};
use crate::fixture::Fixture;
use crate::subject::Subject;
use llm_core::stream::ChatEvent;

/// A plain answer's usage is read.
pub(crate) async fn plain(subject: &Subject) -> Finding {
    let fixture = fixture(subject)?;
    prove_plain(subject, &subject.bench()?, &fixture).await?;
    Ok(Outcome::Proved)
}

/// A stream's usage is asked for, read, and stands in its finish.
pub(crate) async fn stream(subject: &Subject) -> Finding {
    let fixture = fixture(subject)?;
    let streamed = prove_stream(subject, &subject.bench()?, &fixture).await?;
    let Some(ChatEvent::Finish { usage, .. }) = streamed.events.last() else {
        return Err("the stream does not end with a finish".to_owned());
    };
    ensure!(
        streamed.partial.usage == *usage,
        "the finish says {usage:?}; the events before it add up to {:?}",
        streamed.partial.usage
    );
    Ok(Outcome::Proved)
}

/// `usage` (with cached and reasoning tokens, where the vendor counts them), else `text`.
fn fixture(subject: &Subject) -> Result<Fixture, String> {
    let fixture = subject.fixture("usage").or_else(|_| subject.fixture("text"))?;
    let named = fixture.expect.usage.as_ref();
    ensure!(
        named.is_some_and(|usage| usage.input_tokens.is_some() && usage.output_tokens.is_some()),
        "{}/expect.json: name usage.input_tokens and usage.output_tokens",
        fixture.name
    );
    Ok(fixture)
}
