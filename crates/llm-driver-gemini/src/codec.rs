//! generateContent as [`ChatCall`](llm_http::ChatCall) reads it: the pairing of the format's decoder with its framings,
//! and what is no chat.

use llm_core::driver::CatalogModel;
use llm_core::{
    AnswerDecoder, ChatCodec, ChatEvent, ChatRequest, ChatResponse, Error, Framing, ModelId, Phase,
    ResponseMeta, Result,
};
use llm_http::{parse_model_list, path_segment};
use llm_wire::ToolNames;
use llm_wire::frame::SseItem;
use llm_wire::generate_content::{
    BodyDecoder, DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response,
};
use serde::Deserialize;
use std::collections::HashSet;

/// The answers to one request.
#[derive(Debug)]
pub(crate) struct GenerateContentCodec {
    dialect: Dialect,
    /// What the decoder must know of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl GenerateContentCodec {
    pub(crate) fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        GenerateContentCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()).with_tool_names(tool_names),
        }
    }

    fn options(&self, meta: ResponseMeta) -> DecodeOptions {
        let mut options = self.options.clone();
        options.meta = meta;
        options
    }
}

impl ChatCodec for GenerateContentCodec {
    fn framings(&self) -> &'static [Framing] {
        &[Framing::Events, Framing::Array]
    }

    /// Which framing it is, its first byte says.
    fn decoder(&self, _: Framing, meta: ResponseMeta, max_frame_bytes: usize) -> Box<dyn AnswerDecoder> {
        Box::new(ContentStream {
            body: BodyDecoder::new(max_frame_bytes),
            decoder: StreamDecoder::new(&self.dialect, self.options(meta)),
        })
    }

    fn decode_response(&self, meta: ResponseMeta, body: &[u8]) -> Result<ChatResponse> {
        decode_response(&self.dialect, self.options(meta), body).map_err(with_plain_code)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        with_plain_code(decode_error(&self.dialect, Some(status), body))
    }
}

#[derive(Debug)]
struct ContentStream {
    body: BodyDecoder,
    decoder: StreamDecoder,
}

impl AnswerDecoder for ContentStream {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        let fed = self.body.feed(piece, |item| {
            match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, out)?,
                _ => decoder.keep_alive(out),
            }
            Ok(())
        });
        fed.map_err(with_plain_code)
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        let ended = self.body.finish(|item| match item {
            SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, out),
            _ => Ok(()),
        });
        ended.map_err(with_plain_code)
    }

    fn is_done(&self) -> bool {
        self.decoder.is_done()
    }

    fn is_complete(&self) -> bool {
        self.decoder.is_complete()
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        self.decoder.finish(out)
    }

    fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        self.decoder.interrupt(out);
    }

    fn phase(&self) -> Phase {
        self.decoder.phase()
    }
}

/// A code is a word. What is more than that may be what the caller wrote, and goes.
fn with_plain_code(mut error: Error) -> Error {
    let is_word = |code: &str| {
        code.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    if error.vendor().code.as_deref().is_some_and(|code| !is_word(code)) {
        error.vendor_mut().code = None;
    }
    error
}

/// The path of a method of a model. An id that names its collection stays in it; whatever else stands in an id is one
/// segment (wire notes, `gemini.md`, "Endpoint and auth").
pub(crate) fn method_path(model: &ModelId, method: &str) -> String {
    let id = model.as_str();
    let (collection, name) = match id.split_once('/') {
        Some((collection @ ("models" | "tunedModels"), name)) if !name.is_empty() => (collection, name),
        _ => ("models", id),
    };
    format!("/{collection}/{}:{method}", path_segment(name))
}

/// One page of the list of models, and the mark of the next one. Models that cannot chat are left out.
pub(crate) fn read_page(body: &[u8]) -> Result<(Vec<CatalogModel>, Option<String>)> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Page {
        models: Vec<Entry>,
        next_page_token: Option<String>,
    }
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Entry {
        name: String,
        supported_generation_methods: Option<Vec<String>>,
    }
    let mut listed = parse_model_list(body, "models", "name")?;
    let page = serde_json::from_slice::<Page>(body).unwrap_or_default();
    let silent: HashSet<_> = page
        .models
        .iter()
        .filter(|entry| {
            let methods = entry.supported_generation_methods.as_ref();
            methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent"))
        })
        .map(|entry| entry.name.as_str())
        .collect();
    listed.retain(|model| !silent.contains(model.id.as_str()));
    for model in &mut listed {
        if let Some(Ok(id)) = model.id.as_str().strip_prefix("models/").map(ModelId::new) {
            model.id = id;
        }
    }
    Ok((listed, page.next_page_token.filter(|token| !token.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_below_its_collection() {
        for (id, path) in [
            ("gemini-3.8-flash", "/models/gemini-3.8-flash:generateContent"),
            (
                "models/gemini-3.8-flash",
                "/models/gemini-3.8-flash:generateContent",
            ),
            ("tunedModels/mine", "/tunedModels/mine:generateContent"),
            ("files/mine", "/models/files%2Fmine:generateContent"),
            ("models/a/b?c", "/models/a%2Fb%3Fc:generateContent"),
            ("models/", "/models/models%2F:generateContent"),
        ] {
            assert_eq!(method_path(&ModelId::new(id).unwrap(), "generateContent"), path);
        }
    }

    #[test]
    fn what_cannot_chat_is_not_listed() {
        let body = br#"{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]},
            {"name":"models/b","supportedGenerationMethods":["embedContent"]},{"name":"tunedModels/c"}],
            "nextPageToken":"t"}"#;
        let (listed, next) = read_page(body).unwrap();
        let names: Vec<_> = listed.iter().map(|model| model.id.as_str()).collect();
        assert_eq!((names, next.as_deref()), (vec!["a", "tunedModels/c"], Some("t")));
        assert!(read_page(b"{}").is_err());
        assert_eq!(read_page(br#"{"models":[],"nextPageToken":""}"#).unwrap().1, None);
    }
}
