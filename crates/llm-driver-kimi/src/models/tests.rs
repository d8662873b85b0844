use super::*;
use crate::dialect::dialect_of;
use llm_core::{Capability, ErrorKind, ModelId, ReasoningEffort as Effort, Support, model::Knob};

fn table() -> ModelTable {
    let config = KimiConfig::new("an invented key");
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
        ("kimi-k3", Ok("kimi-k3")),
        ("kimi/kimi-k3", Ok("kimi-k3")),
        ("moonshot/kimi-k3", Ok("kimi-k3")),
        ("kimi-k9", Err(ErrorKind::UnknownModel)),
    ] {
        assert_eq!(kind(asked), expected.map(str::to_owned), "{asked}");
    }
}

#[test]
fn what_the_catalogue_does_not_say_is_added() {
    let k2 = resolve("kimi-k2.6");
    assert_eq!(k2.efforts, Some(vec![Effort::None, Effort::High]));
    assert_eq!(k2.deprecated_on.as_deref(), Some(END_OF_K2));
    assert!(k2.rejects(Knob::Sampling) && !k2.rejects(Knob::ThinkingOff));
    assert_eq!(resolve("kimi-k2.5").deprecated_on.as_deref(), Some("2026-08-31"));
    let k3 = resolve("kimi-k3");
    assert_eq!(k3.efforts, Some(vec![Effort::Low, Effort::High, Effort::Max]));
    assert!(k3.rejects(Knob::Sampling) && k3.rejects(Knob::ThinkingOff));
    let old = resolve("moonshot-v1-8k");
    assert!(!old.rejects(Knob::Sampling));
    assert_eq!(old.capabilities.support(Capability::Reasoning), Support::No);
}
