//! Prices that depend on when a call is made: off-peak hours, and prices that were announced for a later day. Pure: the
//! time is an argument.

use super::{Price, Rates};
use crate::day;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

/// Rates of certain hours, in UTC. A rate that is absent is the usual one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OffPeak {
    /// The rates then.
    #[serde(flatten)]
    pub rates: Rates,
    /// When they hold.
    pub utc_windows: Vec<UtcWindow>,
}

impl OffPeak {
    /// These rates in these windows.
    pub fn new(rates: Rates, windows: impl IntoIterator<Item = UtcWindow>) -> Self {
        OffPeak {
            rates,
            utc_windows: windows.into_iter().collect(),
        }
    }

    /// Do they hold at this time?
    pub fn holds_at(&self, when: SystemTime) -> bool {
        let Ok(since) = when.duration_since(UNIX_EPOCH) else {
            return false;
        };
        let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
        // 1970 began on a Thursday.
        let weekday = (days + 3) % 7 + 1;
        let minute = second / 60;
        self.utc_windows.iter().any(|window| {
            let this_day =
                window.weekdays.is_empty() || window.weekdays.iter().any(|day| u64::from(*day) == weekday);
            this_day && window.hours_utc.iter().any(|span| span.holds(minute))
        })
    }
}

/// Hours of certain days of the week, in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UtcWindow {
    /// The hours: one span or several.
    #[serde(deserialize_with = "one_or_more")]
    pub hours_utc: Vec<HourSpan>,
    /// The days, 1 for Monday to 7 for Sunday; none stands for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weekdays: Vec<u8>,
}

impl UtcWindow {
    /// These hours of every day.
    pub fn new(hours: impl IntoIterator<Item = HourSpan>) -> Self {
        UtcWindow {
            hours_utc: hours.into_iter().collect(),
            weekdays: Vec::new(),
        }
    }

    /// On these days alone, 1 for Monday to 7 for Sunday.
    #[must_use]
    pub fn on(mut self, weekdays: impl IntoIterator<Item = u8>) -> Self {
        self.weekdays = weekdays.into_iter().collect();
        self
    }
}

/// A span of one day, written `04:00-06:00`. The end is not in it; an end of `00:00` is midnight. A span never goes
/// over midnight: that is two spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HourSpan {
    /// In minutes after midnight.
    from: u16,
    until: u16,
}

impl HourSpan {
    /// Reads `04:00-06:00`; `None` for anything else, and for a span that is empty.
    pub fn parse(text: &str) -> Option<HourSpan> {
        let minute = |time: &str| {
            let (hour, minute) = time.trim().split_once(':')?;
            let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
            (hour <= 24 && minute < 60 && hour * 60 + minute <= MINUTES).then_some(hour * 60 + minute)
        };
        let (from, until) = text.split_once('-')?;
        let (from, until) = (minute(from)?, minute(until)?);
        let until = if until == 0 { MINUTES } else { until };
        (from < until).then_some(HourSpan { from, until })
    }

    fn holds(self, minute: u64) -> bool {
        (u64::from(self.from)..u64::from(self.until)).contains(&minute)
    }
}

const MINUTES: u16 = 24 * 60;

impl Serialize for HourSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let time = |minutes: u16| format!("{:02}:{:02}", minutes / 60 % 24, minutes % 60);
        serializer.collect_str(&format_args!("{}-{}", time(self.from), time(self.until)))
    }
}

impl<'de> Deserialize<'de> for HourSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected = "a span of hours such as 04:00-06:00, not over midnight";
        HourSpan::parse(&text).ok_or_else(|| serde::de::Error::custom(expected))
    }
}

fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<HourSpan>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Form {
        One(HourSpan),
        More(Vec<HourSpan>),
    }
    Ok(match Form::deserialize(deserializer)? {
        Form::One(span) => vec![span],
        Form::More(spans) => spans,
    })
}

/// Rates that were announced for a later day. A rate that is absent stays what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NextPrice {
    /// The day from whose beginning, in UTC, they hold: `YYYY-MM-DD`.
    pub from: String,
    /// The rates then.
    #[serde(flatten)]
    pub rates: Rates,
}

impl NextPrice {
    /// These rates from this day on.
    pub fn new(from: impl Into<String>, rates: Rates) -> Self {
        NextPrice {
            from: from.into(),
            rates,
        }
    }
}

impl Price {
    /// Rates of certain hours.
    #[must_use]
    pub fn with_off_peak(mut self, off_peak: OffPeak) -> Self {
        self.off_peak = Some(off_peak);
        self
    }

    /// Rates that were announced for a later day.
    #[must_use]
    pub fn with_next_prices(mut self, next: NextPrice) -> Self {
        self.next_prices = Some(next);
        self
    }

    /// Has it rates of certain hours, or announced ones?
    pub fn depends_on_time(&self) -> bool {
        self.off_peak.is_some() || self.next_prices.is_some()
    }

    /// The price of a call that is made at this time: announced rates once their day has begun, off-peak rates in
    /// their hours. The tiers of long prompts have no other times.
    ///
    /// ```
    /// use llm_core::price::{HourSpan, OffPeak, Price, Rates, UtcWindow};
    /// use std::time::{Duration, UNIX_EPOCH};
    /// let night = UtcWindow::new(HourSpan::parse("16:00-00:00"));
    /// let price = Price::new(Rates::usd(300, 1_200)).with_off_peak(OffPeak::new(Rates::usd(150, 600), [night]));
    /// let at = |hour: u64| price.at(UNIX_EPOCH + Duration::from_secs(hour * 3_600)).rates.input;
    /// assert_eq!((at(12), at(20)), (Some(300), Some(150)));
    /// ```
    #[must_use]
    pub fn at(&self, when: SystemTime) -> Cow<'_, Price> {
        if !self.depends_on_time() {
            return Cow::Borrowed(self);
        }
        let mut price = self.clone();
        let next = price.next_prices.take();
        if let Some(next) = next.filter(|next| day::has_begun(&next.from, when)) {
            price.rates = price.rates.overlaid(next.rates);
        }
        let off_peak = price.off_peak.take();
        if let Some(off_peak) = off_peak.filter(|off_peak| off_peak.holds_at(when)) {
            price.rates = price.rates.overlaid(off_peak.rates);
        }
        Cow::Owned(price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::time::Duration;

    /// Sunday the 29th of November 2026 and this many hours.
    fn sunday(hours: f64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs_f64(20_786.0 * 86_400.0 + hours * 3_600.0)
    }

    fn priced() -> Value {
        json!({
            "input": 300, "output": 1200, "cached_input": 6, "cache_write": 0,
            "off_peak": {
                "input": 150, "output": 600, "cached_input": 3,
                "utc_windows": [
                    {"hours_utc": ["00:00-01:00", "04:00-06:00", "10:00-00:00"], "weekdays": [1, 2, 3, 4, 5]},
                    {"hours_utc": ["00:00-00:00"], "weekdays": [6, 7]},
                ],
            },
            "next_prices": {"from": "2026-12-01", "input": 400},
        })
    }

    #[test]
    fn off_peak_rates_hold_in_their_windows() {
        let price: Price = serde_json::from_value(priced()).unwrap();
        assert_eq!(serde_json::to_value(&price).unwrap(), priced());
        let input = |hours: f64| price.at(sunday(hours)).rates.input.unwrap();
        for (hours, rate) in [
            (0.0, 150),
            (23.99, 150),
            // Monday
            (24.5, 150),
            (25.0, 300),
            (27.99, 300),
            (28.0, 150),
            (30.0, 300),
            (33.99, 300),
            (34.0, 150),
            (47.99, 150),
            // Tuesday, with the announced price
            (50.0, 400),
            (53.0, 150),
            // Saturday before
            (-20.0, 150),
            // Friday before
            (-46.0, 300),
        ] {
            assert_eq!(input(hours), rate, "{hours}");
        }
        let night = price.at(sunday(0.0));
        assert_eq!(
            (night.rates.output, night.rates.cached_input),
            (Some(600), Some(3))
        );
        assert_eq!(night.rates.cache_write, Some(0));
        assert_eq!((&night.off_peak, &night.next_prices), (&None, &None));
    }

    #[test]
    fn an_announced_price_begins_with_its_day() {
        let price =
            Price::new(Rates::usd(1, 2)).with_next_prices(NextPrice::new("2026-11-30", Rates::usd(3, 4)));
        assert_eq!(price.at(sunday(23.99)).rates, Rates::usd(1, 2));
        assert_eq!(price.at(sunday(24.0)).rates, Rates::usd(3, 4));
        let never = Price::new(Rates::usd(1, 2)).with_next_prices(NextPrice::new("soon", Rates::usd(3, 4)));
        assert_eq!(never.at(sunday(99_999.0)).rates, Rates::usd(1, 2));
        assert_eq!(*Price::default().at(UNIX_EPOCH), Price::default());
    }

    #[test]
    fn spans_are_read_strictly() {
        for span in ["00:00-00:00", "10:00-24:00", "4:00 - 6:30"] {
            assert!(HourSpan::parse(span).is_some(), "{span}");
        }
        for none in [
            "",
            "22:00-04:00",
            "06:00-06:00",
            "25:00-26:00",
            "10:60-11:00",
            "10-11",
            "a-b",
        ] {
            assert_eq!(HourSpan::parse(none), None, "{none}");
        }
        let one: UtcWindow = serde_json::from_value(json!({"hours_utc": "00:00-00:00"})).unwrap();
        assert_eq!(one.hours_utc.len(), 1);
        assert!(serde_json::from_value::<UtcWindow>(json!({"hours_utc": "always"})).is_err());
    }

    #[test]
    fn a_rate_that_the_caller_states_holds_at_all_times() {
        let shipped: Price = serde_json::from_value(priced()).unwrap();
        let stated = Price::new(Rates {
            input: Some(100),
            ..Rates::default()
        });
        let merged = shipped.overlaid(stated);
        for hours in [0.0, 25.0, 50.0] {
            assert_eq!(merged.at(sunday(hours)).rates.input, Some(100), "{hours}");
        }
        assert_eq!(merged.at(sunday(0.0)).rates.output, Some(600));
    }
}
