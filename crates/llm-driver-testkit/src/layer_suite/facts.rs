//! What a layer says of what it wraps.

use super::{DRIVER, Subject, sample};
use crate::clock::TestClock;
use crate::scenario::ensure;
use crate::scripted::{Reply, ScriptedDriver};
use llm_core::{
    Availability, Capabilities, Capability, ErrorKind, HealthStatus, ModelId, ResolvedModel,
    UnavailableReason,
};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The layer says that it is there, and nothing else changes in who the driver is.
pub(super) async fn name(subject: &Subject) -> Result<(), String> {
    let inner = Arc::new(ScriptedDriver::new(DRIVER, []));
    let info = llm_core::ChatDriver::info(&*inner)
        .clone()
        .with_base_url("https://vendor.test/v1")
        .with_layer("deeper")
        .with_router();
    let pair = subject.around(ScriptedDriver::new(DRIVER, []).with_info(info.clone()));
    let found = pair.layered.info().clone();
    let [own, deeper] = found.layers.as_slice() else {
        return Err(format!(
            "info() lists the layers {:?}; put exactly one name before what is there",
            found.layers
        ));
    };
    ensure!(
        deeper == "deeper",
        "info() lists {own}, {deeper}; the layer's own name goes first"
    );
    ensure!(!own.is_empty(), "info() names the layer with an empty name");
    ensure!(
        info.clone().with_layer(own.clone()) == found,
        "info() changes more than the layers: {found:?}"
    );
    Ok(())
}

/// Which model will serve is the driver's answer, good or bad.
pub(super) async fn resolve(subject: &Subject) -> Result<(), String> {
    let model = |name: &str| ModelId::new(name).map_err(|error| error.to_string());
    let (known, unknown) = (model("m1")?, model("m2")?);
    let resolved = ResolvedModel::unknown(known.clone())
        .with_capabilities(Capabilities::only([Capability::Tools, Capability::Streaming]));
    let pair = subject.around(ScriptedDriver::new(DRIVER, []).with_models([resolved]));
    for asked in [None, Some(&known)] {
        let [bare, layered] = [&pair.bare, &pair.layered].map(|stack| {
            stack
                .resolve(asked)
                .map(|resolved| format!("{resolved:?}"))
                .map_err(|error| error.to_string())
        });
        ensure!(
            bare == layered,
            "resolve({asked:?}) answers {layered:?}; the driver answers {bare:?}"
        );
    }
    match pair.layered.resolve(Some(&unknown)) {
        Err(error) if error.kind() == ErrorKind::UnknownModel => Ok(()),
        other => Err(format!(
            "resolve of an unknown model answers {other:?}; the driver says unknown_model"
        )),
    }
}

/// A door that is closed inside is closed outside, and opens when it opens.
pub(super) async fn availability(subject: &Subject) -> Result<(), String> {
    let model = ModelId::new("m1").map_err(|error| error.to_string())?;
    let until = TestClock::context().clock().now() + Duration::from_secs(60);
    let closed = [
        Availability::unavailable(UnavailableReason::Disabled, None),
        Availability::unavailable(UnavailableReason::RateLimit, until),
        Availability::Available,
    ];
    let pair = subject.around(ScriptedDriver::new(DRIVER, []));
    for answer in closed {
        pair.driver.set_availability(answer);
        let found = pair.layered.availability(&model);
        ensure!(
            found == answer,
            "availability() answers {found:?}; the driver answers {answer:?}"
        );
    }
    Ok(())
}

/// A probe asks the driver, and its answer is the driver's.
pub(super) async fn health(subject: &Subject) -> Result<(), String> {
    let ill = HealthStatus::unhealthy(SystemTime::UNIX_EPOCH, "ill");
    let pair = subject.around(ScriptedDriver::new(DRIVER, []).with_health(ill.clone()));
    let found = pair.layered.health(&TestClock::context()).await;
    ensure!(
        found == ill,
        "health() answers {found:?}; the driver answers {ill:?}"
    );
    Ok(())
}

/// One layer value around two drivers: each call goes to its own.
pub(super) async fn several_drivers(subject: &Subject) -> Result<(), String> {
    let pairs = ["one", "two"].map(|name| {
        let driver = ScriptedDriver::always(DRIVER, Reply::text(name));
        (name, subject.around(driver))
    });
    for (name, pair) in &pairs {
        // Another conversation for each: a layer that shares answers between equal calls does nothing wrong.
        let request = sample::request().with_user(*name);
        let response = pair.layered.chat(&TestClock::context(), &request).await;
        let text = response.map_err(|error| format!("{name}: {error}"))?.text();
        ensure!(
            text == *name,
            "the driver {name:?} was called and {text:?} answered"
        );
    }
    Ok(())
}
