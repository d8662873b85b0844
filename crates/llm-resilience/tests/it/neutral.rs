//! Layers that have nothing to do are not noticed, and a layer says that it is there.

use crate::{error, read, request};
use llm_core::{Availability, HealthStatus, ResolvedModel};
use llm_core::{ChatLayer, Error, ErrorKind, ModelId, Stack, UnavailableReason};
use llm_driver_testkit::{Reply, ScriptedDriver, TestClock};
use llm_resilience::{BulkheadLayer, BulkheadPolicy, RetryLayer, RetryPolicy, TimeoutLayer, TimeoutPolicy};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

fn layers() -> Vec<Box<dyn ChatLayer>> {
    vec![
        Box::new(RetryLayer::default()),
        Box::new(RetryLayer::new(RetryPolicy::off())),
        Box::new(TimeoutLayer::default()),
        Box::new(TimeoutLayer::attempt(TimeoutPolicy::off())),
        Box::new(BulkheadLayer::new(BulkheadPolicy::new(1))),
    ]
}

fn replies() -> Vec<Reply> {
    let slow = Duration::from_secs(3);
    vec![
        Reply::text("hello"),
        Reply::text("hello").with_event_pause(slow).with_pause(slow),
        Reply::text(""),
        Reply::text("hello").broken_after(3, error(ErrorKind::Interrupted)),
        Reply::error(error(ErrorKind::InvalidRequest)),
    ]
}

/// All that a caller sees of an error but the log of attempts and what a layer alone can know.
fn seen(error: Error) -> String {
    format!(
        "{error} {:?} {:?} {:?}",
        error.scope(),
        error.retry_after(),
        error.verdict()
    )
}

#[tokio::test(start_paused = true)]
async fn a_layer_without_anything_to_do_changes_nothing() {
    for layer in layers() {
        for reply in replies() {
            let driver: Arc<ScriptedDriver> = Arc::new(ScriptedDriver::always("alpha", reply));
            let bare = Stack::from_arc(driver.clone());
            let layered = Stack::from_arc(layer.layer(driver));
            let cx = TestClock::context();
            let [bare_chat, layered_chat] = [
                bare.chat(&cx, &request()).await,
                layered.chat(&cx, &request()).await,
            ]
            .map(|outcome| {
                outcome.map(|response| {
                    format!(
                        "{:?}",
                        (response.meta, response.blocks, response.finish, response.usage)
                    )
                })
            });
            assert_eq!(bare_chat.map_err(seen), layered_chat.map_err(seen), "{layer:?}");

            let mut streams = Vec::new();
            for stack in [&bare, &layered] {
                streams.push(match stack.chat_stream(&cx, &request()).await {
                    Ok(stream) => {
                        let (events, end) = read(stream).await;
                        (events, end.map(seen))
                    }
                    Err(error) => (Vec::new(), Some(seen(error))),
                });
            }
            assert_eq!(streams[0], streams[1], "{layer:?}");
        }
    }
}

#[tokio::test]
async fn questions_about_the_driver_pass_through() {
    let model = ModelId::new("m1").unwrap();
    let closed = Availability::unavailable(UnavailableReason::Disabled, None);
    let ill = HealthStatus::unhealthy(SystemTime::UNIX_EPOCH, "ill");
    for layer in layers() {
        let driver = ScriptedDriver::new("alpha", [])
            .with_models([ResolvedModel::unknown(model.clone())])
            .with_availability(closed)
            .with_health(ill.clone());
        let stack = Stack::from_arc(layer.layer(Arc::new(driver)));
        assert_eq!(stack.resolve(None).unwrap().id, model);
        let other = ModelId::new("m2").unwrap();
        assert_eq!(
            stack.resolve(Some(&other)).unwrap_err().kind(),
            ErrorKind::UnknownModel
        );
        assert_eq!(stack.availability(&model), closed);
        assert_eq!(stack.health(&TestClock::context()).await, ill);
    }
}

#[test]
fn a_stack_names_its_layers() {
    let stack = Stack::new(ScriptedDriver::new("alpha", []))
        .layer(TimeoutLayer::default())
        .layer(RetryLayer::default());
    assert_eq!(stack.info().to_string(), "retry > timeout > alpha");
}
