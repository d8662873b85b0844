use super::*;
use crate::config::OpenAiConfig;
use crate::dialect::{dialect_of, responses_dialect_of};
use crate::models::models;
use crate::options::OpenAiOptions;
use llm_core::{Message, Origin, Reasoning, ReasoningPart, Replay, Role, ToolSpec};
use serde_json::json;

/// The API of a request to this model under this configuration.
fn try_api(config: &OpenAiConfig, model: &str, request: &ChatRequest) -> Result<Api> {
    let (chat, responses) = (dialect_of(config), responses_dialect_of(config));
    let known = models(config, &chat, &responses)?;
    let rule = ApiRule {
        choice: config.api,
        is_openai: config.is_openai(),
        vendor: config.vendor.clone(),
        responses_only: known.responses_only,
    };
    let model = known.table.resolve(Some(&ModelId::new(model)?))?;
    rule.api_of(request, &model, &chat, &responses)
}

fn api(model: &str, request: &ChatRequest) -> Api {
    try_api(&openai(), model, request).unwrap()
}

fn openai() -> OpenAiConfig {
    OpenAiConfig::new("an invented key")
}

fn hi() -> ChatRequest {
    ChatRequest::user("hi")
}

fn with_tools() -> ChatRequest {
    hi().with_tools([ToolSpec::new("area")])
}

fn effort(request: ChatRequest, effort: ReasoningEffort) -> ChatRequest {
    request.with_reasoning(Reasoning::effort(effort))
}

fn recorded(data: serde_json::Value) -> ChatRequest {
    let replay = Replay::new(Origin::new(VendorId::from_static("openai")), data);
    let part = ContentPart::Reasoning(ReasoningPart::default().with_replay(replay));
    hi().with_message(Message::new(Role::Assistant, vec![part, ContentPart::text("ho")]))
}

#[test]
fn at_openai_the_request_decides() {
    use ReasoningEffort::{High, Low, Max, None as Off};
    for (model, request, expected) in [
        ("gpt-4o", hi(), Api::Either),
        ("gpt-4o", with_tools(), Api::Either),
        ("gpt-6-luna", hi(), Api::Either),
        ("o1-pro", hi(), Api::Responses),
        // tools beside thought
        ("gpt-6-luna", with_tools(), Api::Responses),
        ("gpt-6-luna", effort(with_tools(), Off), Api::Either),
        ("gpt-6-astra", with_tools(), Api::Responses),
        ("gpt-5.4", with_tools(), Api::Either),
        ("gpt-5.4", effort(with_tools(), Low), Api::Responses),
        ("o3", with_tools(), Api::Either),
        // what Chat Completions does not have
        ("gpt-6-luna", effort(hi(), Max), Api::Responses),
        ("gpt-6-luna", effort(hi(), High), Api::Either),
        ("gpt-5.5", effort(hi(), Max), Api::Either),
        (
            "o3",
            hi().with_reasoning(Reasoning::default().with_include(true)),
            Api::Responses,
        ),
        (
            "gpt-4o",
            hi().with_reasoning(Reasoning::default().with_include(true)),
            Api::Either,
        ),
        // what was recorded there goes back there
        (
            "gpt-6-luna",
            recorded(json!({"type": "reasoning", "encrypted_content": "x"})),
            Api::Responses,
        ),
        (
            "gpt-6-luna",
            recorded(json!({"reasoning_details": []})),
            Api::Either,
        ),
        // options of one of them
        (
            "gpt-4o",
            OpenAiOptions::default().with("truncation", "auto").apply(hi()),
            Api::Responses,
        ),
        (
            "gpt-6-luna",
            OpenAiOptions::default().with_prediction("x").apply(with_tools()),
            Api::ChatCompletions,
        ),
        (
            "gpt-4o",
            OpenAiOptions::default().with_prompt_cache_key("x").apply(hi()),
            Api::Either,
        ),
    ] {
        assert_eq!(api(model, &request), expected, "{model}: {request:?}");
    }
}

#[test]
fn another_host_speaks_chat_completions_unless_it_is_said_to_speak_the_other() {
    for url in [
        "http://127.0.0.1:8080/v1",
        "https://unit.openai.azure.com/openai/v1",
    ] {
        let config = OpenAiConfig::compatible(url);
        let catalogued = config.clone().with_shipped_catalog(true);
        for request in [hi(), with_tools(), recorded(json!({"type": "reasoning"}))] {
            assert_eq!(try_api(&config, "m", &request).unwrap(), Api::ChatCompletions);
            assert_eq!(
                try_api(&catalogued, "gpt-6-luna", &request).unwrap(),
                Api::ChatCompletions
            );
        }
        let asked = OpenAiOptions::default()
            .with_api(ApiChoice::Auto)
            .apply(with_tools());
        assert_eq!(
            try_api(&catalogued, "gpt-6-luna", &asked).unwrap(),
            Api::ChatCompletions
        );
        let said = config.with_api(ApiChoice::Responses);
        assert_eq!(try_api(&said, "m", &hi()).unwrap(), Api::Responses);
    }
}

#[test]
fn the_configuration_wins_over_the_rule_and_the_request_over_both() {
    let chat = openai().with_api(ApiChoice::ChatCompletions);
    assert_eq!(
        try_api(&chat, "gpt-6-luna", &with_tools()).unwrap(),
        Api::ChatCompletions
    );
    let asks = |choice| OpenAiOptions::default().with_api(choice).apply(with_tools());
    for (choice, expected) in [
        (ApiChoice::Responses, Api::Responses),
        (ApiChoice::ChatCompletions, Api::ChatCompletions),
        (ApiChoice::Auto, Api::Responses),
    ] {
        assert_eq!(try_api(&chat, "gpt-6-luna", &asks(choice)).unwrap(), expected);
    }
    let wrong = OpenAiOptions::default().with("api", "assistants").apply(hi());
    let error = try_api(&chat, "gpt-4o", &wrong).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(error.vendor().param.as_deref(), Some("vendor.openai.api"));
}
