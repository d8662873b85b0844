//! The breaker around a scripted driver.

mod churn;
mod drops;
mod outage;

use crate::{SECOND, error, read, request};
use llm_core::{
    Availability, CallContext, DriverId, DriverInfo, Error, ErrorKind, HealthState, ModelId, Phase,
    Rejection, ResolvedModel, Scope, Stack, UnavailableReason, VendorId,
};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BreakerLayer, BreakerPolicy, BreakerState, Jitter, RetryLayer, RetryPolicy};
use std::sync::Arc;
use std::time::Duration;

fn model(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

/// A driver within a breaker that opens at the first failure, for 60 s.
struct Broken {
    driver: Arc<ScriptedDriver>,
    layer: BreakerLayer,
    stack: Stack,
    cx: CallContext,
}

impl Broken {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Broken::by(BreakerPolicy::new(1, SECOND * 60), replies)
    }

    fn by(policy: BreakerPolicy, replies: impl IntoIterator<Item = Reply>) -> Self {
        let driver = ScriptedDriver::new("alpha", replies).with_models([
            ResolvedModel::unknown(model("m1")),
            ResolvedModel::unknown(model("m2")),
        ]);
        let driver = Arc::new(driver);
        let layer = BreakerLayer::new(policy);
        Broken {
            stack: Stack::from_arc(driver.clone()).layer(layer.clone()),
            driver,
            layer,
            cx: TestClock::context(),
        }
    }

    async fn call(&self) -> Result<(), Error> {
        self.call_for("m1").await
    }

    async fn call_for(&self, name: &str) -> Result<(), Error> {
        let request = request().with_model(model(name));
        self.stack.chat(&self.cx, &request).await.map(drop)
    }

    fn state(&self) -> BreakerState {
        self.layer.state(self.stack.info(), &model("m1"))
    }
}

fn down() -> Reply {
    Reply::error(error(ErrorKind::Server).with_phase(Phase::Sent))
}

fn fine() -> Reply {
    Reply::text("hello")
}

#[tokio::test(start_paused = true)]
async fn an_open_one_answers_at_once_says_until_when_and_asks_nobody() {
    let broken = Broken::new([down(), fine()]);
    broken.call().await.unwrap_err();
    tokio::time::advance(SECOND * 20).await;
    let refused = broken.call().await.unwrap_err();
    assert_eq!(
        (
            refused.kind(),
            refused.rejection(),
            refused.scope(),
            refused.phase()
        ),
        (
            ErrorKind::Rejected,
            Some(Rejection::BreakerOpen),
            Scope::Vendor,
            Phase::NotSent
        )
    );
    assert_eq!(
        (refused.retry_after(), refused.status()),
        (Some(SECOND * 40), 503)
    );
    assert_eq!(refused.vendor().model, Some(model("m1")));
    assert_eq!(broken.driver.call_count(), 1);
    // A stream is refused alike.
    let refused = broken
        .stack
        .chat_stream(&broken.cx, &request())
        .await
        .unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Rejected);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_costs_nothing_and_ends_when_it_says() {
    let broken = Broken::new([down(), fine()]);
    let model = model("m1");
    assert_eq!(broken.stack.availability(&model), Availability::Available);
    broken.call().await.unwrap_err();
    assert_eq!(broken.state(), BreakerState::Open);
    let until = broken.cx.clock().now() + SECOND * 60;
    assert_eq!(
        broken.stack.availability(&model),
        Availability::unavailable(UnavailableReason::BreakerOpen, until)
    );
    let health = broken.stack.health(&broken.cx).await;
    assert_eq!(health.state, HealthState::Unhealthy);
    assert!(health.message.unwrap().contains("breaker"));
    tokio::time::advance(SECOND * 60).await;
    assert_eq!(broken.stack.availability(&model), Availability::Available);
    assert_eq!(broken.stack.health(&broken.cx).await.state, HealthState::Healthy);
    assert_eq!(broken.state(), BreakerState::HalfOpen);
    broken.call().await.unwrap();
    assert_eq!(broken.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_stream_counts_when_it_ends_however_far_it_came() {
    let cut = error(ErrorKind::Interrupted).with_phase(Phase::Streaming);
    let broken = Broken::by(
        BreakerPolicy::new(2, SECOND * 60),
        [
            fine().broken_after(3, cut.clone()),
            fine().broken_after(3, cut),
            fine(),
        ],
    );
    for state in [BreakerState::Closed, BreakerState::Open] {
        let stream = broken.stack.chat_stream(&broken.cx, &request()).await.unwrap();
        assert_eq!(
            broken.state(),
            BreakerState::Closed,
            "nothing is known before the end"
        );
        let (events, end) = read(stream).await;
        assert_eq!((events.len(), end.unwrap().kind()), (3, ErrorKind::Interrupted));
        assert_eq!(broken.state(), state);
    }
    tokio::time::advance(SECOND * 60).await;
    let mut stream = broken.stack.chat_stream(&broken.cx, &request()).await.unwrap();
    assert_eq!(stream.next_text().await.unwrap().as_deref(), Some("hello"));
    assert_eq!(
        broken.state(),
        BreakerState::HalfOpen,
        "content alone is no success"
    );
    // Who stops at the finish has let the breaker know all the same.
    while stream.finish_reason().is_none() {
        stream.next_event().await.unwrap().unwrap();
    }
    assert_eq!(broken.state(), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_probe_leaves_its_place_at_once() {
    let slow = || fine().with_pause(SECOND * 500);
    let broken = Broken::new([down(), slow(), fine().with_event_pause(SECOND * 500), fine()]);
    broken.call().await.unwrap_err();
    tokio::time::advance(SECOND * 60).await;
    // A plain call that gives up.
    let given_up = tokio::time::timeout(SECOND, broken.call()).await;
    assert!(given_up.is_err());
    // A stream that nobody reads on.
    let request = request().with_model(model("m1"));
    let stream = broken.stack.chat_stream(&broken.cx, &request).await.unwrap();
    let refused = broken.call().await.unwrap_err();
    assert_eq!(refused.retry_after(), Some(SECOND), "the probe will soon be back");
    drop(stream);
    broken.call().await.unwrap();
    assert_eq!(broken.state(), BreakerState::Closed);
    assert_eq!(broken.driver.call_count(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_shuts_says_what_it_is() {
    let hint = SECOND * 9;
    for (kind, rejection, scope, reason, status) in [
        (
            ErrorKind::RateLimit,
            Rejection::RateLimit,
            Scope::Credential,
            UnavailableReason::RateLimit,
            429,
        ),
        (
            ErrorKind::QuotaExhausted,
            Rejection::Budget,
            Scope::Credential,
            UnavailableReason::Quota,
            429,
        ),
        (
            ErrorKind::Auth,
            Rejection::NoCredential,
            Scope::Credential,
            UnavailableReason::Credential,
            503,
        ),
        (
            ErrorKind::NotFound,
            Rejection::BreakerOpen,
            Scope::Model,
            UnavailableReason::Model,
            503,
        ),
        (
            ErrorKind::Overloaded,
            Rejection::BreakerOpen,
            Scope::Model,
            UnavailableReason::BreakerOpen,
            503,
        ),
    ] {
        let reply = Reply::error(error(kind).with_retry_after(hint));
        let broken = Broken::by(BreakerPolicy::default(), [reply, fine(), fine()]);
        broken.call().await.unwrap_err();
        let refused = broken.call().await.unwrap_err();
        assert_eq!(
            (refused.rejection(), refused.scope(), refused.status()),
            (Some(rejection), scope, status),
            "{kind}"
        );
        let Availability::Unavailable { reason: said, .. } = broken.stack.availability(&model("m1")) else {
            panic!("{kind} shuts");
        };
        assert_eq!(said, reason);
        // Another model of the same credential goes on, unless it is the credential that is shut.
        let other = broken.call_for("m2").await;
        let whole_credential = matches!(kind, ErrorKind::QuotaExhausted | ErrorKind::Auth);
        assert_eq!(other.is_err(), whole_credential, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_default_model_is_the_same_as_its_name() {
    let busy = Reply::error(error(ErrorKind::Overloaded));
    let broken = Broken::new([busy, fine()]);
    broken.stack.chat(&broken.cx, &request()).await.unwrap_err();
    assert_eq!(
        broken.call_for("m1").await.unwrap_err().kind(),
        ErrorKind::Rejected
    );
    broken.call_for("m2").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_layer_shares_what_it_knows_of_a_vendor_and_of_nobody_else() {
    let layer = BreakerLayer::new(BreakerPolicy::new(1, SECOND * 60));
    let at = |host: &str, reply| {
        let id = DriverId::from_static("alpha");
        let info = DriverInfo::new(id, VendorId::from_static("alpha"), "alpha").with_base_url(host);
        ScriptedDriver::always("alpha", reply).with_info(info)
    };
    let cx = TestClock::context();
    let down_here = Stack::new(at("http://here", down())).layer(layer.clone());
    let also_here = Stack::new(at("http://here", fine())).layer(layer.clone());
    let named = Stack::new(at("http://here", fine())).layer(layer.with_name("of its own"));
    let elsewhere = Stack::new(at("http://there", fine())).layer(layer.clone());
    down_here.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(
        also_here.chat(&cx, &request()).await.unwrap_err().kind(),
        ErrorKind::Rejected
    );
    named.chat(&cx, &request()).await.unwrap();
    elsewhere.chat(&cx, &request()).await.unwrap();

    let limited = Reply::error(error(ErrorKind::QuotaExhausted));
    let first = Stack::new(at("http://third", limited)).layer(layer.with_credential("first"));
    let second = Stack::new(at("http://third", fine())).layer(layer.with_credential("second"));
    first.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(
        first.chat(&cx, &request()).await.unwrap_err().rejection(),
        Some(Rejection::Budget)
    );
    second.chat(&cx, &request()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_passes_again() {
    let broken = Broken::by(
        BreakerPolicy::default(),
        [Reply::error(error(ErrorKind::Auth)), fine()],
    );
    broken.call().await.unwrap_err();
    assert_eq!(
        broken.call().await.unwrap_err().rejection(),
        Some(Rejection::NoCredential)
    );
    let info = broken.stack.info();
    broken.layer.forget(&broken.cx, info, &model("m1")).await.unwrap();
    assert!(broken.stack.availability(&model("m1")).is_available());
    broken.call().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_retry_outside_waits_out_a_hint_and_passes_then() {
    let limited = error(ErrorKind::RateLimit).with_retry_after(Duration::from_micros(2_000_500));
    let driver = Arc::new(ScriptedDriver::new("alpha", [Reply::error(limited), fine()]));
    let retry = RetryPolicy::new(2)
        .with_backoff(Duration::ZERO, Duration::ZERO)
        .with_jitter(Jitter::Full);
    let stack = Stack::from_arc(driver.clone())
        .layer(BreakerLayer::default())
        .layer(RetryLayer::new(retry));
    stack.chat(&TestClock::context(), &request()).await.unwrap();
    assert_eq!(driver.call_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_retry_outside_leaves_a_refusal_alone_and_hands_on_what_the_vendor_said() {
    let driver = Arc::new(ScriptedDriver::always("alpha", down()));
    let stack = Stack::from_arc(driver.clone())
        .layer(BreakerLayer::new(BreakerPolicy::new(2, SECOND * 60)))
        .layer(RetryLayer::new(RetryPolicy::new(9)));
    let end = stack.chat(&TestClock::context(), &request()).await.unwrap_err();
    assert_eq!((end.kind(), driver.call_count()), (ErrorKind::Server, 2));
    assert_eq!(end.attempts().len(), 3, "the refusal is in the log");
}
