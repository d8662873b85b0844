use super::*;
use crate::dialect::{dialect_of, responses_dialect_of};
use llm_core::model::Knob;
use llm_core::price::Rates;
use llm_core::{
    Capabilities, Capability, DriverId, ErrorKind, ModelEntry, ModelLimits, Price, ReasoningEffort,
    ResolvedModel, Support, VendorId,
};
use std::sync::Arc;

fn models(config: &OpenAiConfig) -> ModelTable {
    let models = super::models(config, &dialect_of(config), &responses_dialect_of(config));
    models.unwrap().table
}

fn openai() -> OpenAiConfig {
    OpenAiConfig::new("an invented key")
}

fn elsewhere() -> OpenAiConfig {
    OpenAiConfig::compatible("http://127.0.0.1:8080/v1")
}

fn id(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

fn resolve(models: &ModelTable, name: &str) -> Result<Arc<ResolvedModel>> {
    models.resolve(Some(&id(name)))
}

#[test]
fn a_catalogued_model_comes_with_its_facts() {
    let model = resolve(&models(&openai()), "gpt-6-luna").unwrap();
    assert_eq!(
        (model.requested.as_ref(), model.id.as_str()),
        (Some(&id("gpt-6-luna")), "gpt-6-luna")
    );
    assert!(model.known);
    assert_eq!(
        model.limits,
        ModelLimits::new(Some(1_050_000), Some(922_000), Some(128_000))
    );
    let price = model.price.as_ref().unwrap();
    assert_eq!(price.rates.input, Some(100_000_000));
    assert_eq!(price.tiers[0].above_tokens, 272_000);
    let support = |capability| model.capabilities.support(capability);
    for there in [
        Capability::Tools,
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
fn efforts_are_those_of_the_apis_that_serve_it() {
    use ReasoningEffort::{High, Low, Max, Medium, None as Off, XHigh};
    let efforts = |config: &OpenAiConfig, name: &str| resolve(&models(config), name).unwrap().efforts.clone();
    let (either, chat) = (openai(), openai().with_api(ApiChoice::ChatCompletions));
    // `max` is for the Responses API alone, `minimal` is no word of ours.
    assert_eq!(
        efforts(&either, "gpt-6-luna"),
        Some(vec![Off, Low, Medium, High, XHigh, Max])
    );
    assert_eq!(
        efforts(&chat, "gpt-6-luna"),
        Some(vec![Off, Low, Medium, High, XHigh])
    );
    for config in [either, chat] {
        assert_eq!(efforts(&config, "gpt-5"), Some(vec![Low, Medium, High]));
        assert_eq!(efforts(&config, "o3"), Some(vec![Low, Medium, High]));
        assert_eq!(efforts(&config, "gpt-4o"), None);
    }
}

#[test]
fn a_model_that_always_thinks_says_what_it_cannot() {
    let chat = models(&openai().with_api(ApiChoice::ChatCompletions));
    for (models, tools) in [(models(&openai()), Support::Yes), (chat, Support::No)] {
        let astra = resolve(&models, "gpt-6-astra").unwrap();
        assert!(astra.rejects(Knob::Sampling) && astra.rejects(Knob::ThinkingOff));
        assert_eq!(astra.capabilities.support(Capability::Tools), tools);
        let o3 = resolve(&models, "o3").unwrap();
        assert!(o3.rejects(Knob::Sampling));
        assert_eq!(o3.capabilities.support(Capability::Tools), Support::Yes);
        let luna = resolve(&models, "gpt-6-luna").unwrap();
        assert!(luna.rejects.is_empty());
        assert!(resolve(&models, "gpt-4o").unwrap().rejects.is_empty());
    }
}

#[test]
fn the_default_is_resolved_like_any_other_name() {
    let default = models(&openai()).resolve(None).unwrap();
    assert_eq!(
        (default.requested.as_ref(), default.id.as_str()),
        (None, DEFAULT_MODEL)
    );
    assert!(default.price.is_some() && default.deprecated_on.is_none());

    let other = openai().with_default_model(id("no-such-model"));
    assert_eq!(
        models(&other).resolve(None).unwrap_err().kind(),
        ErrorKind::UnknownModel
    );

    let error = models(&elsewhere()).resolve(None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.message().contains("default_model"), "{error}");
    let local = elsewhere().with_default_model(id("local"));
    assert_eq!(models(&local).resolve(None).unwrap().id, id("local"));
}

#[test]
fn an_unknown_model_is_refused_with_names_that_are_known() {
    let error = resolve(&models(&openai()), "gpt-6-lunar").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownModel);
    assert_eq!(error.vendor().model, Some(id("gpt-6-lunar")));
    assert!(error.message().contains("gpt-6-luna,"), "{error}");
    assert!(error.message().contains("unknown_models: allow"), "{error}");
    // Nor are new snapshots of a known model taken for it.
    assert!(resolve(&models(&openai()), "gpt-4o-2099-01-01").is_err());
}

#[test]
fn an_unknown_model_passes_with_everything_unknown_where_that_is_allowed() {
    for config in [elsewhere(), openai().with_unknown_models(UnknownModels::Allow)] {
        let model = resolve(&models(&config), "vendor/some-model").unwrap();
        assert_eq!(model.id, id("vendor/some-model"));
        assert!(!model.known && model.price.is_none());
        // that it streams is a fact of the driver
        assert_eq!(
            model.capabilities,
            Capabilities::unknown().with(Capability::Streaming, true)
        );
    }
    let strict = elsewhere().with_unknown_models(UnknownModels::Refuse);
    let error = resolve(&models(&strict), "some-model").unwrap_err();
    assert!(error.message().contains("no model is known"), "{error}");
}

#[test]
fn another_host_has_no_catalogue_unless_it_is_said_to() {
    assert!(models(&elsewhere()).known().is_empty());
    assert!(!resolve(&models(&elsewhere()), "gpt-6-luna").unwrap().known);
    let gateway = models(&elsewhere().with_shipped_catalog(true));
    assert!(resolve(&gateway, "gpt-6-luna").unwrap().known);
    assert_eq!(gateway.resolve(None).unwrap().id, id(DEFAULT_MODEL));
    assert!(resolve(&gateway, "some-model").is_err());
}

#[test]
fn a_prefix_goes_only_when_it_is_ours_and_what_is_left_is_known() {
    let ours = models(&openai());
    let model = resolve(&ours, "openai/gpt-4o").unwrap();
    assert_eq!(
        (model.requested.as_ref(), model.id.as_str()),
        (Some(&id("openai/gpt-4o")), "gpt-4o")
    );
    assert!(resolve(&ours, "azure/gpt-4o").is_err());
    assert!(resolve(&ours, "openai/no-such-model").is_err());

    // A host that routes to several vendors gets the name as it is.
    let router = models(&elsewhere());
    assert_eq!(resolve(&router, "openai/gpt-4o").unwrap().id, id("openai/gpt-4o"));

    let named = elsewhere()
        .with_identity(DriverId::from_static("lab"), VendorId::from_static("acme"))
        .with_model(id("m"), ModelEntry::default())
        .with_model(id("acme/m2"), ModelEntry::default());
    let named = models(&named);
    for (asked, sent) in [
        ("lab/m", "m"),
        ("acme/m", "m"),
        ("acme/m2", "acme/m2"),
        ("openai/m", "openai/m"),
    ] {
        assert_eq!(resolve(&named, asked).unwrap().id, id(sent), "{asked}");
    }
}

#[test]
fn moving_aliases_resolve_without_a_price() {
    let models = models(&openai());
    let listed = resolve(&models, "gpt-5-chat-latest").unwrap();
    assert!(listed.known && listed.price.is_none());
    assert_eq!(listed.capabilities.support(Capability::Vision), Support::Yes);
    let unlisted = resolve(&models, "gpt-4o-latest").unwrap();
    assert_eq!(unlisted.id, id("gpt-4o-latest"));
    assert!(!unlisted.known && unlisted.price.is_none());
    assert_eq!(
        unlisted.capabilities,
        Capabilities::unknown().with(Capability::Streaming, true)
    );
    assert!(resolve(&models, "no-such-model-latest").is_err());
    assert!(resolve(&models, "-latest").is_err());
}

#[test]
fn dated_snapshots_have_their_own_facts() {
    let models = models(&openai());
    let old = resolve(&models, "gpt-4o-2024-05-13").unwrap();
    let new = resolve(&models, "gpt-4o-2024-11-20").unwrap();
    assert_eq!(old.price.as_ref().unwrap().rates.input, Some(5_000_000_000));
    assert_eq!(new.price.as_ref().unwrap().rates.input, Some(2_500_000_000));
    assert_eq!(old.capabilities.support(Capability::JsonSchema), Support::No);
}

#[test]
fn what_does_not_chat_here_is_refused_in_words() {
    assert!(resolve(&models(&openai()), "o1-pro").is_ok());
    let models = models(&openai().with_api(ApiChoice::ChatCompletions));
    for (name, says) in [
        ("o1-pro", "Responses API"),
        ("gpt-5.3-codex", "Responses API"),
        ("text-embedding-3-small", "embeddings"),
        ("whisper-1", "transcribes"),
        ("openai/whisper-1", "transcribes"),
    ] {
        let error = resolve(&models, name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}");
        assert!(error.message().contains(says), "{error}");
    }
    let known = models.known();
    assert!(known.iter().all(|model| models.resolve(Some(&model.id)).is_ok()));
    assert!(
        !known
            .iter()
            .any(|model| model.id == id("whisper-1") || model.id == id("o1-pro"))
    );
    assert!(known.len() > 60, "{}", known.len());
}

#[test]
fn the_callers_facts_go_over_the_shipped_ones_field_by_field() {
    let own_price = Price::new(Rates::default().with_cached_input(7));
    let config = openai()
        .with_model(id("gpt-4o"), ModelEntry::default().with_price(own_price.clone()))
        .with_model(
            id("gpt-7"),
            ModelEntry::default().with_capability(Capability::Vision, true),
        )
        .with_model(
            id("gpt-5-chat-latest"),
            ModelEntry::default().with_price(own_price),
        )
        .with_model(id("whisper-1"), ModelEntry::default());
    let models = models(&config);
    let known = resolve(&models, "gpt-4o").unwrap();
    let rates = known.price.as_ref().unwrap().rates;
    assert_eq!((rates.input, rates.cached_input), (Some(2_500_000_000), Some(7)));
    assert_eq!(known.limits.context_window, Some(128_000));
    let added = resolve(&models, "gpt-7").unwrap();
    assert!(added.known && added.price.is_none());
    assert_eq!(added.capabilities.support(Capability::Vision), Support::Yes);
    assert_eq!(added.capabilities.support(Capability::Tools), Support::Unknown);
    // The caller's own price of a moving alias is taken at its word.
    assert!(resolve(&models, "gpt-5-chat-latest").unwrap().price.is_some());
    assert!(resolve(&models, "whisper-1").is_err());
}

#[test]
fn what_the_host_lists_resolves_with_everything_unknown() {
    let models = models(&openai());
    assert!(resolve(&models, "gpt-6.2-sol").is_err());
    models.remember([id("gpt-6.2-sol"), id("gpt-4o")].map(llm_core::driver::CatalogModel::new));
    let listed = resolve(&models, "gpt-6.2-sol").unwrap();
    assert!(listed.known && listed.price.is_none());
    assert_eq!(
        resolve(&models, "openai/gpt-6.2-sol").unwrap().id,
        id("gpt-6.2-sol")
    );
    assert!(resolve(&models, "gpt-4o").unwrap().price.is_some());
    models.remember([]);
    assert!(resolve(&models, "gpt-6.2-sol").is_err());
    assert!(resolve(&models, "gpt-4o").is_ok());
}

#[test]
fn every_row_of_the_catalogue_is_read_and_no_word_is_lost() {
    let document: serde_json::Value = serde_json::from_str(include_str!("../models.json")).unwrap();
    let rows = document["models"].as_array().unwrap();
    let shipped = SHIPPED.models().unwrap();
    assert_eq!(shipped.len(), rows.len());
    for (row, shipped) in rows.iter().zip(shipped) {
        let count = |name: &str| row[name].as_array().map_or(0, Vec::len);
        let all = Capability::ALL.into_iter();
        let there = all.filter(|word| shipped.model.capabilities.support(*word) == Support::Yes);
        // Streaming is not a word of the catalogue.
        assert_eq!(there.count(), count("capabilities") + 1, "{row}");
        // `minimal` is no word of ours.
        let minimal = row["efforts"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|word| *word == "minimal");
        let efforts = shipped.model.efforts.as_ref().map_or(0, Vec::len);
        assert_eq!(efforts + minimal.count(), count("efforts"), "{row}");
        assert!(
            ["chat", "embedding", "transcription"].contains(&shipped.mode.as_str()),
            "{row}"
        );
    }
}
