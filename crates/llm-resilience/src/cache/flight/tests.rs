//! Equal calls, led by one of them at a time.

use super::*;
use crate::cache::key::Asked;
use llm_core::{
    Block, ChatRequest, DriverId, DriverInfo, ModelId, Rejection, ResponseMeta, TextPart, VendorId,
};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::task::JoinSet;

fn key(text: &str) -> CacheKey {
    let vendor = VendorId::from_static("alpha");
    CacheKey::of(&Asked {
        driver: &DriverInfo::new(DriverId::from_static("alpha"), vendor, "Alpha"),
        model: &ModelId::new("m1").unwrap(),
        namespaces: ["", ""],
        request: &ChatRequest::user(text),
    })
    .unwrap()
}

fn answer() -> Arc<ChatResponse> {
    let mut response = ChatResponse::new(ResponseMeta::default());
    response.blocks.push(Block::Text(TextPart::new("Seven.")));
    Arc::new(response)
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "scripted").with_phase(Phase::Sent)
}

/// How a leader ends.
#[derive(Clone)]
enum End {
    Land,
    Part,
    Fail(Error),
    Drop,
}

/// What each of so many equal calls came to, in the order in which they began; leaders end as told, one after the
/// other, and the last way repeats.
async fn fly(calls: usize, ends: Vec<End>) -> Vec<String> {
    let flights = Arc::new(Flights::default());
    let led = Arc::new(AtomicUsize::new(0));
    let mut running = JoinSet::new();
    for call in 0..calls {
        let (flights, led, ends) = (flights.clone(), led.clone(), ends.clone());
        running.spawn(async move {
            let came_to = match flights.board(key("a")).await {
                Boarded::Leading(lead) => {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    let end = led.fetch_add(1, SeqCst).min(ends.len() - 1);
                    match &ends[end] {
                        End::Land => drop(lead.land(answer())),
                        End::Part => lead.part(),
                        End::Fail(error) => lead.fail(error),
                        End::Drop => drop(lead),
                    }
                    "led".to_owned()
                }
                Boarded::Answered(response) => response.text(),
                Boarded::Failed(error) => format!("{error} {:?}", error.phase()),
                Boarded::Apart => "apart".to_owned(),
            };
            (call, came_to)
        });
    }
    let mut came_to = running.join_all().await;
    came_to.sort();
    assert!(flights.is_empty(), "nothing is left behind");
    came_to.into_iter().map(|(_, what)| what).collect()
}

#[tokio::test(start_paused = true)]
async fn one_leads_and_the_others_get_its_answer() {
    assert_eq!(
        fly(4, vec![End::Land]).await,
        ["led", "Seven.", "Seven.", "Seven."]
    );
}

#[tokio::test(start_paused = true)]
async fn where_a_leader_fails_or_goes_away_the_next_one_leads() {
    let server = End::Fail(error(ErrorKind::Server));
    for first in [server, End::Drop, End::Fail(Error::deadline("late"))] {
        let came_to = fly(4, vec![first, End::Land]).await;
        assert_eq!(came_to, ["led", "led", "Seven.", "Seven."]);
    }
}

#[tokio::test(start_paused = true)]
async fn after_two_failures_each_asks_for_itself() {
    let server = End::Fail(error(ErrorKind::Server));
    let came_to = fly(5, vec![server.clone(), server.clone()]).await;
    assert_eq!(came_to, ["led", "led", "apart", "apart", "apart"]);
    // Who went away or ran out of time has not failed.
    let late = End::Fail(Error::deadline("late"));
    let came_to = fly(6, vec![End::Drop, server, late, End::Drop, End::Land]).await;
    assert_eq!(came_to, ["led", "led", "led", "led", "led", "Seven."]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_kept_is_not_shared_either() {
    assert_eq!(fly(3, vec![End::Part]).await, ["led", "apart", "apart"]);
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_each_would_meet_is_shared_and_no_other() {
    for kind in ErrorKind::ALL {
        if kind == ErrorKind::Cancelled {
            continue;
        }
        let came_to = fly(3, vec![End::Fail(error(kind)), End::Land]).await;
        let shared = error(kind).verdict().same == SameCandidate::No;
        let second = if shared {
            format!("{kind}: scripted NotSent")
        } else {
            "led".to_owned()
        };
        assert_eq!(came_to[1], second, "{kind}");
    }
    let full = Error::rejected(Rejection::BulkheadFull, "full");
    assert_eq!(fly(3, vec![End::Fail(full), End::Land]).await[1], "led");
}

#[tokio::test(start_paused = true)]
async fn newcomers_get_an_answer_until_it_is_in_the_store() {
    let flights = Flights::default();
    let Boarded::Leading(lead) = flights.board(key("a")).await else {
        panic!("the first one leads");
    };
    let ticket = lead.land(answer());
    assert!(matches!(flights.board(key("a")).await, Boarded::Answered(_)));
    assert!(matches!(flights.board(key("b")).await, Boarded::Leading(_)));
    drop(ticket);
    assert!(matches!(flights.board(key("a")).await, Boarded::Leading(_)));
    assert!(flights.is_empty());
}

#[tokio::test(start_paused = true)]
async fn at_most_one_leads_whoever_goes_away_when() {
    for life in 0..5000 {
        let mut random = fastrand::Rng::with_seed(life);
        let flights = Arc::new(Flights::default());
        let leading = Arc::new(AtomicUsize::new(0));
        let mut running = JoinSet::new();
        for _ in 0..random.usize(1..10) {
            let (flights, leading) = (flights.clone(), leading.clone());
            let mut random = random.fork();
            running.spawn(async move {
                let mut millis = |most| Duration::from_millis(random.u64(0..=most));
                let (late, patience, takes) = (millis(20), millis(30), millis(10));
                tokio::time::sleep(late).await;
                let call = async {
                    if let Boarded::Leading(lead) = flights.board(key("a")).await {
                        assert_eq!(leading.fetch_add(1, SeqCst), 0, "life {life}");
                        let _one = scopeguard(leading.clone());
                        tokio::time::sleep(takes).await;
                        match random.u8(0..5) {
                            0 => drop(lead.land(answer())),
                            1 => lead.part(),
                            2 => lead.fail(&error(ErrorKind::Server)),
                            3 => lead.fail(&error(ErrorKind::InvalidRequest)),
                            _ => drop(lead),
                        }
                    }
                };
                let _ = tokio::time::timeout(patience, call).await;
            });
        }
        while let Some(joined) = running.join_next().await {
            joined.unwrap();
        }
        assert!(flights.is_empty(), "life {life}");
    }
}

/// Counts down when it is dropped.
fn scopeguard(leading: Arc<AtomicUsize>) -> impl Drop {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    Guard(leading)
}
