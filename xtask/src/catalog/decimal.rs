//! Decimal text to integers, digit by digit: a price must not pass through binary rounding.

/// Digits after the point that survive: nano-dollars are 10^-9 dollars.
const PLACES: i64 = 9;

/// A double prints as the shortest text that reads back the same; up to this many significant digits
/// that text is the one that stood in the file.
const SAFE_DIGITS: usize = 15;

/// A number of dollars as written (`0.15`, `12`, `2.5e-3`) in nano-dollars.
pub(crate) fn nano_dollars(text: &str) -> Result<u64, String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (
            mantissa,
            exponent
                .parse::<i64>()
                .map_err(|_| format!("`{text}` has no readable exponent"))?,
        ),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "`{text}` is not a price: write a plain decimal that is not negative"
        ));
    }
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    if significant.len() > SAFE_DIGITS {
        return Err(format!(
            "`{text}` has more than {SAFE_DIGITS} digits and may have been rounded on the way"
        ));
    }
    let trailing = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
    let fraction = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
    let zeros = exponent
        .saturating_add(PLACES)
        .saturating_add(trailing)
        .saturating_sub(fraction);
    if zeros < 0 {
        return Err(format!("`{text}` is finer than a nano-dollar"));
    }
    let too_large = || format!("`{text}` is too large");
    let power = u32::try_from(zeros)
        .ok()
        .and_then(|zeros| 10_u64.checked_pow(zeros))
        .ok_or_else(too_large)?;
    let value: u64 = significant.parse().map_err(|_| too_large())?;
    value.checked_mul(power).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_exact() {
        for (text, expected) in [
            ("0.15", 150_000_000),
            ("0", 0),
            ("0.0", 0),
            ("10", 10_000_000_000),
            ("1.10", 1_100_000_000),
            ("0.00875", 8_750_000),
            ("34.375", 34_375_000_000),
            ("1e-9", 1),
            ("2.5E-3", 2_500_000),
            ("1.5e2", 150_000_000_000),
            ("600", 600_000_000_000),
        ] {
            assert_eq!(nano_dollars(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for text in [
            "",
            ".5",
            "-1",
            "+1",
            "1,5",
            "0x10",
            "1e",
            "1e-10",
            "0.1234567891",
            "9e99",
            "NaN",
        ] {
            assert!(nano_dollars(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rounded_doubles_are_refused() {
        assert!(
            nano_dollars("0.30000000000000004")
                .unwrap_err()
                .contains("rounded")
        );
    }
}
