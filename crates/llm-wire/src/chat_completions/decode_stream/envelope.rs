//! Chunks that are the same as the one before, but for their text: most of a stream. They are not read again as JSON.

use super::super::types::Answer;
use crate::lenient::{Content, Text};
use std::borrow::Cow;
use std::ops::Range;

/// Larger chunks are no small pieces of text; they are read each for itself.
const LARGEST: usize = 4 * 1024;

/// The field in which OpenAI hides the length of a piece behind another length; its value says nothing.
const PADDING: &str = "\"obfuscation\":";

/// A chunk around its text.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    /// Up to the text; empty: nothing is known.
    before: String,
    /// From behind the text on, up to the padding.
    after: String,
    /// From behind the padding on; absent: there is no padding.
    behind_padding: Option<String>,
}

impl Envelope {
    /// The text of a chunk that is else the same. It may be empty.
    pub(super) fn text_of<'c>(&self, chunk: &'c str) -> Option<Text<'c>> {
        if self.before.is_empty() {
            return None;
        }
        let rest = chunk.strip_prefix(&*self.before)?;
        let rest = match &self.behind_padding {
            Some(behind) => without_padding(rest.strip_suffix(&**behind)?)?,
            None => rest,
        };
        let literal = rest.strip_suffix(&*self.after)?;
        // One JSON string and nothing else, or this chunk has another form after all.
        serde_json::from_str(literal).ok()
    }

    /// Keeps what is around the text at this place of a chunk.
    pub(super) fn keep(&mut self, chunk: &str, literal: Range<usize>) {
        self.forget();
        let (Some(before), Some(after)) = (chunk.get(..literal.start), chunk.get(literal.end..)) else {
            return;
        };
        self.before.push_str(before);
        match after.rfind(PADDING).map(|at| after.split_at(at)) {
            Some((after, padding)) => {
                let Some(behind) = behind_literal(&padding[PADDING.len()..]) else {
                    return self.forget();
                };
                self.after.push_str(after);
                self.behind_padding = Some(behind.to_owned());
            }
            None => self.after.push_str(after),
        }
    }

    pub(super) fn forget(&mut self) {
        self.before.clear();
        self.after.clear();
        self.behind_padding = None;
    }
}

/// What stands before the padding at the end of a text.
fn without_padding(text: &str) -> Option<&str> {
    let open = text.strip_suffix('"')?.rfind('"')?;
    let padding = &text[open..];
    (behind_literal(padding) == Some("")).then(|| text[..open].strip_suffix(PADDING))?
}

/// What follows a string of plain letters and digits.
fn behind_literal(text: &str) -> Option<&str> {
    let (padding, behind) = text.strip_prefix('"')?.split_once('"')?;
    padding
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric())
        .then_some(behind)
}

/// Where in a chunk its text stands, with its quotes, when the chunk says nothing besides. A text with escapes is not
/// found.
pub(super) fn text_alone(answer: &Answer<'_>, chunk: &str) -> Option<Range<usize>> {
    if chunk.len() > LARGEST {
        return None;
    }
    let Content::Text(Text(Cow::Borrowed(text))) = answer.text_alone()? else {
        return None;
    };
    let start = text.as_ptr().addr().checked_sub(chunk.as_ptr().addr())?;
    let literal = start.checked_sub(1)?..start + text.len() + 1;
    let quotes = chunk.get(literal.clone())?.strip_prefix('"')?.strip_suffix('"')?;
    (quotes == *text).then_some(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(chunk: &str, literal: &str) -> Envelope {
        let mut envelope = Envelope::default();
        let start = chunk.find(literal).unwrap();
        envelope.keep(chunk, start..start + literal.len());
        envelope
    }

    fn text<'c>(envelope: &Envelope, chunk: &'c str) -> Option<Cow<'c, str>> {
        envelope.text_of(chunk).map(|text| text.0)
    }

    #[test]
    fn the_same_but_for_its_text() {
        let known = envelope(r#"{"a":1,"text":"one","b":[]}"#, "\"one\"");
        assert_eq!(text(&known, r#"{"a":1,"text":"two","b":[]}"#).unwrap(), "two");
        assert_eq!(text(&known, r#"{"a":1,"text":"","b":[]}"#).unwrap(), "");
        assert_eq!(
            text(&known, r#"{"a":1,"text":"\"\u00e4\n","b":[]}"#).unwrap(),
            "\"ä\n"
        );
        for other in [
            r#"{"a":2,"text":"two","b":[]}"#,
            r#"{"a":1,"text":"two","b":[1]}"#,
            r#"{"a":1,"text":"two","c":"","b":[]}"#,
            r#"{"a":1,"text":null,"b":[]}"#,
            r#"{"a":1,"text":"two\","b":[]}"#,
            r#"{"a":1,"text":"\ud800","b":[]}"#,
            r#"{"a":1,"text":"two"#,
            "",
        ] {
            assert_eq!(text(&known, other), None, "{other}");
        }
        assert_eq!(text(&Envelope::default(), "\"two\""), None);
    }

    #[test]
    fn padding_says_nothing() {
        let known = envelope(r#"{"text":"one","obfuscation":"aB3"}"#, "\"one\"");
        assert_eq!(text(&known, r#"{"text":"two","obfuscation":""}"#).unwrap(), "two");
        assert_eq!(
            text(&known, r#"{"text":"two","obfuscation":"Zz99"}"#).unwrap(),
            "two"
        );
        for other in [
            r#"{"text":"two"}"#,
            r#"{"text":"two","obfuscation":1}"#,
            r#"{"text":"two","obfuscation":"a","b":1}"#,
            r#"{"text":"two","b":"a"}"#,
            r#"{"text":"two","b":1,"obfuscation":"a"}"#,
            r#"{"text":"two","obfuscation":"a\"}"#,
        ] {
            assert_eq!(text(&known, other), None, "{other}");
        }
    }
}
