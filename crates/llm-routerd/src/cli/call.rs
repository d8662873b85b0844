//! `llm-routerd call`

use super::{CallArgs, say};
use crate::auth;
use crate::config::environment;
use crate::request_id;
use llm_suite::core::{
    CallContext, ChatDriver, ChatEvent, ChatRequest, Collector, Delta, Error, ErrorKind, ModelId, Result,
    Secret,
};
use llm_suite::http::shared_clock;
use llm_suite::openai::{OpenAiConfig, OpenAiDriver};
use serde_json::json;
use std::io::{Read, Write};

pub(super) async fn run(args: &CallArgs) -> Result<()> {
    let message = match args.message.clone().or_else(|| args.message_option.clone()) {
        Some(message) => message,
        None => read_message()?,
    };
    let (token, source) = find_token(args)?;
    let base_url = format!("{}/v1", args.server.trim_end_matches('/'));
    let mut config = OpenAiConfig::new(token).with_base_url(base_url);
    if let Some(id) = &args.request_id {
        config = config.with_header(request_id::HEADER, id.as_str());
    }
    let driver = OpenAiDriver::new(config)?;
    let mut request = ChatRequest::user(message).with_model(ModelId::new(&args.model)?);
    request.max_output_tokens = args.max_tokens;
    let cx = CallContext::new(shared_clock());
    let advise = |error: Error| advised(error, &args.server, &source);
    let mut stream = driver.chat_stream(&cx, &request).await.map_err(advise)?;
    let mut collector = Collector::default();
    while let Some(event) = stream.next_event().await {
        let event = event?;
        if let (
            false,
            ChatEvent::BlockDelta {
                delta: Delta::Text(text),
                ..
            },
        ) = (args.json, &event)
        {
            print(text)?;
        }
        collector.push(event)?;
    }
    let response = collector.finish()?;
    if args.json {
        let calls: Vec<_> = response
            .tool_calls()
            .map(|call| json!({"id": call.id, "name": call.name, "arguments": call.arguments}))
            .collect();
        let answer = json!({
            "text": response.text(), "tool_calls": calls, "finish_reason": response.finish.kind,
            "model": response.meta.model, "usage": response.usage, "request_id": response.meta.request_id,
        });
        say(&answer.to_string());
    } else {
        print("\n")?;
    }
    Ok(())
}

fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::new(ErrorKind::Cancelled, "standard output is closed").with_source(error))
}

fn read_message() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| {
        Error::new(
            ErrorKind::InvalidRequest,
            "the message cannot be read from standard input",
        )
        .with_source(error)
    })?;
    if text.trim().is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidRequest,
            "there is no message; give one, or pipe it in",
        ));
    }
    Ok(text)
}

/// The token, and where it came from: the first place that has one.
fn find_token(args: &CallArgs) -> Result<(Secret<String>, String)> {
    if let Some(token) = args.token.as_ref().filter(|token| !token.trim().is_empty()) {
        return Ok((Secret::new(token.clone()), "--token".to_owned()));
    }
    if let Some(path) = &args.token_file {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::new(
                ErrorKind::Config,
                format!("the token file {} cannot be read: {error}", path.display()),
            )
        })?;
        if !text.trim().is_empty() {
            return Ok((Secret::new(text.trim().to_owned()), path.display().to_string()));
        }
    }
    for name in ["LLM_ROUTERD_TOKEN", "LLM_ROUTERD_ADMIN_TOKEN"] {
        if let Some(token) = environment::variable(name) {
            return Ok((Secret::new(token), name.to_owned()));
        }
    }
    match auth::kept_token() {
        Some(token) => Ok((token, "the token made on the first run".to_owned())),
        None => Ok((Secret::new("none".to_owned()), "nowhere".to_owned())),
    }
}

/// Says what to do about the two mistakes everybody makes.
fn advised(error: Error, server: &str, source: &str) -> Error {
    let message = match error.kind() {
        ErrorKind::Auth if source == "nowhere" => {
            let places = "--token, --token-file, LLM_ROUTERD_TOKEN, LLM_ROUTERD_ADMIN_TOKEN, the token made on the first run";
            format!("the router wants a token and none was found; looked at: {places}")
        }
        ErrorKind::Auth => format!("the router does not accept the token from {source}"),
        ErrorKind::Connection => {
            format!(
                "no router answers at {server}; start one with llm-routerd serve, or name it with --server"
            )
        }
        _ => return error,
    };
    error.with_message(message)
}
