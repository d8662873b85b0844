//! The Ollama driver: the conformance suite, and what is this driver's own.

use llm_core::ChatDriver;
use llm_driver_ollama::{OllamaConfig, OllamaDriver};
use llm_driver_testkit::{Endpoint, Harness, conformance_suite};
use std::sync::Arc;

conformance_suite!(harness());

/// The driver before a server of the kit's, with a key as Ollama's cloud wants one.
fn harness() -> Harness {
    Harness::new("ollama", "qwen4:8b", |endpoint: &Endpoint| {
        let config = OllamaConfig::new(endpoint.api_key.clone()).with_base_url(endpoint.base_url.clone());
        let driver = match &endpoint.transport {
            Some(transport) => OllamaDriver::with_transport(config, transport.clone()),
            None => OllamaDriver::new(config),
        };
        driver.map(|driver| Arc::new(driver) as Arc<dyn ChatDriver>)
    })
    .with_fixtures(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
    .with_chat_path("/api/chat")
    .with_stream_body(serde_json::json!({ "stream": true }))
}

#[cfg(test)]
mod tests {
    use llm_core::{ChatDriver, ChatDriverExt, ModelCatalog, ModelId};
    use llm_driver_ollama::{OllamaConfig, OllamaDriver};
    use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
    use std::sync::Arc;

    #[tokio::test(start_paused = true)]
    async fn a_model_of_ones_own_machine_answers_for_nothing() {
        let body = r#"{"model":"qwen4:8b","message":{"role":"assistant","content":"Seven."},"done":true,"done_reason":"stop","prompt_eval_count":20,"eval_count":5}"#;
        let tags = r#"{"models":[{"name":"qwen4:8b"}]}"#;
        let transport = Arc::new(ScriptedTransport::new([
            Answer::json(200, body),
            Answer::json(200, tags),
        ]));
        let driver = OllamaDriver::with_transport(OllamaConfig::default(), transport.clone()).unwrap();
        let cx = TestClock::context();
        let response = driver.ask(&cx, "qwen4:8b", "How many?").await.unwrap();
        assert_eq!(response.text(), "Seven.");
        assert_eq!(transport.requests()[0].url, "http://127.0.0.1:11434/api/chat");
        assert_eq!(transport.requests()[0].header("authorization"), None);
        let price = |name| {
            driver
                .resolve(Some(&ModelId::new(name).unwrap()))
                .unwrap()
                .price
                .is_some()
        };
        assert!(price("qwen4:8b") && !price("big:cloud"));
        assert_eq!(driver.list(&cx).await.unwrap()[0].id.as_str(), "qwen4:8b");
    }
}
