//! Ollama chat as [`ChatCall`](llm_http::ChatCall) reads it: the pairing of the format's decoder with its framing.

use llm_core::{
    AnswerDecoder, ChatCodec, ChatEvent, ChatRequest, ChatResponse, Error, Framing, Phase, ResponseMeta,
    Result,
};
use llm_wire::frame::NdjsonDecoder;
use llm_wire::ollama::{DecodeOptions, Dialect, StreamDecoder, decode_error, decode_response};

/// The answers to one request.
#[derive(Debug)]
pub(crate) struct OllamaCodec {
    dialect: Dialect,
    /// What the decoder must know of the request; the facts of the call come later.
    options: DecodeOptions,
}

impl OllamaCodec {
    pub(crate) fn new(dialect: &Dialect, request: &ChatRequest) -> Self {
        OllamaCodec {
            dialect: dialect.clone(),
            options: DecodeOptions::new(request, ResponseMeta::default()),
        }
    }

    fn options(&self, meta: ResponseMeta) -> DecodeOptions {
        let mut options = self.options.clone();
        options.meta = meta;
        options
    }
}

impl ChatCodec for OllamaCodec {
    fn framings(&self) -> &'static [Framing] {
        &[Framing::Lines]
    }

    fn decoder(&self, _: Framing, meta: ResponseMeta, max_frame_bytes: usize) -> Box<dyn AnswerDecoder> {
        Box::new(LineStream {
            body: NdjsonDecoder::new(max_frame_bytes),
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
struct LineStream {
    body: NdjsonDecoder,
    decoder: StreamDecoder,
}

impl AnswerDecoder for LineStream {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.body.feed(piece, |line| decoder.feed(line, out))
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.body.finish(|line| decoder.feed_unterminated(line, out))
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
