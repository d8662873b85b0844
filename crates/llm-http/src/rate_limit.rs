//! Rate-limit headers, by the pattern of their names, so that no vendor needs code of its own.
//!
//! A name is a prefix and words between dashes: one of `limit`, `remaining` and `reset`, the rest says what is
//! counted (`requests`, `req`, `tokens`, `input-tokens`, nothing at all for requests) and for which time
//! (`minute`, `day`) or for whom (`project`). Headers that differ only in the first word belong together.

use crate::moment::parse_reset;
use crate::retry_after::text;
use http::HeaderMap;
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

/// Reads every limit that the headers state; where several are stated for one thing (a minute's and a day's, the
/// project's and the organisation's) the one with the least left is kept.
pub(crate) fn parse_rate_limits(headers: &HeaderMap, now: SystemTime) -> RateLimitSnapshot {
    // Few headers, so a list is searched faster than a map is built.
    let mut windows: Vec<(Family<'_>, LimitWindow)> = Vec::new();
    for (name, value) in headers {
        let Some((family, figure)) = parse_name(name.as_str()) else {
            continue;
        };
        let Some(value) = text(value) else { continue };
        let at = windows.iter().position(|(other, _)| *other == family);
        let at = at.unwrap_or_else(|| {
            windows.push((family, LimitWindow::default()));
            windows.len() - 1
        });
        let window = &mut windows[at].1;
        match figure {
            Figure::Limit => window.limit = parse_count(value).or(window.limit),
            Figure::Remaining => window.remaining = parse_count(value).or(window.remaining),
            Figure::Reset => window.reset = parse_reset(value, now).or(window.reset),
        }
    }
    let mut snapshot = RateLimitSnapshot::default();
    snapshot.requests = tightest(&windows, Counted::Requests);
    snapshot.tokens = tightest(&windows, Counted::Tokens);
    snapshot.input_tokens = tightest(&windows, Counted::InputTokens);
    snapshot.output_tokens = tightest(&windows, Counted::OutputTokens);
    snapshot
}

fn tightest(windows: &[(Family<'_>, LimitWindow)], counted: Counted) -> LimitWindow {
    let left = |window: &LimitWindow| window.remaining_ratio().unwrap_or(f64::INFINITY);
    windows
        .iter()
        .filter(|(family, window)| family.counted == counted && !window.is_empty())
        .map(|(_, window)| *window)
        .min_by(|one, other| left(one).total_cmp(&left(other)))
        .unwrap_or_default()
}

/// Headers that describe one limit together.
#[derive(Debug, Clone, Copy)]
struct Family<'a> {
    prefix: &'static str,
    /// What stands before the figure, and after it.
    around: [Option<&'a str>; 2],
    counted: Counted,
}

impl<'a> Family<'a> {
    /// The words but for the figure.
    fn words(&self) -> impl Iterator<Item = &'a [u8]> {
        words_of(self.around)
    }
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

fn words_of(around: [Option<&str>; 2]) -> impl Iterator<Item = &[u8]> {
    around.into_iter().flatten().flat_map(words_in)
}

/// Every answer has some of these, and their words are short: byte by byte is the fastest way to take them apart.
fn words_in(words: &str) -> impl Iterator<Item = &[u8]> {
    words.as_bytes().split(|byte| *byte == b'-')
}

fn parse_name(name: &str) -> Option<(Family<'_>, Figure)> {
    let (prefix, rest) = PREFIXES
        .iter()
        .find_map(|prefix| Some((*prefix, name.strip_prefix(prefix)?)))?;
    let mut found = None;
    let mut end = 0;
    for word in words_in(rest) {
        let start = end;
        end += word.len() + 1;
        let figure = match word {
            b"limit" => Figure::Limit,
            b"remaining" => Figure::Remaining,
            b"reset" => Figure::Reset,
            _ => continue,
        };
        let around = [
            start.checked_sub(1).and_then(|end| rest.get(..end)),
            rest.get(end..),
        ];
        if found.replace((figure, around)).is_some() {
            return None;
        }
    }
    let (figure, around) = found?;
    let unsaid = match prefix {
        "ratelimitbysize-" => Counted::Tokens,
        _ => Counted::Requests,
    };
    let counted = parse_counted(words_of(around), unsaid)?;
    let family = Family {
        prefix,
        around,
        counted,
    };
    Some((family, figure))
}

fn parse_counted<'a>(words: impl Iterator<Item = &'a [u8]>, unsaid: Counted) -> Option<Counted> {
    let mut direction = None;
    let mut counted = None;
    for word in words {
        match word {
            b"requests" | b"request" | b"req" => counted = Some(Counted::Requests),
            b"tokens" | b"token" => counted = Some(Counted::Tokens),
            b"input" => direction = Some(Counted::InputTokens),
            b"output" => direction = Some(Counted::OutputTokens),
            b"second" | b"minute" | b"hour" | b"day" | b"month" | b"project" => {}
            // Sounds, images, costs: nothing that a snapshot has a place for.
            _ => return None,
        }
    }
    match (direction, counted) {
        (None, counted) => Some(counted.unwrap_or(unsaid)),
        (direction, Some(Counted::Tokens)) => direction,
        _ => None,
    }
}

/// `1000`, also as the first of a list with parameters (`1000, 1000;w=60`). Too large a number is the largest.
fn parse_count(text: &str) -> Option<u64> {
    let end = text.bytes().position(|byte| matches!(byte, b',' | b';'));
    let digits = text.get(..end.unwrap_or(text.len()))?.trim_ascii();
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
