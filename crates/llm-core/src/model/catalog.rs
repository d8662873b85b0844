//! The catalogue that a driver ships: generated JSON, read once for all drivers of the process.

use super::{Knob, ModelId, ModelLimits, ResolvedModel};
use crate::capability::{Capabilities, Capability};
use crate::chat::ReasoningEffort;
use crate::error::{Error, ErrorKind, Result};
use crate::price::Price;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// A driver's slice of the model catalogue, as `cargo xtask catalog` writes it. It is read at the first use.
///
/// ```
/// use llm_core::model::ShippedCatalog;
/// // In a driver: ShippedCatalog::new(include_str!("models.json"))
/// static SHIPPED: ShippedCatalog = ShippedCatalog::new(
///     r#"{"models": [{"id": "small", "mode": "chat", "input": 100000000, "capabilities": ["tools"]}]}"#,
/// );
/// assert_eq!(SHIPPED.models()?[0].model.id.as_str(), "small");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
pub struct ShippedCatalog {
    json: &'static str,
    /// Do moving aliases have prices of their own?
    priced_aliases: bool,
    parsed: OnceLock<Option<Vec<ShippedModel>>>,
}

/// A model of the shipped catalogue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ShippedModel {
    /// What is known of it. A capability that its row does not state is not there.
    pub model: ResolvedModel,
    /// What it is for: `chat`, `embedding`, `transcription` or a word that came later.
    pub mode: String,
    /// The whole row, for what only its own driver reads.
    pub row: Map<String, Value>,
}

impl ShippedModel {
    /// Is it for chat?
    pub fn is_chat(&self) -> bool {
        self.mode == "chat"
    }

    /// Does the row say yes to this?
    pub fn flag(&self, name: &str) -> bool {
        self.row.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Why a driver of chat models refuses it, where it is not for chat.
    pub fn why_not_chat(&self) -> Option<&'static str> {
        Some(match self.mode.as_str() {
            "chat" => return None,
            "embedding" => "makes embeddings and does not chat; name a chat model",
            "transcription" => "transcribes speech and does not chat; name a chat model",
            _ => "does not chat; name a chat model",
        })
    }
}

impl ShippedCatalog {
    /// The catalogue in this JSON.
    pub const fn new(json: &'static str) -> Self {
        ShippedCatalog {
            json,
            priced_aliases: false,
            parsed: OnceLock::new(),
        }
    }

    /// With the prices of moving aliases (`…-latest`): for a vendor who states them. Without, they are unknown, since
    /// what such a name costs changes with what it stands for.
    #[must_use]
    pub const fn with_priced_aliases(mut self) -> Self {
        self.priced_aliases = true;
        self
    }

    /// All models in it.
    ///
    /// # Errors
    /// `Internal`, when it is no catalogue.
    pub fn models(&self) -> Result<&[ShippedModel]> {
        let parsed = self
            .parsed
            .get_or_init(|| parse(self.json, self.priced_aliases).ok());
        parsed.as_deref().ok_or_else(|| {
            let message =
                "the shipped model catalogue cannot be read; make it again with `cargo xtask catalog`";
            Error::new(ErrorKind::Internal, message)
        })
    }
}

fn parse(json: &str, priced_aliases: bool) -> serde_json::Result<Vec<ShippedModel>> {
    #[derive(Deserialize)]
    struct Document {
        models: Vec<Map<String, Value>>,
    }
    let document: Document = serde_json::from_str(json)?;
    let rows = document.models.into_iter();
    rows.map(|row| shipped(row, priced_aliases)).collect()
}

fn shipped(row: Map<String, Value>, priced_aliases: bool) -> serde_json::Result<ShippedModel> {
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
        rejects: Vec<String>,
        #[serde(default)]
        ignores: Vec<String>,
        deprecated_on: Option<String>,
    }
    let known = Row::deserialize(&row)?;
    let moving = known.id.as_str().ends_with("-latest");
    let priced = known.price != Price::default() && (priced_aliases || !moving);
    let words = known.capabilities.iter().filter_map(|word| capability_of(word));
    let mut model = ResolvedModel::unknown(known.id)
        .with_capabilities(Capabilities::only(words.chain([Capability::Streaming])))
        .with_limits(known.limits)
        .with_price(priced.then_some(known.price));
    model.known = true;
    model.efforts = known.efforts.map(|words| {
        let levels = words.iter().filter_map(|word| ReasoningEffort::parse(word));
        levels.collect()
    });
    model.rejects = knobs(&known.rejects);
    model.ignores = knobs(&known.ignores);
    model.deprecated_on = known.deprecated_on;
    Ok(ShippedModel {
        model,
        mode: known.mode,
        row,
    })
}

/// The catalogue has words of its own for some abilities.
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

fn knobs(words: &[String]) -> Vec<Knob> {
    let known = words.iter().filter_map(|word| {
        Some(match word.as_str() {
            "sampling" => Knob::Sampling,
            "forced_tool_use" => Knob::ForcedToolUse,
            "prefill" => Knob::Prefill,
            "thinking_off" => Knob::ThinkingOff,
            _ => return None,
        })
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::Support;

    static SHIPPED: ShippedCatalog = ShippedCatalog::new(
        r#"{"source": "invented", "models": [
            {"id":"big","mode":"chat","context_window":1000,"max_input":900,"max_output":100,"input":5,"output":7,
             "cached_input":1,"tiers":[{"above_tokens":500,"input":9}],
             "capabilities":["tools","pdf","structured_output","from the future"],
             "efforts":["minimal","low","high"],"rejects":["sampling","prefill","from the future"],
             "ignores":["thinking_off"],"deprecated_on":"2027-01-01","served_only_at_night":true},
            {"id":"big-latest","mode":"chat","input":5,"capabilities":[]},
            {"id":"ears","mode":"transcription","audio_per_minute":6,"capabilities":[]}
        ]}"#,
    );

    #[test]
    fn a_row_becomes_a_model_and_what_is_unknown_stays_in_the_row() {
        let big = &SHIPPED.models().unwrap()[0];
        let model = &big.model;
        assert!(model.known && big.is_chat() && big.flag("served_only_at_night") && !big.flag("no such"));
        assert_eq!(model.limits, ModelLimits::new(Some(1_000), Some(900), Some(100)));
        let price = model.price.as_ref().unwrap();
        assert_eq!(
            (price.rates.cached_input, price.tiers[0].rates.input),
            (Some(1), Some(9))
        );
        assert_eq!(model.capabilities.support(Capability::Documents), Support::Yes);
        assert_eq!(model.capabilities.support(Capability::Streaming), Support::Yes);
        assert_eq!(model.capabilities.support(Capability::Vision), Support::No);
        assert_eq!(
            model.efforts.as_deref(),
            Some(&[ReasoningEffort::Low, ReasoningEffort::High][..])
        );
        assert_eq!(model.rejects, [Knob::Sampling, Knob::Prefill]);
        assert_eq!(model.ignores, [Knob::ThinkingOff]);
        assert_eq!(model.deprecated_on.as_deref(), Some("2027-01-01"));
    }

    #[test]
    fn a_vendor_may_price_its_aliases() {
        let row = r#"{"models": [{"id":"big-latest","mode":"chat","input":5,"capabilities":[]}]}"#;
        let priced = ShippedCatalog::new(row).with_priced_aliases();
        assert!(priced.models().unwrap()[0].model.price.is_some());
    }

    #[test]
    fn a_moving_alias_has_no_price_and_other_modes_say_why() {
        let models = SHIPPED.models().unwrap();
        assert_eq!(models[1].model.price, None);
        assert!(models[2].why_not_chat().unwrap().contains("transcribes"));
        assert_eq!(models[0].why_not_chat(), None);
    }

    #[test]
    fn what_is_no_catalogue_is_our_fault() {
        for broken in ["", "[]", r#"{"models":[{"id":""}]}"#] {
            let error = ShippedCatalog::new(broken.to_owned().leak())
                .models()
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal, "{broken}");
        }
    }
}
