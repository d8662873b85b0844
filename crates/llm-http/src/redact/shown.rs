//! The forms in which a message is looked at: as it is, or so that what says the same is the same.

use std::ops::Range;

/// A message as characters, each with the bytes it stands for.
pub(super) struct Shown {
    pub(super) chars: Vec<char>,
    pub(super) bytes: Vec<Range<usize>>,
}

impl Shown {
    /// As it is.
    pub(super) fn exact(message: &str) -> Self {
        let (bytes, chars) = message
            .char_indices()
            .map(|(at, c)| (at..at + c.len_utf8(), c))
            .unzip();
        Shown { chars, bytes }
    }

    /// In lower case, with each run of white space as one space.
    pub(super) fn folded(&self) -> Self {
        let mut shown = Shown {
            chars: Vec::with_capacity(self.chars.len()),
            bytes: Vec::with_capacity(self.chars.len()),
        };
        for (c, bytes) in self.chars.iter().zip(&self.bytes) {
            match (shown.chars.last(), fold(*c)) {
                (Some(' '), ' ') => {
                    if let Some(last) = shown.bytes.last_mut() {
                        last.end = bytes.end;
                    }
                }
                (_, c) => {
                    shown.chars.push(c);
                    shown.bytes.push(bytes.clone());
                }
            }
        }
        shown
    }

    /// The bytes of these characters.
    pub(super) fn place(&self, chars: &Range<usize>) -> Range<usize> {
        self.bytes[chars.start].start..self.bytes[chars.end - 1].end
    }

    /// Does no word go on across this place?
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        let is_in_word = |at: usize| self.chars.get(at).copied().is_some_and(in_word);
        at == 0 || !(is_in_word(at - 1) && is_in_word(at))
    }

    /// With the characters that are written with percent signs or backslashes.
    pub(super) fn decoded(&self) -> Self {
        let mut shown = Shown {
            chars: Vec::with_capacity(self.chars.len()),
            bytes: Vec::with_capacity(self.chars.len()),
        };
        let mut at = 0;
        while at < self.chars.len() {
            let rest = &self.chars[at..];
            let (c, length) = percent_encoded(rest)
                .or_else(|| escaped(rest))
                .unwrap_or((rest[0], 1));
            shown.chars.push(c);
            shown
                .bytes
                .push(self.bytes[at].start..self.bytes[at + length - 1].end);
            at += length;
        }
        shown
    }
}

/// The character at the beginning, if it is written as `%20` or `%C3%A9`, and how many characters that takes.
fn percent_encoded(chars: &[char]) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    for triple in chars.chunks_exact(3).take(4) {
        let ['%', high, low] = triple else { break };
        let byte = high.to_digit(16)? * 16 + low.to_digit(16)?;
        bytes.push(u8::try_from(byte).ok()?);
        if let Ok(text) = std::str::from_utf8(&bytes) {
            return text.chars().next().map(|c| (c, 3 * bytes.len()));
        }
    }
    None
}

/// The character at the beginning, if it is written with a backslash as in JSON.
fn escaped(chars: &[char]) -> Option<(char, usize)> {
    match chars {
        ['\\', 'n' | 't' | 'r', ..] => Some((' ', 2)),
        ['\\', c @ ('"' | '\'' | '\\' | '/'), ..] => Some((*c, 2)),
        ['\\', 'u', digits @ ..] => {
            let digits = digits.get(..4)?;
            let code = digits
                .iter()
                .try_fold(0, |code, digit| Some(code * 16 + digit.to_digit(16)?))?;
            char::from_u32(code).map(|c| (c, 6))
        }
        _ => None,
    }
}

/// Is this a part of a word, as names have them?
pub(super) fn in_word(c: char) -> bool {
    (c.is_alphanumeric() && !is_unspaced(c)) || c == '_'
}

/// Is this of a script that puts no space between words?
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..)
}

fn fold(c: char) -> char {
    if c.is_ascii_graphic() {
        return c.to_ascii_lowercase();
    }
    if c.is_whitespace() || c.is_control() {
        return ' ';
    }
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// A text in lower case, with each run of white space as one space.
pub(super) fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut last = None;
    text.chars().map(fold).filter(move |c| {
        let again = *c == ' ' && last == Some(' ');
        last = Some(*c);
        !again
    })
}
