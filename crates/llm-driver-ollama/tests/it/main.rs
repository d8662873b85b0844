//! The Ollama driver over scripted answers.

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
