//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{Acme, AcmeConfig};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::chat_completions::Dialect;

/// Speaks with Acme. One value serves any number of calls at once.
pub type AcmeDriver = HostDriver<Acme>;

impl ChatVendor for Acme {
    type Format = Dialect;

    const NAME: &'static str = "Acme";

    fn parts(config: AcmeConfig) -> Result<HostParts<Acme>> {
        let (dialect, models) = (dialect_of(&config), models(&config)?);
        Ok(HostParts::new(config, dialect, models))
    }
}
