//! A format of these tests' own: one text a frame.

use llm_core::{
    AnswerDecoder, BlockKind, ChatCodec, ChatEvent, ChatResponse, Collector, Delta, Error, ErrorKind,
    FinishKind, FinishReason, Framing, Phase, ResponseMeta, Result, Usage,
};
use serde_json::Value;

/// Frames are `{"text": "…"}`, the last `{"end": "stop"}`.
#[derive(Debug)]
pub(super) struct Texts(pub(super) &'static [Framing]);

impl ChatCodec for Texts {
    fn framings(&self) -> &'static [Framing] {
        self.0
    }

    fn decoder(&self, framing: Framing, meta: ResponseMeta, _: usize) -> Box<dyn AnswerDecoder> {
        Box::new(TextDecoder {
            framing,
            meta: Some(meta),
            ..TextDecoder::default()
        })
    }

    fn decode_response(&self, meta: ResponseMeta, body: &[u8]) -> Result<ChatResponse> {
        let mut decoder = TextDecoder {
            meta: Some(meta),
            ..TextDecoder::default()
        };
        let mut events = Vec::new();
        decoder.frame(&String::from_utf8_lossy(body), &mut events)?;
        decoder.ended = true;
        decoder.finish(&mut events)?;
        let mut collector = Collector::default();
        for event in events {
            collector.push(event)?;
        }
        collector.finish()
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        Error::new(ErrorKind::of_status(status), String::from_utf8_lossy(body))
    }
}

#[derive(Debug)]
struct TextDecoder {
    framing: Framing,
    meta: Option<ResponseMeta>,
    buffer: String,
    open: bool,
    ended: bool,
}

impl Default for TextDecoder {
    fn default() -> Self {
        TextDecoder {
            framing: Framing::Lines,
            meta: None,
            buffer: String::new(),
            open: false,
            ended: false,
        }
    }
}

impl TextDecoder {
    fn frame(&mut self, frame: &str, out: &mut Vec<ChatEvent>) -> Result<()> {
        let frame = frame.trim().trim_matches(['[', ']', ',']);
        if frame.is_empty() {
            return Ok(());
        }
        let Ok(value) = serde_json::from_str::<Value>(frame) else {
            return Err(Error::new(ErrorKind::Protocol, format!("cannot parse '{frame}'")));
        };
        if let Some(meta) = self.meta.take() {
            out.push(ChatEvent::Start(Box::new(meta)));
        }
        if let Some(text) = value["text"].as_str() {
            if !std::mem::replace(&mut self.open, true) {
                let kind = BlockKind::Text;
                out.push(ChatEvent::BlockStart { index: 0, kind });
            }
            let delta = Delta::Text(text.to_owned());
            out.push(ChatEvent::BlockDelta { index: 0, delta });
        }
        self.ended |= value["end"].is_string();
        Ok(())
    }

    fn close(&mut self, complete: bool, out: &mut Vec<ChatEvent>) {
        if std::mem::take(&mut self.open) {
            out.push(ChatEvent::BlockEnd { index: 0, complete });
        }
    }
}

impl AnswerDecoder for TextDecoder {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        self.buffer.push_str(&String::from_utf8_lossy(piece));
        while let Some((frame, rest)) = self.buffer.split_once('\n') {
            let (frame, rest) = (frame.to_owned(), rest.to_owned());
            self.buffer = rest;
            self.frame(&frame, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let last = std::mem::take(&mut self.buffer);
        self.frame(&last, out)
    }

    fn is_done(&self) -> bool {
        // An array is over at its bracket, which these tests leave to the body's end.
        self.ended && self.framing == Framing::Lines
    }

    fn is_complete(&self) -> bool {
        self.ended
    }

    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        if !self.ended {
            return Err(Error::new(ErrorKind::Interrupted, "cut off").with_phase(self.phase()));
        }
        self.close(true, out);
        out.push(ChatEvent::Finish {
            reason: FinishReason::new(FinishKind::Stop, None),
            usage: Usage::new(1_000, 100),
        });
        Ok(())
    }

    fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
        self.close(false, out);
    }

    fn phase(&self) -> Phase {
        if self.open { Phase::Streaming } else { Phase::Sent }
    }
}
