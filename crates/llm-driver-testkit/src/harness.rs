//! How the kit builds the driver under test, and what its author says about it.

use llm_core::chat::RequestOption;
use llm_core::{ChatDriver, Result, Secret};
use llm_http::Transport;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the suite needs to know of a driver: how to build it, which models to ask, where its fixtures are.
///
/// ```
/// use llm_driver_testkit::{Harness, Reply, ScriptedDriver};
/// use std::sync::Arc;
///
/// fn harness() -> Harness {
///     Harness::new("acme", "acme-large", |endpoint| {
///         // AcmeDriver::new(config with endpoint.base_url and endpoint.api_key, over endpoint.transport)
///         # let _ = endpoint;
///         Ok(Arc::new(ScriptedDriver::always("acme", Reply::text("hi"))))
///     })
///     .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
///     .with_chat_path("/v1/chat")
/// }
/// # let _ = harness();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Harness {
    driver: String,
    models: Vec<String>,
    build: Arc<Build>,
    fixtures: PathBuf,
    chat_path: Option<String>,
    stream_path: Option<String>,
    stream_body: Option<Value>,
    inherent: Vec<(RequestOption, String)>,
    skips: Vec<Exception>,
    expected_failures: Vec<Exception>,
}

type Build = dyn Fn(&Endpoint) -> Result<Arc<dyn ChatDriver>> + Send + Sync;

/// A scenario that is not to be proved, and why.
#[derive(Debug, Clone)]
pub(crate) struct Exception {
    pub(crate) scenario: String,
    pub(crate) reason: String,
}

/// Where the driver under test is to send.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Endpoint {
    /// The vendor's address, without a path and without a slash at the end. A driver whose base address has a path
    /// (`/v1`) adds it here, as its configuration would.
    pub base_url: String,
    /// The credential. No error, log or `Debug` may ever show it.
    pub api_key: Secret<String>,
    /// What to send over. `None`: what the driver uses by itself, on real sockets.
    pub transport: Option<Arc<dyn Transport>>,
}

impl Harness {
    /// A driver with this id, asked for this model, built like this.
    pub fn new(
        driver: impl Into<String>,
        model: impl Into<String>,
        build: impl Fn(&Endpoint) -> Result<Arc<dyn ChatDriver>> + Send + Sync + 'static,
    ) -> Self {
        Harness {
            driver: driver.into(),
            models: vec![model.into()],
            build: Arc::new(build),
            fixtures: PathBuf::from("tests/fixtures"),
            chat_path: None,
            stream_path: None,
            stream_body: None,
            inherent: Vec::new(),
            skips: Vec::new(),
            expected_failures: Vec::new(),
        }
    }

    /// More models, so that each capability is claimed by one and, where that can be, disclaimed by another.
    pub fn with_models<M: Into<String>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.models.extend(models.into_iter().map(Into::into));
        self
    }

    /// The folder of the fixtures. Without it: `tests/fixtures` below the working folder.
    pub fn with_fixtures(mut self, folder: impl Into<PathBuf>) -> Self {
        self.fixtures = folder.into();
        self
    }

    /// The path and query that a chat request must go to, as the vendor sees it; `{model}` stands for the model's
    /// percent-encoded id.
    pub fn with_chat_path(mut self, path: impl Into<String>) -> Self {
        self.chat_path = Some(path.into());
        self
    }

    /// The same for a stream. Without it: the path of a plain call.
    pub fn with_stream_path(mut self, path: impl Into<String>) -> Self {
        self.stream_path = Some(path.into());
        self
    }

    /// How the body of a stream's request differs from a plain one, as a JSON merge patch: `{"stream": true}` for
    /// example. Without it: not at all. A fixture's own `wire_stream_request.json` goes before it.
    pub fn with_stream_body(mut self, patch: Value) -> Self {
        self.stream_body = Some(patch);
        self
    }

    /// Names an option that asks for what the vendor does anyway, and how that is known: nothing need be sent for it,
    /// and there is nothing to warn of. The suite fails where the driver does answer it.
    pub fn with_inherent(mut self, option: RequestOption, reason: impl Into<String>) -> Self {
        self.inherent.push((option, reason.into()));
        self
    }

    /// Names a scenario that this driver's wire format cannot express, and why. The report lists it; scenarios of
    /// safety and conduct cannot be skipped.
    pub fn with_skip(mut self, scenario: impl Into<String>, reason: impl Into<String>) -> Self {
        self.skips.push(Exception {
            scenario: scenario.into(),
            reason: reason.into(),
        });
        self
    }

    /// Names a scenario that fails for now, with the issue that will mend it. It fails the suite as soon as it
    /// passes.
    pub fn with_expected_failure(
        mut self,
        scenario: impl Into<String>,
        issue: u32,
        reason: impl fmt::Display,
    ) -> Self {
        self.expected_failures.push(Exception {
            scenario: scenario.into(),
            reason: format!("issue {issue}: {reason}"),
        });
        self
    }

    /// Builds the driver.
    ///
    /// # Errors
    /// What the driver's own constructor says.
    pub fn build(&self, endpoint: &Endpoint) -> Result<Arc<dyn ChatDriver>> {
        (self.build)(endpoint)
    }

    /// The driver's id.
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// The models to ask; the first is the one that most scenarios use.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    /// The folder of the fixtures.
    pub fn fixtures(&self) -> &Path {
        &self.fixtures
    }

    pub(crate) fn path(&self, stream: bool) -> Option<&str> {
        let plain = self.chat_path.as_deref();
        if stream {
            self.stream_path.as_deref().or(plain)
        } else {
            plain
        }
    }

    pub(crate) fn stream_body(&self) -> Option<&Value> {
        self.stream_body.as_ref()
    }

    pub(crate) fn inherent(&self) -> &[(RequestOption, String)] {
        &self.inherent
    }

    pub(crate) fn skip(&self, scenario: &str) -> Option<&Exception> {
        self.skips.iter().find(|skip| skip.scenario == scenario)
    }

    pub(crate) fn expected_failure(&self, scenario: &str) -> Option<&Exception> {
        self.expected_failures
            .iter()
            .find(|failure| failure.scenario == scenario)
    }

    pub(crate) fn exceptions(&self) -> impl Iterator<Item = &Exception> {
        self.skips.iter().chain(&self.expected_failures)
    }
}

impl fmt::Debug for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness")
            .field("driver", &self.driver)
            .field("models", &self.models)
            .field("fixtures", &self.fixtures)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// An endpoint on real sockets.
    pub fn new(base_url: impl Into<String>, api_key: impl Into<Secret<String>>) -> Self {
        Endpoint {
            base_url: base_url.into(),
            api_key: api_key.into(),
            transport: None,
        }
    }

    /// The same over this transport.
    #[must_use]
    pub fn with_transport(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }
}
