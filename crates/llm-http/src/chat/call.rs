//! The call: what is checked before it is sent, sending it, and handing its answer to whoever reads it.

use super::cost::CostRule;
use super::events::Events;
use super::form::{self, Opened};
use super::reading::{Answered, Reading};
use crate::api::VendorApi;
use crate::exchange::Exchange;
use crate::redact::request_texts;
use crate::request::HttpRequest;
use bytes::Bytes;
use http::HeaderValue;
use llm_core::stream::{collect, replay};
use llm_core::{
    CallContext, Capability, ChatCodec, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, Price,
    ResolvedModel, Result, Support, Warning, capability,
};
use std::sync::Arc;

/// A request as one vendor wants it, and what reads the answer.
#[derive(Debug)]
#[non_exhaustive]
#[must_use]
pub struct EncodedChat {
    /// What is sent. `accept` and the idempotency key are added.
    pub http: HttpRequest,
    /// What reads the answer.
    pub codec: Box<dyn ChatCodec>,
    /// What was not sent, or was sent otherwise than asked. They go into the response.
    pub warnings: Vec<Warning>,
    /// What the call costs, where it is not the model's usual price. `Some(None)`: nobody knows.
    pub price: Option<Option<Box<Price>>>,
}

impl EncodedChat {
    /// A request and what reads its answer.
    pub fn new(http: HttpRequest, codec: impl ChatCodec) -> Self {
        EncodedChat::of(http, Box::new(codec))
    }

    pub(crate) fn of(http: HttpRequest, codec: Box<dyn ChatCodec>) -> Self {
        EncodedChat {
            http,
            codec,
            warnings: Vec::new(),
            price: None,
        }
    }

    /// What was not sent, or was sent otherwise than asked.
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// Another price than the model's usual one, for this call: that of another class of service for example. `None`:
    /// nobody knows what it costs. (Off-peak hours and announced prices are part of a price.)
    pub fn with_price(mut self, price: Option<Price>) -> Self {
        self.price = Some(price.map(Box::new));
        self
    }
}

/// One chat call of a driver. [`plain`](ChatCall::plain) is `ChatDriver::chat`, [`stream`](ChatCall::stream) is
/// `ChatDriver::chat_stream`.
///
/// Before anything is sent: what the model cannot do is refused. Around the answer: warnings come right after the
/// start, the cost is added where the vendor does not state it and the price is known, a plain answer to a stream
/// call and an event stream to a plain one are read all the same, a connection that breaks after the finish reason
/// costs a warning and not the answer, and a complete answer's connection is read to its end so that it can be
/// used again. Every error says who was asked and what the headers said, and shows nothing that the caller wrote.
#[derive(Debug)]
#[must_use = "nothing is sent yet"]
pub struct ChatCall<'c> {
    api: &'c VendorApi,
    cx: &'c CallContext,
    request: &'c ChatRequest,
    model: Arc<ResolvedModel>,
}

impl<'c> ChatCall<'c> {
    /// A call of this model, which [`ChatDriver::resolve`](llm_core::ChatDriver::resolve) found.
    pub fn new(
        api: &'c VendorApi,
        cx: &'c CallContext,
        request: &'c ChatRequest,
        model: Arc<ResolvedModel>,
    ) -> Self {
        ChatCall {
            api,
            cx,
            request,
            model,
        }
    }

    /// Sends it and waits for the whole answer. `encode` writes the request for this model; its last argument says
    /// whether a stream is wanted: here it is not.
    ///
    /// # Errors
    /// `Unsupported`, when the model cannot do what the request needs; what `encode`, the transport and the vendor
    /// fail with.
    ///
    /// # Cancellation
    /// Dropping the future closes the exchange.
    pub async fn plain(
        self,
        encode: impl FnOnce(&ResolvedModel, bool) -> Result<EncodedChat>,
    ) -> Result<ChatResponse> {
        let (exchange, reading) = self.send(encode, false).await?;
        let framing = form::labelled(&exchange.media_type(), reading.framings());
        if let Some(framing) = framing {
            let (facts, body) = exchange.stream();
            let events = Events::start(self.cx, reading.with_facts(facts), framing, body);
            return Box::pin(collect(events)).await;
        }
        let (facts, body) = exchange.read().await?;
        self.decode(reading.with_facts(facts), body)
    }

    /// Sends it and waits for the head of the answer. `encode` writes the request for this model; its last
    /// argument says whether a stream is wanted: here it is.
    ///
    /// # Errors
    /// As [`plain`](ChatCall::plain). What goes wrong later is the stream's last item.
    ///
    /// # Cancellation
    /// Dropping the future or the stream closes the exchange.
    pub async fn stream(
        self,
        encode: impl FnOnce(&ResolvedModel, bool) -> Result<EncodedChat>,
    ) -> Result<ChatStream> {
        let (exchange, reading) = self.send(encode, true).await?;
        let limits = self.api.limits();
        match form::open(exchange, reading.framings(), limits.max_body_bytes).await? {
            Opened::Stream(framing, facts, body) => {
                Ok(Events::start(self.cx, reading.with_facts(facts), framing, body))
            }
            Opened::Whole(facts, body) => self.decode(reading.with_facts(facts), body).map(replay),
        }
    }

    /// Reads a whole answer, and keeps it where the call does.
    fn decode(&self, call: Answered, body: Bytes) -> Result<ChatResponse> {
        let mut response = call.decode(&body)?;
        if self.cx.keeps_raw() {
            response.raw = Some(body);
        }
        Ok(response)
    }

    /// Sends the call and waits for the head of its answer; anything but 2xx is an error.
    async fn send(
        &self,
        encode: impl FnOnce(&ResolvedModel, bool) -> Result<EncodedChat>,
        stream: bool,
    ) -> Result<(Exchange, Reading)> {
        let prepared = self.prepare(encode, stream);
        let (http, reading) = prepared.map_err(|error| self.api.identify(error, Some(&self.model.id)))?;
        let exchange = self.api.send(self.cx, Some(&self.model.id), http).await?;
        if !exchange.is_success() {
            let decode_error = |status, body: &[u8]| reading.decode_error(status, body);
            let failure = exchange.failure(request_texts(self.request), decode_error);
            // On the heap: it is rare, and would lie in the future of every call.
            return Err(Box::pin(failure).await);
        }
        Ok((exchange, reading))
    }

    /// Everything that is decided before anything is sent.
    fn prepare(
        &self,
        encode: impl FnOnce(&ResolvedModel, bool) -> Result<EncodedChat>,
        stream: bool,
    ) -> Result<(HttpRequest, Reading)> {
        self.check_capabilities(stream)?;
        let encoded = encode(&self.model, stream)?;
        let mut warnings = encoded.warnings;
        warnings.extend(self.ended());
        let accept = match encoded.codec.framings().first() {
            Some(framing) if stream => form::media_type(*framing),
            _ => "application/json",
        };
        let mut http = encoded.http;
        let preset = http.headers.entry(http::header::ACCEPT);
        preset.or_insert_with(|| HeaderValue::from_static(accept));
        if let (Some(name), Some(key)) = (self.api.idempotency_header(), self.cx.idempotency_key()) {
            http = http.with_header(name, key)?;
        }
        let cost = CostRule::new(self.cx, self.request, &self.model, encoded.price, &warnings);
        let limits = self.api.limits();
        let reading = Reading::new(encoded.codec, limits, http.body.clone(), warnings, cost);
        Ok((http, reading))
    }

    fn check_capabilities(&self, stream: bool) -> Result<()> {
        let mut missing = capability::check(self.request, &self.model.capabilities);
        if stream && self.model.capabilities.support(Capability::Streaming) == Support::No {
            missing.push(Capability::Streaming);
        }
        if missing.is_empty() {
            return Ok(());
        }
        let words: Vec<_> = missing.iter().map(|capability| capability.as_str()).collect();
        let message = format!(
            "the model {} cannot do what the request needs: {}; nothing was sent, name another model",
            self.model.id,
            words.join(", ")
        );
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    fn ended(&self) -> Option<Warning> {
        let day = self.model.deprecated_on.as_deref()?;
        if !self.model.has_ended(self.cx.clock().wall()) {
            return None;
        }
        let message = format!(
            "{} was announced to end on {day}; move to a current model",
            self.model.id
        );
        Some(Warning::option("model", message))
    }
}
