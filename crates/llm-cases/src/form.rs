//! The wire forms that this build has a driver for.
//!
//! A driver that is new gets a variant of [`Form`] and its dialects in [`Form::of`]. The compiler then names the
//! places that need a line for it: what speaks the form (`subject.rs`), how a scripted answer looks in it
//! (`script.rs`, with a file of its own under `script/`), and how a request is read from it.

use crate::case::{DIALECTS, Fault, Wire};
use serde_json::Value;

/// A wire form, whoever's dialect of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    ChatCompletions,
    /// OpenAI's other one.
    Responses,
    /// Anthropic's.
    Messages,
    /// Google's.
    GenerateContent,
    /// Ollama's own.
    Ollama,
}

impl Form {
    /// The form of a dialect. `what` is to be run in it, for a fault.
    pub(crate) fn of(dialect: &str, what: &str) -> Result<Form, Fault> {
        match dialect {
            "openai" | "azure" | "groq" | "deepseek" | "kimi" | "mistral" => Ok(Form::ChatCompletions),
            "openai-responses" => Ok(Form::Responses),
            "anthropic" => Ok(Form::Messages),
            "gemini" => Ok(Form::GenerateContent),
            "ollama" => Ok(Form::Ollama),
            known if DIALECTS.contains(&known) => {
                Err(Fault::unsupported(format!("{what} of the dialect {known} yet")))
            }
            other => Err(Fault::unknown("dialect", other)),
        }
    }

    /// What a stream calls itself.
    pub(crate) fn stream_type(self) -> &'static str {
        match self {
            Form::ChatCompletions | Form::Responses | Form::Messages | Form::GenerateContent => {
                "text/event-stream"
            }
            Form::Ollama => "application/x-ndjson",
        }
    }

    /// The form of the answers on a wire.
    pub(crate) fn of_wire(wire: Wire) -> Result<Form, Fault> {
        let dialect = wire.dialect().ok_or_else(|| unsupported_wire(wire))?;
        Form::of(dialect, "answers").map_err(|_| unsupported_wire(wire))
    }
}

/// Nothing here runs such a case.
pub(crate) fn unsupported_wire(wire: Wire) -> Fault {
    Fault::unsupported(format!("the wire {wire} yet"))
}

/// Has this build a driver for the dialect of an input? A word that the format does not have is no answer to that:
/// who reads the input finds it.
pub(crate) fn supported(input: &Value, what: &str) -> Result<(), Fault> {
    match input["dialect"].as_str().map(|dialect| Form::of(dialect, what)) {
        Some(Err(fault @ Fault::Unsupported(_))) => Err(fault),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_dialect_is_spoken_or_not_yet_or_unknown() {
        assert_eq!(Form::of("kimi", "errors").unwrap(), Form::ChatCompletions);
        assert_eq!(Form::of("anthropic", "errors").unwrap(), Form::Messages);
        assert_eq!(
            Form::of_wire(Wire::GeminiArrayStream).unwrap(),
            Form::GenerateContent
        );
        assert_eq!(Form::of_wire(Wire::OllamaNdjson).unwrap(), Form::Ollama);
        for wire in [Wire::BedrockEventStream, Wire::McpHttp] {
            let fault = Form::of_wire(wire).unwrap_err().to_string();
            assert_eq!(fault, format!("this build cannot run the wire {wire} yet"));
        }
        let fault = |dialect: &str| Form::of(dialect, "errors").unwrap_err().to_string();
        assert_eq!(
            fault("bedrock"),
            "this build cannot run errors of the dialect bedrock yet"
        );
        assert_eq!(fault("klingon"), "unknown dialect klingon");
        for (input, is_supported) in [
            (json!({"dialect": "bedrock"}), false),
            (json!({"dialect": "groq"}), true),
            (json!({"dialect": "klingon"}), true),
            (json!({}), true),
        ] {
            assert_eq!(supported(&input, "errors").is_ok(), is_supported, "{input}");
        }
    }
}
