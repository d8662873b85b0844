//! How many tokens a call will take: a guess before, which reported usage corrects for the calls after it.

mod image_size;

use llm_core::{
    ChatRequest, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, OutputFormat, Usage,
};
use serde::Serialize;
use serde_json::Value;
use std::io;

/// A picture of which nothing is known: what the large vendors count for a picture of a million pixels.
const UNKNOWN_IMAGE: u64 = 1_000;
/// The most that one picture counts; vendors scale larger ones down.
const LARGEST_IMAGE: u64 = 1_600;
/// A picture that is looked at roughly.
const LOW_DETAIL: u64 = 85;
/// Pixels for a token. (Anthropic, "Vision", read 2026-11: tokens = width × height / 750; the others' tiles come
/// near it.)
const PIXELS_PER_TOKEN: u64 = 750;
/// A file or sound of which nothing is known.
const UNKNOWN_FILE: u64 = 2_000;
/// Bytes of compressed sound for a token: 16 kB and about ten tokens a second.
const SOUND_BYTES_PER_TOKEN: u64 = 1_600;
/// Bytes of a file that is no text for a token: 60 kB and about 2,000 tokens a page.
const FILE_BYTES_PER_TOKEN: u64 = 30;
/// What a message or a tool costs beside its words.
const FRAME: u64 = 4;
/// Quarters of a token: the unit in which words are counted.
const QUARTERS: u64 = 4;

/// What a caller knows better than a guess: how many tokens its call will take, in and out together. Put it into the
/// context, after asking a [`TokenCounter`](llm_core::TokenCounter) for example; it goes for that call in every rate
/// limit inside.
///
/// ```
/// use llm_driver_testkit::TestClock;
/// use llm_resilience::TokenEstimate;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let cx = TestClock::context().with_extension(TokenEstimate::new(1250));
/// # let _ = cx;
/// # });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenEstimate {
    /// So many.
    pub tokens: u64,
}

impl TokenEstimate {
    /// So many tokens.
    pub fn new(tokens: u64) -> Self {
        TokenEstimate { tokens }
    }
}

/// What a request will take, as far as it can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Words, in quarters of a token: this part is corrected by what is reported.
    quarters: u64,
    /// Pictures, sounds and files, in tokens.
    media: u64,
    /// The most that may come out, where the request says so.
    output: Option<u64>,
    /// All of it, where the caller knows.
    known: Option<TokenEstimate>,
}

impl Demand {
    /// Of a chat: messages, replayed reasoning and vendor state, tool schemas, the form of the answer, and the
    /// budget for what comes out.
    pub(super) fn of_chat(request: &ChatRequest) -> Demand {
        let mut demand = Demand {
            output: request.max_output_tokens.map(u64::from),
            ..Demand::default()
        };
        for message in &request.messages {
            demand.quarters += FRAME * QUARTERS;
            demand.add_parts(&message.content);
        }
        for tool in &request.tools {
            demand.quarters += FRAME * QUARTERS;
            demand.add_text(&tool.name);
            demand.add_text(tool.description.as_deref().unwrap_or_default());
            if let Some(parameters) = &tool.parameters {
                demand.add_json(parameters);
            }
        }
        if let OutputFormat::JsonSchema { schema, .. } = &request.output {
            demand.add_json(schema);
        }
        demand
    }

    /// With what the caller knows, if it does.
    pub(super) fn or_known(self, known: Option<&TokenEstimate>) -> Demand {
        Demand {
            known: known.copied(),
            ..self
        }
    }

    fn add_parts(&mut self, parts: &[ContentPart]) {
        for part in parts {
            match part {
                ContentPart::Text(part) => self.add_text(&part.text),
                ContentPart::Refusal(part) => self.add_text(&part.text),
                ContentPart::Reasoning(part) if part.text.is_empty() => {
                    // Hidden thought comes back as an opaque text that is about as long as itself.
                    part.replay.iter().for_each(|replay| self.add_json(&replay.data));
                }
                ContentPart::Reasoning(part) => self.add_text(&part.text),
                ContentPart::Opaque(part) => self.add_json(&part.replay.data),
                ContentPart::ToolCall(call) => {
                    self.add_text(&call.name);
                    self.add_text(&call.arguments);
                }
                ContentPart::ToolResult(result) => self.add_parts(&result.content),
                ContentPart::Image(image) => self.media += of_image(image),
                ContentPart::Audio(audio) => {
                    self.media += of_bytes(&audio.source, SOUND_BYTES_PER_TOKEN).unwrap_or(UNKNOWN_FILE);
                }
                ContentPart::Document(document) => self.media += of_document(document),
                // A mark, and kinds that are newer than this list.
                _ => {}
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.quarters = self.quarters.saturating_add(quarters(text));
    }

    fn add_json(&mut self, value: &Value) {
        let mut length = Length(0);
        // Counting cannot fail.
        let _ = value.serialize(&mut serde_json::Serializer::new(&mut length));
        self.quarters = self.quarters.saturating_add(length.0);
    }
}

/// About four letters of Latin script are a token, two of most other alphabets, and one sign of Chinese, Japanese
/// or Korean script.
fn quarters(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64;
    }
    let each = text.chars().map(|character| match u32::from(character) {
        0..0x80 => 1,
        0x80..0x2E80 => 2,
        _ => 4,
    });
    each.sum()
}

fn of_image(image: &ImagePart) -> u64 {
    if image.detail == Some(ImageDetail::Low) {
        return LOW_DETAIL;
    }
    let MediaSource::Base64 { data, .. } = &image.source else {
        return UNKNOWN_IMAGE;
    };
    let size = image_size::of_base64(data);
    size.map_or(UNKNOWN_IMAGE, |(width, height)| {
        (u64::from(width) * u64::from(height) / PIXELS_PER_TOKEN).clamp(LOW_DETAIL, LARGEST_IMAGE)
    })
}

fn of_document(document: &DocumentPart) -> u64 {
    let per_token = match &document.source {
        MediaSource::Base64 { media_type, .. } if media_type.starts_with("text/") => QUARTERS,
        _ => FILE_BYTES_PER_TOKEN,
    };
    of_bytes(&document.source, per_token).unwrap_or(UNKNOWN_FILE)
}

fn of_bytes(source: &MediaSource, per_token: u64) -> Option<u64> {
    match source {
        MediaSource::Base64 { data, .. } => Some((data.len() as u64 / 4 * 3).div_ceil(per_token)),
        _ => None,
    }
}

/// Counts what is written to it.
struct Length(u64);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What reported usage has taught so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Correction {
    /// What came in, as a multiple of what was counted in words.
    input: f64,
    /// What came out of calls without a budget of their own, in tokens; absent before the first.
    output: Option<f64>,
}

impl Default for Correction {
    fn default() -> Self {
        Correction {
            input: 1.0,
            output: None,
        }
    }
}

impl Correction {
    /// The share of each new report.
    const WEIGHT: f64 = 0.2;
    /// What a correction may make of a guess. An odd report must not make the limiter blind or deaf.
    const BOUNDS: (f64, f64) = (0.25, 4.0);
    /// Answers differ in length: so much more than their mean is reserved.
    const MARGIN: f64 = 1.25;

    /// The tokens to reserve; `assumed` is what comes out where nothing says better.
    pub(super) fn estimate(&self, demand: &Demand, assumed: u64) -> u64 {
        if let Some(known) = demand.known {
            return known.tokens;
        }
        let words = demand.quarters as f64 / QUARTERS as f64 * self.input;
        let output = demand.output.unwrap_or_else(|| match self.output {
            Some(mean) => tokens(mean * Self::MARGIN),
            None => assumed,
        });
        tokens(words.ceil())
            .saturating_add(demand.media)
            .saturating_add(output)
    }

    /// Learns from what a call really used.
    pub(super) fn learn(&mut self, demand: &Demand, usage: &Usage) {
        // What was guessed of pictures and files would blur what is learnt of words.
        if let (Some(input), true, 0) = (usage.input_tokens, demand.quarters > 0, demand.media) {
            let seen = input as f64 * QUARTERS as f64 / demand.quarters as f64;
            let (least, most) = Self::BOUNDS;
            self.input += (seen.clamp(least, most) - self.input) * Self::WEIGHT;
        }
        if let (Some(output), None) = (usage.output_tokens, demand.output) {
            let output = output as f64;
            self.output = Some(
                self.output
                    .map_or(output, |mean| mean + (output - mean) * Self::WEIGHT),
            );
        }
    }
}

/// Whole tokens. (A cast of a float stays within the bounds of the integer.)
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "never negative, and the cast saturates"
)]
fn tokens(figure: f64) -> u64 {
    figure as u64
}

#[cfg(test)]
mod tests;
