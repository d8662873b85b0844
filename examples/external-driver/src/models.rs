//! Which models there are, and what is known of them.

use crate::config::AcmeConfig;
use llm_core::model::ShippedCatalog;
use llm_core::{ModelTable, Result};

/// The model of requests that name none.
const DEFAULT_MODEL: &str = "acme-1";

static SHIPPED: ShippedCatalog = ShippedCatalog::new(include_str!("models.json"));

pub(crate) fn models(config: &AcmeConfig) -> Result<ModelTable> {
    config.models(&SHIPPED, DEFAULT_MODEL, |model| model)
}
