use super::*;
use crate::dialect::dialect_of;
use llm_core::ModelId;
use llm_core::ReasoningEffort::{High, Low, Max, Medium, None as Off, XHigh};
use llm_core::{Capability, ErrorKind, ModelEntry, ModelLimits, Support};
use std::sync::Arc;

fn models(config: &ClaudeConfig) -> ModelTable {
    super::models(config, &dialect_of(config, Vec::new())).unwrap()
}

fn anthropic() -> ClaudeConfig {
    ClaudeConfig::new("an invented key")
}

fn elsewhere() -> ClaudeConfig {
    ClaudeConfig::compatible("http://127.0.0.1:8080/v1")
}

fn id(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

fn resolve(models: &ModelTable, name: &str) -> Result<Arc<ResolvedModel>> {
    models.resolve(Some(&id(name)))
}

#[test]
fn a_catalogued_model_comes_with_its_facts() {
    let model = resolve(&models(&anthropic()), "claude-sonnet-5-5").unwrap();
    assert!(model.known);
    assert_eq!(
        model.limits,
        ModelLimits::new(Some(1_000_000), None, Some(128_000))
    );
    let rates = model.price.as_ref().unwrap().rates;
    assert_eq!(
        (rates.input, rates.cached_input, rates.cache_write_long),
        (Some(2_000_000_000), Some(100_000_000), Some(4_000_000_000))
    );
    let support = |capability| model.capabilities.support(capability);
    for there in [
        Capability::Tools,
        Capability::ParallelTools,
        Capability::Vision,
        Capability::Documents,
        Capability::JsonSchema,
        Capability::Reasoning,
        Capability::PromptCache,
        Capability::Streaming,
    ] {
        assert_eq!(support(there), Support::Yes, "{there}");
    }
    assert_eq!(support(Capability::AudioInput), Support::No);
}

#[test]
fn efforts_and_refusals_are_the_catalogues_and_the_rules() {
    let models = models(&anthropic());
    let all = vec![Low, Medium, High, XHigh, Max];
    let with_off = |levels: &[ReasoningEffort]| Some([&[Off], levels].concat());
    for (name, efforts, rejects) in [
        ("claude-opus-5-5", Some(all.clone()), 4),
        ("claude-fable-5", Some(all.clone()), 3),
        ("claude-haiku-5-5", with_off(&all), 2),
        ("claude-sonnet-4-6", with_off(&[Low, Medium, High, Max]), 1),
        ("claude-opus-4-5", with_off(&[Low, Medium, High]), 0),
        ("claude-haiku-4-5", None, 0),
    ] {
        let model = resolve(&models, name).unwrap();
        assert_eq!(model.efforts, efforts, "{name}");
        assert_eq!(model.rejects.len(), rejects, "{name}: {:?}", model.rejects);
    }
}

#[test]
fn the_rules_of_the_wire_format_do_not_contradict_the_catalogue() {
    let dialect = Dialect::anthropic();
    for shipped in SHIPPED.models().unwrap() {
        let ruled = with_rule(shipped.model.clone(), &dialect);
        assert_eq!(ruled.rejects, shipped.model.rejects, "{}", shipped.model.id);
        if let Some(efforts) = &shipped.model.efforts {
            assert_eq!(
                efforts,
                dialect.rule_of(&shipped.model).efforts,
                "{}",
                shipped.model.id
            );
        }
    }
}

#[test]
fn a_model_that_only_the_caller_knows_has_what_its_family_has() {
    let config = elsewhere().with_model(id("us.anthropic.claude-opus-5-5"), ModelEntry::default());
    let model = resolve(&models(&config), "us.anthropic.claude-opus-5-5").unwrap();
    assert!(model.rejects(Knob::ThinkingOff) && model.rejects(Knob::Sampling));
    let config = elsewhere().with_model(id("local"), ModelEntry::default());
    let model = resolve(&models(&config), "local").unwrap();
    assert!(model.rejects.is_empty() && model.efforts.is_none());
}

#[test]
fn the_default_is_a_current_priced_model_and_the_cheapest() {
    let default = models(&anthropic()).resolve(None).unwrap();
    assert_eq!((default.id.as_str(), &default.requested), (DEFAULT_MODEL, &None));
    assert!(default.deprecated_on.is_none());
    let input = |model: &ResolvedModel| model.price.as_ref().and_then(|price| price.rates.input);
    let cheapest = SHIPPED
        .models()
        .unwrap()
        .iter()
        .filter_map(|shipped| input(&shipped.model))
        .min();
    assert_eq!(input(&default), cheapest);
    let named = anthropic().with_default_model(id("claude-opus-5"));
    assert_eq!(models(&named).resolve(None).unwrap().id, id("claude-opus-5"));
    assert_eq!(
        models(&elsewhere()).resolve(None).unwrap_err().kind(),
        ErrorKind::Config
    );
}

#[test]
fn unknown_models_are_refused_at_anthropic_and_allowed_elsewhere() {
    let ours = models(&anthropic());
    let error = resolve(&ours, "claude-opus-9").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownModel);
    assert!(error.message().contains("claude-opus-"), "{error}");
    assert!(resolve(&ours, "anthropic/claude-opus-5").is_ok());
    assert!(resolve(&ours, "claude/claude-opus-5").is_ok());
    assert!(resolve(&ours, "bedrock/claude-opus-5").is_err());
    assert!(models(&elsewhere()).known().is_empty());
    let passed = resolve(&models(&elsewhere()), "claude-opus-5").unwrap();
    assert!(!passed.known && passed.price.is_none());
    let gateway = models(&elsewhere().with_shipped_catalog(true));
    assert!(resolve(&gateway, "claude-opus-5").unwrap().known);
}
