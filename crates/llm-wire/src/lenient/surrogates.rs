//! Escapes of half a surrogate pair: legal in JSON, but no characters.

/// The same JSON text with every escape of half a pair replaced by U+FFFD; nothing where there is none.
pub(super) fn replace_lone(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (kept, taken) = match unit(escape) {
            Some(high) if is_high(high) => match escape.get(6..).and_then(unit) {
                Some(low) if is_low(low) => (true, 12),
                _ => (false, 6),
            },
            Some(low) if is_low(low) => (false, 6),
            // any other escape: its second character may itself be a backslash
            _ => (true, escape.chars().take(2).map(char::len_utf8).sum()),
        };
        let (escape, after) = escape.split_at(taken);
        out.push_str(if kept { escape } else { "\u{fffd}" });
        replaced |= !kept;
        rest = after;
    }
    out.push_str(rest);
    replaced.then_some(out)
}

/// The UTF-16 unit that an escape at the start of the text stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(replace_lone(text).as_deref(), expected, "{text}");
        };
        check(r#""a""#, None);
        check(r#""\ud83e\udd80 \n \\ud83e \u00e9""#, None);
        check(r#""a\ud83e""#, Some("\"a\u{fffd}\""));
        check(r#""\udd80b""#, Some("\"\u{fffd}b\""));
        check(r#""\ud83e\ud83e\udd80""#, Some("\"\u{fffd}\\ud83e\\udd80\""));
        check(r#""\\\ud83e""#, Some("\"\\\\\u{fffd}\""));
        check(r#""\ud83"#, None);
        check("\\", None);
        check("\\ä\\ud83eä", Some("\\ä\u{fffd}ä"));
    }
}
