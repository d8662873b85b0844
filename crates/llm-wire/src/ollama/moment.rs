//! Times as this format writes them: RFC 3339, with any number of digits behind the second.

/// Seconds since 1970; `None` for what is no such time, or before it.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    let mut date = date.splitn(3, '-');
    let mut number = |digits: usize| {
        let text = date.next()?;
        (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<i64>().ok())
            .flatten()
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let zone = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone);
    let time = time.split('.').next()?;
    let mut clock = time.splitn(3, ':').map(|text| text.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..=60).contains(&second);
    if !in_range {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    u64::try_from(seconds - offset(zone)?).ok()
}

/// Days since 1970. (Years begin in March here, so that the day that is not always there is the last one.)
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let of_year = (153 * month + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // 719,468 days lie between the first of March of the year 0 and 1970
    year * 365 + leap_days + of_year - 719_468
}

/// How many seconds a zone is ahead.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let part = |text: &str| text.parse::<i64>().ok().filter(|number| (0..60).contains(number));
    Some(sign * (part(hours)? * 3_600 + part(minutes)? * 60))
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_are_read_with_their_zone() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-11-29T10:00:00.1Z", 1_795_946_400),
            ("2026-11-29T12:00:00.123456789+02:00", 1_795_946_400),
            ("2026-11-29T05:30:00-04:30", 1_795_946_400),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2000-03-01 00:00:00z", 951_868_800),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "soon",
            "2026-11-29",
            "2026-11-29T10:00:00",
            "2026-13-29T10:00:00Z",
            "2026-11-29T25:00:00Z",
            "2026-11-29T10:00Z",
            "2026-11-29T10:00:00+2",
            "1969-12-31T23:59:59Z",
            "99999-01-01T00:00:00Z",
            "é026-11-29T10:00:00Z",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
