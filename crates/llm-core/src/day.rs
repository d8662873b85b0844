//! Days that were announced: the end of a model, the beginning of a price.

use std::time::{Duration, SystemTime};

/// Has this day (`YYYY-MM-DD`) begun? A day that cannot be read has not.
pub(crate) fn has_begun(day: &str, now: SystemTime) -> bool {
    seconds_until(day).is_some_and(|seconds| now >= SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// From 1970 to the beginning of a day, in UTC.
fn seconds_until(day: &str) -> Option<u64> {
    let mut numbers = day.splitn(3, '-').map(|number| number.parse::<u32>().ok());
    let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Counted from a March, so that the leap day is the last of its year.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + (day - 1);
    let days_to_1970 = 719_468;
    Some(u64::from(days - days_to_1970) * 24 * 60 * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_count_from_1970() {
        for (day, days) in [
            ("1970-01-01", 0),
            ("1970-03-01", 59),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2026-11-29", 20_786),
        ] {
            assert_eq!(seconds_until(day), Some(days * 86_400), "{day}");
        }
        for none in [
            "",
            "soon",
            "2026",
            "2026-13-01",
            "2026-01-00",
            "1969-12-31",
            "2026-1-x",
        ] {
            assert_eq!(seconds_until(none), None, "{none}");
        }
    }

    #[test]
    fn a_day_has_begun_at_its_midnight() {
        let day = SystemTime::UNIX_EPOCH + Duration::from_secs(20_786 * 86_400);
        assert!(has_begun("2026-11-29", day));
        assert!(!has_begun("2026-11-29", day - Duration::from_secs(1)));
        assert!(!has_begun("no day", day));
    }
}
