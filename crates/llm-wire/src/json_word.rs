//! Hosts that answer in JSON without a schema only where the messages say so: they refuse a request without the word,
//! or the model writes white space until its limit.
//!
//! Sources: the wire notes of OpenAI, Mistral, Groq, DeepSeek and Kimi ("Structured output"), state of 2026-11-29.

/// What is said where nobody said it.
pub(crate) const INSTRUCTION: &str = "Answer in JSON.";

/// What the caller is told of it.
pub(crate) const ADDED: &str =
    "is asked for without the word JSON in a message, which this host wants; sent with `Answer in JSON.`";

/// Is the word there, in whatever case?
pub(crate) fn has_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'j', b'J', bytes).any(|at| {
        bytes
            .get(at..at + 4)
            .is_some_and(|word| word.eq_ignore_ascii_case(b"json"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_found_in_any_case() {
        for text in ["json", "as JSON, please", "Json", "jjsOn", "ein JSON-Objekt"] {
            assert!(has_word(text), "{text}");
        }
        for text in ["", "j", "jso", "js on", "XML", "JSÖN"] {
            assert!(!has_word(text), "{text}");
        }
    }
}
