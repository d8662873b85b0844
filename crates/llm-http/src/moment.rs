//! Points and lengths of time as headers write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The longest wait that is handed on: a hundred years. It can be added to any clock without overflow.
pub(crate) const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Numbers from here on are Unix times and no lengths: the start of 2020.
const FIRST_UNIX_TIME: f64 = 1_577_836_800.0;

/// A non-negative decimal, `7` or `0.25`: digits with at most one part behind a point, nothing else.
pub(crate) fn parse_decimal(text: &str) -> Option<f64> {
    let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let mut parts = text.as_bytes().splitn(2, |byte| *byte == b'.');
    if parts.all(digits) {
        text.parse().ok()
    } else {
        None
    }
}

/// As [`parse_decimal`], and anything negative is zero.
pub(crate) fn parse_decimal_or_negative(text: &str) -> Option<f64> {
    match text.strip_prefix('-') {
        Some(positive) => parse_decimal(positive).map(|_| 0.0),
        None => parse_decimal(text),
    }
}

/// Seconds as a length, at most [`LONGEST`].
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).map_or(LONGEST, |length| length.min(LONGEST))
}

/// How long from `now` to a moment; zero when it has passed.
pub(crate) fn until(moment: SystemTime, now: SystemTime) -> Duration {
    moment.duration_since(now).unwrap_or_default().min(LONGEST)
}

/// A calendar date with time: an HTTP date (IMF, RFC 850 or asctime form) or RFC 3339.
pub(crate) fn parse_date(text: &str) -> Option<SystemTime> {
    parse_rfc3339(text).or_else(|| httpdate::parse_http_date(text).ok())
}

/// When a limit is whole again, from `now`: a date, a Unix time (also in milliseconds), seconds, or a length
/// such as `6m0s`.
pub(crate) fn parse_reset(text: &str, now: SystemTime) -> Option<Duration> {
    if let Some(number) = parse_decimal_or_negative(text) {
        return Some(if number < FIRST_UNIX_TIME {
            seconds(number)
        } else {
            let unix = if number < FIRST_UNIX_TIME * 1000.0 {
                number
            } else {
                number / 1000.0
            };
            let moment = UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(unix).ok()?)?;
            until(moment, now)
        });
    }
    parse_length(text).or_else(|| Some(until(parse_date(text)?, now)))
}

/// A length of one or more `number unit`: `1d2h`, `2m59.56s`, `20ms`.
pub(crate) fn parse_length(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let numeric = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        let unit_at = rest.bytes().position(|byte| !numeric(byte))?;
        let number = parse_decimal(&rest[..unit_at])?;
        let unit = &rest[unit_at..];
        let unit_end = unit.bytes().position(numeric).unwrap_or(unit.len());
        total += number * seconds_of_unit(&unit[..unit_end])?;
        rest = &unit[unit_end..];
    }
    (!text.is_empty()).then(|| seconds(total))
}

fn seconds_of_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "d" => 86_400.0,
        "h" => 3_600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        // The micro sign and the Greek letter look alike.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

/// `2026-11-29T18:30:00.25Z`, with any offset.
fn parse_rfc3339(text: &str) -> Option<SystemTime> {
    let bytes = text.as_bytes();
    let mark = |at: usize, marks: &[u8]| bytes.get(at).is_some_and(|byte| marks.contains(byte));
    if !(text.is_ascii()
        && mark(4, b"-")
        && mark(7, b"-")
        && mark(10, b"Tt ")
        && mark(13, b":")
        && mark(16, b":"))
    {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        let all = digits.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| digits.parse::<i64>().ok())?
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let fits = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !fits {
        return None;
    }
    let (nanos, zone) = parse_fraction(&text[19..])?;
    let offset = parse_offset(zone)?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let moment = if seconds < 0 {
        UNIX_EPOCH.checked_sub(whole)?
    } else {
        UNIX_EPOCH.checked_add(whole)?
    };
    moment.checked_add(Duration::from_nanos(nanos))
}

/// The nanoseconds of `.25Z`, and what follows them.
fn parse_fraction(text: &str) -> Option<(u64, &str)> {
    let Some(rest) = text.strip_prefix('.') else {
        return Some((0, text));
    };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let digits = rest.get(..end.min(9)).filter(|digits| !digits.is_empty())?;
    let nanos = digits.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = nanos.fold(0, |nanos, digit| nanos * 10 + u64::from(digit - b'0'));
    Some((nanos, &rest[end..]))
}

/// The seconds east of Greenwich of `Z` or `+01:00`.
fn parse_offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone[1..].split_once(':')?;
    let two_digits = |text: &str| {
        let fits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        fits.then(|| text.parse::<i64>().ok())?
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar; years are counted from March, so that a leap day is last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests;
