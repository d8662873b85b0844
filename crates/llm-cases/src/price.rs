//! Prices of a case: dollars for a million tokens, as exact whole numbers.

use crate::case::{Fault, Fields};
use llm_core::Price;
use llm_core::price::Rates;
use serde_json::Value;

/// Reads `price_per_million`.
pub(crate) fn read(prices: &Value, at: &str) -> Result<Price, Fault> {
    let mut fields = Fields::of(prices, at)?;
    let mut rate = |key: &'static str| -> Result<Option<u64>, Fault> {
        let at = fields.at(key);
        let Some(value) = fields.optional(key) else {
            return Ok(None);
        };
        let nano_dollars = match value {
            Value::Number(number) => nano_dollars(&number.to_string()),
            _ => None,
        };
        nano_dollars
            .map(Some)
            .ok_or_else(|| Fault::malformed(format!("{at} is no price in whole nano-dollars")))
    };
    let mut rates = Rates::default();
    rates.input = rate("input")?;
    rates.cached_input = rate("cached_input")?;
    rates.cache_write = rate("cache_write_input")?;
    rates.output = rate("output")?;
    fields.end()?;
    Ok(Price::new(rates))
}

/// A decimal number of dollars in nano-dollars, where that is exact.
fn nano_dollars(decimal: &str) -> Option<u64> {
    let (digits, exponent) = match decimal.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (decimal, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut amount: u64 = format!("{whole}{fraction}").parse().ok()?;
    let mut shift = exponent + 9 - i32::try_from(fraction.len()).ok()?;
    while shift < 0 && amount > 0 {
        if !amount.is_multiple_of(10) {
            return None;
        }
        amount /= 10;
        shift += 1;
    }
    10_u64
        .checked_pow(u32::try_from(shift.max(0)).ok()?)?
        .checked_mul(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn decimals_are_taken_exactly() {
        assert_eq!(nano_dollars("0.1"), Some(100_000_000));
        assert_eq!(nano_dollars("2.50"), Some(2_500_000_000));
        assert_eq!(nano_dollars("15"), Some(15_000_000_000));
        assert_eq!(nano_dollars("1e-7"), Some(100));
        assert_eq!(nano_dollars("1.5e2"), Some(150_000_000_000));
        assert_eq!(nano_dollars("0"), Some(0));
        assert_eq!(nano_dollars("0.0000000001"), None);
        assert_eq!(nano_dollars("-1"), None);
        assert_eq!(nano_dollars("1e30"), None);
    }

    #[test]
    fn each_rate_has_its_key() {
        let prices = json!({"input": 2, "cached_input": 0.5, "cache_write_input": 2.5, "output": 8});
        let rates = read(&prices, "price").unwrap().rates;
        assert_eq!(
            [rates.input, rates.cached_input, rates.cache_write, rates.output],
            [
                Some(2_000_000_000),
                Some(500_000_000),
                Some(2_500_000_000),
                Some(8_000_000_000)
            ]
        );
        let fault = |prices: Value| read(&prices, "price").unwrap_err().to_string();
        assert_eq!(fault(json!({"inputs": 1})), "unknown key price.inputs");
        assert!(fault(json!({"input": "1"})).starts_with("malformed"));
    }
}
