//! A small driver over HTTP with a wire format of its own, and the ways in which it may break its promises.

mod codec;

use bytes::Bytes;
use codec::Decoder;
use futures_util::stream::unfold;
use llm_core::chat::RequestOption;
use llm_core::stream::ChatEvent;
use llm_core::{
    Availability, CallContext, Capabilities, Capability, ChatDriver, ChatRequest, ChatResponse, ChatStream,
    DriverId, DriverInfo, Error, ErrorKind, HealthStatus, ModelId, Phase, ResolvedModel, ResponseMeta,
    Result, VendorId, async_trait, capability,
};
use llm_driver_testkit::{Endpoint, Harness};
use llm_http::redact::{request_texts, without_user_info};
use llm_http::{
    Body, CallFacts, Credential, Exchange, HttpRequest, Limits, ReqwestTransport, Transport, VendorApi,
    path_segment, status_error,
};
use llm_wire::frame::{SseDecoder, SseItem};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Which promise this copy breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    /// A stream that just stops is finished.
    InventsFinish,
    /// A call that was cut off counts as complete.
    CompletesCutCalls,
    /// A failed call is tried again.
    Retries,
    /// The vendor's words become the message as they are.
    RepeatsTheVendor,
    /// The credential stands in the driver's `Debug`.
    ShowsTheKey,
    /// Work goes on in a task of its own when the caller is gone.
    IgnoresCancellation,
    /// What a model cannot do is sent all the same.
    SendsWhatItCannot,
    /// A model id goes into the path as it is.
    PutsModelsIntoPathsAsTheyAre,
    /// A probe asks the model.
    ProbesWithTokens,
    /// The deadline is taken out of the context.
    ForgetsTheDeadline,
    /// Bodies are read whole, however long.
    ReadsWithoutCap,
    /// Pieces of the body are taken for whole lines.
    DependsOnPieces,
    /// `max_output_tokens` is not sent.
    DropsAnOption,
    /// The hint of a 429 is not read.
    LosesTheHint,
    /// Another model is served than the one that was asked for.
    SubstitutesModels,
    /// A body that is no answer is an empty answer.
    AcceptsGarbage,
    /// A field of another type than expected makes the whole answer unreadable.
    IsStrict,
    /// A picture is fetched from its URL.
    FetchesUrls,
}

/// The toy, before the kit.
pub(crate) fn harness(flaw: Flaw) -> Harness {
    Harness::new("toy", "toy-large", move |endpoint| {
        Toy::new(endpoint, flaw).map(|toy| Arc::new(toy) as Arc<dyn ChatDriver>)
    })
    .with_models(["toy-small"])
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/toy/{model}/chat")
    .with_stream_body(serde_json::json!({"stream": true}))
}

struct Toy {
    info: DriverInfo,
    api: VendorApi,
    transport: Arc<dyn Transport>,
    flaw: Flaw,
    key: String,
    /// The vendor's last error, as it came: llm-http scrubs what it hands back.
    heard: Mutex<String>,
}

impl std::fmt::Debug for Toy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Toy");
        if self.flaw == Flaw::ShowsTheKey {
            out.field("key", &self.key);
        }
        out.field("api", &self.api).finish()
    }
}

impl Toy {
    fn new(endpoint: &Endpoint, flaw: Flaw) -> Result<Toy> {
        let id = DriverId::from_static("toy");
        let transport = match &endpoint.transport {
            Some(transport) => transport.clone(),
            None => ReqwestTransport::shared()?,
        };
        let limits = if flaw == Flaw::ReadsWithoutCap {
            let most = usize::MAX / 4;
            Limits::default()
                .with_max_body_bytes(most)
                .with_max_error_body_bytes(most)
                .with_max_event_bytes(most)
        } else {
            Limits::default()
        };
        let address = without_user_info(&endpoint.base_url);
        let shown = address.split(['?', '#']).next().unwrap_or_default().to_owned();
        let api = VendorApi::new(id.clone(), &endpoint.base_url, transport.clone())?
            .with_credential(Credential::bearer(endpoint.api_key.clone()))?
            .with_limits(limits);
        Ok(Toy {
            info: DriverInfo::new(id, VendorId::from_static("toy"), "Toy").with_base_url(shown),
            api,
            transport,
            flaw,
            key: endpoint.api_key.expose().clone(),
            heard: Mutex::default(),
        })
    }

    /// What stands in a request that has no place in the toy's format.
    fn refused(&self, request: &ChatRequest) -> Option<RequestOption> {
        let mut asked = RequestOption::of(request).into_iter();
        asked.find(|option| match option {
            RequestOption::Model
            | RequestOption::UserMessage
            | RequestOption::AssistantMessage
            | RequestOption::ToolMessage
            | RequestOption::Text
            | RequestOption::ImageUrl
            | RequestOption::ToolCall
            | RequestOption::ToolResult
            | RequestOption::ToolResultName
            | RequestOption::Tools
            | RequestOption::ToolParameters
            | RequestOption::ParallelToolCalls
            | RequestOption::ToolChoiceAuto
            | RequestOption::MaxOutputTokens => false,
            _ => self.flaw != Flaw::SendsWhatItCannot,
        })
    }

    /// Sends a call and waits for the head of its answer.
    async fn ask(
        &self,
        cx: &CallContext,
        request: &ChatRequest,
        stream: bool,
    ) -> Result<(Exchange, ModelId)> {
        let model = self.resolve(request.model.as_ref())?;
        let missing = capability::check(request, &model.capabilities);
        if !missing.is_empty() && self.flaw != Flaw::SendsWhatItCannot {
            let message = format!("{} cannot do {missing:?}", model.id);
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if let Some(option) = self.refused(request) {
            let message = format!("the toy cannot say {option}");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if self.flaw == Flaw::FetchesUrls {
            self.fetch_urls(cx, request).await;
        }
        let cx = if self.flaw == Flaw::ForgetsTheDeadline {
            CallContext::new(cx.clock().clone())
        } else {
            cx.clone()
        };
        let body = codec::encode(&model.id, request, stream, self.flaw);
        let attempts = if self.flaw == Flaw::Retries { 2 } else { 1 };
        let mut outcome = Err(Error::new(ErrorKind::Internal, "never asked"));
        for _ in 0..attempts {
            let step = path_segment(model.id.as_str());
            let mut post = self
                .api
                .post_json(&format!("/toy/{step}/chat"), body.to_string())?;
            if self.flaw == Flaw::PutsModelsIntoPathsAsTheyAre {
                post.url = post.url.replace(&step, model.id.as_str());
            }
            outcome = match self.api.send(&cx, Some(&model.id), post).await {
                Ok(exchange) => {
                    let texts: Vec<_> = request_texts(request).collect();
                    exchange
                        .success(texts, |status, body| self.error(status, body))
                        .await
                }
                Err(error) => Err(error),
            };
            if outcome.is_ok() {
                break;
            }
        }
        let outcome = outcome.map_err(|error| match self.flaw {
            Flaw::LosesTheHint => error.with_retry_after(None),
            Flaw::RepeatsTheVendor => {
                error.with_message(self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone())
            }
            _ => error,
        });
        Ok((outcome?, model.id.clone()))
    }

    fn error(&self, status: u16, body: &[u8]) -> Error {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) =
            String::from_utf8_lossy(body).into_owned();
        codec::decode_error(status, body).with_phase(Phase::Sent)
    }

    async fn fetch_urls(&self, cx: &CallContext, request: &ChatRequest) {
        for url in request_texts(request).filter(|text| text.starts_with("http")) {
            let _ = self.transport.send(cx, HttpRequest::get(url)).await;
        }
    }
}

#[async_trait]
impl ChatDriver for Toy {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let id = match model {
            Some(_) if self.flaw == Flaw::SubstitutesModels => ModelId::new("toy-large")?,
            Some(model) => model.clone(),
            None => ModelId::new("toy-large")?,
        };
        let abilities: &[Capability] = match id.as_str() {
            "toy-large" => &[Capability::Streaming, Capability::Tools, Capability::Vision],
            "toy-small" => &[Capability::Streaming],
            _ => {
                return Ok(Arc::new(
                    ResolvedModel::unknown(id).with_requested(model.cloned()),
                ));
            }
        };
        let capabilities = Capabilities::only(abilities.iter().copied());
        let resolved = ResolvedModel::unknown(id).with_requested(model.cloned());
        Ok(Arc::new(resolved.with_capabilities(capabilities)))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        let began = cx.clock().now();
        let probe = async {
            let request = match self.flaw {
                Flaw::ProbesWithTokens => self.api.post_json("/toy/toy-large/chat", "{\"say\":\"ping\"}")?,
                _ => self.api.get("/toy/models")?,
            };
            let exchange = self.api.send(cx, None, request).await?;
            exchange.success([], status_error).await.map(|_| ())
        };
        let outcome: Result<()> = probe.await;
        match outcome {
            Ok(()) => HealthStatus::healthy(cx.clock().wall(), cx.clock().now() - began),
            Err(error) => HealthStatus::unhealthy(cx.clock().wall(), error.message()),
        }
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let (exchange, model) = self.ask(cx, request, false).await?;
        let requested = request.model.clone().unwrap_or(model);
        if self.flaw == Flaw::IgnoresCancellation {
            let read = detached(async move { exchange.read().await }).await?;
            return whole(&read.0, &read.1, request, requested, self.flaw);
        }
        let (facts, body) = exchange.read().await?;
        whole(&facts, &body, request, requested, self.flaw)
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let (exchange, model) = self.ask(cx, request, true).await?;
        let requested = request.model.clone().unwrap_or(model);
        let (facts, body) = exchange.stream();
        let mut meta = ResponseMeta::new(self.info.id.clone(), Some(requested));
        facts.fill(&mut meta);
        let max_event = self.api.limits().max_event_bytes;
        let reading = Reading {
            decoder: Decoder::new(meta.clone(), self.flaw),
            frames: SseDecoder::new(max_event),
            body: Some(body),
            facts,
            texts: request_texts(request).map(str::to_owned).collect(),
            waiting: VecDeque::new(),
            failure: None,
        };
        let outer = meta.clone();
        let stream = ChatStream::new(meta, unfold(reading, Reading::step));
        if self.flaw == Flaw::IgnoresCancellation {
            // Read by a task that nobody stops.
            let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
            let _unowned = detached(async move {
                let mut stream = stream;
                while let Some(event) = stream.next_event().await {
                    let _ = sender.send(event);
                }
                Ok(())
            });
            let events = unfold(receiver, |mut receiver| async {
                Some((receiver.recv().await?, receiver))
            });
            return Ok(ChatStream::new(outer, events));
        }
        Ok(stream)
    }
}

fn whole(
    facts: &CallFacts,
    body: &[u8],
    request: &ChatRequest,
    requested: ModelId,
    flaw: Flaw,
) -> Result<ChatResponse> {
    let mut meta = ResponseMeta::new(facts.driver.clone(), Some(requested));
    facts.fill(&mut meta);
    codec::decode(meta, body, flaw).map_err(|error| facts.annotate(error, body, request_texts(request)))
}

/// Runs in a task of its own, whatever becomes of the caller.
#[expect(clippy::disallowed_methods, reason = "the flaw that the suite must find")]
fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> impl Future<Output = Result<T>> {
    let task = tokio::spawn(work);
    async {
        task.await
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "the task is gone")))
    }
}

/// A stream on its way.
struct Reading {
    decoder: Decoder,
    frames: SseDecoder,
    body: Option<Body>,
    facts: CallFacts,
    texts: Vec<String>,
    waiting: VecDeque<ChatEvent>,
    failure: Option<Error>,
}

impl Reading {
    async fn step(mut self) -> Option<(Result<ChatEvent>, Self)> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some((Ok(event), self));
            }
            if let Some(error) = self.failure.take() {
                return Some((Err(error), self));
            }
            let piece = self.body.as_mut()?.next_piece().await;
            let mut events = Vec::new();
            let outcome = self.take(piece, &mut events);
            self.waiting.extend(events);
            if let Err(error) = outcome {
                self.body = None;
                let texts = self.texts.iter().map(String::as_str);
                self.failure = Some(self.facts.annotate(error, &[], texts));
            } else if self.decoder.is_done() {
                self.body = None;
            }
        }
    }

    fn take(&mut self, piece: Result<Option<Bytes>>, events: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        match piece {
            Ok(Some(piece)) if decoder.flaw == Flaw::DependsOnPieces => decoder.lines(&piece, events),
            Ok(Some(piece)) => {
                let fed = self.frames.feed(&piece, |item| match item {
                    SseItem::Event(event) => decoder.event(event.data, true, events),
                    _ => Ok(()),
                });
                fed.map_err(|error| decoder.broken(error, events))
            }
            Ok(None) => {
                self.body = None;
                self.frames.finish(|item| match item {
                    SseItem::Event(event) => decoder.event(event.data, false, events),
                    _ => Ok(()),
                })?;
                decoder.finish(events)
            }
            Err(error) => Err(decoder.broken(error, events)),
        }
    }
}
