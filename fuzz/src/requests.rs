//! Reading requests at a server's face, and writing them for vendors.

use llm_core::{ChatRequest, Error, ResolvedModel};
use llm_wire::{chat_completions, generate_content, messages, ollama, responses};
use serde_json::{Value, json};

pub(crate) fn chat_completions(data: &[u8]) {
    completions_body(data);
    // The same bytes as an address of a picture and of a document: data URLs are read closely.
    if let Ok(text) = std::str::from_utf8(data) {
        for url in [
            text.to_owned(),
            format!("data:{text}"),
            format!("data:image/png;base64,{text}"),
        ] {
            let parts = json!([{"type": "image_url", "image_url": {"url": url}},
                {"type": "file", "file": {"file_data": url, "filename": "f"}}]);
            let body = json!({"model": "m", "messages": [{"role": "user", "content": parts}]});
            completions_body(body.to_string().as_bytes());
        }
    }
}

fn completions_body(body: &[u8]) {
    let Some(request) = checked(chat_completions::decode_request(body)).map(|decoded| decoded.request) else {
        return;
    };
    everywhere(&request);
    let Some(model) = model_of(&request) else { return };
    let dialect = chat_completions::Dialect::openai();
    let Ok(first) = chat_completions::encode_request(&dialect, &model, &request, false) else {
        return;
    };
    let again = chat_completions::decode_request(&first.body)
        .unwrap_or_else(|error| panic!("what was written cannot be read: {error}: {}", shown(&first.body)));
    let second = chat_completions::encode_request(&dialect, &model, &again.request, false)
        .unwrap_or_else(|error| panic!("what was read cannot be written: {error}: {}", shown(&first.body)));
    assert_eq!(
        shown(&first.body),
        shown(&second.body),
        "the way there and back changes it"
    );
}

pub(crate) fn messages(data: &[u8]) {
    let _ = checked(messages::decode_count_request(data));
    if let Some(request) = checked(messages::decode_request(data)).map(|decoded| decoded.request) {
        everywhere(&request);
        let Some(model) = model_of(&request) else { return };
        let _ = checked(messages::decode_invoke_request(model.id.clone(), data));
        let dialect = messages::Dialect::anthropic();
        let Ok(first) = messages::encode_request(&dialect, &model, &request, false) else {
            return;
        };
        let again = messages::decode_request(&first.body).unwrap_or_else(|error| {
            panic!("what was written cannot be read: {error}: {}", shown(&first.body))
        });
        let second =
            messages::encode_request(&dialect, &model, &again.request, false).unwrap_or_else(|error| {
                panic!("what was read cannot be written: {error}: {}", shown(&first.body))
            });
        assert_eq!(
            shown(&first.body),
            shown(&second.body),
            "the way there and back changes it"
        );
    }
}

/// Each format takes it or refuses it, and what it writes is JSON.
fn everywhere(request: &ChatRequest) {
    let Some(model) = model_of(request) else { return };
    let dialects = [
        chat_completions::Dialect::openai(),
        chat_completions::Dialect::compatible(),
        chat_completions::Dialect::mistral(),
        chat_completions::Dialect::groq(),
        chat_completions::Dialect::deepseek(),
        chat_completions::Dialect::kimi(),
    ];
    for dialect in &dialects {
        written(chat_completions::encode_request(dialect, &model, request, true).map(|encoded| encoded.body));
    }
    let claude = messages::Dialect::anthropic();
    written(messages::encode_request(&claude, &model, request, true).map(|encoded| encoded.body));
    let gemini = generate_content::Dialect::gemini();
    written(generate_content::encode_request(&gemini, &model, request).map(|encoded| encoded.body));
    let local = ollama::Dialect::ollama();
    written(ollama::encode_request(&local, &model, request, true).map(|encoded| encoded.body));
    for dialect in [responses::Dialect::openai(), responses::Dialect::compatible()] {
        written(responses::encode_request(&dialect, &model, request, true).map(|encoded| encoded.body));
    }
}

fn written(body: Result<Vec<u8>, Error>) {
    if let Some(body) = checked(body) {
        let tree: Value = serde_json::from_slice(&body)
            .unwrap_or_else(|error| panic!("no JSON was written: {error}: {}", shown(&body)));
        assert!(tree.is_object());
    }
}

fn model_of(request: &ChatRequest) -> Option<ResolvedModel> {
    request.model.clone().map(ResolvedModel::unknown)
}

fn checked<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(
                !error.message().is_empty() && !error.message().contains('\n'),
                "{:?}",
                error.message()
            );
            None
        }
    }
}

fn shown(body: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(body)
}
