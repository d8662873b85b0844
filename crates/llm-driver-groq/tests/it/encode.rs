//! A snapshot of what is sent for a request that uses much of the neutral form, and of what is said about the rest.

use crate::setup::{ANSWER, driver};
use llm_core::{ModelId, Reasoning, ReasoningEffort};
use llm_driver_groq::VENDOR;
use llm_driver_testkit::{Answer, demanding_messages, demanding_request, shown};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn a_demanding_request() {
    let (driver, transport) = driver([]);
    let own = json!({ "reasoning": "deep" });
    for (model, effort) in [
        ("openai/gpt-oss-20b", ReasoningEffort::None),
        ("qwen/qwen3.8-27b", ReasoningEffort::Max),
    ] {
        let request = demanding_request(demanding_messages(&VENDOR, own.clone()))
            .with_model(ModelId::new(model).unwrap())
            .with_reasoning(Reasoning::effort(effort));
        let text = shown(&driver, &transport, Answer::json(200, ANSWER), &request)
            .await
            .unwrap();
        insta::assert_snapshot!(model.replace(['.', '/'], "_"), text);
    }
}
