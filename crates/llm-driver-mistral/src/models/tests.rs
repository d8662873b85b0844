use super::*;
use crate::dialect::dialect_of;
use llm_core::{ErrorKind, ModelId, ReasoningEffort as Effort};

fn table() -> ModelTable {
    let config = MistralConfig::new("an invented key");
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
        ("mistral-large-4", Ok("mistral-large-4")),
        ("mistral/mistral-large-4", Ok("mistral-large-4")),
        ("other/mistral-large-4", Err(ErrorKind::UnknownModel)),
        ("mistral-large-5", Err(ErrorKind::UnknownModel)),
        ("mistral-embed", Err(ErrorKind::Unsupported)),
        ("voxtral-mini-2602", Err(ErrorKind::Unsupported)),
    ] {
        assert_eq!(kind(asked), expected.map(str::to_owned), "{asked}");
    }
}

#[test]
fn moving_aliases_have_prices() {
    let small = resolve("mistral-small-latest");
    assert_eq!(small.price, resolve("mistral-small-2603").price);
    assert!(resolve("mistral-large-latest").price.is_some());
}

#[test]
fn what_the_catalogue_does_not_say_is_added() {
    let efforts = |name| resolve(name).efforts;
    assert_eq!(
        efforts("mistral-large-4"),
        Some(vec![Effort::Low, Effort::Medium, Effort::High])
    );
    assert_eq!(
        efforts("magistral-small-latest"),
        Some(vec![Effort::None, Effort::High])
    );
    assert_eq!(
        efforts("deepseek-v4-1-flash-1017").map(|efforts| efforts.len()),
        Some(4)
    );
    let voxtral = resolve("voxtral-small-2507").capabilities;
    assert_eq!(voxtral.support(Capability::AudioInput), Support::Yes);
    assert_eq!(voxtral.support(Capability::Documents), Support::Unknown);
    assert_eq!(voxtral.support(Capability::Reasoning), Support::No);
}
