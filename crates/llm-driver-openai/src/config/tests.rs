use super::*;
use llm_core::price::Rates;
use llm_core::{Capability, ModelLimits, Price, ResolvedModel, Support};
use serde_json::json;

fn from_variables(variables: &[(&str, &str)]) -> Result<OpenAiConfig> {
    OpenAiConfig::from_variables(|name| {
        let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
        Some((*value).to_owned())
    })
}

#[test]
fn every_variable_is_read() {
    let config = from_variables(&[
        ("OPENAI_API_KEY", " an invented key\n"),
        ("OPENAI_BASE_URL", "https://eu.api.openai.com/v1"),
        ("OPENAI_ORG_ID", "org-7"),
        ("OPENAI_PROJECT_ID", "proj-7"),
    ])
    .unwrap();
    assert_eq!(config.api_key.unwrap().expose(), "an invented key");
    assert_eq!(config.base_url, "https://eu.api.openai.com/v1");
    assert_eq!(config.organization.as_deref(), Some("org-7"));
    assert_eq!(config.project.as_deref(), Some("proj-7"));
}

#[test]
fn a_missing_key_is_told_with_its_variable() {
    for variables in [
        &[][..],
        &[("OPENAI_API_KEY", "  ")],
        &[("OPENAI_BASE_URL", "https://us.api.openai.com/v1")],
    ] {
        let error = from_variables(variables).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.message().contains("OPENAI_API_KEY"), "{error}");
    }
    let local = from_variables(&[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")]).unwrap();
    assert!(local.api_key.is_none() && !local.is_openai());
}

#[test]
fn every_field_can_be_configured() {
    let config = llm_http::config_from_value::<OpenAiConfig>(json!({
        "api_key": "k", "base_url": "https://host.example/v1", "auth": "query(key)",
        "organization": "o", "project": "p", "headers": {"x-a": "1"}, "query": {"api-version": "2"},
        "default_model": "m", "shipped_catalog": true, "unknown_models": "refuse",
        "models": {"m": {
            "context_window": 10, "max_input": 8, "max_output": 2,
            "price": {"input": 1, "output": 2, "cached_input": 3, "cache_write": 4, "cache_write_long": 5,
                      "tiers": [{"above_tokens": 9, "input": 6}]},
            "capabilities": {"vision": true}, "efforts": ["none", "xhigh"],
            "rejects": ["sampling"], "ignores": ["prefill"], "deprecated_on": "2030-01-01",
        }},
        "dialect": "openai", "stream_usage": false, "extract_think_tags": true,
        "idempotency_header": "idempotency-key", "limits": {"max_body_bytes": 5}, "id": "host", "vendor": "host",
    }))
    .unwrap();
    let entry = &config.models[&ModelId::new("m").unwrap()];
    let price = entry.price.clone().unwrap();
    assert_eq!(
        price.rates,
        Rates::usd(1, 2).with_cached_input(3).with_cache_write(4, 5)
    );
    assert_eq!(price.tiers[0].rates.input, Some(6));
    assert!(entry.capabilities[&Capability::Vision]);
    assert_eq!(config.dialect, Some(DialectChoice::OpenAi));
    assert_eq!(config.limits.max_body_bytes, 5);
    assert_eq!(config.unknown_models, Some(UnknownModels::Refuse));
}

#[test]
fn what_cannot_be_read_is_told_by_its_key_and_never_by_its_value() {
    let told = |value| {
        llm_http::config_from_value::<OpenAiConfig>(value)
            .unwrap_err()
            .to_string()
    };
    assert!(told(json!({"api_kye": "k"})).contains("unknown field `api_kye`"));
    let price = told(json!({"models": {"m": {"price": {"inptu": 1}}}}));
    assert!(
        price.contains("models.m.price") && price.contains("inptu"),
        "{price}"
    );
    for secret in [
        json!({"api_key": 8_765_432_109_u64}),
        json!({"headers": "8765432109"}),
        json!({"auth": "8765432109"}),
        json!({"query": {"a": ["8765432109"]}}),
    ] {
        let told = told(secret);
        assert!(told.contains("expected") || told.contains("auth"), "{told}");
        assert!(!told.contains("8765432109"), "{told}");
    }
}

#[test]
fn a_config_never_prints_its_secrets() {
    let config = OpenAiConfig::new("the-key")
        .with_header("x-token", "the-token")
        .with_query("k", "the-parameter");
    let printed = format!("{config:?}");
    for secret in ["the-key", "the-token", "the-parameter"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[test]
fn hosts_are_told_apart() {
    let at = |url: &str| OpenAiConfig::compatible(url);
    for url in [
        "https://api.openai.com/v1",
        "https://API.openai.com:443/v1",
        "https://jp.api.openai.com/v1",
    ] {
        assert!(at(url).is_openai(), "{url}");
    }
    for url in [
        "https://api.openai.com.evil.example/v1",
        "https://api.openai.com@evil.example/v1",
        "https://evil.example/api.openai.com",
        "https://evil.example\\.api.openai.com",
        "http://127.0.0.1:8080/v1",
        "",
    ] {
        assert!(!at(url).is_openai(), "{url}");
    }
    assert!(at("https://unit.openai.azure.com/openai/v1").is_azure());
    assert!(!at("https://unit.openai.azure.com.evil.example").is_azure());
}

#[test]
fn an_entry_keeps_what_it_does_not_state() {
    let known = ResolvedModel::unknown(ModelId::new("m").unwrap())
        .with_price(Price::new(Rates::usd(1, 2)))
        .with_limits(ModelLimits::new(Some(10), None, Some(2)));
    let entry = ModelEntry::default()
        .with_price(Price::new(Rates::default().with_cached_input(7)))
        .with_capability(Capability::Tools, false);
    let merged = entry.overlay(known);
    assert_eq!(merged.price.unwrap().rates, Rates::usd(1, 2).with_cached_input(7));
    assert_eq!(merged.limits, ModelLimits::new(Some(10), None, Some(2)));
    assert_eq!(merged.capabilities.support(Capability::Tools), Support::No);
    assert_eq!(merged.capabilities.support(Capability::Vision), Support::Unknown);
    assert!(merged.known);
}
