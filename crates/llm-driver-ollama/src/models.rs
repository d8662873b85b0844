//! What is known of models before anybody is asked: a local server alone knows which it has.

use crate::config::{OllamaConfig, is_local};
use llm_core::model::ShippedCatalog;
use llm_core::price::Rates;
use llm_core::{ModelId, ModelTable, Price, ResolvedModel, Result};
use std::sync::Arc;

/// The models of one server: what the caller added, and what the server listed.
#[derive(Debug)]
pub(crate) struct Models {
    table: ModelTable,
    /// Is it one's own machine, which charges nothing?
    free: bool,
}

impl Models {
    pub(crate) fn new(host: &OllamaConfig) -> Result<Self> {
        Ok(Models {
            table: host.models(&NOTHING_SHIPPED, "", |model| model)?,
            free: is_local(&host.base_url),
        })
    }

    pub(crate) fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let resolved = self.table.resolve(model)?;
        // The cloud's models are reached through one's own server, too (wire notes, `ollama.md`, "Endpoint and auth").
        let name = resolved.id.as_str();
        if !self.free || resolved.price.is_some() || name.ends_with("-cloud") || name.ends_with(":cloud") {
            return Ok(resolved);
        }
        let model = ResolvedModel::clone(&*resolved);
        Ok(Arc::new(model.with_price(Price::new(Rates::usd(0, 0)))))
    }

    pub(crate) fn known(&self) -> Vec<Arc<ResolvedModel>> {
        self.table.known()
    }

    pub(crate) fn remember(&self, listed: impl IntoIterator<Item = ModelId>) {
        self.table.remember(listed);
    }
}

/// Which models a server has, it alone knows.
static NOTHING_SHIPPED: ShippedCatalog = ShippedCatalog::new(r#"{"models":[]}"#);

#[cfg(test)]
mod tests {
    use super::*;

    fn price(base_url: &str, name: &str) -> Option<Price> {
        let models = Models::new(&OllamaConfig::default().with_base_url(base_url)).unwrap();
        models
            .resolve(Some(&ModelId::new(name).unwrap()))
            .unwrap()
            .price
            .clone()
    }

    #[test]
    fn only_ones_own_machine_is_free() {
        assert_eq!(
            price("http://127.0.0.1:11434", "qwen4:8b"),
            Some(Price::new(Rates::usd(0, 0)))
        );
        assert_eq!(price("http://127.0.0.1:11434", "gpt-oss:120b-cloud"), None);
        assert_eq!(price("https://ollama.example", "qwen4:8b"), None);
    }
}
