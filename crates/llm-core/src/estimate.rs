//! How many tokens a call will take: a guess before, which reported usage corrects for the calls after it.

mod image_size;

use crate::chat::{
    ChatRequest, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource, OutputFormat, Usage,
};
use serde::{Deserialize, Serialize};
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

/// What a request will take, as far as it can be seen: its words, counted; its pictures, sounds and files, guessed by
/// their size; the most that may come out.
///
/// ```
/// use llm_core::ChatRequest;
/// use llm_core::estimate::{TokenDemand, TokenEstimator};
/// let demand = TokenDemand::of_chat(&ChatRequest::user("a word ".repeat(400)).with_max_output_tokens(100));
/// let estimator = TokenEstimator::default();
/// assert_eq!(estimator.input(&demand), 704);
/// assert_eq!(estimator.total(&demand, 500), 804);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TokenDemand {
    /// Words, in quarters of a token: this part is corrected by what is reported.
    quarters: u64,
    /// Pictures, sounds and files, in tokens.
    media: u64,
    /// The most that may come out, where the request says so.
    output: Option<u64>,
}

impl TokenDemand {
    /// Of a chat: messages, replayed reasoning and vendor state, tool schemas, the form of the answer, and the
    /// budget for what comes out.
    pub fn of_chat(request: &ChatRequest) -> TokenDemand {
        let mut demand = TokenDemand {
            output: request.max_output_tokens.map(u64::from),
            ..TokenDemand::default()
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

    fn add_parts(&mut self, parts: &[ContentPart]) {
        for part in parts {
            match part {
                ContentPart::Text(part) => self.add_text(&part.text),
                ContentPart::Refusal(part) => self.add_text(&part.text),
                ContentPart::Reasoning(part) => {
                    // What is shown may be a summary; hidden thought comes back as an opaque text that is about as long
                    // as itself. One of the two is what is counted.
                    let hidden = part
                        .replay
                        .iter()
                        .map(|replay| quarters_of_json(&replay.data))
                        .sum();
                    self.quarters = self.quarters.saturating_add(quarters(&part.text).max(hidden));
                }
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
                // a mark
                ContentPart::CachePoint(_) => {}
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.quarters = self.quarters.saturating_add(quarters(text));
    }

    fn add_json(&mut self, value: &Value) {
        self.quarters = self.quarters.saturating_add(quarters_of_json(value));
    }
}

fn quarters_of_json(value: &Value) -> u64 {
    let mut length = Length(0);
    // Counting cannot fail.
    let _ = value.serialize(&mut serde_json::Serializer::new(&mut length));
    length.0
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

/// What reported usage has taught of demands: it turns one into tokens, and gets better with every report.
///
/// One vendor counts more tokens for the same words than another, so keep one for each model or candidate.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TokenEstimator {
    /// What came in, as a multiple of what was counted in words.
    input: f64,
    /// What came out of calls without a budget of their own, in tokens; absent before the first.
    output: Option<f64>,
}

impl Default for TokenEstimator {
    fn default() -> Self {
        TokenEstimator {
            input: 1.0,
            output: None,
        }
    }
}

impl TokenEstimator {
    /// The share of each new report.
    const WEIGHT: f64 = 0.2;
    /// What a correction may make of a guess. An odd report must not make the limiter blind or deaf.
    const BOUNDS: (f64, f64) = (0.25, 4.0);
    /// Answers differ in length: so much more than their mean is reserved.
    const MARGIN: f64 = 1.25;

    /// One that has learnt that so many tokens go in for each that is counted in words.
    #[must_use]
    pub fn with_input_ratio(mut self, ratio: f64) -> Self {
        let (least, most) = Self::BOUNDS;
        if ratio.is_finite() {
            self.input = ratio.clamp(least, most);
        }
        self
    }

    /// How many tokens go in for each that is counted in words, as far as it has learnt; 1 before the first report.
    pub fn input_ratio(&self) -> f64 {
        self.input
    }

    /// About how many tokens go in.
    pub fn input(&self, demand: &TokenDemand) -> u64 {
        let words = demand.quarters as f64 / QUARTERS as f64 * self.input;
        tokens(words.ceil()).saturating_add(demand.media)
    }

    /// About how many tokens go in and come out, for reserving them: the budget for the output counts whole; without
    /// one, somewhat more than earlier answers had, and before the first of those `assumed`.
    pub fn total(&self, demand: &TokenDemand, assumed: u64) -> u64 {
        let output = demand.output.unwrap_or_else(|| match self.output {
            Some(mean) => tokens(mean * Self::MARGIN),
            None => assumed,
        });
        self.input(demand).saturating_add(output)
    }

    /// Learns from what a call really used.
    pub fn learn(&mut self, demand: &TokenDemand, usage: &Usage) {
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
