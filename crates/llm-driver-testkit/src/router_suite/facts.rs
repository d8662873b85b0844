//! What a router says of itself.

use super::{Subject, failed};
use crate::clock::TestClock;
use crate::log_capture::Captured;
use crate::scenario::ensure;
use crate::scripted::{Reply, ScriptedDriver};
use crate::subject::SENTINEL_PROMPT;
use llm_core::capability::{Capability, Support};
use llm_core::{
    Availability, Capabilities, ChatRequest, Error, ErrorKind, ModelId, ModelLimits, Price, ResolvedModel,
    UnavailableReason,
};
use std::time::Duration;

/// Layers and other routers must be able to tell.
pub(super) async fn is_router(subject: &Subject) -> Result<(), String> {
    let fleet = subject.replying([Reply::text("a"), Reply::text("b")]);
    let info = fleet.router.info();
    ensure!(info.is_router, "its DriverInfo does not say that it is a router");
    ensure!(
        info.id.as_str().starts_with("router:"),
        "its id is {}; expected router:NAME",
        info.id
    );
    Ok(())
}

fn known(name: &str, capability: Capability, window: u64) -> Result<ResolvedModel, String> {
    let id = ModelId::new(name).map_err(failed)?;
    let mut model = ResolvedModel::unknown(id)
        .with_capabilities(Capabilities::only([capability]))
        .with_limits(ModelLimits::new(Some(window), None, None))
        .with_price(Price::default());
    model.known = true;
    Ok(model)
}

fn two_models() -> Result<Vec<ScriptedDriver>, String> {
    let driver = |name| ScriptedDriver::always(name, Reply::text("hello"));
    Ok(vec![
        driver("first").with_models([known("m", Capability::Tools, 1_000)?]),
        driver("second").with_models([known("n", Capability::Vision, 9_000)?]),
    ])
}

/// Without a model it can do what any candidate can, in the largest window, at an unknown price; with one, what the
/// candidates can that serve it.
pub(super) async fn union(subject: &Subject) -> Result<(), String> {
    let fleet = subject.over(two_models()?);
    let any = fleet.router.resolve(None).map_err(failed)?;
    for (capability, expected) in [
        (Capability::Tools, Support::Yes),
        (Capability::Vision, Support::Yes),
        (Capability::AudioInput, Support::No),
    ] {
        let found = any.capabilities.support(capability);
        ensure!(
            found == expected,
            "{capability} is {found:?}; expected {expected:?}"
        );
    }
    let window = any.limits.context_window;
    ensure!(
        window == Some(9_000),
        "its window is {window:?}; expected the largest, 9000"
    );
    ensure!(
        any.price.is_none(),
        "it states a price, which depends on who serves"
    );
    let named = ModelId::new("m").map_err(failed)?;
    let one = fleet.router.resolve(Some(&named)).map_err(failed)?;
    let vision = one.capabilities.support(Capability::Vision);
    ensure!(
        vision == Support::No,
        "for the model m, vision is {vision:?}, which only n has"
    );
    Ok(())
}

/// A name that nobody serves is refused, and nobody is called.
pub(super) async fn unknown_model(subject: &Subject) -> Result<(), String> {
    let fleet = subject.over(two_models()?);
    let named = ModelId::new("nobody-serves-this").map_err(failed)?;
    let kind = fleet.router.resolve(Some(&named)).err().map(|error| error.kind());
    ensure!(
        kind == Some(ErrorKind::UnknownModel),
        "resolving it gives {kind:?}; expected unknown_model"
    );
    let request = ChatRequest::user("hi").with_model(named);
    let outcome = fleet.router.chat(&TestClock::context(), &request).await;
    ensure!(outcome.is_err(), "a call for it is served");
    ensure!(
        fleet.called() == [0, 0],
        "{:?} calls were made for it",
        fleet.called()
    );
    Ok(())
}

/// It is available while any candidate is; else from the earliest end on.
pub(super) async fn availability(subject: &Subject) -> Result<(), String> {
    let now = TestClock::context().clock().now();
    let closed =
        |seconds| Availability::unavailable(UnavailableReason::RateLimit, now + Duration::from_secs(seconds));
    let fleet = |availabilities: [Availability; 2]| {
        let drivers = super::NAMES
            .into_iter()
            .zip(availabilities)
            .map(|(name, availability)| {
                ScriptedDriver::always(name, Reply::text("hello")).with_availability(availability)
            });
        subject.over(drivers.collect())
    };
    for (availabilities, expected) in [
        ([Availability::Available, closed(9)], Availability::Available),
        ([closed(9), Availability::Available], Availability::Available),
        ([closed(9), closed(4)], closed(4)),
    ] {
        let fleet = fleet(availabilities);
        let model = fleet.router.resolve(None).map_err(failed)?.id.clone();
        let found = fleet.router.availability(&model);
        ensure!(
            found == expected,
            "over {availabilities:?} it is {found:?}; expected {expected:?}"
        );
    }
    Ok(())
}

/// Neither `Debug`, nor errors, nor what is logged shows what was said.
pub(super) async fn secrets(subject: &Subject) -> Result<(), String> {
    let log = Captured::begin();
    let request = ChatRequest::user(SENTINEL_PROMPT);
    let text = || Reply::text(SENTINEL_PROMPT);
    let fails = |kind| Reply::error(Error::new(kind, "it does not"));
    for replies in [
        vec![fails(ErrorKind::Server), text()],
        vec![fails(ErrorKind::Server), fails(ErrorKind::RateLimit)],
        vec![fails(ErrorKind::InvalidRequest)],
        vec![text().broken_after(3, Error::new(ErrorKind::Interrupted, "cut"))],
    ] {
        let fleet = subject.replying(replies);
        let cx = TestClock::context();
        let mut seen = format!("{:?}", fleet.router);
        if let Err(error) = fleet.router.chat(&cx, &request).await {
            seen.push_str(&format!("{error} {error:?} {}", llm_core::Chain(&error)));
        }
        match fleet.router.chat_stream(&cx, &request).await {
            Ok(mut stream) => {
                seen.push_str(&format!("{stream:?}"));
                while let Some(event) = stream.next_event().await {
                    if let Err(error) = event {
                        seen.push_str(&format!("{error} {error:?} {}", llm_core::Chain(&error)));
                    }
                }
            }
            Err(error) => seen.push_str(&format!("{error:?}")),
        }
        ensure!(!seen.contains(SENTINEL_PROMPT), "content shows: {seen}");
    }
    let logged = log.text();
    ensure!(
        !logged.contains(SENTINEL_PROMPT),
        "the log shows content: {logged}"
    );
    Ok(())
}
