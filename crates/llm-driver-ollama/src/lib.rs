#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod config;
mod dialect;
mod driver;
mod models;
mod options;

use llm_core::{BuildContext, Driver, DriverId, Registry, Result};
use serde_json::Value;
use std::sync::Arc;

pub use config::{OllamaConfig, OllamaHost};
pub use driver::OllamaDriver;
pub use llm_core::{ModelEntry, UnknownModels};
pub use llm_http::{AuthScheme, HostConfig, Limits};
pub use options::OllamaOptions;

/// The id under which this driver is registered.
pub const DRIVER_ID: DriverId = DriverId::from_static("ollama");

/// Adds this driver to a registry, as `ollama`.
///
/// ```
/// let mut registry = llm_core::Registry::new();
/// llm_driver_ollama::register(&mut registry)?;
/// let config = serde_json::json!({ "api_key": "an invented key", "default_model": "qwen4:8b" });
/// let driver = registry.build("ollama", config, &Default::default())?;
/// assert!(driver.clone().as_chat().is_some() && driver.as_catalog().is_some());
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `Config`, when a driver of this id is registered already.
pub fn register(registry: &mut Registry) -> Result<()> {
    registry.register(DRIVER_ID, build)
}

fn build(config: Value, context: &BuildContext) -> Result<Arc<dyn Driver>> {
    let config: OllamaConfig = llm_http::config_from_value(config)?;
    let transport = llm_http::transport_from(context)?;
    Ok(Arc::new(OllamaDriver::with_transport(config, transport)?))
}
