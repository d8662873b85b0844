//! One request form into another: what is checked is the translated request.

mod forms;
mod kept;

use super::{Outcome, judge, unmet};
use crate::case::{Case, Fault, Fields};
use crate::checks::{self, Check};
use crate::outcome;
use forms::{Source, Target};
use llm_core::{Error, ModelId, ResolvedModel};
use serde_json::Value;

pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    forms::supported(input)
}

pub(super) fn run(case: &Case) -> Result<Vec<String>, Fault> {
    let expected = case
        .places()
        .map(|(place, outcome)| Expected::read(outcome, &place))
        .collect::<Result<Vec<_>, _>>()?;
    let mut fields = Fields::of(&case.input, "input")?;
    let source = Source::of(fields.text("from")?)?;
    let to = fields.text("to")?;
    let target = Target::of(to, fields.optional_text("dialect")?)?;
    let request = fields.required("request")?;
    fields.optional_text("note")?;
    fields.optional_text("also")?;
    fields.end()?;
    match translate(request, source, &target)? {
        Ok(document) => Ok(unmet(&expected, |expected| expected.faults_in(&document))),
        Err(error) => Ok(judge(case, &[Outcome::new("", outcome::of_early_error(&error))])),
    }
}

/// What a case expects of a translation.
enum Expected {
    Request(Vec<Check>),
    Failure,
}

impl Expected {
    fn read(expected: &Value, at: &str) -> Result<Expected, Fault> {
        if expected["outcome"] != "ok" {
            outcome::check(expected, at)?;
            return Ok(Expected::Failure);
        }
        let mut fields = Fields::of(expected, at)?;
        fields.required("outcome")?;
        let checks = checks::read(fields.required("checks")?, &fields.at("checks"))?;
        fields.end()?;
        Ok(Expected::Request(checks))
    }

    fn faults_in(&self, document: &Value) -> Vec<String> {
        match self {
            Expected::Request(checks) => checks
                .iter()
                .filter_map(|check| check.fault_in(document))
                .collect(),
            Expected::Failure => vec!["outcome: expected \"error\", got \"ok\"".to_owned()],
        }
    }
}

/// The inner failure is the outcome, the outer one a fault of the case.
fn translate(request: &Value, source: Source, target: &Target) -> Result<Result<Value, Error>, Fault> {
    let mut request = request.clone();
    let kept = kept::take(&mut request)?;
    let (mut neutral, stream) = match source.decode(request.to_string().as_bytes()) {
        Ok(decoded) => decoded,
        Err(error) => return Ok(Err(error)),
    };
    kept::give(&mut neutral, kept, target)?;
    let model = neutral.model.clone().map_or_else(|| ModelId::new("demo"), Ok);
    let encoded = model.and_then(|model| target.encode(&ResolvedModel::unknown(model), &neutral, stream));
    Ok(match encoded {
        Ok(body) => Ok(serde_json::from_slice(&body)
            .map_err(|error| Fault::unsupported(format!("a request that is not JSON: {error}")))?),
        Err(error) => Err(error),
    })
}
