//! Anthropic Messages as [`ChatCall`](llm_http::ChatCall) reads it: the pairing of the format's decoder with its
//! framing.

use llm_core::{
    AnswerDecoder, ChatCodec, ChatEvent, ChatRequest, ChatResponse, Error, ErrorKind, Framing, Phase,
    ResponseMeta, Result,
};
use llm_wire::ToolNames;
use llm_wire::frame::{SseDecoder, SseItem};
use llm_wire::messages::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The answers to one request in one dialect.
#[derive(Debug)]
pub(crate) struct MessagesCodec {
    dialect: Dialect,
    /// What the decoder must know of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl MessagesCodec {
    pub(crate) fn new(dialect: &Dialect, request: &ChatRequest, tool_names: ToolNames) -> Self {
        MessagesCodec {
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

impl ChatCodec for MessagesCodec {
    fn decoder(&self, _: Framing, meta: ResponseMeta, max_frame_bytes: usize) -> Box<dyn AnswerDecoder> {
        Box::new(MessageStream {
            frames: SseDecoder::new(max_frame_bytes),
            decoder: StreamDecoder::new(&self.dialect, self.options(meta)),
        })
    }

    fn decode_response(&self, meta: ResponseMeta, body: &[u8]) -> Result<ChatResponse> {
        decode_response(&self.dialect, self.options(meta), body)
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        decode_error(&self.dialect, Some(status), body)
    }
}

#[derive(Debug)]
struct MessageStream {
    frames: SseDecoder,
    decoder: StreamDecoder,
}

impl AnswerDecoder for MessageStream {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.feed(piece, |item| {
            match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, out)?,
                _ => decoder.keep_alive(out),
            }
            Ok(())
        })
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.finish(|item| match item {
            SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, out),
            _ => Ok(()),
        })
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

/// Fields of a request that no token of its input depends on. Counting takes the rest (wire notes, `anthropic.md`,
/// "Counting and models").
const NOT_COUNTED: [&str; 8] = [
    "max_tokens",
    "stream",
    "stop_sequences",
    "temperature",
    "top_p",
    "top_k",
    "metadata",
    "service_tier",
];

/// The body of a count: that of the call, its texts byte for byte, without what is not counted.
pub(crate) fn counted_body(body: &[u8]) -> Result<Vec<u8>> {
    let counted = serde_json::from_slice::<BTreeMap<&str, &RawValue>>(body).and_then(|mut fields| {
        fields.retain(|name, _| !NOT_COUNTED.contains(name));
        serde_json::to_vec(&fields)
    });
    counted.map_err(|error| {
        Error::new(ErrorKind::Internal, "the request to be counted cannot be written").with_source(error)
    })
}

/// Reads the answer to a count.
pub(crate) fn read_count(body: &[u8]) -> Result<u64> {
    #[derive(Deserialize)]
    struct Count {
        input_tokens: u64,
    }
    let count = serde_json::from_slice::<Count>(body).map(|count| count.input_tokens);
    count.map_err(|_| {
        Error::new(ErrorKind::Protocol, "the answer holds no count of tokens").with_phase(Phase::Sent)
    })
}

/// After which model the next page of a list begins; `None`: this page is the last.
pub(crate) fn next_page(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Page {
        has_more: Option<bool>,
        last_id: Option<String>,
    }
    let page = serde_json::from_slice::<Page>(body).ok()?;
    page.last_id
        .filter(|id| page.has_more == Some(true) && !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_goes_as_it_was_written() {
        let body = br#"{"model":"m","max_tokens":5,"messages":[{"b":1,"a":1.50}],"stream":true,"top_k":3,"system":"s"}"#;
        let counted = counted_body(body).unwrap();
        let expected = r#"{"messages":[{"b":1,"a":1.50}],"model":"m","system":"s"}"#;
        assert_eq!(String::from_utf8(counted).unwrap(), expected);
    }

    #[test]
    fn a_count_is_a_number_or_no_answer() {
        assert_eq!(read_count(br#"{"input_tokens":14,"more":1}"#).unwrap(), 14);
        for broken in ["", "{}", r#"{"input_tokens":"many"}"#] {
            assert_eq!(
                read_count(broken.as_bytes()).unwrap_err().kind(),
                ErrorKind::Protocol
            );
        }
    }

    #[test]
    fn a_page_says_where_the_next_begins() {
        let next = |body: &str| next_page(body.as_bytes());
        assert_eq!(
            next(r#"{"data":[],"has_more":true,"last_id":"b"}"#).as_deref(),
            Some("b")
        );
        for last in [
            r#"{"has_more":false,"last_id":"b"}"#,
            r#"{"has_more":true,"last_id":null}"#,
            r#"{"has_more":true,"last_id":""}"#,
            "{}",
            "[]",
            "",
        ] {
            assert_eq!(next(last), None, "{last}");
        }
    }
}
