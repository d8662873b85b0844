//! Hosts that answer in JSON without a schema only where the messages say so: they refuse a request without the word,
//! or the model writes white space until its limit.
//!
//! Sources: the wire notes of OpenAI, Mistral, Groq, DeepSeek and Kimi ("Structured output"), state of 2026-11-29.

use llm_core::{ChatRequest, ContentPart, OutputFormat};

/// What is said where nobody said it.
pub(crate) const INSTRUCTION: &str = "Answer in JSON.";

/// What the caller is told of it.
pub(crate) const ADDED: &str =
    "is asked for without the word JSON in a message, which this host wants; sent with `Answer in JSON.`";

/// Is an answer in JSON asked for, and does no text of the request say so?
pub(crate) fn is_missing(request: &ChatRequest) -> bool {
    let parts = || request.messages.iter().flat_map(|message| &message.content);
    request.output == OutputFormat::Json && !parts().any(says_it)
}

fn says_it(part: &ContentPart) -> bool {
    match part {
        ContentPart::Text(part) => has_word(&part.text),
        ContentPart::ToolResult(result) => result.content.iter().any(says_it),
        _ => false,
    }
}

/// Is the word there, in whatever case?
fn has_word(text: &str) -> bool {
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
    use llm_core::{Message, ToolCall, ToolResult};

    #[test]
    fn the_word_is_found_in_any_case() {
        for text in ["json", "as JSON, please", "Json", "jjsOn", "ein JSON-Objekt"] {
            assert!(has_word(text), "{text}");
        }
        for text in ["", "j", "jso", "js on", "XML", "JSÖN"] {
            assert!(!has_word(text), "{text}");
        }
    }

    #[test]
    fn it_may_stand_in_any_text_that_is_sent() {
        let asked = |messages: Vec<Message>| ChatRequest::new(messages).with_output(OutputFormat::Json);
        let hi = || Message::user("hi");
        assert!(is_missing(&asked(vec![hi()])));
        assert!(!is_missing(&ChatRequest::user("hi")));
        let result = |text: &str| Message::tool_results([ToolResult::new("c", text)]);
        for said in [
            Message::system("json"),
            Message::assistant("json"),
            Message::user("json"),
            result("json"),
        ] {
            assert!(!is_missing(&asked(vec![hi(), said.clone()])), "{said:?}");
        }
        let call = ContentPart::ToolCall(ToolCall::new("c", "json", "{\"json\":1}"));
        let call = Message::new(llm_core::Role::Assistant, vec![call]);
        assert!(is_missing(&asked(vec![hi(), call, result("found")])));
    }
}
