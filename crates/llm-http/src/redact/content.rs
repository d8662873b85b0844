//! Keeping what the caller wrote out of what a vendor says about it.

use super::{occurrences, replace};
use llm_core::{ChatRequest, ContentPart, MediaSource};
use std::collections::HashMap;
use std::ops::Range;

/// What stands in the place of content.
const HIDDEN: &str = "[content]";

/// A whole text of the request is looked for from this many characters on.
const PIECE_MIN: usize = 8;

/// A part of a text of the request is looked for from this many characters on.
const RUN: usize = 24;

/// Takes quoted content out of a vendor's message: every occurrence of a text of the request (of 8 characters
/// and more), and every run of 24 characters and more that the message shares with one. White space counts as
/// equal: an error's message is one line, what it quotes may not have been.
///
/// ```
/// use llm_http::redact::scrub_content;
/// let texts = ["Tell me of the\nsecret garden in Kyoto."];
/// let message = "cannot parse 'Tell me of the secret garden in Kyo…' at position 3";
/// assert_eq!(scrub_content(message, texts), "cannot parse '[content]…' at position 3");
/// ```
///
/// Costs a pass over all texts; meant for the path of errors.
pub fn scrub_content<'t>(message: &str, texts: impl IntoIterator<Item = &'t str>) -> String {
    let exact = Shown::exact(message);
    let folded = Shown::folded(message);
    // Mostly there is nothing to fold, and one view is enough.
    let exact = (exact.chars != folded.chars).then_some(exact);
    let mut views: Vec<View> = [Some(folded), exact]
        .into_iter()
        .flatten()
        .map(View::new)
        .collect();
    for text in texts {
        for view in &mut views {
            view.look_for(text);
        }
    }
    let spans = views.iter().flat_map(View::spans).collect();
    replace(message, spans, HIDDEN)
}

/// Every text of a request that a vendor could quote: what was said, thought, called with and answered, and
/// the addresses and bytes of media. For [`scrub_content`].
///
/// ```
/// let request = llm_core::ChatRequest::user("Why is the sky blue?");
/// let texts: Vec<_> = llm_http::redact::request_texts(&request).collect();
/// assert_eq!(texts, ["Why is the sky blue?"]);
/// ```
pub fn request_texts(request: &ChatRequest) -> impl Iterator<Item = &str> {
    request.messages.iter().flat_map(|message| {
        let mut texts = Vec::new();
        part_texts(&message.content, &mut texts);
        texts
    })
}

fn part_texts<'r>(parts: &'r [ContentPart], texts: &mut Vec<&'r str>) {
    for part in parts {
        match part {
            ContentPart::Text(part) => texts.push(&part.text),
            ContentPart::Reasoning(part) => texts.push(&part.text),
            ContentPart::Refusal(part) => texts.push(&part.text),
            ContentPart::ToolCall(call) => texts.push(&call.arguments),
            ContentPart::ToolResult(result) => part_texts(&result.content, texts),
            ContentPart::Image(part) => texts.extend(media_text(&part.source)),
            ContentPart::Audio(part) => texts.extend(media_text(&part.source)),
            ContentPart::Document(part) => texts.extend(media_text(&part.source)),
            _ => {}
        }
    }
}

fn media_text(source: &MediaSource) -> Option<&str> {
    match source {
        MediaSource::Url { url } => Some(url),
        MediaSource::Base64 { data, .. } => Some(data),
        _ => None,
    }
}

/// A message as characters, each with the bytes it stands for.
struct Shown {
    chars: Vec<char>,
    bytes: Vec<Range<usize>>,
    folds: bool,
}

impl Shown {
    fn exact(message: &str) -> Self {
        let (bytes, chars) = message
            .char_indices()
            .map(|(at, c)| (at..at + c.len_utf8(), c))
            .unzip();
        Shown {
            chars,
            bytes,
            folds: false,
        }
    }

    fn folded(message: &str) -> Self {
        let mut shown = Shown {
            chars: Vec::new(),
            bytes: Vec::new(),
            folds: true,
        };
        for (at, c) in message.char_indices() {
            let end = at + c.len_utf8();
            match (shown.chars.last(), fold(c)) {
                (Some(' '), ' ') => {
                    if let Some(last) = shown.bytes.last_mut() {
                        last.end = end;
                    }
                }
                (_, c) => {
                    shown.chars.push(c);
                    shown.bytes.push(at..end);
                }
            }
        }
        shown
    }
}

fn fold(c: char) -> char {
    if c.is_whitespace() || c.is_control() {
        ' '
    } else {
        c
    }
}

/// A text with each run of white space as one space.
fn folded(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut last = None;
    text.chars().map(fold).filter(move |c| {
        let again = *c == ' ' && last == Some(' ');
        last = Some(*c);
        !again
    })
}

/// The message in one of its two forms, and what was found in it.
struct View {
    shown: Shown,
    text: String,
    /// Each different run of [`RUN`] characters by its hash: where it first stands, and whether a text has it.
    runs: HashMap<u64, (usize, bool)>,
    pieces: Vec<Range<usize>>,
}

impl View {
    fn new(shown: Shown) -> Self {
        let mut runs = HashMap::new();
        let mut rolling = Rolling::default();
        for (at, c) in shown.chars.iter().enumerate() {
            if let Some(hash) = rolling.push(*c) {
                runs.entry(hash).or_insert((at + 1 - RUN, false));
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

    /// A text of at least [`RUN`] characters is found by its runs, a shorter one as a whole.
    fn look_for_chars(&mut self, chars: impl Iterator<Item = char>) {
        let mut rolling = Rolling::default();
        let mut start = String::new();
        let mut count = 0;
        for c in chars {
            count += 1;
            if count < RUN {
                start.push(c);
            }
            let Some(hash) = rolling.push(c) else { continue };
            if let Some((at, found)) = self.runs.get_mut(&hash) {
                *found = *found || rolling.is(&self.shown.chars[*at..*at + RUN]);
            }
        }
        if (PIECE_MIN..RUN).contains(&count) {
            self.pieces.extend(occurrences(&self.text, &start));
        }
    }

    /// What was found, in bytes of the message.
    fn spans(&self) -> Vec<Range<usize>> {
        let bytes = &self.shown.bytes;
        let mut spans = Vec::new();
        let mut rolling = Rolling::default();
        for (at, c) in self.shown.chars.iter().enumerate() {
            let hash = rolling.push(*c);
            if hash.is_some_and(|hash| self.runs.get(&hash).is_some_and(|(_, found)| *found)) {
                spans.push(bytes[at + 1 - RUN].start..bytes[at].end);
            }
        }
        for piece in &self.pieces {
            let first = self.text[..piece.start].chars().count();
            let length = self.text[piece.clone()].chars().count();
            spans.push(bytes[first].start..bytes[first + length - 1].end);
        }
        spans
    }
}

/// A hash over the last [`RUN`] characters that moves along in constant time.
struct Rolling {
    last: [char; RUN],
    count: usize,
    hash: u64,
}

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

impl Default for Rolling {
    fn default() -> Self {
        Rolling {
            last: ['\0'; RUN],
            count: 0,
            hash: 0,
        }
    }
}

impl Rolling {
    /// Takes one more character; the hash, once there are enough.
    fn push(&mut self, c: char) -> Option<u64> {
        const BASE_TO_RUN: u64 = BASE.wrapping_pow(RUN as u32);
        let slot = &mut self.last[self.count % RUN];
        let gone = u64::from(u32::from(std::mem::replace(slot, c)));
        self.hash = self
            .hash
            .wrapping_mul(BASE)
            .wrapping_add(u64::from(u32::from(c)))
            .wrapping_sub(gone.wrapping_mul(BASE_TO_RUN));
        self.count += 1;
        (self.count >= RUN).then_some(self.hash)
    }

    /// Are the last characters these?
    fn is(&self, chars: &[char]) -> bool {
        let (newer, older) = self.last.split_at(self.count % RUN);
        older.iter().chain(newer).eq(chars)
    }
}
