//! A router with a deadline around breakers: a vendor that hangs is left alone in the end.

use llm_core::{Availability, CallContext, ChatDriver, ChatRequest, Stack, UnavailableReason};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BreakerLayer, BreakerPolicy};
use llm_routing::{Candidate, Router, RoutingPolicy};
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const FAILURES: usize = 3;

#[tokio::test(start_paused = true)]
async fn a_candidate_that_hangs_opens_its_breaker() {
    for streamed in [false, true] {
        let hanging = Arc::new(ScriptedDriver::always("hanging", Reply::hang()));
        let breaker = BreakerLayer::new(BreakerPolicy::new(FAILURES as u32, SECOND * 600));
        let first = Stack::from_arc(hanging.clone()).layer(breaker);
        let model = first.resolve(None).unwrap().id.clone();
        let second = Stack::new(ScriptedDriver::always("well", Reply::text("hello")));
        let candidates = vec![
            Candidate::new("first", first.clone().into_arc()),
            Candidate::new("second", second.into_arc()),
        ];
        let router = Router::new("two", candidates, RoutingPolicy::empty("in order")).unwrap();
        let clock = TestClock::shared();
        for _ in 0..FAILURES + 2 {
            let cx = CallContext::new(clock.clone()).with_timeout(SECOND * 30);
            let text = match streamed {
                false => router.chat(&cx, &ChatRequest::user("hi")).await.unwrap().text(),
                true => {
                    let mut stream = router.chat_stream(&cx, &ChatRequest::user("hi")).await.unwrap();
                    stream.next_text().await.unwrap().unwrap_or_default()
                }
            };
            assert_eq!(text, "hello");
        }
        assert_eq!(hanging.call_count(), FAILURES, "it is not asked any more");
        let Availability::Unavailable { reason, .. } = first.availability(&model) else {
            unreachable!("its breaker is open");
        };
        assert_eq!(reason, UnavailableReason::BreakerOpen);
    }
}
