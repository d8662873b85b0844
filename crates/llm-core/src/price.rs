//! What calls cost, in whole numbers: prices in nano-dollars per million tokens, costs in pico-dollars,
//! rounded once. Unknown is not zero: a call whose price is not known has no cost, not a cost of nothing.

mod times;

use crate::chat::Usage;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use times::{HourSpan, NextPrice, OffPeak, UtcWindow};

/// The prices of a model.
///
/// ```
/// use llm_core::{Price, Usage, price::Rates};
/// // 2.50 in, 10.00 out, 1.25 for cached input: dollars for a million tokens
/// let price = Price::new(Rates::usd(2_500_000_000, 10_000_000_000).with_cached_input(1_250_000_000));
/// let mut usage = Usage::new(1_000, 100);
/// usage.cached_input_tokens = Some(400);
/// // 600 × 2.50 + 400 × 1.25 + 100 × 10.00, for a million
/// assert_eq!(price.cost(&usage).unwrap().pico_usd, 3_000_000_000);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Price {
    /// The usual rates.
    #[serde(flatten)]
    pub rates: Rates,
    /// Rates of long prompts: the last tier whose bound the input exceeds holds for the whole request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<PriceTier>,
    /// Rates of certain hours, instead of the usual ones: see [`Price::at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_peak: Option<OffPeak>,
    /// Rates that were announced for a later day: see [`Price::at`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_prices: Option<NextPrice>,
    /// Transcription: nano-dollars for a minute of sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_per_minute: Option<u64>,
}

/// Prices in nano-dollars (10⁻⁹ USD) for a million tokens. Absent: not published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Rates {
    /// Input that was not in a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Output, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Input read from the vendor's prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<u64>,
    /// Input written to the vendor's prompt cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Input written to it for the vendor's long time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write_long: Option<u64>,
}

impl Rates {
    /// Input and output rates.
    pub fn usd(input: u64, output: u64) -> Self {
        Rates {
            input: Some(input),
            output: Some(output),
            ..Rates::default()
        }
    }

    /// The rate of cached input.
    #[must_use]
    pub fn with_cached_input(mut self, rate: u64) -> Self {
        self.cached_input = Some(rate);
        self
    }

    /// The rates of cache writes: for the short time and, where it differs, for the long one.
    #[must_use]
    pub fn with_cache_write(mut self, short: u64, long: impl Into<Option<u64>>) -> Self {
        self.cache_write = Some(short);
        self.cache_write_long = long.into();
        self
    }

    /// Takes over, field by field, what other rates state.
    #[must_use]
    pub fn overlaid(self, over: Rates) -> Rates {
        Rates {
            input: over.input.or(self.input),
            output: over.output.or(self.output),
            cached_input: over.cached_input.or(self.cached_input),
            cache_write: over.cache_write.or(self.cache_write),
            cache_write_long: over.cache_write_long.or(self.cache_write_long),
        }
    }

    /// Without the fields that other rates state.
    fn without(self, stated: Rates) -> Rates {
        let unless = |stated: Option<u64>, rate: Option<u64>| rate.filter(|_| stated.is_none());
        Rates {
            input: unless(stated.input, self.input),
            output: unless(stated.output, self.output),
            cached_input: unless(stated.cached_input, self.cached_input),
            cache_write: unless(stated.cache_write, self.cache_write),
            cache_write_long: unless(stated.cache_write_long, self.cache_write_long),
        }
    }
}

/// Rates of prompts longer than a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PriceTier {
    /// Holds when the whole input is longer than this.
    pub above_tokens: u64,
    /// The rates then.
    #[serde(flatten)]
    pub rates: Rates,
}

impl PriceTier {
    /// These rates above this many input tokens.
    pub fn new(above_tokens: u64, rates: Rates) -> Self {
        PriceTier { above_tokens, rates }
    }
}

impl Price {
    /// These rates at any length.
    pub fn new(rates: Rates) -> Self {
        Price {
            rates,
            ..Price::default()
        }
    }

    /// Rates of long prompts.
    #[must_use]
    pub fn with_tiers(mut self, tiers: impl IntoIterator<Item = PriceTier>) -> Self {
        self.tiers = tiers.into_iter().collect();
        self.tiers.sort_by_key(|tier| tier.above_tokens);
        self
    }

    /// Takes over, field by field, what another price states: a caller's addition never drops what was
    /// known.
    #[must_use]
    pub fn overlaid(mut self, over: Price) -> Price {
        self.rates = self.rates.overlaid(over.rates);
        if !over.tiers.is_empty() {
            self.tiers = over.tiers;
        }
        self.audio_per_minute = over.audio_per_minute.or(self.audio_per_minute);
        // A rate that is stated holds at all times, unless other times are stated too.
        let timed = [
            self.off_peak.as_mut().map(|times| &mut times.rates),
            self.next_prices.as_mut().map(|times| &mut times.rates),
        ];
        for rates in timed.into_iter().flatten() {
            *rates = rates.without(over.rates);
        }
        self.off_peak = over.off_peak.or(self.off_peak);
        self.next_prices = over.next_prices.or(self.next_prices);
        self
    }

    /// The rates that hold for an input of this length.
    pub fn rates_for(&self, input_tokens: u64) -> Rates {
        let Some(tier) = self.tiers.iter().rfind(|tier| input_tokens > tier.above_tokens) else {
            return self.rates;
        };
        let mut rates = tier.rates;
        if rates.cache_write_long.is_none() {
            // Long writes rise by the same factor as short ones (note in the shipped catalogue).
            rates.cache_write_long = match (
                self.rates.cache_write_long,
                rates.cache_write,
                self.rates.cache_write,
            ) {
                (Some(long), Some(tier_write), Some(write)) if write > 0 => {
                    u64::try_from(u128::from(long) * u128::from(tier_write) / u128::from(write)).ok()
                }
                _ => None,
            };
        }
        rates
    }

    /// What this usage costs; `None` where a count or a price it needs is not known.
    ///
    /// Cached and written tokens that nobody reported are taken as uncached input.
    pub fn cost(&self, usage: &Usage) -> Option<Cost> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let rates = self.rates_for(input);
        let cached = usage.cached_input_tokens.unwrap_or(0).min(input);
        let written = usage.cache_write_input_tokens.unwrap_or(0).min(input - cached);
        let written_long = usage.cache_write_long_input_tokens.unwrap_or(0).min(written);
        let long_rate = rates.cache_write_long.or(rates.cache_write);
        // tokens × nano-dollars per million tokens = femto-dollars
        let femto = [
            part(input - cached - written, rates.input)?,
            part(cached, rates.cached_input)?,
            part(written - written_long, rates.cache_write)?,
            part(written_long, long_rate)?,
            part(output, rates.output)?,
        ];
        let pico = (femto.iter().sum::<u128>() + 500) / 1_000;
        Some(Cost {
            pico_usd: u64::try_from(pico).ok()?,
            source: CostSource::Computed,
        })
    }
}

/// Tokens at a rate; nothing costs nothing at an unknown rate too.
fn part(tokens: u64, rate: Option<u64>) -> Option<u128> {
    if tokens == 0 {
        Some(0)
    } else {
        rate.map(|rate| u128::from(tokens) * u128::from(rate))
    }
}

/// What a call cost, in pico-dollars (10⁻¹² USD).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cost {
    /// The amount.
    pub pico_usd: u64,
    /// How it is known.
    pub source: CostSource,
}

impl Cost {
    /// An amount, and how it is known.
    pub fn new(pico_usd: u64, source: CostSource) -> Self {
        Cost { pico_usd, source }
    }

    /// An amount in dollars, for people and for JSON that wants dollars.
    pub fn usd(&self) -> f64 {
        self.pico_usd as f64 / 1e12
    }

    /// The cost a vendor states in dollars; `None` where it is no amount.
    pub fn from_reported_usd(usd: f64) -> Option<Cost> {
        let pico = (usd * 1e12).round();
        (pico.is_finite() && pico >= 0.0 && pico < u64::MAX as f64).then_some(Cost {
            pico_usd: pico as u64,
            source: CostSource::Reported,
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.6}", self.usd())
    }
}

/// How a cost is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CostSource {
    /// The vendor stated it.
    Reported,
    /// Reported usage at known prices.
    Computed,
    /// Estimated usage at known prices.
    Estimated,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price() -> Price {
        Price::new(
            Rates::usd(4_000_000_000, 20_000_000_000)
                .with_cached_input(400_000_000)
                .with_cache_write(5_000_000_000, 10_000_000_000),
        )
        .with_tiers([PriceTier::new(
            272_000,
            Rates::usd(8_000_000_000, 30_000_000_000)
                .with_cached_input(800_000_000)
                .with_cache_write(10_000_000_000, None),
        )])
    }

    #[test]
    fn cached_tokens_are_billed_once() {
        let usage = Usage {
            cached_input_tokens: Some(600),
            cache_write_input_tokens: Some(300),
            cache_write_long_input_tokens: Some(100),
            ..Usage::new(1_000, 10)
        };
        // 100 × 4 + 600 × 0.4 + 200 × 5 + 100 × 10 + 10 × 20 dollars for a million
        let cost = price().cost(&usage).unwrap();
        assert_eq!(cost.pico_usd, 2_840_000_000);
        assert_eq!(cost.source, CostSource::Computed);
    }

    #[test]
    fn a_long_prompt_pays_the_tier_for_all_of_it() {
        assert_eq!(
            price().cost(&Usage::new(272_000, 0)).unwrap().pico_usd,
            272_000 * 4_000_000
        );
        assert_eq!(
            price().cost(&Usage::new(272_001, 0)).unwrap().pico_usd,
            272_001 * 8_000_000
        );
        assert_eq!(price().rates_for(300_000).cache_write_long, Some(20_000_000_000));
    }

    #[test]
    fn unknown_is_not_free() {
        let priced_input_only = Price::new(Rates {
            input: Some(1),
            ..Rates::default()
        });
        assert_eq!(priced_input_only.cost(&Usage::new(1, 1)), None);
        assert_eq!(
            price().cost(&Usage {
                output_tokens: None,
                ..Usage::new(1, 1)
            }),
            None
        );
        let no_cache_price = Price::new(Rates::usd(1_000, 1_000));
        let cached = Usage {
            cached_input_tokens: Some(1),
            ..Usage::new(2, 1)
        };
        assert_eq!(no_cache_price.cost(&cached), None);
    }

    #[test]
    fn an_amount_is_rounded_once() {
        let tiny = Price::new(Rates::usd(333, 333));
        assert_eq!(tiny.cost(&Usage::new(1, 1)).unwrap().pico_usd, 1); // 666 femto-dollars
        assert_eq!(Cost::from_reported_usd(0.00037).unwrap().pico_usd, 370_000_000);
        assert_eq!(Cost::from_reported_usd(f64::NAN), None);
        assert_eq!(Cost::from_reported_usd(-1.0), None);
    }

    #[test]
    fn additions_merge_per_field() {
        let merged = price().overlaid(Price::new(Rates {
            output: Some(1),
            ..Rates::default()
        }));
        assert_eq!(merged.rates.output, Some(1));
        assert_eq!(merged.rates.input, Some(4_000_000_000));
        assert_eq!(merged.tiers.len(), 1);
    }
}
