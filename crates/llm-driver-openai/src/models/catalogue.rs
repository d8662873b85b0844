//! The shipped catalogue, parsed once for all drivers of the process.

use llm_core::{Capabilities, Capability, Error, ErrorKind, ModelId, ModelLimits, Price, ReasoningEffort};
use llm_core::{ResolvedModel, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A row of the catalogue as this driver sees it.
#[derive(Debug)]
pub(super) enum Shipped {
    Chat(Box<ResolvedModel>),
    ResponsesOnly,
    Embedding,
    Transcription,
    Other,
}

#[derive(Deserialize)]
struct Document {
    models: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: ModelId,
    mode: String,
    #[serde(flatten)]
    limits: ModelLimits,
    #[serde(flatten)]
    price: Price,
    /// All that it can do: what is absent it cannot.
    capabilities: Vec<String>,
    efforts: Option<Vec<String>>,
    #[serde(default)]
    responses_only: bool,
    deprecated_on: Option<String>,
}

/// All rows, by name.
pub(super) fn shipped() -> Result<&'static BTreeMap<ModelId, Shipped>> {
    static SHIPPED: OnceLock<Option<BTreeMap<ModelId, Shipped>>> = OnceLock::new();
    let parsed = SHIPPED.get_or_init(|| {
        let document: Document = serde_json::from_str(include_str!("../models.json")).ok()?;
        let rows = document.models.into_iter();
        Some(rows.map(|row| (row.id.clone(), shipped_of(row))).collect())
    });
    parsed.as_ref().ok_or_else(|| {
        let message = "the shipped model catalogue cannot be read; make it again with `cargo xtask catalog`";
        Error::new(ErrorKind::Internal, message)
    })
}

fn shipped_of(row: Row) -> Shipped {
    match row.mode.as_str() {
        "chat" if row.responses_only => Shipped::ResponsesOnly,
        "chat" => Shipped::Chat(Box::new(model_of(row))),
        "embedding" => Shipped::Embedding,
        "transcription" => Shipped::Transcription,
        _ => Shipped::Other,
    }
}

fn model_of(row: Row) -> ResolvedModel {
    // What a moving alias costs changes with what it stands for.
    let priced = row.price != Price::default() && !row.id.as_str().ends_with("-latest");
    let words = row.capabilities.iter().filter_map(|word| capability_of(word));
    let mut model = ResolvedModel::unknown(row.id)
        .with_capabilities(Capabilities::only(words.chain([Capability::Streaming])))
        .with_limits(row.limits)
        .with_price(priced.then_some(row.price));
    model.known = true;
    model.efforts = row.efforts.map(|words| {
        let levels = words.iter().filter_map(|word| ReasoningEffort::parse(word));
        levels.collect()
    });
    model.deprecated_on = row.deprecated_on;
    model
}

fn capability_of(word: &str) -> Option<Capability> {
    Some(match word {
        "tools" => Capability::Tools,
        "parallel_tools" => Capability::ParallelTools,
        "vision" => Capability::Vision,
        "pdf" => Capability::Documents,
        "audio_input" => Capability::AudioInput,
        "structured_output" => Capability::JsonSchema,
        "reasoning" => Capability::Reasoning,
        "prompt_cache" => Capability::PromptCache,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_no_word_is_lost() {
        let document: serde_json::Value = serde_json::from_str(include_str!("../models.json")).unwrap();
        let rows = document["models"].as_array().unwrap();
        assert_eq!(shipped().unwrap().len(), rows.len());
        for row in rows {
            for word in row["capabilities"].as_array().unwrap() {
                assert!(capability_of(word.as_str().unwrap()).is_some(), "{row}");
            }
            for word in row["efforts"].as_array().into_iter().flatten() {
                let word = word.as_str().unwrap();
                assert!(
                    word == "minimal" || ReasoningEffort::parse(word).is_some(),
                    "{row}"
                );
            }
            let mode = row["mode"].as_str().unwrap();
            assert!(["chat", "embedding", "transcription"].contains(&mode), "{row}");
        }
    }
}
