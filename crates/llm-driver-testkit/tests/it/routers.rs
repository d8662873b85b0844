//! Routers that break a promise are caught.

use llm_core::{
    Availability, CallContext, ChatDriver, ChatRequest, ChatResponse, ChatStream, DriverId, DriverInfo,
    Error, ErrorKind, HealthStatus, ModelId, ResolvedModel, Result, VendorId, async_trait,
};
use llm_driver_testkit::router_suite::{ROUTER_SCENARIOS, run_router_scenario};
use std::sync::Arc;

/// Tries one after the other, whatever the error, and keeps no log.
#[derive(Debug)]
struct Stubborn {
    info: DriverInfo,
    stacks: Vec<Arc<dyn ChatDriver>>,
}

fn stubborn(stacks: Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> {
    let id = DriverId::from_static("router:stubborn");
    Arc::new(Stubborn {
        info: DriverInfo::new(id, VendorId::from_static("router"), "stubborn").with_router(),
        stacks,
    })
}

#[async_trait]
impl ChatDriver for Stubborn {
    fn info(&self) -> &DriverInfo {
        &self.info
    }
    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        self.stacks[0].resolve(model)
    }
    fn availability(&self, model: &ModelId) -> Availability {
        self.stacks[0].availability(model)
    }
    async fn health(&self, cx: &CallContext) -> HealthStatus {
        self.stacks[0].health(cx).await
    }
    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let mut last = Error::new(ErrorKind::Internal, "no stacks");
        for stack in &self.stacks {
            match stack.chat(cx, request).await {
                Ok(response) => return Ok(response),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let mut last = Error::new(ErrorKind::Internal, "no stacks");
        for stack in &self.stacks {
            match stack.chat_stream(cx, request).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

type Make = fn(Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver>;

fn caught(router: Make) -> Vec<&'static str> {
    let names = ROUTER_SCENARIOS.iter().map(|scenario| scenario.name);
    names
        .filter(|name| run_router_scenario(name, router).is_err())
        .collect()
}

#[test]
fn a_router_that_tries_everything_is_caught() {
    assert_eq!(
        caught(stubborn),
        [
            "router_can_do_what_any_can",
            "router_refuses_a_model_nobody_serves",
            "router_is_available_while_any_is",
            "router_moves_on_where_the_verdict_says_so",
            "router_keeps_an_attempt_log",
            "router_skips_whoever_is_not_available",
            "router_says_when_to_come_back",
            "router_reports_exhaustion",
            "router_asks_larger_windows_only",
            "router_lets_only_the_last_queue",
            "router_leaves_time_for_the_others",
            "router_nests",
            "router_moves_a_stream_before_its_content",
        ]
    );
}

#[test]
fn a_driver_that_is_no_router_is_caught() {
    let caught = caught(|stacks| stacks[0].clone());
    assert!(caught.contains(&"router_says_that_it_is_one"), "{caught:?}");
    assert!(
        caught.contains(&"router_moves_on_where_the_verdict_says_so"),
        "{caught:?}"
    );
}
