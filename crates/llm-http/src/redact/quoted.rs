//! What stands in quotes, or is cut: where a vendor repeats what it was sent.

use super::names::{is_name, is_named, is_path, steps};
use super::shown::Shown;
use std::ops::Range;

/// The longest text that is looked for as all that stands between two quotes; what is longer is found by its runs.
const LONGEST: usize = 64;

/// A text that is a step of a path is looked for from this many characters on.
const STEP_MIN: usize = 8;

/// The quoted stretches of a message.
#[derive(Default)]
pub(super) struct Quoted {
    /// In bytes of the message, without the quotes.
    stretches: Vec<Range<usize>>,
    /// The same, where it is short, and the steps of paths; with what stands there, in its forms.
    short: Vec<(Range<usize>, [String; 2])>,
}

impl Quoted {
    /// `model`: a name that is not looked for.
    pub(super) fn of(message: &str, model: Option<&str>) -> Self {
        let mut quoted = Quoted::default();
        for stretch in stretches(message) {
            let said = &message[stretch.clone()];
            if is_name(said, model) {
                continue;
            }
            if is_path(said) {
                quoted.take_steps(said, stretch.start);
                continue;
            }
            quoted.short.extend(whole(said, stretch.clone()));
            if !is_named(&message[..stretch.start], said) {
                quoted.stretches.push(stretch);
            }
        }
        quoted
    }

    /// All of it is a path.
    pub(super) fn path(path: &str) -> Self {
        let mut quoted = Quoted::default();
        quoted.take_steps(path, 0);
        quoted
    }

    fn take_steps(&mut self, path: &str, start: usize) {
        let long = steps(path).filter(|step| step.len() >= STEP_MIN);
        let steps = long.filter_map(|step| whole(&path[step.clone()], start + step.start..start + step.end));
        self.short.extend(steps);
    }

    /// What is looked for as a whole text of the request.
    pub(super) fn wholes(&self) -> impl Iterator<Item = &String> {
        self.short.iter().flat_map(|(_, forms)| forms)
    }

    /// The stretches that are a text of the request.
    pub(super) fn found<'q>(
        &'q self,
        is_text: impl Fn(&str) -> bool + 'q,
    ) -> impl Iterator<Item = Range<usize>> + 'q {
        let found = self
            .short
            .iter()
            .filter(move |(_, forms)| forms.iter().any(|form| is_text(form)));
        found.map(|(stretch, _)| stretch.clone())
    }

    /// The parts of a run that stand in quotes.
    pub(super) fn within<'q>(&'q self, run: &Range<usize>) -> impl Iterator<Item = Range<usize>> + 'q {
        let Range { start, end } = *run;
        let first = self.stretches.partition_point(|stretch| stretch.end <= start);
        let reached = self.stretches[first..]
            .iter()
            .take_while(move |stretch| stretch.start < end);
        reached.map(move |stretch| stretch.start.max(start)..stretch.end.min(end))
    }
}

/// What stands at this place in its forms, if it is short and says something.
fn whole(said: &str, place: Range<usize>) -> Option<(Range<usize>, [String; 2])> {
    let exact = Shown::exact(said.trim());
    let says = exact.chars.iter().any(|c| c.is_alphabetic()) || exact.chars.len() > 5;
    if !says || exact.chars.len() > 3 * LONGEST {
        return None;
    }
    let decoded = exact.decoded().folded();
    let forms = [exact.folded(), decoded].map(|form| form.chars.into_iter().collect());
    Some((place, forms))
}

/// How many quotes may be open at once.
const DEEPEST: usize = 64;

/// What stands between quotes, the outermost ones; what is not closed goes to the end. A mark behind a space or a
/// bracket opens, another one closes; one inside of a word is an apostrophe.
fn stretches(message: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    // the marks that are open, and where the outermost one stands
    let mut open: Vec<char> = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in message.char_indices() {
        let end = at + c.len_utf8();
        let after = message[end..].chars().next();
        let opens_behind = |c: char| c.is_whitespace() || "([{<:=,;|'\"`".contains(c);
        let in_word = before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric);
        let (opening, closing) = match c {
            '“' | '„' | '«' | '‹' => (true, None),
            '”' => (false, Some('“')),
            '»' => (false, Some('«')),
            '›' => (false, Some('‹')),
            '"' | '\'' | '`' if in_word => (false, None),
            '"' | '\'' | '`' => {
                let could_open = before.is_none_or(opens_behind) && after.is_some_and(|c| !c.is_whitespace());
                let is_open = open.contains(&c);
                // directly behind its like it closes: nothing stands between them
                let opens = could_open && !(is_open && before == Some(c));
                (opens, is_open.then_some(c))
            }
            _ => (false, None),
        };
        if opening {
            if open.is_empty() {
                start = end;
            }
            // Nobody nests deeper; a message of nothing but marks is told in one pass all the same.
            if open.len() < DEEPEST {
                open.push(c);
            }
        } else if let Some(mark) = closing
            && let Some(place) = open.iter().rposition(|there| *there == mark)
        {
            open.truncate(place);
            if open.is_empty() {
                out.push(start..at);
            }
        }
        // a mark behind a backslash is as good as without
        if c != '\\' {
            before = Some(c);
        }
    }
    if !open.is_empty() {
        out.push(start..message.len());
    }
    out
}
