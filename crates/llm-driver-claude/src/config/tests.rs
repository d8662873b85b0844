use super::*;
use llm_core::Capability;
use serde_json::json;

fn from_variables(variables: &[(&str, &str)]) -> Result<ClaudeConfig> {
    ClaudeConfig::from_variables(|name| {
        let (_, value) = variables.iter().find(|(key, _)| *key == name)?;
        Some((*value).to_owned())
    })
}

#[test]
fn every_variable_is_read() {
    let config = from_variables(&[
        ("ANTHROPIC_API_KEY", " an invented key\n"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080"),
    ])
    .unwrap();
    assert_eq!(config.api_key.unwrap().expose(), "an invented key");
    assert_eq!(config.base_url, "http://127.0.0.1:8080/v1");
    for (given, used) in [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/"),
        ("https://host.example/claude/", "https://host.example/claude/v1"),
        ("https://host.example/v1?a=b", "https://host.example/v1?a=b"),
    ] {
        let config = from_variables(&[("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_BASE_URL", given)]).unwrap();
        assert_eq!(config.base_url, used);
    }
}

#[test]
fn a_missing_key_is_told_with_its_variable() {
    for variables in [
        &[][..],
        &[("ANTHROPIC_API_KEY", "  ")],
        &[("ANTHROPIC_BASE_URL", "https://api.anthropic.com")],
    ] {
        let error = from_variables(variables).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.message().contains("ANTHROPIC_API_KEY"), "{error}");
    }
    let local = from_variables(&[("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/v1")]).unwrap();
    assert!(local.api_key.is_none() && !local.is_anthropic());
}

#[test]
fn every_field_can_be_configured() {
    let config = llm_http::config_from_value::<ClaudeConfig>(json!({
        "api_key": "k", "base_url": "https://host.example/v1", "auth": "bearer", "betas": ["b"],
        "headers": {"x-a": "1"}, "query": {"api-version": "2"},
        "default_model": "m", "shipped_catalog": true, "unknown_models": "refuse",
        "models": {"m": {"capabilities": {"vision": true}}},
        "idempotency_header": "idempotency-key", "limits": {"max_body_bytes": 5}, "id": "host", "vendor": "host",
    }))
    .unwrap();
    assert!(config.models[&ModelId::new("m").unwrap()].capabilities[&Capability::Vision]);
    assert_eq!(
        (config.limits.max_body_bytes, config.betas),
        (5, vec!["b".to_owned()])
    );
    assert_eq!(config.auth, AuthScheme::Bearer);
    assert_eq!(config.unknown_models, Some(UnknownModels::Refuse));
}

#[test]
fn a_config_never_prints_its_secrets() {
    let config = ClaudeConfig::new("the-key")
        .with_header("x-token", "the-token")
        .with_query("k", "the-parameter");
    let printed = format!("{config:?}");
    for secret in ["the-key", "the-token", "the-parameter"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}

#[test]
fn hosts_are_told_apart() {
    let is_anthropic = |url: &str| ClaudeConfig::compatible(url).is_anthropic();
    assert!(is_anthropic("https://api.anthropic.com/v1"));
    assert!(is_anthropic("https://API.anthropic.com:443/v1"));
    for url in [
        "https://api.anthropic.com.evil.example/v1",
        "https://evil.example/api.anthropic.com",
        "http://127.0.0.1:8080/v1",
        "",
    ] {
        assert!(!is_anthropic(url), "{url}");
    }
}
