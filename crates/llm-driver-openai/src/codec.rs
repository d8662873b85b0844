//! Chat Completions as [`ChatCall`](llm_http::ChatCall) reads it: the pairing of the format's decoder with its
//! framing.

use llm_core::Result;
use llm_core::{
    AnswerDecoder, ChatCodec, ChatEvent, ChatRequest, ChatResponse, Error, Framing, Phase, ResponseMeta,
};
use llm_wire::chat_completions::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};
use llm_wire::frame::{SseDecoder, SseItem};

/// The answers to one request in one dialect.
#[derive(Debug)]
pub(crate) struct ChatCompletions {
    dialect: Dialect,
    include_reasoning: bool,
}

impl ChatCompletions {
    pub(crate) fn new(dialect: &Dialect, request: &ChatRequest) -> Self {
        ChatCompletions {
            dialect: dialect.clone(),
            include_reasoning: request.includes_reasoning(),
        }
    }

    fn options(&self, meta: ResponseMeta) -> DecodeOptions {
        let mut options = DecodeOptions::default();
        options.include_reasoning = self.include_reasoning;
        options.meta = meta;
        options
    }
}

impl ChatCodec for ChatCompletions {
    fn decoder(&self, _: Framing, meta: ResponseMeta, max_frame_bytes: usize) -> Box<dyn AnswerDecoder> {
        Box::new(EventStream {
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
struct EventStream {
    frames: SseDecoder,
    decoder: StreamDecoder,
}

impl AnswerDecoder for EventStream {
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
