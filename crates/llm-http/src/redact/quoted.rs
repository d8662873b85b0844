//! What stands in quotes, or is cut: where a vendor repeats what it was sent.

use super::shown::{Shown, folded};
use std::ops::Range;

/// The shortest text that is looked for as all that stands between two quotes.
const SHORTEST: usize = 2;
/// The longest; what is longer is found by its runs.
const LONGEST: usize = 64;

/// Names in the wire formats: they say what is wrong, and a caller's text may hold them too.
const NAMES: [&str; 46] = [
    "additionalproperties",
    "array",
    "arguments",
    "assistant",
    "boolean",
    "completion",
    "content",
    "contents",
    "developer",
    "false",
    "file",
    "function",
    "function_call_output",
    "image",
    "image_url",
    "input",
    "instructions",
    "integer",
    "json",
    "json_object",
    "json_schema",
    "max_completion_tokens",
    "max_output_tokens",
    "max_tokens",
    "messages",
    "model",
    "none",
    "null",
    "number",
    "object",
    "parameters",
    "prompt",
    "properties",
    "reasoning",
    "reasoning_effort",
    "required",
    "response_format",
    "role",
    "string",
    "system",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "true",
    "user",
];

/// The quoted stretches of a message.
pub(super) struct Quoted {
    /// In bytes of the message, without the quotes.
    stretches: Vec<Range<usize>>,
    /// The same, with what stands there and whether that is a text of the request.
    short: Vec<(Range<usize>, Vec<Vec<char>>, bool)>,
}

impl Quoted {
    /// `model`: a name that is not looked for.
    pub(super) fn of(message: &str, model: Option<&str>) -> Self {
        let mut stretches = stretches(message);
        stretches.retain(|stretch| !is_name(&message[stretch.clone()], model));
        let short = stretches.iter().filter_map(|stretch| {
            let said = message[stretch.clone()].trim();
            let exact = Shown::exact(said);
            let says = exact.chars.iter().any(|c| c.is_alphabetic()) || exact.chars.len() > 5;
            if !says || exact.chars.len() > 3 * LONGEST {
                return None;
            }
            let decoded = Shown::folded(exact.decoded()).chars;
            let forms = vec![Shown::folded(exact).chars, decoded];
            Some((stretch.clone(), forms, false))
        });
        Quoted {
            short: short.collect(),
            stretches,
        }
    }

    /// Is this all that stands between two quotes?
    pub(super) fn look_for(&mut self, text: &str) {
        let text = text.trim();
        if self.short.is_empty() || text.len() < SHORTEST || text.len() > 4 * LONGEST {
            return;
        }
        for (_, forms, found) in &mut self.short {
            let is_it = |form: &Vec<char>| folded(text).eq(form.iter().copied());
            *found = *found || forms.iter().any(is_it);
        }
    }

    /// The stretches that are a text of the request.
    pub(super) fn found(self) -> impl Iterator<Item = Range<usize>> {
        let found = self.short.into_iter().filter(|(_, _, found)| *found);
        found.map(|(stretch, _, _)| stretch)
    }

    /// A run without the marks and spaces at its ends: those are the message's own.
    pub(super) fn trimmed(message: &str, run: Range<usize>) -> Range<usize> {
        let is_edge = |c: char| c.is_whitespace() || "\"'`“”«»\\".contains(c);
        let said = &message[run.clone()];
        let start = run.start + said.len() - said.trim_start_matches(is_edge).len();
        let end = run.end - (said.len() - said.trim_end_matches(is_edge).len());
        start.min(end)..end
    }

    /// Does a run stand in quotes, or next to the sign that something was cut?
    pub(super) fn is_repeated(&self, message: &str, run: &Range<usize>) -> bool {
        let in_quotes = |stretch: &Range<usize>| run.start < stretch.end && stretch.start < run.end;
        let (before, after) = (&message[..run.start], &message[run.end..]);
        let cut = ["...", "…"].iter().any(|sign| {
            message[run.clone()].ends_with(sign)
                || after.trim_start().starts_with(sign)
                || before.trim_end().ends_with(sign)
        });
        cut || self.stretches.iter().any(in_quotes)
    }
}

/// The model, or a field of a format with the way to it: `messages[0].content`.
fn is_name(said: &str, model: Option<&str>) -> bool {
    let said = said.trim();
    let is_step = |step: &str| {
        let is_index = step.bytes().all(|byte| byte.is_ascii_digit());
        is_index || NAMES.iter().any(|name| name.eq_ignore_ascii_case(step))
    };
    model == Some(said) || (!is_number(said) && said.split(['.', '[', ']']).all(is_step))
}

fn is_number(said: &str) -> bool {
    said.bytes().all(|byte| byte.is_ascii_digit())
}

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
            open.push(c);
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
