//! Cutting off what an answer repeats: the beginning that the caller wrote for it.

use std::borrow::Cow;

/// The beginning, and how much of it was seen.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    expected: String,
    seen: usize,
}

impl Beginning {
    pub(super) fn new(expected: String) -> Self {
        Beginning { expected, seen: 0 }
    }

    /// The text without what repeats the beginning. An answer that begins otherwise is left as it is.
    pub(super) fn cut<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        let rest = &self.expected[self.seen..];
        if rest.is_empty() {
            return text;
        }
        if let Some(more) = text.strip_prefix(rest) {
            let more = more.to_owned();
            *self = Beginning::default();
            return Cow::Owned(more);
        }
        if rest.starts_with(&*text) {
            self.seen += text.len();
            return Cow::Borrowed("");
        }
        let mut whole = self.finish();
        whole.push_str(&text);
        Cow::Owned(whole)
    }

    /// What was held back, when nothing more comes: an answer that ends before the beginning does not repeat it.
    pub(super) fn finish(&mut self) -> String {
        let Beginning { mut expected, seen } = std::mem::take(self);
        expected.truncate(seen);
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of an answer in pieces.
    fn left(pieces: &[&str]) -> String {
        let mut beginning = Beginning::new("Once upon".to_owned());
        let mut out: String = pieces
            .iter()
            .map(|piece| beginning.cut(Cow::Borrowed(piece)))
            .collect();
        out.push_str(&beginning.finish());
        out
    }

    #[test]
    fn the_repeated_beginning_is_cut_off_however_it_comes() {
        for (pieces, expected) in [
            (&["Once upon a time"][..], " a time"),
            (&["Once", " upon", " a"], " a"),
            (&["", "Onc", "e upon a", " time, Once upon"], " a time, Once upon"),
            (&["Once", " more"], "Once more"),
            (&["Twice"], "Twice"),
            (&["Once"], "Once"),
            (&["Once upon"], ""),
            (&[], ""),
        ] {
            assert_eq!(left(pieces), expected, "{pieces:?}");
        }
    }
}
