//! What a driver is: the traits that vendors' code implements and that layers, routers and callers use.

mod agent;
mod catalog;
mod chat;
mod chat_ext;
mod embedding;
mod tokens;
mod transcription;

use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::borrow::{Borrow, Cow};
use std::fmt::{self, Debug};
use std::sync::Arc;

pub use agent::{
    AgentDriver, AgentEvent, AgentEventStream, AgentMessage, AgentTask, TaskState, ToolCallOutput,
    ToolDescription, ToolDriver, ToolPrompt, ToolResource,
};
pub use catalog::{CatalogModel, ModelCatalog};
pub use chat::{ChatDriver, Stack};
pub use chat_ext::ChatDriverExt;
pub use embedding::EmbeddingDriver;
pub use tokens::TokenCounter;
pub use transcription::TranscriptionDriver;

/// What a driver crate hands out: one value that may be a chat driver, an embedding driver, and so on.
///
/// The defaults are right: nothing wraps this trait, and a new kind of operation must not break existing
/// drivers.
pub trait Driver: Debug + Send + Sync + 'static {
    /// Who it is.
    fn info(&self) -> &DriverInfo;
    /// It as a chat driver.
    fn as_chat(self: Arc<Self>) -> Option<Arc<dyn ChatDriver>> {
        None
    }
    /// It as an embedding driver.
    fn as_embedding(self: Arc<Self>) -> Option<Arc<dyn EmbeddingDriver>> {
        None
    }
    /// It as a transcription driver.
    fn as_transcription(self: Arc<Self>) -> Option<Arc<dyn TranscriptionDriver>> {
        None
    }
    /// It as a remote agent.
    fn as_agent(self: Arc<Self>) -> Option<Arc<dyn AgentDriver>> {
        None
    }
    /// It as a server of tools.
    fn as_tools(self: Arc<Self>) -> Option<Arc<dyn ToolDriver>> {
        None
    }
    /// It as a list of models.
    fn as_catalog(self: Arc<Self>) -> Option<Arc<dyn ModelCatalog>> {
        None
    }
    /// It as a counter of tokens.
    fn as_token_counter(self: Arc<Self>) -> Option<Arc<dyn TokenCounter>> {
        None
    }
}

/// Who a driver or a stack is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriverInfo {
    /// Its id in a registry, `openai` for example.
    pub id: DriverId,
    /// Whose models it reaches.
    pub vendor: VendorId,
    /// What it is called, for people.
    pub name: Cow<'static, str>,
    /// Where it sends to, without credentials; part of a cache key. Empty for a local program.
    pub base_url: String,
    /// The layers around it, outermost first.
    pub layers: Vec<Cow<'static, str>>,
    /// Is it a router? Then its refusals are about its own candidates, and another one may still serve.
    pub is_router: bool,
    /// Does a layer have to read the answers (a cache, a guard)? Then it refuses raw mode
    /// ([`RawRequest`](crate::RawRequest)), and whoever wants to relay asks for full events instead.
    pub needs_content: bool,
}

impl DriverInfo {
    /// A driver without layers.
    pub fn new(id: DriverId, vendor: VendorId, name: impl Into<Cow<'static, str>>) -> Self {
        DriverInfo {
            id,
            vendor,
            name: name.into(),
            base_url: String::new(),
            layers: Vec::new(),
            is_router: false,
            needs_content: false,
        }
    }

    /// Where it sends to.
    #[must_use]
    pub fn with_base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// The same with one more layer around it.
    #[must_use]
    pub fn with_layer(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.layers.insert(0, name.into());
        self
    }

    /// Says that a layer reads the answers; layers further out keep it.
    #[must_use]
    pub fn with_needs_content(mut self) -> Self {
        self.needs_content = true;
        self
    }

    /// Marks a router.
    #[must_use]
    pub fn with_router(mut self) -> Self {
        self.is_router = true;
        self
    }
}

impl fmt::Display for DriverInfo {
    /// `trace > retry > openai`, outermost first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for layer in &self.layers {
            write!(f, "{layer} > ")?;
        }
        write!(f, "{}", self.id)
    }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Cow<'static, str>);

        impl $name {
            /// A name known when this was compiled.
            pub const fn from_static(name: &'static str) -> Self {
                $name(Cow::Borrowed(name))
            }

            /// Checks a name: 1 to 64 lower-case letters, digits, `-`, `_`, `.` and `:`.
            ///
            /// # Errors
            /// `Config`, when it is none.
            pub fn new(name: impl Into<String>) -> Result<Self> {
                let name = name.into();
                let fits = (1..=64).contains(&name.len())
                    && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':'));
                if fits {
                    Ok($name(Cow::Owned(name)))
                } else {
                    let rule = "1 to 64 lower-case letters, digits, '-', '_', '.' or ':'";
                    Err(Error::new(ErrorKind::Config, format!(concat!("a ", $what, " is {}"), rule)))
                }
            }

            /// The name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(name: String) -> Result<Self> {
                $name::new(name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.into_owned()
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

name_type!(
    /// The id of a driver: the name it is registered under.
    DriverId,
    "driver id"
);
name_type!(
    /// The company or program behind a driver. Only ever data.
    VendorId,
    "vendor id"
);
