//! Models: their names, and what is known of them.

mod catalog;
mod entry;
mod nearest;
mod table;

pub use catalog::{ShippedCatalog, ShippedModel};
pub use entry::ModelEntry;
pub use table::{ModelTable, UnknownModels};

use crate::capability::Capabilities;
use crate::chat::ReasoningEffort;
use crate::error::{Error, ErrorKind, Result};
use crate::price::Price;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// A model's name, checked: 1 to 256 bytes, no white space, no control characters, no `..` path step.
///
/// A name may hold slashes and colons (some vendors' do); it can never choose another path or host, because
/// drivers encode it.
///
/// ```
/// use llm_core::ModelId;
/// assert!(ModelId::new("openai/gpt-oss-20b").is_ok());
/// assert!(ModelId::new("a model").is_err());
/// assert!(ModelId::new("../admin").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelId(Arc<str>);

impl ModelId {
    /// Checks a name.
    ///
    /// # Errors
    /// `InvalidRequest`, when the name is empty, longer than 256 bytes, or holds what no name holds.
    pub fn new(name: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        let fault = if name.is_empty() {
            "is empty"
        } else if name.len() > 256 {
            "is longer than 256 bytes"
        } else if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
            "holds white space or control characters"
        } else if name.split('/').any(|step| step == ".." || step == ".") {
            "holds a path step"
        } else {
            return Ok(ModelId(name.into()));
        };
        Err(Error::new(
            ErrorKind::InvalidRequest,
            format!("the model name {fault}; give the vendor's id of it"),
        ))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for ModelId {
    type Error = Error;
    fn try_from(name: String) -> Result<Self> {
        ModelId::new(name)
    }
}

impl TryFrom<&str> for ModelId {
    type Error = Error;
    fn try_from(name: &str) -> Result<Self> {
        ModelId::new(name)
    }
}

impl From<ModelId> for String {
    fn from(id: ModelId) -> String {
        id.0.as_ref().to_owned()
    }
}

/// A model at a named driver, written `driver/model`. Only the first slash divides.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ModelRef {
    /// The driver's id.
    pub driver: crate::driver::DriverId,
    /// The model, verbatim.
    pub model: ModelId,
}

impl ModelRef {
    /// Reads `driver/model`.
    ///
    /// # Errors
    /// `InvalidRequest`, when there is no slash or either side is not a name.
    pub fn parse(text: &str) -> Result<Self> {
        let (driver, model) = text.split_once('/').ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidRequest,
                "a model reference is written driver/model",
            )
        })?;
        Ok(ModelRef {
            driver: crate::driver::DriverId::new(driver)?,
            model: ModelId::new(model)?,
        })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.driver, self.model)
    }
}

/// Which model will serve a call, and what is known of it. Every "unknown" is a value of its own.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResolvedModel {
    /// The name that was asked for; absent: none was, this is the default.
    pub requested: Option<ModelId>,
    /// The name that will be sent.
    pub id: ModelId,
    /// Is it in the catalogue? False: passed on unseen, all facts unknown.
    pub known: bool,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How much it takes and gives.
    pub limits: ModelLimits,
    /// What it costs; absent: unknown, which is not free.
    pub price: Option<Price>,
    /// The effort levels it takes; absent: unknown; empty: it takes none.
    pub efforts: Option<Vec<ReasoningEffort>>,
    /// Request features that this model answers with an error.
    pub rejects: Vec<Knob>,
    /// Request features that this model takes without effect.
    pub ignores: Vec<Knob>,
    /// The vendor's announced day of its end, `YYYY-MM-DD`.
    pub deprecated_on: Option<String>,
}

impl ResolvedModel {
    /// A model of which nothing is known but its name.
    pub fn unknown(id: ModelId) -> Self {
        ResolvedModel {
            requested: None,
            id,
            known: false,
            capabilities: Capabilities::unknown(),
            limits: ModelLimits::default(),
            price: None,
            efforts: None,
            rejects: Vec::new(),
            ignores: Vec::new(),
            deprecated_on: None,
        }
    }

    /// The name that was asked for.
    #[must_use]
    pub fn with_requested(mut self, requested: Option<ModelId>) -> Self {
        self.requested = requested;
        self
    }

    /// What it can do.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How much it takes and gives.
    #[must_use]
    pub fn with_limits(mut self, limits: ModelLimits) -> Self {
        self.limits = limits;
        self
    }

    /// What it costs.
    #[must_use]
    pub fn with_price(mut self, price: impl Into<Option<Price>>) -> Self {
        self.price = price.into();
        self
    }

    /// Has its announced end come? Unknown ends have not.
    pub fn has_ended(&self, now: SystemTime) -> bool {
        let day = self.deprecated_on.as_deref();
        day.is_some_and(|day| crate::day::has_begun(day, now))
    }

    /// Does this model answer this feature with an error?
    pub fn rejects(&self, knob: Knob) -> bool {
        self.rejects.contains(&knob)
    }
}

/// Request features that single models reject or ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Knob {
    /// Temperature, top-p, top-k.
    Sampling,
    /// Being made to call a tool.
    ForcedToolUse,
    /// An assistant turn at the end, to be continued.
    Prefill,
    /// Switching thought off.
    ThinkingOff,
}

/// How much a model takes and gives, in tokens. Absent is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelLimits {
    /// Input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Input alone, where it is smaller than the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_input: Option<u64>,
    /// The largest output of one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
}

impl ModelLimits {
    /// These limits.
    pub fn new(context_window: Option<u64>, max_input: Option<u64>, max_output: Option<u64>) -> Self {
        ModelLimits {
            context_window,
            max_input,
            max_output,
        }
    }
}
