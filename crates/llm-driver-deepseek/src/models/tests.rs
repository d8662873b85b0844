use super::*;
use crate::dialect::dialect_of;
use llm_core::{ErrorKind, ModelId};

fn table() -> ModelTable {
    let config = DeepSeekConfig::new("an invented key");
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
        ("deepseek-v4-pro", Ok("deepseek-v4-pro")),
        ("deepseek/deepseek-flash", Ok("deepseek-flash")),
        ("deepseek-chat", Ok("deepseek-chat")),
        ("deepseek-v9", Err(ErrorKind::UnknownModel)),
    ] {
        assert_eq!(kind(asked), expected.map(str::to_owned), "{asked}");
    }
}

#[test]
fn the_endpoint_makes_no_promise_of_schemas_and_reads_files() {
    let can = |name, capability| resolve(name).capabilities.support(capability);
    for model in table().known() {
        assert_eq!(model.capabilities.support(Capability::JsonSchema), Support::No);
    }
    assert_eq!(can("deepseek-flash", Capability::Documents), Support::Yes);
    assert_eq!(can("deepseek-v4-flash", Capability::Documents), Support::No);
    assert_eq!(can("deepseek-v4-pro", Capability::Vision), Support::No);
}

#[test]
fn prices_have_hours() {
    let price = resolve("deepseek-v4-pro").price.unwrap();
    assert_eq!(price.rates.output, Some(3_960_000_000));
    assert_eq!(price.off_peak.unwrap().rates.output, Some(1_980_000_000));
    assert_eq!(
        resolve("deepseek-chat").deprecated_on.as_deref(),
        Some("2026-07-24")
    );
}
