//! What must be known of a call while its answer is read, and reading an answer that is there as a whole.

use super::answer::Answer;
use super::cost::CostRule;
use super::form;
use crate::exchange::CallFacts;
use crate::limits::Limits;
use crate::redact::sent_texts;
use bytes::Bytes;
use llm_core::{
    AnswerDecoder, ChatCodec, ChatResponse, Collector, Error, Framing, ResponseMeta, Result, Usage, Warning,
};

/// A call that was sent. Has no `Debug`: it holds what the caller wrote.
pub(super) struct Reading {
    codec: Box<dyn ChatCodec>,
    limits: Limits,
    /// The body that was sent: an answer outlives the request it belongs to.
    sent: Bytes,
    warnings: Vec<Warning>,
    cost: CostRule,
}

/// The same once the head of the answer is there.
pub(super) struct Answered {
    reading: Reading,
    facts: CallFacts,
}

impl Reading {
    pub(super) fn new(
        codec: Box<dyn ChatCodec>,
        limits: Limits,
        sent: Bytes,
        warnings: Vec<Warning>,
        cost: CostRule,
    ) -> Self {
        Reading {
            codec,
            limits,
            sent,
            warnings,
            cost,
        }
    }

    pub(super) fn framings(&self) -> &'static [Framing] {
        self.codec.framings()
    }

    pub(super) fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        self.codec.decode_error(status, body)
    }

    pub(super) fn with_facts(self, facts: CallFacts) -> Answered {
        Answered { reading: self, facts }
    }
}

impl Answered {
    /// What is known of the answer already.
    pub(super) fn meta(&self) -> ResponseMeta {
        let mut meta = ResponseMeta::default();
        self.facts.fill(&mut meta);
        meta
    }

    pub(super) fn decoder(&self, framing: Framing) -> Box<dyn AnswerDecoder> {
        let cap = self.reading.limits.max_event_bytes;
        self.reading.codec.decoder(framing, self.meta(), cap)
    }

    /// What goes into the response beside the vendor's words: once.
    pub(super) fn take_warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.reading.warnings)
    }

    pub(super) fn add_cost(&self, usage: &mut Usage, served_tier: Option<&str>) {
        self.reading.cost.apply(usage, served_tier);
    }

    /// Puts the facts of the call on an error, and keeps what the caller wrote out of it.
    pub(super) fn annotate(&self, error: Error, body: &[u8]) -> Error {
        let texts = sent_texts(&self.reading.sent);
        self.facts.annotate(error, body, texts.iter().map(String::as_str))
    }

    /// Reads a whole answer, also one that is a stream without saying so.
    pub(super) fn decode(mut self, body: &Bytes) -> Result<ChatResponse> {
        if let Some(framing) = form::of_whole(body, self.reading.framings()) {
            return self.decode_frames(framing, body);
        }
        match self.reading.codec.decode_response(self.meta(), body) {
            Ok(mut response) => {
                let tier = response.meta.service_tier.clone();
                self.add_cost(&mut response.usage, tier.as_deref());
                let mut warnings = self.take_warnings();
                warnings.append(&mut response.warnings);
                response.warnings = warnings;
                Ok(response)
            }
            Err(error) => Err(self.annotate(error, body)),
        }
    }

    fn decode_frames(self, framing: Framing, body: &[u8]) -> Result<ChatResponse> {
        let mut answer = Answer::new(self, framing);
        answer.push(body);
        answer.end();
        let mut collector = Collector::default();
        while let Some(event) = answer.next() {
            collector.push(event?)?;
        }
        collector.finish()
    }
}
