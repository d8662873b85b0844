//! Keeping what the caller wrote out of what a vendor says about it.

use super::quoted::Quoted;
use super::shown::{Shown, folded};
use super::{occurrences, replace};
use serde_json::Value;
use std::collections::HashMap;
use std::ops::Range;

/// What stands in the place of content.
const HIDDEN: &str = "[content]";

/// A whole text of the request is looked for from this many characters on.
const PIECE_MIN: usize = 8;

/// A part of a text of the request is looked for from this many characters on.
const RUN: usize = 24;

/// The same for what stands in quotes, or is cut: there a vendor repeats what it was sent.
const QUOTED_RUN: usize = 8;

/// Takes quoted content out of a vendor's message: every occurrence of a text of the request (of 8 characters and
/// more), and every run that the message shares with one: of 24 characters and more anywhere, of 8 and more in quotes or where
/// the message says that it was cut (`…`). In quotes also a text that is shorter. Names of the formats' fields stay.
///
/// White space counts as equal, and so do upper and lower case, and what is written with percent signs or backslashes:
/// an error's message is one line, what it quotes may not have been. Of texts that are JSON, the strings inside
/// count too.
///
/// ```
/// use llm_http::redact::scrub_content;
/// let texts = ["Tell me of the\nsecret garden in Kyoto."];
/// let message = "cannot parse 'Tell me of the secret garden in Kyo…' at position 3";
/// assert_eq!(scrub_content(message, texts), "cannot parse '[content]…' at position 3");
/// assert_eq!(scrub_content("bad value: \"SECRET GARD...\"", texts), "bad value: \"[content]...\"");
/// ```
///
/// Costs a pass over all texts; meant for the path of errors.
pub fn scrub_content<'t>(message: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    scrub_content_but(message, texts, None)
}

/// The same, but for the name of the model, which a caller's text may hold too.
pub(crate) fn scrub_content_but<'t>(
    message: &str,
    texts: impl IntoIterator<Item = &'t str>,
    model: Option<&str>,
) -> String {
    let exact = Shown::exact(message);
    let folded = Shown::folded(exact.clone());
    let decoded = Shown::folded(exact.decoded());
    let mut quoted = Quoted::of(message, model);
    let mut short = View::<QUOTED_RUN>::all([&folded, &decoded]);
    let mut long = View::<RUN>::all([&folded, &decoded, &exact]);
    for text in texts {
        each_text(text, &mut |text| {
            short.iter_mut().for_each(|view| view.look_for(text));
            long.iter_mut().for_each(|view| view.look_for(text));
            quoted.look_for(text);
        });
    }
    let mut spans: Vec<_> = long.iter().flat_map(View::spans).collect();
    let runs = short.iter().flat_map(|view| joined(view.runs_found()));
    let runs = runs.map(|run| Quoted::trimmed(message, run));
    spans.extend(runs.filter(|run| quoted.is_repeated(message, run)));
    spans.extend(quoted.found());
    replace(message, spans, HIDDEN)
}

/// A text and, where it is JSON, the strings in it.
fn each_text(text: &str, look: &mut impl FnMut(&str)) {
    look(text);
    if text.trim_start().starts_with(['{', '['])
        && let Ok(value) = serde_json::from_str(text)
    {
        each_string(&value, look);
    }
}

fn each_string<'v>(value: &'v Value, look: &mut impl FnMut(&'v str)) {
    match value {
        Value::String(text) => look(text),
        Value::Array(items) => items.iter().for_each(|item| each_string(item, look)),
        Value::Object(fields) => fields.values().for_each(|field| each_string(field, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Spans that touch or overlap as one.
fn joined(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    spans.sort_unstable_by_key(|span| span.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
            _ => out.push(span),
        }
    }
    out
}

/// The message in one of its forms, and what was found in it: runs of `N` characters, and whole texts that are shorter.
struct View<const N: usize> {
    shown: Shown,
    text: String,
    /// Each different run by its hash: where it first stands, and whether a text has it.
    runs: HashMap<u64, (usize, bool)>,
    pieces: Vec<Range<usize>>,
}

impl<const N: usize> View<N> {
    /// One for each form that differs.
    fn all<const F: usize>(forms: [&Shown; F]) -> Vec<Self> {
        let mut views: Vec<Self> = Vec::with_capacity(F);
        for form in forms {
            if !views.iter().any(|view| view.shown.chars == form.chars) {
                views.push(View::new(form.clone()));
            }
        }
        views
    }

    fn new(shown: Shown) -> Self {
        let mut runs = HashMap::new();
        let mut rolling = Rolling::<N>::default();
        for (at, c) in shown.chars.iter().enumerate() {
            if let Some(hash) = rolling.push(*c) {
                runs.entry(hash).or_insert((at + 1 - N, false));
            }
        }
        View {
            text: shown.chars.iter().collect(),
            shown,
            runs,
            pieces: Vec::new(),
        }
    }

    fn look_for(&mut self, text: &str) {
        if !self.shown.folds {
            self.look_for_chars(text.chars());
            return;
        }
        self.look_for_chars(folded(text));
        let trimmed = text.trim();
        if trimmed.len() < text.len() {
            self.look_for_chars(folded(trimmed));
        }
    }

    /// A text of at least `N` characters is found by its runs, a shorter one as a whole.
    fn look_for_chars(&mut self, chars: impl Iterator<Item = char>) {
        let mut rolling = Rolling::<N>::default();
        let mut start = String::new();
        let mut count = 0;
        for c in chars {
            count += 1;
            if count < N {
                start.push(c);
            }
            let Some(hash) = rolling.push(c) else { continue };
            if let Some((at, found)) = self.runs.get_mut(&hash) {
                *found = *found || rolling.is(&self.shown.chars[*at..*at + N]);
            }
        }
        if (PIECE_MIN..N).contains(&count) {
            self.pieces.extend(occurrences(&self.text, &start));
        }
    }

    /// What was found, in bytes of the message.
    fn spans(&self) -> Vec<Range<usize>> {
        let bytes = &self.shown.bytes;
        let mut spans = self.runs_found();
        for piece in &self.pieces {
            let first = self.text[..piece.start].chars().count();
            let length = self.text[piece.clone()].chars().count();
            spans.push(bytes[first].start..bytes[first + length - 1].end);
        }
        spans
    }

    /// The runs alone, each of `N` characters.
    fn runs_found(&self) -> Vec<Range<usize>> {
        let bytes = &self.shown.bytes;
        let mut spans = Vec::new();
        let mut rolling = Rolling::<N>::default();
        for (at, c) in self.shown.chars.iter().enumerate() {
            let hash = rolling.push(*c);
            if hash.is_some_and(|hash| self.runs.get(&hash).is_some_and(|(_, found)| *found)) {
                spans.push(bytes[at + 1 - N].start..bytes[at].end);
            }
        }
        spans
    }
}

/// A hash over the last `N` characters that moves along in constant time.
struct Rolling<const N: usize> {
    last: [char; N],
    count: usize,
    hash: u64,
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl<const N: usize> Default for Rolling<N> {
    fn default() -> Self {
        Rolling {
            last: ['\0'; N],
            count: 0,
            hash: 0,
        }
    }
}

impl<const N: usize> Rolling<N> {
    /// What the hash of a character has become when it leaves.
    const OLDEST: u64 = BASE.wrapping_pow(N as u32);

    /// Takes one more character; the hash, once there are enough.
    fn push(&mut self, c: char) -> Option<u64> {
        let slot = &mut self.last[self.count % N];
        let gone = u64::from(u32::from(std::mem::replace(slot, c)));
        self.hash = self
            .hash
            .wrapping_mul(BASE)
            .wrapping_add(u64::from(u32::from(c)))
            .wrapping_sub(gone.wrapping_mul(Self::OLDEST));
        self.count += 1;
        (self.count >= N).then_some(self.hash)
    }

    /// Are the last characters these?
    fn is(&self, chars: &[char]) -> bool {
        let (newer, older) = self.last.split_at(self.count % N);
        older.iter().chain(newer).eq(chars)
    }
}
