//! Splitting `<think>` tags off the start of an answer, piece by piece.
//!
//! A tag opens reasoning only at the very start of the text (white space before it is skipped). The first closing
//! tag ends it, or the end of the answer does. A closing tag at the very start is dropped, and so are line breaks
//! right after a closing tag. Every other tag is text.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of the text turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Split {
    Text(String),
    Reasoning(String),
}

/// The state of the splitting. Holds back only what may still become a tag.
#[derive(Debug, Default)]
pub(crate) struct ThinkSplitter {
    state: State,
    held: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    Inside,
    AfterClose,
    Text,
}

impl ThinkSplitter {
    /// Takes the next piece of text.
    pub(crate) fn push(&mut self, piece: &str, out: &mut Vec<Split>) {
        if self.state == State::Text {
            out.push(Split::Text(piece.to_owned()));
            return;
        }
        self.held.push_str(piece);
        while self.step(out) {}
    }

    /// The answer ended: lets go of what was held back.
    pub(crate) fn finish(&mut self, out: &mut Vec<Split>) {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            out.push(if self.state == State::Inside {
                Split::Reasoning(held)
            } else {
                Split::Text(held)
            });
        }
        self.state = State::Text;
    }

    /// One change of state; false, when more text is needed.
    fn step(&mut self, out: &mut Vec<Split>) -> bool {
        match self.state {
            State::Start => {
                let begun = self.held.trim_start();
                if let Some(rest) = begun.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.state = State::Inside;
                } else if let Some(rest) = begun.strip_prefix(CLOSE) {
                    self.held = rest.to_owned();
                    self.state = State::AfterClose;
                } else if OPEN.starts_with(begun) || CLOSE.starts_with(begun) {
                    return false;
                } else {
                    self.state = State::Text;
                }
                true
            }
            State::Inside => {
                if let Some(at) = self.held.find(CLOSE) {
                    let rest = self.held.split_off(at + CLOSE.len());
                    self.held.truncate(at);
                    let thought = std::mem::replace(&mut self.held, rest);
                    if !thought.is_empty() {
                        out.push(Split::Reasoning(thought));
                    }
                    self.state = State::AfterClose;
                    return true;
                }
                let keep = possible_tag_end(&self.held);
                let held = self.held.split_off(self.held.len() - keep);
                let thought = std::mem::replace(&mut self.held, held);
                if !thought.is_empty() {
                    out.push(Split::Reasoning(thought));
                }
                false
            }
            State::AfterClose => {
                let rest = self.held.trim_start_matches(['\r', '\n']);
                if rest.is_empty() {
                    self.held.clear();
                    return false;
                }
                self.held = rest.to_owned();
                self.state = State::Text;
                true
            }
            State::Text => {
                let held = std::mem::take(&mut self.held);
                if !held.is_empty() {
                    out.push(Split::Text(held));
                }
                false
            }
        }
    }
}

/// How many bytes at the end may be the beginning of a closing tag.
fn possible_tag_end(text: &str) -> usize {
    (1..CLOSE.len())
        .rev()
        .find(|length| text.ends_with(&CLOSE[..*length]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let mut splitter = ThinkSplitter::default();
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut out);
        }
        splitter.finish(&mut out);
        let (mut text, mut reasoning) = (String::new(), String::new());
        for part in out {
            match part {
                Split::Text(piece) => text += &piece,
                Split::Reasoning(piece) => reasoning += &piece,
            }
        }
        (reasoning, text)
    }

    fn check(answer: &str, reasoning: &str, text: &str) {
        let expected = (reasoning.to_owned(), text.to_owned());
        assert_eq!(split(&[answer]), expected, "whole: {answer:?}");
        let characters: Vec<String> = answer.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(split(&characters), expected, "character by character: {answer:?}");
    }

    #[test]
    fn tags_are_split_by_the_rules() {
        check("<think>a b</think>\n\nc", "a b", "c");
        check(" \n<think>a</think>b", "a", "b");
        check("<think>a</think>", "a", "");
        check("<think>a", "a", "");
        check("<think>a</thi", "a</thi", "");
        check("</think>\nb", "", "b");
        check("<table> is a tag", "", "<table> is a tag");
        check("a <think>b</think>", "", "a <think>b</think>");
        check("<think>a</think>b</think>c", "a", "b</think>c");
        check("<th", "", "<th");
        check("  ", "", "  ");
        check("<think>a < b</think>c", "a < b", "c");
        check("", "", "");
    }
}
