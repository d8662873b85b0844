//! Which of the shorter runs a vendor repeats: those in quotes, and those that it says it cut.

use super::quoted::Quoted;
use super::shown::{Shown, in_word, is_unspaced};
use super::windows::{Run, SHORT};
use std::ops::Range;

/// How a message says that something was cut.
const CUT: [&str; 2] = ["...", "…"];

/// Adds the places of a run that are to be hidden.
pub(super) fn repeated(
    message: &str,
    form: &Shown,
    run: &Run,
    quoted: &Quoted,
    spans: &mut Vec<Range<usize>>,
) {
    let place = form.place(&run.chars);
    for part in quoted.within(&place) {
        let part = trimmed(message, part, is_edge);
        if is_long(message, &part) && !is_inside_a_word(message, &part) {
            spans.push(part);
        }
    }
    spans.extend(cut(message, place, run.begins));
}

/// A run that touches the sign of a cut, as far as it is whole words. One word alone may be the vendor's own.
fn cut(message: &str, run: Range<usize>, begins: bool) -> Option<Range<usize>> {
    let is_cut_start = CUT.iter().any(|sign| message[..run.start].ends_with(sign));
    let is_cut_end = CUT
        .iter()
        .any(|sign| message[run.end..].starts_with(sign) || message[run.clone()].ends_with(sign));
    if !(is_cut_start || is_cut_end) {
        return None;
    }
    let mut part = run;
    if !is_cut_start && splits_word(message, part.start) {
        part.start += message[part.clone()].find(|c| !in_word(c))?;
    }
    if !is_cut_end && splits_word(message, part.end) {
        part.end = part.start + message[part.clone()].rfind(|c| !in_word(c))?;
    }
    let part = trimmed(message, part, |c| is_edge(c) || c == '.' || c == '…');
    let said = &message[part.clone()];
    let is_more_than_a_word =
        begins || said.split_whitespace().nth(1).is_some() || said.contains(is_space_like);
    (is_more_than_a_word && is_long(message, &part)).then_some(part)
}

/// Does this end a word without being a space: the beginning of an encoded one, or a sign that is a word by itself?
fn is_space_like(c: char) -> bool {
    c == '%' || is_unspaced(c)
}

/// Is it no more than a part of one word or name?
fn is_inside_a_word(message: &str, part: &Range<usize>) -> bool {
    let goes_on = splits_word(message, part.start) || splits_word(message, part.end);
    goes_on && message[part.clone()].chars().all(in_word)
}

fn splits_word(message: &str, at: usize) -> bool {
    let (before, after) = message.split_at(at);
    before.chars().next_back().is_some_and(in_word) && after.chars().next().is_some_and(in_word)
}

fn is_long(message: &str, part: &Range<usize>) -> bool {
    message[part.clone()].chars().nth(SHORT - 1).is_some()
}

/// A run without the marks and spaces at its ends: those are the message's own.
fn trimmed(message: &str, run: Range<usize>, is_edge: impl Fn(char) -> bool) -> Range<usize> {
    let said = &message[run.clone()];
    let start = run.start + said.len() - said.trim_start_matches(&is_edge).len();
    let end = run.end - (said.len() - said.trim_end_matches(&is_edge).len());
    start.min(end)..end
}

fn is_edge(c: char) -> bool {
    c.is_whitespace() || "\"'`“”«»\\".contains(c)
}
