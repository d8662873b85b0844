//! Rate-limit headers, by the pattern of their names, so that no vendor needs code of its own.
//!
//! A name is a prefix and words between dashes: one of `limit`, `remaining` and `reset`, the rest says what is
//! counted (`requests`, `req`, `tokens`, `input-tokens`, nothing at all for requests) and for which time
//! (`minute`, `day`) or for whom (`project`). Headers that differ only in the first word belong together.

use crate::moment::parse_reset;
use crate::retry_after::text;
use http::HeaderValue;
use llm_core::RateLimitSnapshot;
use llm_core::rate_limit::LimitWindow;
use std::time::SystemTime;

const PREFIXES: [&str; 4] = [
    "x-ratelimit-",
    "anthropic-ratelimit-",
    "ratelimit-",
    // Mistral's older set counts tokens without saying so.
    "ratelimitbysize-",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Requests,
    Tokens,
    InputTokens,
    OutputTokens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Limit,
    Remaining,
    Reset,
}

/// What the headers of an answer state of limits, one header after another.
#[derive(Default)]
pub(crate) struct StatedLimits<'a> {
    // Few headers, so a list is searched faster than a map is built.
    windows: Vec<(Family<'a>, LimitWindow)>,
}

impl<'a> StatedLimits<'a> {
    /// Takes one header, if it is one of these.
    pub(crate) fn read(&mut self, name: &'a str, value: &HeaderValue, now: SystemTime) {
        let Some(((family, figure), value)) = parse_name(name).zip(text(value)) else {
            return;
        };
        let at = self.windows.iter().position(|(other, _)| *other == family);
        let at = at.unwrap_or_else(|| {
            self.windows.push((family, LimitWindow::default()));
            self.windows.len() - 1
        });
        let window = &mut self.windows[at].1;
        match figure {
            Figure::Limit => window.limit = parse_count(value).or(window.limit),
            Figure::Remaining => window.remaining = parse_count(value).or(window.remaining),
            Figure::Reset => window.reset = parse_reset(value, now).or(window.reset),
        }
    }

    /// Where several limits are stated for one thing (a minute's and a day's, the project's and the organisation's) the
    /// one with the least left is kept.
    pub(crate) fn tightest(&self) -> RateLimitSnapshot {
        let left = |window: &LimitWindow| window.remaining_ratio().unwrap_or(f64::INFINITY);
        let mut snapshot = RateLimitSnapshot::default();
        for (family, window) in &self.windows {
            let kept = match family.counted {
                Counted::Requests => &mut snapshot.requests,
                Counted::Tokens => &mut snapshot.tokens,
                Counted::InputTokens => &mut snapshot.input_tokens,
                Counted::OutputTokens => &mut snapshot.output_tokens,
            };
            if kept.is_empty() || (!window.is_empty() && left(window) < left(kept)) {
                *kept = *window;
            }
        }
        snapshot
    }
}

/// Headers that describe one limit together.
#[derive(Debug, Clone, Copy)]
struct Family<'a> {
    prefix: &'static str,
    /// What stands before the figure, and after it.
    around: [Option<&'a str>; 2],
    counted: Counted,
}

impl PartialEq for Family<'_> {
    /// Where among the words the figure stands makes no difference.
    fn eq(&self, other: &Self) -> bool {
        // first what tells most apart
        self.counted == other.counted
            && self.prefix == other.prefix
            && (self.around == other.around || self.words().eq(other.words()))
    }
}

impl<'a> Family<'a> {
    /// The words but for the figure.
    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        self.around.into_iter().flatten().flat_map(words_in)
    }
}

fn words_in(words: &str) -> impl Iterator<Item = &[u8]> {
    words.as_bytes().split(|byte| *byte == b'-')
}

fn parse_name(name: &str) -> Option<(Family<'_>, Figure)> {
    let (prefix, rest) = PREFIXES
        .iter()
        .find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))?;
    let (mut figure, mut counted, mut direction) = (None, None, None);
    let mut end = 0;
    for word in words_in(rest) {
        let start = end;
        end += word.len() + 1;
        let mut stated = |kind| figure.replace((kind, start, end)).is_none();
        let fits = match word {
            b"limit" => stated(Figure::Limit),
            b"remaining" => stated(Figure::Remaining),
            b"reset" => stated(Figure::Reset),
            b"requests" | b"request" | b"req" => {
                counted = Some(Counted::Requests);
                true
            }
            b"tokens" | b"token" => {
                counted = Some(Counted::Tokens);
                true
            }
            b"input" => {
                direction = Some(Counted::InputTokens);
                true
            }
            b"output" => {
                direction = Some(Counted::OutputTokens);
                true
            }
            b"second" | b"minute" | b"hour" | b"day" | b"month" | b"project" => true,
            // Sounds, images, costs: nothing that a snapshot has a place for.
            _ => false,
        };
        if !fits {
            return None;
        }
    }
    let (figure, start, end) = figure?;
    let unsaid = match prefix {
        "ratelimitbysize-" => Counted::Tokens,
        _ => Counted::Requests,
    };
    let counted = match (direction, counted) {
        (None, counted) => counted.unwrap_or(unsaid),
        (Some(direction), Some(Counted::Tokens)) => direction,
        _ => return None,
    };
    let around = [
        start.checked_sub(1).and_then(|end| rest.get(..end)),
        rest.get(end..),
    ];
    let family = Family {
        prefix,
        around,
        counted,
    };
    Some((family, figure))
}

/// `1000`, also as the first of a list with parameters (`1000, 1000;w=60`). Too large a number is the largest.
fn parse_count(text: &str) -> Option<u64> {
    let first = text.split([',', ';']).next()?.trim_ascii();
    let mut count = (!first.is_empty()).then_some(0_u64)?;
    for byte in first.bytes() {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        count = count.saturating_mul(10).saturating_add(digit);
    }
    Some(count)
}

#[cfg(test)]
mod tests;
