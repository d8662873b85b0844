//! Whom a request is translated for.

use llm_core::{ChatRequest, ModelId, ResolvedModel, Result, Warning};
use llm_wire::{chat_completions, generate_content, messages, ollama, responses};
use serde_json::Value;

type Encode = Box<dyn Fn(&ChatRequest) -> Result<(Value, Vec<Warning>)>>;

/// A format, in the dialect of one vendor.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The body that is sent, and what is said about it.
    pub(super) encode: Encode,
}

/// Every format, and every dialect of it.
pub(super) fn targets() -> Vec<Target> {
    use chat_completions::Dialect;
    let chat_completions = [
        ("openai", Dialect::openai()),
        ("compatible", Dialect::compatible()),
        ("mistral", Dialect::mistral()),
        ("groq", Dialect::groq()),
        ("deepseek", Dialect::deepseek()),
        ("kimi", Dialect::kimi()),
    ];
    let mut targets: Vec<Target> = chat_completions
        .into_iter()
        .map(|(name, dialect)| {
            target(name, move |model, request| {
                let encoded = chat_completions::encode_request(&dialect, model, request, true)?;
                Ok((encoded.body, encoded.warnings))
            })
        })
        .collect();
    targets.push(target("responses", |model, request| {
        let encoded = responses::encode_request(&responses::Dialect::openai(), model, request, true)?;
        Ok((encoded.body, encoded.warnings))
    }));
    for (name, dialect) in [
        ("anthropic", messages::Dialect::anthropic()),
        ("bedrock", messages::Dialect::bedrock()),
    ] {
        targets.push(target(name, move |model, request| {
            let encoded = messages::encode_request(&dialect, model, request, true)?;
            Ok((encoded.body, encoded.warnings))
        }));
    }
    targets.push(target("gemini", |model, request| {
        let encoded = generate_content::encode_request(&generate_content::Dialect::gemini(), model, request)?;
        Ok((encoded.body, encoded.warnings))
    }));
    targets.push(target("ollama", |model, request| {
        let encoded = ollama::encode_request(&ollama::Dialect::ollama(), model, request, true)?;
        Ok((encoded.body, encoded.warnings))
    }));
    targets
}

fn target(
    name: &'static str,
    encode: impl Fn(&ResolvedModel, &ChatRequest) -> Result<(Vec<u8>, Vec<Warning>)> + 'static,
) -> Target {
    let model = ResolvedModel::unknown(ModelId::new("demo").unwrap());
    Target {
        name,
        encode: Box::new(move |request| {
            let (body, warnings) = encode(&model, request)?;
            Ok((serde_json::from_slice(&body).unwrap(), warnings))
        }),
    }
}
