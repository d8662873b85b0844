//! The configuration: a strict YAML schema, secrets from the environment, and checks across sections.
//!
//! Keys and defaults are those of the daemon's specification (1.2), as far as they exist; unknown keys are errors
//! with a suggestion.

mod check;
pub(crate) mod environment;
mod file;
mod schema;
mod secret;

pub(crate) use check::check;
pub use file::{Loaded, find, load};
pub use schema::{
    Adapter, BackendConfig, Config, LogConfig, LogFormat, ProxyConfig, RecordDecisions, RoutingConfig,
    StorageConfig, Strategy,
};
pub use secret::SecretSource;
