#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod api;
mod config;
mod dialect;
mod driver;
mod models;
mod options;

use llm_core::{BuildContext, Driver, DriverId, Registry, Result};
use serde_json::Value;
use std::sync::Arc;

pub use config::{ApiChoice, DialectChoice, OpenAiConfig};
pub use driver::OpenAiDriver;
pub use llm_core::{ModelEntry, UnknownModels};
pub use llm_http::{AuthScheme, Limits};
pub use options::{OpenAiOptions, Verbosity};

/// The id under which this driver is registered.
pub const DRIVER_ID: DriverId = DriverId::from_static("openai");

/// Adds this driver to a registry, as `openai`.
///
/// ```
/// let mut registry = llm_core::Registry::new();
/// llm_driver_openai::register(&mut registry)?;
/// let config = serde_json::json!({ "base_url": "http://127.0.0.1:8080/v1", "default_model": "local" });
/// let driver = registry.build("openai", config, &Default::default())?;
/// assert!(driver.as_chat().is_some());
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `Config`, when a driver of this id is registered already.
pub fn register(registry: &mut Registry) -> Result<()> {
    registry.register(DRIVER_ID, build)
}

fn build(config: Value, context: &BuildContext) -> Result<Arc<dyn Driver>> {
    let config = llm_http::config_from_value(config)?;
    let transport = llm_http::transport_from(context)?;
    Ok(Arc::new(OpenAiDriver::with_transport(config, transport)?))
}
