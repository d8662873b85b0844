//! Keeping what the caller wrote out of what a vendor says about it.

use super::leaves::each_leaf;
use super::names::{is_name, is_path};
use super::quoted::Quoted;
use super::repeated::repeated;
use super::replace;
use super::shown::{Shown, folded};
use super::windows::{LONG, SHORT, Windows};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What stands in the place of content.
const HIDDEN: &str = "[content]";

/// The lengths in bytes of the texts that are looked for as all that stands between two quotes.
const WHOLE: Range<usize> = 2..257;

/// Takes quoted content out of a vendor's message: every text of the request (of 8 characters and more, as whole
/// words), and every run that the message shares with one: of 24 characters and more anywhere, of 8 and more in quotes
/// or where the message says that it was cut (`…`). In quotes also a text that is shorter. Names of the formats' fields
/// stay, and what stands on the way to them; so does a single word or a part of one that the message cut.
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
    let [shown] = scrub_contents([Said::message(message, None)], texts);
    shown
}

/// The same for all that a vendor says of one request, in one pass over its texts.
pub(crate) fn scrub_contents<'t, const S: usize>(
    said: [Said<'_>; S],
    texts: impl IntoIterator<Item = &'t str>,
) -> [String; S] {
    let mut seen = Seen::of(&said);
    if !(seen.windows.is_empty() && seen.wholes.is_empty()) {
        for text in texts {
            seen.look_for(text);
            each_leaf(text, &mut |leaf| seen.look_for(leaf));
        }
    }
    said.map(|said| replace(said.text, said.found(&seen), HIDDEN))
}

/// Something that a vendor says.
pub(crate) struct Said<'m> {
    text: &'m str,
    /// In lower case; with what is written with percent signs or backslashes, where that differs.
    forms: Vec<Shown>,
    /// Absent, where only long runs are looked for.
    quoted: Option<Quoted>,
}

impl<'m> Said<'m> {
    /// A sentence. The name of the model may stand in it.
    pub(crate) fn message(text: &'m str, model: Option<&str>) -> Self {
        Said::new(text, Some(Quoted::of(text, model)))
    }

    /// A code: a word of the vendor's own, unless it is more than a word.
    pub(crate) fn code(text: &'m str) -> Self {
        let is_word = !text.contains(char::is_whitespace);
        Said::new(text, (!is_word).then(|| Quoted::of(text, None)))
    }

    /// The field that is wrong, with the way to it.
    pub(crate) fn param(text: &'m str, model: Option<&str>) -> Self {
        if is_name(text, model) {
            return Said::new(text, None);
        }
        if is_path(text) {
            let mut said = Said::new(text, Some(Quoted::path(text)));
            said.forms.clear();
            return said;
        }
        Said::message(text, model)
    }

    fn new(text: &'m str, quoted: Option<Quoted>) -> Self {
        let exact = Shown::exact(text);
        let mut forms = vec![exact.folded()];
        if text.contains(['%', '\\']) {
            let decoded = exact.decoded().folded();
            forms.extend((decoded.chars != forms[0].chars).then_some(decoded));
        }
        Said { text, forms, quoted }
    }

    /// The places of what was found.
    fn found(&self, seen: &Seen) -> Vec<Range<usize>> {
        let mut spans = Vec::new();
        for form in &self.forms {
            let long = seen.windows.long_runs(form);
            spans.extend(long.iter().map(|run| form.place(&run.chars)));
            let Some(quoted) = &self.quoted else { continue };
            for run in seen.windows.short_runs(form) {
                repeated(self.text, form, &run, quoted, &mut spans);
            }
            seen.pieces_of(form, &mut spans);
        }
        let is_text = |form: &str| seen.wholes.get(form).copied().unwrap_or_default();
        spans.extend(self.quoted.iter().flat_map(|quoted| quoted.found(is_text)));
        spans
    }
}

/// What is looked for, and what of it the texts have.
struct Seen {
    windows: Windows,
    /// What stands in quotes, and whether it is a text.
    wholes: HashMap<String, bool>,
    /// Texts that are shorter than a long run, and that a message may hold.
    pieces: HashSet<Vec<char>>,
    folded: String,
}

impl Seen {
    fn of(said: &[Said<'_>]) -> Self {
        let wholes = said
            .iter()
            .flat_map(|said| said.quoted.iter().flat_map(Quoted::wholes));
        Seen {
            windows: Windows::of(said.iter().flat_map(|said| &said.forms)),
            wholes: wholes.map(|whole| (whole.clone(), false)).collect(),
            pieces: HashSet::new(),
            folded: String::new(),
        }
    }

    fn look_for(&mut self, text: &str) {
        let text = text.trim();
        let begins = self.windows.look_for(text);
        if !WHOLE.contains(&text.len()) || (self.wholes.is_empty() && !begins) {
            return;
        }
        self.folded.clear();
        self.folded.extend(folded(text));
        if let Some(found) = self.wholes.get_mut(&self.folded) {
            *found = true;
        }
        if begins && self.folded.chars().nth(LONG - 1).is_none() {
            self.pieces.insert(self.folded.chars().collect());
        }
    }

    /// Where a form has a short text as whole words.
    fn pieces_of(&self, form: &Shown, spans: &mut Vec<Range<usize>>) {
        if self.pieces.is_empty() {
            return;
        }
        let starts = (0..form.chars.len()).filter(|at| form.is_boundary(*at));
        for start in starts {
            let ends = (start + SHORT..start + LONG).filter(|end| *end <= form.chars.len());
            let is_piece =
                |end: &usize| form.is_boundary(*end) && self.pieces.contains(&form.chars[start..*end]);
            spans.extend(ends.filter(is_piece).map(|end| form.place(&(start..end))));
        }
    }
}
