//! What the caller adds to the shipped facts of a model.

use super::{Knob, ModelLimits, ResolvedModel};
use crate::capability::{Capability, Support};
use crate::chat::ReasoningEffort;
use crate::price::{Price, PriceTier, Rates};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What the caller knows of a model. Merged field by field: what is absent here keeps its shipped value, or stays
/// unknown.
///
/// Prices in configuration are whole nano-dollars (10⁻⁹ USD) for a million tokens, as in the shipped catalogue.
///
/// ```
/// use llm_core::model::ModelEntry;
/// let entry: ModelEntry = serde_json::from_value(serde_json::json!({
///     "context_window": 32768,
///     "price": { "input": 200_000_000, "output": 600_000_000 },
///     "capabilities": { "tools": true, "vision": false },
/// })).unwrap();
/// assert_eq!(entry.context_window, Some(32_768));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelEntry {
    /// Input and output together.
    pub context_window: Option<u64>,
    /// Input alone, where it is smaller than the window.
    pub max_input: Option<u64>,
    /// The largest output of one request.
    pub max_output: Option<u64>,
    /// What it costs.
    #[serde(deserialize_with = "strict_price")]
    pub price: Option<Price>,
    /// What it can and cannot do.
    pub capabilities: BTreeMap<Capability, bool>,
    /// The effort levels it takes; an empty list: none.
    pub efforts: Option<Vec<ReasoningEffort>>,
    /// Request features that it answers with an error.
    pub rejects: Option<Vec<Knob>>,
    /// Request features that it takes without effect.
    pub ignores: Option<Vec<Knob>>,
    /// The announced day of its end, `YYYY-MM-DD`.
    pub deprecated_on: Option<String>,
}

impl ModelEntry {
    /// What it costs.
    #[must_use]
    pub fn with_price(mut self, price: Price) -> Self {
        self.price = Some(price);
        self
    }

    /// How much it takes and gives.
    #[must_use]
    pub fn with_limits(mut self, limits: ModelLimits) -> Self {
        self.context_window = limits.context_window;
        self.max_input = limits.max_input;
        self.max_output = limits.max_output;
        self
    }

    /// Whether it can do something.
    #[must_use]
    pub fn with_capability(mut self, capability: Capability, there: bool) -> Self {
        self.capabilities.insert(capability, there);
        self
    }

    /// The effort levels it takes.
    #[must_use]
    pub fn with_efforts(mut self, efforts: impl IntoIterator<Item = ReasoningEffort>) -> Self {
        self.efforts = Some(efforts.into_iter().collect());
        self
    }

    /// Puts what is stated here over what was known.
    #[must_use]
    pub fn overlay(&self, mut model: ResolvedModel) -> ResolvedModel {
        let limits = &mut model.limits;
        limits.context_window = self.context_window.or(limits.context_window);
        limits.max_input = self.max_input.or(limits.max_input);
        limits.max_output = self.max_output.or(limits.max_output);
        model.price = match (model.price.take(), self.price.clone()) {
            (Some(known), Some(over)) => Some(known.overlaid(over)),
            (known, over) => over.or(known),
        };
        for (capability, there) in &self.capabilities {
            model.capabilities = model.capabilities.with(*capability, *there);
        }
        model.efforts = self.efforts.clone().or(model.efforts);
        model.rejects = self.rejects.clone().unwrap_or(model.rejects);
        model.ignores = self.ignores.clone().unwrap_or(model.ignores);
        model.deprecated_on = self.deprecated_on.clone().or(model.deprecated_on);
        model.known = true;
        model
    }

    /// Fills in what is not known otherwise.
    #[must_use]
    pub fn underlay(&self, mut model: ResolvedModel) -> ResolvedModel {
        let limits = &mut model.limits;
        limits.context_window = limits.context_window.or(self.context_window);
        limits.max_input = limits.max_input.or(self.max_input);
        limits.max_output = limits.max_output.or(self.max_output);
        model.price = model.price.or_else(|| self.price.clone());
        for (capability, there) in &self.capabilities {
            if model.capabilities.support(*capability) == Support::Unknown {
                model.capabilities = model.capabilities.with(*capability, *there);
            }
        }
        model.efforts = model.efforts.or_else(|| self.efforts.clone());
        if model.rejects.is_empty() {
            model.rejects = self.rejects.clone().unwrap_or_default();
        }
        if model.ignores.is_empty() {
            model.ignores = self.ignores.clone().unwrap_or_default();
        }
        model.deprecated_on = model.deprecated_on.or_else(|| self.deprecated_on.clone());
        model.known = true;
        model
    }
}

/// A price whose unknown keys are refused: a misspelt rate must not become an unknown price.
fn strict_price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Price>, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct PriceForm {
        input: Option<u64>,
        output: Option<u64>,
        cached_input: Option<u64>,
        cache_write: Option<u64>,
        cache_write_long: Option<u64>,
        tiers: Vec<TierForm>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct TierForm {
        above_tokens: u64,
        input: Option<u64>,
        output: Option<u64>,
        cached_input: Option<u64>,
        cache_write: Option<u64>,
        cache_write_long: Option<u64>,
    }
    fn rates(fields: [Option<u64>; 5]) -> Rates {
        let mut rates = Rates::default();
        [
            rates.input,
            rates.output,
            rates.cached_input,
            rates.cache_write,
            rates.cache_write_long,
        ] = fields;
        rates
    }
    let form = Option::<PriceForm>::deserialize(deserializer)?;
    Ok(form.map(|form| {
        let usual = [
            form.input,
            form.output,
            form.cached_input,
            form.cache_write,
            form.cache_write_long,
        ];
        let tiers = form.tiers.into_iter().map(|tier| {
            let fields = [
                tier.input,
                tier.output,
                tier.cached_input,
                tier.cache_write,
                tier.cache_write_long,
            ];
            PriceTier::new(tier.above_tokens, rates(fields))
        });
        Price::new(rates(usual)).with_tiers(tiers)
    }))
}
