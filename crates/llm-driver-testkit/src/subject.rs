//! The driver under test, built and asked over scripted transports; what all scenarios share.

use crate::answer::Answer;
use crate::clock::TestClock;
use crate::difference::{difference, merge_patch};
use crate::fixture::Fixture;
use crate::harness::{Endpoint, Harness};
use crate::recorded::RecordedRequest;
use crate::scripted::ScriptedTransport;
use crate::server::FakeServer;
use http::Method;
use llm_core::stream::{ChatEvent, Collector, Grammar};
use llm_core::{
    CallContext, Capabilities, ChatDriver, ChatRequest, ChatResponse, ChatStream, Error, ModelId, Secret,
};
use llm_http::Transport;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The credential of every driver under test. It has no vendor's form, so nothing can hide it but knowing it.
pub(crate) const SENTINEL_KEY: &str = "kit-credential-7f3a9c51d20e";

/// Stands in prompts that no error may repeat.
pub(crate) const SENTINEL_PROMPT: &str = "kit-prompt-b81e66f04a7c";

/// The address of scripted vendors. Nobody listens there.
pub(crate) const SCRIPTED_URL: &str = "http://127.0.0.1:9";

/// On paused time this passes at once when nothing else is left to wait for.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// The driver under test.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) harness: Harness,
    notes: Mutex<Notes>,
}

/// What a scenario has to say for the report, beside its outcome.
pub(crate) type Notes = serde_json::Map<String, Value>;

/// The driver under test over a scripted transport.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) driver: Arc<dyn ChatDriver>,
    pub(crate) transport: Arc<ScriptedTransport>,
}

/// What a stream brought.
#[derive(Debug)]
pub(crate) struct Streamed {
    /// What it folds to, or how it failed.
    pub(crate) outcome: Result<ChatResponse, Error>,
    /// What it had brought by its end.
    pub(crate) partial: ChatResponse,
    /// Its events.
    pub(crate) events: Vec<ChatEvent>,
}

impl Subject {
    pub(crate) fn new(harness: Harness) -> Self {
        Subject {
            harness,
            notes: Mutex::default(),
        }
    }

    /// Says something for the report.
    pub(crate) fn note(&self, name: &str, value: Value) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(name.to_owned(), value);
    }

    pub(crate) fn into_notes(self) -> Notes {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bench(&self) -> Result<Bench, String> {
        let transport = Arc::new(ScriptedTransport::new([]));
        let shared: Arc<dyn Transport> = Arc::<ScriptedTransport>::clone(&transport);
        let endpoint =
            Endpoint::new(SCRIPTED_URL, Secret::new(SENTINEL_KEY.to_owned())).with_transport(shared);
        Ok(Bench {
            driver: self.build(&endpoint)?,
            transport,
        })
    }

    /// The driver with the transport it uses by itself, before this server.
    pub(crate) fn on_sockets(&self, server: &FakeServer) -> Result<Arc<dyn ChatDriver>, String> {
        self.build(&Endpoint::new(
            server.base_url(),
            Secret::new(SENTINEL_KEY.to_owned()),
        ))
    }

    fn build(&self, endpoint: &Endpoint) -> Result<Arc<dyn ChatDriver>, String> {
        self.harness
            .build(endpoint)
            .map_err(|error| format!("the harness could not build the driver: {error}"))
    }

    pub(crate) fn models(&self) -> Result<Vec<ModelId>, String> {
        let models = self.harness.models().iter().map(ModelId::new);
        models
            .collect::<Result<_, _>>()
            .map_err(|error| format!("Harness::new: {error}"))
    }

    pub(crate) fn model(&self) -> Result<ModelId, String> {
        let first = self.models()?.into_iter().next();
        first.ok_or_else(|| "the harness names no model".to_owned())
    }

    /// A plain question to the first model.
    pub(crate) fn request(&self) -> Result<ChatRequest, String> {
        Ok(ChatRequest::user("Say hello.").with_model(self.model()?))
    }

    pub(crate) fn capabilities(
        &self,
        driver: &dyn ChatDriver,
        model: &ModelId,
    ) -> Result<Capabilities, String> {
        driver
            .resolve(Some(model))
            .map(|resolved| resolved.capabilities)
            .map_err(|error| {
                format!("resolve({model}) failed: {error}; the harness must name models it knows")
            })
    }

    pub(crate) fn fixtures(&self) -> Result<Vec<Fixture>, String> {
        Fixture::load_all(self.harness.fixtures())
    }

    /// A fixture by its name.
    pub(crate) fn fixture(&self, name: &str) -> Result<Fixture, String> {
        let folder = self.harness.fixtures().join(name);
        if !folder.is_dir() {
            return Err(format!(
                "the fixture {} is missing; write request.json, wire_request.json, the vendor's answer \
                 (wire_response.json, wire_stream.sse), expect.json and meta.toml",
                folder.display()
            ));
        }
        Fixture::load(&folder)
    }

    /// The answer of a fixture as a stream, which must be there.
    pub(crate) fn stream_of(&self, fixture: &Fixture) -> Result<Answer, String> {
        fixture.stream_answer().ok_or_else(|| {
            let folder = self.harness.fixtures().join(&fixture.name);
            format!(
                "{}: add wire_stream.sse (or .ndjson, .json, .bin)",
                folder.display()
            )
        })
    }

    /// The plain answer of a fixture, which must be there.
    pub(crate) fn answer_of(&self, fixture: &Fixture) -> Result<Answer, String> {
        fixture.answer().ok_or_else(|| {
            let folder = self.harness.fixtures().join(&fixture.name);
            format!("{}: add wire_response.json", folder.display())
        })
    }

    /// The request of a fixture, to its model or the first one.
    pub(crate) fn request_of(&self, fixture: &Fixture) -> Result<ChatRequest, String> {
        match &fixture.request.model {
            Some(_) => Ok(fixture.request.clone()),
            None => Ok(fixture.request.clone().with_model(self.model()?)),
        }
    }

    /// Was exactly what the fixture says sent?
    pub(crate) fn check_sent(
        &self,
        fixture: &Fixture,
        stream: bool,
        sent: &[RecordedRequest],
    ) -> Result<(), String> {
        let [sent] = sent else {
            return Err(format!("{} requests were sent; expected one", sent.len()));
        };
        if sent.method != Method::POST {
            return Err(format!("a {} was sent; expected a POST", sent.method));
        }
        let path = self
            .harness
            .path(stream)
            .ok_or("name the path of a chat request with Harness::with_chat_path")?;
        let model = self.request_of(fixture)?.model;
        let expected = path.replace(
            "{model}",
            &percent_encoded(model.as_ref().map_or("", ModelId::as_str)),
        );
        if sent.path() != expected {
            return Err(format!("it was sent to {}; expected {expected}", sent.path()));
        }
        let body = match (stream, &fixture.wire_stream_request, &fixture.wire_request) {
            (true, Some(body), _) => body.clone(),
            (_, _, Some(body)) => {
                let mut body = body.clone();
                if let Some(patch) = self.harness.stream_body().filter(|_| stream) {
                    merge_patch(&mut body, patch);
                }
                body
            }
            (_, _, None) => return Err("the fixture has no wire_request.json; add it".to_owned()),
        };
        let found = sent
            .json()
            .map_err(|error| format!("the body sent is no JSON: {error}"))?;
        match difference(&body, &found) {
            Some(difference) => Err(format!(
                "the body sent differs from the fixture's {}: {difference}",
                if stream {
                    "stream request"
                } else {
                    "wire_request.json"
                }
            )),
            None => Ok(()),
        }
    }
}

impl Bench {
    /// A plain call that gets this answer.
    pub(crate) async fn chat(
        &self,
        request: &ChatRequest,
        answer: Answer,
    ) -> Result<Result<ChatResponse, Error>, String> {
        self.transport.set_answers([answer]);
        in_time(self.driver.chat(&TestClock::context(), request)).await
    }

    /// A stream that gets this answer.
    pub(crate) async fn stream(&self, request: &ChatRequest, answer: Answer) -> Result<Streamed, String> {
        self.transport.set_answers([answer]);
        in_time(read(&*self.driver, &TestClock::context(), request)).await?
    }
}

/// The future's outcome, unless it would wait for ever (on paused time).
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> Result<T, String> {
    tokio::time::timeout(LONG, future)
        .await
        .map_err(|_| "the call would never end".to_owned())
}

/// Reads a stream to its end. Fails when the stream is not legal.
pub(crate) async fn read(
    driver: &dyn ChatDriver,
    cx: &CallContext,
    request: &ChatRequest,
) -> Result<Streamed, String> {
    match driver.chat_stream(cx, request).await {
        Ok(stream) => read_stream(stream).await,
        Err(error) => Ok(Streamed {
            outcome: Err(error),
            partial: ChatResponse::default(),
            events: Vec::new(),
        }),
    }
}

/// Reads a stream that has begun to its end. Fails when it is not legal.
pub(crate) async fn read_stream(mut stream: ChatStream) -> Result<Streamed, String> {
    let mut grammar = Grammar::default();
    let mut collector = Collector::default();
    let mut events = Vec::new();
    let illegal =
        |error: Error, events: &[ChatEvent]| format!("{} (after {} events)", error.message(), events.len());
    while let Some(next) = stream.next_event().await {
        match next {
            Ok(event) => {
                grammar.check(&event).map_err(|error| illegal(error, &events))?;
                events.push(event.clone());
                collector.push(event).map_err(|error| illegal(error, &events))?;
            }
            Err(error) => {
                grammar.fail().map_err(|error| illegal(error, &events))?;
                if stream.next_event().await.is_some() {
                    return Err("the stream goes on after its error".to_owned());
                }
                return Ok(Streamed {
                    outcome: Err(error),
                    partial: collector.partial(),
                    events,
                });
            }
        }
    }
    grammar.end().map_err(|error| illegal(error, &events))?;
    let partial = collector.partial();
    Ok(Streamed {
        outcome: collector.finish(),
        partial,
        events,
    })
}

/// Everything but letters, digits, `-`, `.`, `_` and `~` as `%XX`.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}
