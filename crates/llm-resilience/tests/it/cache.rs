//! Answers that were given before.

mod shared;
pub(crate) mod shelf;
mod store;
mod streams;

use crate::{SECOND, error, request, timed};
use llm_core::{
    Block, CallContext, ChatRequest, ChatResponse, Cost, DriverInfo, ErrorKind, FinishKind, FinishReason,
    Phase, RawRequest, ResponseMeta, Result, Stack, TextPart, ToolCall, Usage, VendorId, WireFormatId,
};
use llm_core::{CostSource, DriverId, ModelId, ReasoningPart, RefusalPart, ResolvedModel};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{CacheLayer, CacheMode, CacheNamespace, CachePolicy, CachedStreams};
use shelf::Shelf;
use std::sync::Arc;
use std::time::Duration;

/// A driver that counts up: its answers are "1", "2", and so on.
fn counting() -> ScriptedDriver {
    ScriptedDriver::new("alpha", (1..100).map(|number| Reply::text(number.to_string())))
}

/// A driver with a cache around it.
struct Cached {
    driver: Arc<ScriptedDriver>,
    shelf: Arc<Shelf>,
    stack: Stack,
}

impl Cached {
    fn new(driver: ScriptedDriver, policy: CachePolicy) -> Self {
        Cached::on(Arc::new(Shelf::default()), driver, policy)
    }

    fn on(shelf: Arc<Shelf>, driver: ScriptedDriver, policy: CachePolicy) -> Self {
        let driver = Arc::new(driver);
        let layer = CacheLayer::new(policy, shelf.clone());
        let stack = Stack::from_arc(driver.clone()).layer(layer);
        Cached { driver, shelf, stack }
    }

    async fn text(&self, cx: &CallContext, request: &ChatRequest) -> String {
        self.stack.chat(cx, request).await.unwrap().text()
    }
}

fn ended(kind: FinishKind, blocks: Vec<Block>) -> ChatResponse {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks = blocks;
    response.finish = FinishReason::new(kind, Some("word".to_owned()));
    response
}

fn said(text: &str) -> Block {
    Block::Text(TextPart::new(text))
}

fn called() -> Block {
    Block::ToolCall(ToolCall::new("c1", "f", "{}"))
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_given_again_for_five_minutes() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    assert_eq!(cached.text(&cx, &request()).await, "1");
    tokio::time::sleep(SECOND * 299).await;
    assert_eq!(cached.text(&cx, &request()).await, "1");
    assert_eq!(cached.text(&cx, &ChatRequest::user("other")).await, "2");
    tokio::time::sleep(SECOND).await;
    assert_eq!(cached.text(&cx, &request()).await, "3");
}

#[tokio::test(start_paused = true)]
async fn a_hit_is_marked_and_free_and_says_what_it_saved() {
    let mut answer = ended(FinishKind::Stop, vec![said("Seven.")]);
    answer.usage = Usage::new(3, 2);
    answer.usage.cost = Some(Cost::new(70, CostSource::Reported));
    let cached = Cached::new(
        ScriptedDriver::new("alpha", [Reply::response(answer)]),
        CachePolicy::default(),
    );
    let cx = TestClock::context();
    let first = cached.stack.chat(&cx, &request()).await.unwrap();
    let hit = cached.stack.chat(&cx, &request()).await.unwrap();
    assert!(!first.meta.from_cache && first.meta.saved_cost.is_none());
    assert!(hit.meta.from_cache && hit.attempts.is_empty());
    assert_eq!(hit.meta.saved_cost, first.usage.cost);
    assert_eq!(hit.usage.cost.map(|cost| cost.pico_usd), Some(0));
    assert_eq!(hit.usage.total_tokens(), Some(5));
    assert_eq!(
        format!("{:?}", (&hit.blocks, &hit.finish, hit.meta.id, hit.meta.model)),
        format!(
            "{:?}",
            (&first.blocks, &first.finish, first.meta.id, first.meta.model)
        ),
    );
}

/// Is this answer kept?
async fn is_kept(policy: &CachePolicy, request: &ChatRequest, answer: ChatResponse) -> bool {
    let driver = ScriptedDriver::always("alpha", Reply::response(answer));
    let cached = Cached::new(driver, policy.clone());
    let cx = TestClock::context();
    for _ in 0..2 {
        cached.stack.chat(&cx, request).await.unwrap();
    }
    cached.driver.call_count() == 1
}

#[tokio::test(start_paused = true)]
async fn only_complete_answers_that_say_something_are_kept() {
    let (policy, ask) = (CachePolicy::default(), request());
    let thought = || Block::Reasoning(ReasoningPart::new("hm"));
    for (answer, kept) in [
        (ended(FinishKind::Stop, vec![said("Seven.")]), true),
        (ended(FinishKind::Stop, vec![thought(), said("Seven.")]), true),
        (
            ended(FinishKind::Stop, vec![Block::Refusal(RefusalPart::new("no"))]),
            true,
        ),
        (ended(FinishKind::Stop, vec![]), false),
        (ended(FinishKind::Stop, vec![said("")]), false),
        (ended(FinishKind::Stop, vec![thought()]), false),
        (ended(FinishKind::Length, vec![said("Sev")]), false),
        (ended(FinishKind::ContentFilter, vec![said("Sev")]), false),
        (ended(FinishKind::Refusal, vec![said("no")]), false),
        (ended(FinishKind::Pause, vec![said("Sev")]), false),
        (ended(FinishKind::ModelFault, vec![said("Sev")]), false),
        (ended(FinishKind::Other, vec![said("Sev")]), false),
        (ended(FinishKind::ToolCalls, vec![called()]), false),
        (ended(FinishKind::Stop, vec![called()]), false),
    ] {
        let what = format!("{:?} {:?}", answer.finish.kind, answer.blocks);
        assert_eq!(is_kept(&policy, &ask, answer).await, kept, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_not_kept_by_default_is_when_asked() {
    let ask = request();
    let tools = CachePolicy::default().with_tool_calls(true);
    assert!(is_kept(&tools, &ask, ended(FinishKind::ToolCalls, vec![called()])).await);
    let mut cut = ended(FinishKind::ToolCalls, vec![called()]);
    cut.incomplete_tool_calls = vec![llm_core::IncompleteToolCall::new("c2", "g", "{")];
    assert!(!is_kept(&tools, &ask, cut).await);

    let answer = || ended(FinishKind::Stop, vec![said("Seven.")]);
    let some = CachePolicy::default();
    let any = CachePolicy::default().with_max_temperature(None);
    for (temperature, kept) in [
        (0.0, true),
        (0.3, true),
        (0.31, false),
        (1.0, false),
        (f64::NAN, false),
    ] {
        let warm = request().with_temperature(temperature);
        assert_eq!(is_kept(&some, &warm, answer()).await, kept, "{temperature}");
    }
    assert!(is_kept(&any, &request().with_temperature(1.0), answer()).await);
    let large = CachePolicy::default().with_max_entry_bytes(20);
    assert!(!is_kept(&large, &ask, answer()).await);
}

#[tokio::test(start_paused = true)]
async fn failures_are_not_kept() {
    for kind in [ErrorKind::Server, ErrorKind::InvalidRequest, ErrorKind::RateLimit] {
        let driver = ScriptedDriver::new("alpha", [Reply::error(error(kind)), Reply::text("hello")]);
        let cached = Cached::new(driver, CachePolicy::default());
        let cx = TestClock::context();
        assert_eq!(cached.stack.chat(&cx, &request()).await.unwrap_err().kind(), kind);
        assert_eq!(cached.text(&cx, &request()).await, "hello");
        assert_eq!(cached.text(&cx, &request()).await, "hello");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_can_ask_anew_or_pass_by() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    let mode = |mode: CacheMode| cx.clone().with_extension(mode);
    let mut got = Vec::new();
    for cx in [
        mode(CacheMode::Use),
        mode(CacheMode::Bypass),
        cx.clone(),
        mode(CacheMode::Refresh),
        cx.clone(),
    ] {
        got.push(cached.text(&cx, &request()).await);
    }
    assert_eq!(got, ["1", "2", "1", "3", "3"]);
}

#[tokio::test(start_paused = true)]
async fn preferences_and_limits_of_a_call_make_no_difference_and_its_namespace_does() {
    let cached = Cached::new(counting(), CachePolicy::default());
    let cx = TestClock::context();
    for cx in [
        cx.clone(),
        cx.clone().with_prefer_quality(true),
        cx.clone().with_timeout(SECOND),
        cx.clone()
            .with_attempt(3)
            .with_request_id("r")
            .with_idempotency_key("k"),
        cx.clone().with_max_queue_wait(Duration::ZERO),
    ] {
        assert_eq!(cached.text(&cx, &request()).await, "1");
    }
    let tenant = |name: &str| cx.clone().with_extension(CacheNamespace::new(name));
    assert_eq!(cached.text(&tenant("a"), &request()).await, "2");
    assert_eq!(cached.text(&tenant("b"), &request()).await, "3");
    assert_eq!(cached.text(&tenant("a"), &request()).await, "2");
    assert_eq!(cached.text(&cx, &request()).await, "1");
}

#[tokio::test(start_paused = true)]
async fn a_store_is_shared_by_what_calls_the_same_vendor_and_model() {
    let shelf = Arc::new(Shelf::default());
    let on = |driver: ScriptedDriver, policy| Cached::on(shelf.clone(), driver, policy);
    let info = |vendor: &'static str, url: &str| {
        let (id, vendor) = (DriverId::from_static("alpha"), VendorId::from_static(vendor));
        DriverInfo::new(id, vendor, "Alpha").with_base_url(url)
    };
    let named =
        |vendor, url, text| ScriptedDriver::always("alpha", Reply::text(text)).with_info(info(vendor, url));
    let cx = TestClock::context();
    let ask = request().with_model(ModelId::new("m1").unwrap());
    let plain = CachePolicy::default();
    for (driver, policy, expected) in [
        (named("v", "http://a", "1"), plain.clone(), "1"),
        (named("v", "http://a", "2"), plain.clone(), "1"),
        (named("v", "http://b", "3"), plain.clone(), "3"),
        (named("w", "http://a", "4"), plain.clone(), "4"),
        (
            named("v", "http://a", "5"),
            plain.clone().with_namespace("n"),
            "5",
        ),
    ] {
        assert_eq!(on(driver, policy).text(&cx, &ask).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn raw_mode_is_refused_and_the_stack_says_so_beforehand() {
    let raw = RawRequest::new(WireFormatId::new("chat_completions"), "{}".into());
    let cx = TestClock::context().with_raw(Some(raw));
    let cached = Cached::new(counting(), CachePolicy::default());
    assert!(cached.stack.info().needs_content);
    let refused = cached.stack.chat(&cx, &request()).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.phase()),
        (ErrorKind::Unsupported, Phase::NotSent)
    );
    assert_eq!(cached.driver.call_count(), 0);
    // What passes by the cache may be raw.
    assert!(cached.stack.chat_stream(&cx, &request()).await.is_ok());
    let bypass = cx.clone().with_extension(CacheMode::Bypass);
    assert!(cached.stack.chat(&bypass, &request()).await.is_ok());

    let replaying = Cached::new(
        counting(),
        CachePolicy::default().with_streams(CachedStreams::Replay),
    );
    let refused = replaying.stack.chat_stream(&cx, &request()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
    let off = Cached::new(counting(), CachePolicy::off());
    assert!(!off.stack.info().needs_content);
    assert!(off.stack.chat(&cx, &request()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn what_the_driver_does_not_serve_is_left_to_it() {
    let m1 = ModelId::new("m1").unwrap();
    let models = [ResolvedModel::unknown(m1.clone())];
    let cached = Cached::new(counting().with_models(models), CachePolicy::default());
    let cx = TestClock::context();
    let unknown = request().with_model(ModelId::new("m2").unwrap());
    for _ in 0..2 {
        cached.stack.chat(&cx, &unknown).await.unwrap();
    }
    assert_eq!(cached.driver.call_count(), 2);
    assert!(cached.shelf.take_steps().is_empty());
    // The default model is a model like any other.
    let named = request().with_model(m1);
    assert_eq!(cached.text(&cx, &request()).await, cached.text(&cx, &named).await);
}
