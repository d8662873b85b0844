//! What all requests share.

use crate::auth::Tokens;
use crate::backend::Statuses;
use crate::call_log::{KeptDecision, Trails};
use crate::config::Config;
use crate::route::Routes;
use crate::running::Running;
use crate::store::{Recorder, Store};
use llm_suite::core::Clock;
use llm_suite::routing::{PlanExecutor, RoutingEngine, RoutingPolicy};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// How many decisions are kept in memory.
const DECISIONS_KEPT: usize = 10_000;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) routes: Routes,
    pub(crate) engine: RoutingEngine,
    pub(crate) executor: PlanExecutor,
    pub(crate) statuses: Arc<Statuses>,
    /// `None`: anybody may call.
    pub(crate) tokens: Option<Tokens>,
    pub(crate) recorder: Recorder,
    pub(crate) db_path: PathBuf,
    pub(crate) clock: Arc<dyn Clock>,
    decisions: Mutex<VecDeque<Arc<KeptDecision>>>,
    pub(crate) running: Running,
}

impl App {
    pub(crate) fn new(
        config: Config,
        routes: Routes,
        tokens: Option<Tokens>,
        store: &Store,
        recorder: Recorder,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let statuses = Arc::new(Statuses::default());
        App {
            config,
            routes,
            engine: RoutingEngine::new(RoutingPolicy::default().with_name("ordered")),
            executor: PlanExecutor::new()
                .with_observer(statuses.clone())
                .with_observer(Arc::new(Trails)),
            statuses,
            tokens,
            recorder,
            db_path: store.path().to_owned(),
            clock,
            decisions: Mutex::default(),
            running: Running::default(),
        }
    }

    /// Now, in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        let since = self
            .clock
            .wall()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    pub(crate) fn keep_decision(&self, decision: KeptDecision) {
        let mut kept = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == DECISIONS_KEPT {
            kept.pop_front();
        }
        kept.push_back(Arc::new(decision));
    }

    pub(crate) fn kept_decision(&self, request_id: &str) -> Option<Arc<KeptDecision>> {
        let kept = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter()
            .rfind(|decision| decision.request_id == request_id)
            .cloned()
    }
}
