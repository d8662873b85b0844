use super::*;
use crate::dialect::dialect_of;
use llm_core::{Capability, ErrorKind, ModelId, ReasoningEffort as Effort, ResolvedModel, Support};

fn table() -> ModelTable {
    let config = GroqConfig::new("an invented key");
    models(&config, &dialect_of(&config)).unwrap()
}

fn resolve(name: &str) -> ResolvedModel {
    let name = ModelId::new(name).unwrap();
    ResolvedModel::clone(&table().resolve(Some(&name)).unwrap())
}

#[test]
fn the_default_is_current_and_priced() {
    let model = table().resolve(None).unwrap();
    assert_eq!(model.id.as_str(), DEFAULT_MODEL);
    assert!(model.price.is_some() && model.deprecated_on.is_none());
    assert_eq!(model.capabilities.support(Capability::Tools), Support::Yes);
}

#[test]
fn names_are_used_or_refused() {
    let kind = |name: &str| {
        let resolved = table().resolve(Some(&ModelId::new(name).unwrap()));
        resolved
            .map(|model| model.id.to_string())
            .map_err(|error| error.kind())
    };
    for (asked, expected) in [
        ("openai/gpt-oss-120b", Ok("openai/gpt-oss-120b")),
        ("groq/openai/gpt-oss-120b", Ok("openai/gpt-oss-120b")),
        ("gpt-oss-120b", Err(ErrorKind::UnknownModel)),
        ("llama-3.3-70b-versatile", Err(ErrorKind::UnknownModel)),
        ("whisper-large-v3", Err(ErrorKind::Unsupported)),
    ] {
        assert_eq!(kind(asked), expected.map(str::to_owned), "{asked}");
    }
}

#[test]
fn models_think_in_their_own_ways() {
    let levels = |name| resolve(name).efforts.unwrap();
    let graded = [Effort::Low, Effort::Medium, Effort::High];
    assert_eq!(levels("openai/gpt-oss-20b"), graded);
    assert_eq!(levels("openai/gpt-oss-safeguard-20b"), graded);
    assert!(levels("qwen/qwen3.8-27b").contains(&Effort::None));
    let qwen = resolve("qwen/qwen3.8-27b").capabilities;
    assert_eq!(qwen.support(Capability::Vision), Support::Yes);
    assert_eq!(qwen.support(Capability::Documents), Support::No);
}
