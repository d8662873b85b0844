//! The wait that an error's body asks for. Headers come first; this is what is left where they are silent.
//!
//! Sources: wire notes `common.md` ("Retry hints", Google's `RetryInfo`), state of 2026-11-29; the wordings are those
//! of OpenAI and Groq ("Please try again in 6m0s.") and Azure ("Please retry after 26 seconds.").

use serde_json::Value;
use std::time::Duration;

/// No hint is longer; what says so is no hint.
const LONGEST: f64 = 100.0 * 365.0 * 86_400.0;

/// How deep a body is looked through.
const DEEPEST: u8 = 6;

/// What stands in front of the wait in a message.
const LEADS: [&str; 3] = ["try again in ", "retry after ", "retry in "];

/// The wait that a message asks for.
pub(crate) fn of_message(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    LEADS.iter().find_map(|lead| {
        let (_, wait) = message.split_once(lead)?;
        parse_wait(wait)
    })
}

/// The wait of a `RetryInfo` among an error's details, wherever it stands.
pub(crate) fn of_details(body: &Value) -> Option<Duration> {
    fn look(value: &Value, depth: u8) -> Option<Duration> {
        match value {
            Value::Object(fields) => match fields.get("retryDelay") {
                Some(Value::String(delay)) => parse_wait(delay),
                _ if depth < DEEPEST => fields.values().find_map(|inner| look(inner, depth + 1)),
                _ => None,
            },
            Value::Array(items) if depth < DEEPEST => items.iter().find_map(|inner| look(inner, depth + 1)),
            _ => None,
        }
    }
    look(body, 0)
}

/// A length of time at the start of a text: `1.5s`, `6m0s`, `20ms`, `26 seconds`.
fn parse_wait(text: &str) -> Option<Duration> {
    let mut rest = text.trim_start();
    let mut seconds = 0.0;
    let mut found = false;
    loop {
        let digits = rest.trim_start();
        let number_end = digits
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(digits.len());
        let (number, behind) = digits.split_at(number_end);
        let unit = behind.trim_start();
        let unit_end = unit
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(unit.len());
        let (unit, after) = unit.split_at(unit_end);
        let (Ok(number), Some(length)) = (number.parse::<f64>(), length_of(unit)) else {
            break;
        };
        seconds += number * length;
        found = true;
        rest = after;
    }
    (found && seconds.is_finite() && seconds <= LONGEST).then(|| Duration::from_secs_f64(seconds))
}

fn length_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ms" | "millisecond" | "milliseconds" => 0.001,
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hour" | "hours" => 3_600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn waits_in_words_are_read() {
        let wait = |message: &str| of_message(message).map(|wait| wait.as_millis());
        assert_eq!(
            wait("Rate limit reached. Please try again in 1.5s. Visit …"),
            Some(1_500)
        );
        assert_eq!(wait("Please try again in 6m0s."), Some(360_000));
        assert_eq!(wait("Please try again in 7m12.3s."), Some(432_300));
        assert_eq!(wait("please try again in 20ms"), Some(20));
        assert_eq!(wait("Please retry after 26 seconds."), Some(26_000));
        assert_eq!(wait("Retry in 1 minute and do not hurry"), Some(60_000));
        for silent in [
            "",
            "try again in a while",
            "try again in 5",
            "try again in s",
            "try again in 1.2.3s",
            "try again later, 5s",
            "try again in 99999999999999999999d",
        ] {
            assert_eq!(wait(silent), None, "{silent}");
        }
    }

    #[test]
    fn waits_among_details_are_found() {
        let details = json!([{"@type": "a.QuotaFailure"}, {"@type": "a.RetryInfo", "retryDelay": "13.5s"}]);
        let body = json!([{"error": {"code": 429, "details": details}}]);
        assert_eq!(of_details(&body), Some(Duration::from_millis(13_500)));
        assert_eq!(of_details(&json!({"retryDelay": 7})), None);
        assert_eq!(of_details(&json!({"retryDelay": "soon"})), None);
    }
}
