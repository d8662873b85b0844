//! What is known of models before anybody is asked: a local server alone knows which it has.

use crate::config::{OllamaConfig, is_local};
use llm_core::model::ShippedCatalog;
use llm_core::price::Rates;
use llm_core::{ModelTable, Price, ResolvedModel, Result};

/// Which models a server has, it alone knows.
static NOTHING_SHIPPED: ShippedCatalog = ShippedCatalog::new(r#"{"models":[]}"#);

/// What a driver of this configuration knows: what the caller added, and, once asked, what the server says.
pub(crate) fn models(config: &OllamaConfig) -> Result<ModelTable> {
    let facts = if is_local(&config.base_url) {
        free
    } else {
        unpriced
    };
    let table = config.models(&NOTHING_SHIPPED, "", facts)?;
    Ok(table.with_unseen(facts))
}

/// One's own machine charges nothing. The cloud's models, which are reached through it, too, are not free (wire notes,
/// `ollama.md`, "Endpoint and auth").
fn free(model: ResolvedModel) -> ResolvedModel {
    let name = model.id.as_str();
    if name.ends_with("-cloud") || name.ends_with(":cloud") {
        return model;
    }
    model.with_price(Price::new(Rates::usd(0, 0)))
}

fn unpriced(model: ResolvedModel) -> ResolvedModel {
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ModelId;

    fn price(base_url: &str, name: &str) -> Option<Price> {
        let models = models(&OllamaConfig::compatible(base_url)).unwrap();
        let model = models.resolve(Some(&ModelId::new(name).unwrap())).unwrap();
        model.price.clone()
    }

    #[test]
    fn only_ones_own_machine_is_free() {
        let free = Some(Price::new(Rates::usd(0, 0)));
        assert_eq!(price("http://127.0.0.1:11434", "qwen4:8b"), free);
        assert_eq!(price("http://127.0.0.1:11434", "gpt-oss:120b-cloud"), None);
        assert_eq!(price("https://ollama.example", "qwen4:8b"), None);
    }
}
