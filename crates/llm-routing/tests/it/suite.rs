//! The router passes the suite for routers.

use llm_core::ChatDriver;
use llm_routing::{Candidate, Router, RoutingPolicy};
use std::sync::Arc;

/// Asks in the order given.
fn router(stacks: Vec<Arc<dyn ChatDriver>>) -> Arc<dyn ChatDriver> {
    let candidates = stacks
        .into_iter()
        .enumerate()
        .map(|(place, stack)| Candidate::new(format!("c{place}"), stack))
        .collect();
    Arc::new(Router::new("suite", candidates, RoutingPolicy::default()).unwrap())
}

llm_driver_testkit::router_suite!(router);
