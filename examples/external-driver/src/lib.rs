#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod config;
mod dialect;
mod driver;
mod models;
mod options;

use llm_core::{BuildContext, Driver, DriverId, Registry, Result, VendorId};
use serde_json::Value;
use std::sync::Arc;

pub use config::{Acme, AcmeConfig};
pub use driver::AcmeDriver;
pub use options::AcmeOptions;

/// The id under which this driver is registered.
pub const DRIVER_ID: DriverId = DriverId::from_static("acme");

/// Whose models it reaches, and whose options bag of a request it reads.
pub const VENDOR: VendorId = VendorId::from_static("acme");

/// Adds this driver to a registry, as `acme`.
///
/// ```
/// let mut registry = llm_core::Registry::new();
/// llm_driver_acme::register(&mut registry)?;
/// let config = serde_json::json!({ "api_key": "an invented key" });
/// assert!(registry.build("acme", config, &Default::default())?.as_chat().is_some());
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
    Ok(Arc::new(AcmeDriver::with_transport(config, transport)?))
}
