//! What is under test, and the world around it: a real driver over a scripted transport, on a fake clock.

use crate::case::{Fault, Fields};
use crate::form::Form;
use crate::price;
use llm_core::{
    CallContext, ChatDriver, ChatLayer, ChatRequest, ChatResponse, Clock, Error, ErrorKind, Message,
    ModelEntry, ModelId, Price, Reasoning, ToolResult,
};
use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
use llm_driver_gemini::{GeminiConfig, GeminiDriver};
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_openai::{ApiChoice, OpenAiConfig, OpenAiDriver};
use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_http::Transport;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// Where the vendor is, unless a case says it.
const BASE_URL: &str = "http://vendor.example/v1";
/// The model that every request asks for.
const MODEL: &str = "demo-1";
/// How long a call may take on the fake clock: only an answer that hangs ever takes so long.
const CALL_LIMIT: Duration = Duration::from_secs(600);
/// How long the runner waits on the fake clock for a call that has no limit of its own.
const PATIENCE: Duration = Duration::from_secs(365 * 24 * 3600);

/// How the driver of a case is set up, beside its answers.
#[derive(Debug, Default)]
pub(crate) struct Setup {
    price: Option<Price>,
    extract_think_tags: bool,
    wall: Option<SystemTime>,
    call_limit: Option<Duration>,
    bytewise: bool,
    host: Host,
}

/// Where a vendor is, and what its requests are authorised with.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) base_url: String,
    pub(crate) key: Option<String>,
}

impl Default for Host {
    fn default() -> Self {
        Host {
            base_url: BASE_URL.to_owned(),
            key: None,
        }
    }
}

impl Setup {
    /// Reads `price_per_million` and `options` of an input.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Setup, Fault> {
        let mut setup = Setup {
            call_limit: Some(CALL_LIMIT),
            ..Setup::default()
        };
        if let Some(prices) = fields.optional("price_per_million") {
            setup.price = Some(price::read(prices, &fields.at("price_per_million"))?);
        }
        if let Some(options) = fields.optional("options") {
            let mut options = Fields::of(options, fields.at("options"))?;
            setup.extract_think_tags = options.flag("extract_think_tags")?;
            options.end()?;
        }
        Ok(setup)
    }

    /// That of a simulation: no limit but those of the layers under test, and a calendar that begins at 0 with the
    /// clock.
    pub(crate) fn of_simulation() -> Setup {
        Setup::default().at(SystemTime::UNIX_EPOCH)
    }

    /// What the calendar says when the call starts.
    pub(crate) fn at(mut self, wall: SystemTime) -> Setup {
        self.wall = Some(wall);
        self
    }

    /// The vendor is there.
    pub(crate) fn on(&self, host: &Host) -> Setup {
        Setup {
            price: self.price.clone(),
            host: host.clone(),
            ..*self
        }
    }

    /// Bodies are delivered byte by byte, or as the case cuts them.
    pub(crate) fn bytewise(&self, bytewise: bool) -> Setup {
        Setup {
            price: self.price.clone(),
            host: self.host.clone(),
            bytewise,
            ..*self
        }
    }

    /// As it delivers bodies.
    pub(crate) fn deliver(&self, transport: ScriptedTransport) -> ScriptedTransport {
        if self.bytewise {
            transport.bytewise()
        } else {
            transport
        }
    }
}

/// A driver, and the circumstances of the call.
pub(crate) struct Subject {
    pub(crate) driver: Arc<dyn ChatDriver>,
    pub(crate) cx: CallContext,
    form: Form,
    clock: Arc<TestClock>,
    start: Instant,
}

impl Subject {
    /// Speaks a form to a host that gives this one answer.
    pub(crate) fn answered(form: Form, setup: &Setup, answer: Answer) -> Result<Subject, Error> {
        let transport = setup.deliver(ScriptedTransport::new([answer]));
        Subject::over(form, setup, Arc::new(transport))
    }

    /// Speaks a form over a transport.
    pub(crate) fn over(form: Form, setup: &Setup, transport: Arc<dyn Transport>) -> Result<Subject, Error> {
        let driver = driver(form, setup, transport)?;
        let clock = Arc::new(match setup.wall {
            Some(wall) => TestClock::starting_at(wall),
            None => TestClock::new(),
        });
        Ok(Subject::of(driver, form, clock, setup.call_limit))
    }

    /// A driver that is built already, for calls that have at most this long.
    pub(crate) fn of(
        driver: Arc<dyn ChatDriver>,
        form: Form,
        clock: Arc<TestClock>,
        limit: Option<Duration>,
    ) -> Subject {
        let cx = CallContext::new(clock.clone());
        Subject {
            driver,
            cx: match limit {
                Some(limit) => cx.with_timeout(limit),
                None => cx,
            },
            form,
            start: clock.now(),
            clock,
        }
    }

    /// The same with a layer around it.
    pub(crate) fn within(mut self, layer: &dyn ChatLayer) -> Subject {
        self.driver = layer.layer(self.driver);
        self
    }

    /// What goes back of an answer in the vendor's own form, and the word for it: read from the request of the next
    /// turn. Nothing, where that turn cannot be asked.
    pub(crate) async fn sent_back(
        &self,
        request: &ChatRequest,
        response: &ChatResponse,
    ) -> Option<(&'static str, Value)> {
        let (key, place) = match self.form {
            // what its hosts want back is told piece by piece, not as whole messages
            Form::ChatCompletions | Form::Responses | Form::Ollama => return None,
            Form::Messages => ("blocks", "/messages/1/content"),
            Form::GenerateContent => ("parts", "/contents/1/parts"),
        };
        let transport = Arc::new(ScriptedTransport::new([Answer::status(500)]));
        let driver = driver(self.form, &Setup::default(), transport.clone()).ok()?;
        let results = response
            .tool_calls()
            .map(|call| ToolResult::new(&call.id, "done"));
        let mut next = request.clone();
        next.messages.push(response.to_message());
        next.messages.push(Message::tool_results(results));
        next.messages.push(Message::user("Go on."));
        // the answer does not matter
        drop(driver.chat(&CallContext::new(self.clock.clone()), &next).await);
        let sent = transport.requests().pop()?;
        let body: Value = serde_json::from_slice(&sent.body).ok()?;
        body.pointer(place).map(|pieces| (key, pieces.clone()))
    }

    /// How long ago the call began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now() - self.start
    }
}

/// The driver of a form.
pub(crate) fn driver(
    form: Form,
    setup: &Setup,
    transport: Arc<dyn Transport>,
) -> Result<Arc<dyn ChatDriver>, Error> {
    Ok(match form {
        Form::ChatCompletions => Arc::new(openai_driver(setup, transport, ApiChoice::ChatCompletions)?),
        Form::Responses => {
            no_think_tags(setup)?;
            Arc::new(openai_driver(setup, transport, ApiChoice::Responses)?)
        }
        Form::Messages => Arc::new(claude_driver(setup, transport)?),
        Form::GenerateContent => Arc::new(gemini_driver(setup, transport)?),
        Form::Ollama => Arc::new(ollama_driver(setup, transport)?),
    })
}

fn openai_driver(
    setup: &Setup,
    transport: Arc<dyn Transport>,
    api: ApiChoice,
) -> Result<OpenAiDriver, Error> {
    let mut config = OpenAiConfig::compatible(&setup.host.base_url).with_api(api);
    config.extract_think_tags = setup.extract_think_tags;
    if let Some(key) = &setup.host.key {
        config = config.with_api_key(key.as_str());
    }
    if let Some(price) = &setup.price {
        config = config.with_model(model()?, ModelEntry::default().with_price(price.clone()));
    }
    OpenAiDriver::with_transport(config, transport)
}

fn claude_driver(setup: &Setup, transport: Arc<dyn Transport>) -> Result<ClaudeDriver, Error> {
    no_think_tags(setup)?;
    let mut config = ClaudeConfig::compatible(&setup.host.base_url);
    if let Some(key) = &setup.host.key {
        config = config.with_api_key(key.as_str());
    }
    if let Some(price) = &setup.price {
        config = config.with_model(model()?, ModelEntry::default().with_price(price.clone()));
    }
    ClaudeDriver::with_transport(config, transport)
}

fn gemini_driver(setup: &Setup, transport: Arc<dyn Transport>) -> Result<GeminiDriver, Error> {
    no_think_tags(setup)?;
    let mut config = GeminiConfig::compatible(&setup.host.base_url);
    if let Some(key) = &setup.host.key {
        config = config.with_api_key(key.as_str());
    }
    if let Some(price) = &setup.price {
        config = config.with_model(model()?, ModelEntry::default().with_price(price.clone()));
    }
    GeminiDriver::with_transport(config, transport)
}

fn ollama_driver(setup: &Setup, transport: Arc<dyn Transport>) -> Result<OllamaDriver, Error> {
    no_think_tags(setup)?;
    let mut config = OllamaConfig::compatible(&setup.host.base_url);
    if let Some(key) = &setup.host.key {
        config = config.with_api_key(key.as_str());
    }
    if let Some(price) = &setup.price {
        config = config.with_model(model()?, ModelEntry::default().with_price(price.clone()));
    }
    OllamaDriver::with_transport(config, transport)
}

/// Refuses what a driver has no switch for.
fn no_think_tags(setup: &Setup) -> Result<(), Error> {
    if setup.extract_think_tags {
        let message = "this driver does not split think tags";
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(())
}

/// What is asked in every case: the answer is scripted, so only the model and the wish for thoughts matter.
pub(crate) fn request() -> Result<ChatRequest, Error> {
    let request = ChatRequest::user("Which outcome is right?").with_model(model()?);
    Ok(request.with_reasoning(Reasoning::default().with_include(true)))
}

/// Its name.
pub(crate) fn model() -> Result<ModelId, Error> {
    ModelId::new(MODEL)
}

/// Runs one case's calls on a runtime of its own whose time is fake.
pub(crate) fn on_fake_time<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| Fault::unsupported(format!("anything: no runtime, {error}")))?;
    Ok(runtime.block_on(work))
}

/// What comes of work that nothing but itself ends; nothing, when it never ends.
pub(crate) async fn patiently<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(PATIENCE, work).await.ok()
}

/// The failure of a set-up that is ours, not the case's.
pub(crate) fn broken(error: &Error) -> Fault {
    Fault::unsupported(format!("this case: {}", llm_core::Chain(error)))
}

/// A date as headers write it.
pub(crate) fn date(value: &Value, at: &str) -> Result<SystemTime, Fault> {
    value
        .as_str()
        .and_then(|text| httpdate::parse_http_date(text).ok())
        .ok_or_else(|| Fault::malformed(format!("{at} is no HTTP date")))
}
