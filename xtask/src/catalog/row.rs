//! One model of the source as one row of a crate's catalogue: names without units, prices as integers.

use serde_json::{Map, Value};

use super::decimal::nano_dollars;

/// What becomes of each key that the source may have. A key that is not here is an error, so that
/// nothing new is dropped without a decision.
const KEYS: &[(&str, Treatment)] = &[
    ("provider", Treatment::Drop),
    ("id", Treatment::Keep),
    ("mode", Treatment::Keep),
    ("from", Treatment::Keep),
    ("utc_windows", Treatment::Keep),
    ("above_tokens", Treatment::Keep),
    ("context_window", Treatment::Keep),
    ("max_input", Treatment::Keep),
    ("max_output", Treatment::Keep),
    ("input_usd_per_mtok", Treatment::Price("input")),
    ("output_usd_per_mtok", Treatment::Price("output")),
    ("cache_read_usd_per_mtok", Treatment::Price("cached_input")),
    ("cache_write_usd_per_mtok", Treatment::Price("cache_write")),
    (
        "cache_write_1h_usd_per_mtok",
        Treatment::Price("cache_write_long"),
    ),
    (
        "cache_write_12h_usd_per_mtok",
        Treatment::Price("cache_write_long"),
    ),
    ("audio_usd_per_minute", Treatment::Price("audio_per_minute")),
    ("tiers", Treatment::Nested),
    ("off_peak", Treatment::Nested),
    ("next_prices", Treatment::Nested),
    ("capabilities", Treatment::Keep),
    ("efforts", Treatment::Keep),
    ("rejects", Treatment::Keep),
    ("ignores", Treatment::Keep),
    ("responses_only", Treatment::Keep),
    ("deprecated_on", Treatment::Keep),
    ("cache_min_tokens", Treatment::Drop),
    ("capabilities_from", Treatment::Drop),
];

#[derive(Clone, Copy)]
enum Treatment {
    Keep,
    Drop,
    /// Dollars that become nano-dollars under this name.
    Price(&'static str),
    /// An object, or a list of objects, with prices inside.
    Nested,
}

/// Turns one row of the source into one row of a crate's file; nulls (not published) are left out.
pub(crate) fn convert(source: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut row = Map::new();
    for (key, treatment) in KEYS {
        let Some(value) = source.get(*key).filter(|value| !value.is_null()) else {
            continue;
        };
        match treatment {
            Treatment::Drop => {}
            Treatment::Keep => {
                row.insert((*key).to_owned(), value.clone());
            }
            Treatment::Price(name) => {
                let Value::Number(number) = value else {
                    return Err(format!("`{key}` is {value}, not a number"));
                };
                let price = nano_dollars(&number.to_string()).map_err(|error| format!("`{key}`: {error}"))?;
                if row.insert((*name).to_owned(), price.into()).is_some() {
                    return Err(format!("`{key}` gives a second price for `{name}`"));
                }
            }
            Treatment::Nested => {
                let nested = convert_nested(value).map_err(|error| format!("`{key}`: {error}"))?;
                row.insert((*key).to_owned(), nested);
            }
        }
    }
    let is_known = |key: &str| KEYS.iter().any(|(known, _)| *known == key);
    match source.keys().find(|key| !is_known(key)) {
        Some(key) => Err(format!(
            "`{key}` is new; decide what becomes of it in xtask/src/catalog/row.rs"
        )),
        None => Ok(row),
    }
}

fn convert_nested(value: &Value) -> Result<Value, String> {
    match value {
        Value::Object(object) => convert(object).map(Value::Object),
        Value::Array(list) => list
            .iter()
            .map(convert_nested)
            .collect::<Result<_, _>>()
            .map(Value::Array),
        other => Err(format!("{other} is neither an object nor a list")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(value: Value) -> Result<Value, String> {
        let Value::Object(source) = value else {
            panic!("a row is an object")
        };
        convert(&source).map(Value::Object)
    }

    #[test]
    fn prices_become_integers_and_nulls_vanish() {
        let row = converted(json!({
            "provider": "openai", "id": "m", "mode": "chat", "context_window": 8000, "max_output": null,
            "input_usd_per_mtok": 0.15, "output_usd_per_mtok": 0.6, "cache_read_usd_per_mtok": 0.0375,
            "cache_write_usd_per_mtok": null, "cache_write_12h_usd_per_mtok": 1,
            "tiers": [{"above_tokens": 272000, "input_usd_per_mtok": 0.3, "cache_write_usd_per_mtok": 2}],
            "capabilities": [], "deprecated_on": "2027-01-20"
        }))
        .unwrap();
        assert_eq!(
            row,
            json!({
                "id": "m", "mode": "chat", "context_window": 8000,
                "input": 150_000_000, "output": 600_000_000, "cached_input": 37_500_000,
                "cache_write_long": 1_000_000_000,
                "tiers": [{"above_tokens": 272000, "input": 300_000_000, "cache_write": 2_000_000_000_u64}],
                "capabilities": [], "deprecated_on": "2027-01-20"
            })
        );
    }

    #[test]
    fn other_times_have_other_prices() {
        let row = converted(json!({
            "id": "m",
            "off_peak": {"input_usd_per_mtok": 0.1, "utc_windows": [{"hours_utc": "00:00-00:00"}]},
            "next_prices": {"from": "2027-01-01", "output_usd_per_mtok": 7.5}
        }))
        .unwrap();
        assert_eq!(
            row["off_peak"],
            json!({"input": 100_000_000, "utc_windows": [{"hours_utc": "00:00-00:00"}]})
        );
        assert_eq!(
            row["next_prices"],
            json!({"from": "2027-01-01", "output": 7_500_000_000_u64})
        );
    }

    #[test]
    fn wrong_rows_are_refused() {
        for (row, expected) in [
            (json!({"id": "m", "colour": "red"}), "`colour` is new"),
            (json!({"id": "m", "input_usd_per_mtok": "free"}), "not a number"),
            (json!({"id": "m", "input_usd_per_mtok": -1}), "not negative"),
            (json!({"id": "m", "tiers": 3}), "neither an object nor a list"),
            (
                json!({"cache_write_1h_usd_per_mtok": 1, "cache_write_12h_usd_per_mtok": 1}),
                "second price",
            ),
        ] {
            let error = converted(row.clone()).unwrap_err();
            assert!(error.contains(expected), "{row}: {error}");
        }
    }
}
