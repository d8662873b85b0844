#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod config;
mod dialect;
mod driver;
mod models;
mod options;

use llm_core::{BuildContext, Driver, DriverId, Registry, Result, VendorId};
use serde_json::Value;
use std::sync::Arc;

pub use config::{GeminiConfig, Google};
pub use driver::GeminiDriver;
pub use llm_core::{ModelEntry, UnknownModels};
pub use llm_http::{AuthScheme, HostConfig, Limits};
pub use options::GeminiOptions;

/// The id under which this driver is registered.
pub const DRIVER_ID: DriverId = DriverId::from_static("gemini");

/// Whose models it reaches, and whose options bag of a request it reads.
pub const VENDOR: VendorId = VendorId::from_static("gemini");

/// Adds this driver to a registry, as `gemini`.
///
/// ```
/// let mut registry = llm_core::Registry::new();
/// llm_driver_gemini::register(&mut registry)?;
/// let config = serde_json::json!({ "api_key": "an invented key", "default_model": "gemini-3.8-flash" });
/// let driver = registry.build("gemini", config, &Default::default())?;
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
    let config = llm_http::config_from_value(config)?;
    let transport = llm_http::transport_from(context)?;
    Ok(Arc::new(GeminiDriver::with_transport(config, transport)?))
}
