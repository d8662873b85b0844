//! Output formats: JSON of a schema.

use super::capability::{claim, refuse};
use super::fixtures::prove_plain;
use super::{Finding, Outcome, ensure};
use crate::subject::Subject;
use llm_core::{Capability, OutputFormat, Support};
use serde_json::Value;

/// A schema is sent as the vendor wants it, and the answer's text is JSON.
pub(crate) async fn json_schema(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    if claim(subject, &bench, Capability::JsonSchema)? == Support::No {
        return refuse(subject, &bench, Capability::JsonSchema).await;
    }
    let fixture = subject.fixture("json_schema")?;
    ensure!(
        matches!(fixture.request.output, OutputFormat::JsonSchema { .. }),
        "json_schema/request.json asks for no schema; set \"output\""
    );
    let response = prove_plain(subject, &bench, &fixture).await?;
    serde_json::from_str::<Value>(&response.text())
        .map_err(|error| format!("the text of the answer is no JSON: {error}"))?;
    Ok(Outcome::Proved)
}
