//! The request forms that can be read, and those that can be written.

use crate::case::{DIALECTS, Fault, dialect_of_form};
use llm_core::{ChatRequest, Error, ResolvedModel};
use llm_wire::{chat_completions, generate_content, messages, ollama};
use serde_json::Value;

/// What a request is written in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    ChatCompletions,
    Messages,
}

/// Whom it is translated for.
#[derive(Debug)]
pub(super) enum Target {
    ChatCompletions(chat_completions::Dialect),
    Messages(messages::Dialect),
    GenerateContent(generate_content::Dialect),
    Ollama(ollama::Dialect),
}

/// Are both forms there? A word that the format does not have is no answer to that.
pub(super) fn supported(input: &Value) -> Result<(), Fault> {
    let unsupported = |read: Option<Fault>| match read {
        Some(fault @ Fault::Unsupported(_)) => Err(fault),
        _ => Ok(()),
    };
    unsupported(input["from"].as_str().and_then(|form| Source::of(form).err()))?;
    let dialect = input["dialect"].as_str();
    unsupported(
        input["to"]
            .as_str()
            .and_then(|form| Target::of(form, dialect).err()),
    )
}

impl Source {
    pub(super) fn of(form: &str) -> Result<Source, Fault> {
        match form {
            "openai-chat" => Ok(Source::ChatCompletions),
            "anthropic-messages" => Ok(Source::Messages),
            other => Err(no_form("from", other)),
        }
    }

    /// What is asked, and whether a stream is wanted.
    pub(super) fn decode(self, body: &[u8]) -> Result<(ChatRequest, bool), Error> {
        Ok(match self {
            Source::ChatCompletions => {
                let decoded = chat_completions::decode_request(body)?;
                (decoded.request, decoded.stream)
            }
            Source::Messages => {
                let decoded = messages::decode_request(body)?;
                (decoded.request, decoded.stream)
            }
        })
    }
}

impl Target {
    /// `dialect` is the vendor, where the form has several.
    pub(super) fn of(form: &str, dialect: Option<&str>) -> Result<Target, Fault> {
        use chat_completions::Dialect;
        let target = match form {
            "openai-chat" => {
                return Ok(Target::ChatCompletions(match dialect.unwrap_or("openai") {
                    "openai" | "azure" => Dialect::openai(),
                    "groq" => Dialect::groq(),
                    "deepseek" => Dialect::deepseek(),
                    "kimi" => Dialect::kimi(),
                    "mistral" => Dialect::mistral(),
                    other => return Err(Fault::unknown("dialect", other)),
                }));
            }
            "anthropic-messages" => Target::Messages(messages::Dialect::anthropic()),
            "gemini" => Target::GenerateContent(generate_content::Dialect::gemini()),
            "ollama-chat" => Target::Ollama(ollama::Dialect::ollama()),
            other => return Err(no_form("to", other)),
        };
        match dialect {
            Some(other) if dialect_of_form(form) != Some(other) => {
                let known = DIALECTS.contains(&other);
                Err(if known {
                    Fault::malformed(format!("the form {form} has no dialect {other}"))
                } else {
                    Fault::unknown("dialect", other)
                })
            }
            _ => Ok(target),
        }
    }

    /// The body that is sent.
    pub(super) fn encode(
        &self,
        model: &ResolvedModel,
        request: &ChatRequest,
        stream: bool,
    ) -> Result<Vec<u8>, Error> {
        Ok(match self {
            Target::ChatCompletions(dialect) => {
                chat_completions::encode_request(dialect, model, request, stream)?.body
            }
            Target::Messages(dialect) => messages::encode_request(dialect, model, request, stream)?.body,
            Target::GenerateContent(dialect) => {
                generate_content::encode_request(dialect, model, request)?.body
            }
            Target::Ollama(dialect) => ollama::encode_request(dialect, model, request, stream)?.body,
        })
    }
}

/// Nothing reads or writes such a form, or it is none.
fn no_form(key: &str, form: &str) -> Fault {
    match dialect_of_form(form) {
        Some(_) => Fault::unsupported(format!("translations {key} the form {form} yet")),
        None => Fault::unknown("form", form),
    }
}
