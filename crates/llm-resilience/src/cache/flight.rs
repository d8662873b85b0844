//! Equal calls at once are asked once.

use super::key::CacheKey;
use llm_core::error::verdict::SameCandidate;
use llm_core::{ChatResponse, Error, ErrorKind, Phase, Scope};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};

/// After so many failures nobody waits any longer: each of the others asks for itself, as it would without a cache.
const FAILURES_TO_PART: u8 = 2;

/// The calls that are being made, by their key.
///
/// One call of a key *leads*: it holds the flight's lock while it asks. The others wait for the lock, first come
/// first served, and find what it left behind. A leader that fails or is dropped leaves the flight open, and the
/// next in line leads: nobody inherits a failure that was another's own.
#[derive(Default)]
pub(super) struct Flights {
    running: Mutex<HashMap<CacheKey, Running>>,
}

struct Running {
    landing: Arc<FairMutex<Landing>>,
    /// Who leads or waits: the last to leave takes the flight away.
    aboard: usize,
}

/// What a flight has come to.
#[derive(Debug)]
enum Landing {
    /// Nothing yet, but so many failures.
    Open { failures: u8 },
    /// An answer for all.
    Answer(Arc<ChatResponse>),
    /// A failure that every equal call would meet.
    Failure(Error),
    /// Nothing to share: each for itself.
    Apart,
}

/// How a call got aboard.
pub(super) enum Boarded<'a> {
    /// It asks, for itself and the others.
    Leading(Lead<'a>),
    /// Another has asked.
    Answered(Arc<ChatResponse>),
    /// Another has asked in vain, as this one would.
    Failed(Error),
    /// Another's answer is not for sharing: ask.
    Apart,
}

/// The leader of a flight. Dropping it hands the lead on.
pub(super) struct Lead<'a> {
    /// Let go before the ticket.
    landing: OwnedMutexGuard<Landing>,
    ticket: Ticket<'a>,
}

/// A place in a flight.
pub(super) struct Ticket<'a> {
    flights: &'a Flights,
    key: CacheKey,
    landing: Arc<FairMutex<Landing>>,
    /// Newcomers are not to find this flight any longer.
    closes: bool,
}

impl Flights {
    /// Joins the flight of a key, or begins it. Waits while another leads.
    pub(super) async fn board(&self, key: CacheKey) -> Boarded<'_> {
        let ticket = self.ticket(key);
        let landing = Arc::clone(&ticket.landing).lock_owned().await;
        match &*landing {
            Landing::Open { .. } => Boarded::Leading(Lead { landing, ticket }),
            Landing::Answer(response) => Boarded::Answered(Arc::clone(response)),
            Landing::Failure(error) => Boarded::Failed(error.clone()),
            Landing::Apart => Boarded::Apart,
        }
    }

    fn ticket(&self, key: CacheKey) -> Ticket<'_> {
        let mut running = self.running();
        let flight = running.entry(key).or_insert_with(|| Running {
            landing: Arc::new(FairMutex::new(Landing::Open { failures: 0 })),
            aboard: 0,
        });
        flight.aboard += 1;
        Ticket {
            flights: self,
            key,
            landing: Arc::clone(&flight.landing),
            closes: false,
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<CacheKey, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.running().is_empty()
    }
}

impl<'a> Lead<'a> {
    /// The others get this answer. Newcomers do too until the ticket is dropped: as long as the leader puts it
    /// into the store.
    pub(super) fn land(mut self, response: Arc<ChatResponse>) -> Ticket<'a> {
        *self.landing = Landing::Answer(response);
        self.ticket.closes = true;
        self.ticket
    }

    /// The others ask for themselves, all at once.
    pub(super) fn part(mut self) {
        *self.landing = Landing::Apart;
        self.ticket.closes = true;
    }

    /// The others get this failure where each of them would meet it too; else the next one leads.
    pub(super) fn fail(mut self, error: &Error) {
        let failures = match &*self.landing {
            Landing::Open { failures } => failures.saturating_add(1),
            _ => 1,
        };
        if is_the_callers_own(error) {
            return;
        }
        if is_everybodys(error) {
            // What was tried and may have been billed was the leader's.
            let shared = error.clone().with_attempts(Vec::new()).with_phase(Phase::NotSent);
            *self.landing = Landing::Failure(shared);
            self.ticket.closes = true;
        } else if failures >= FAILURES_TO_PART {
            self.part();
        } else {
            *self.landing = Landing::Open { failures };
        }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut running = self.flights.running();
        let Entry::Occupied(mut flight) = running.entry(self.key) else {
            return;
        };
        // Another flight of the same key may have begun after this one was closed.
        if !Arc::ptr_eq(&flight.get().landing, &self.landing) {
            return;
        }
        flight.get_mut().aboard -= 1;
        if self.closes || flight.get().aboard == 0 {
            flight.remove();
        }
    }
}

impl fmt::Debug for Flights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flights({} running)", self.running().len())
    }
}

/// Does it say something only of the call that it ended?
fn is_the_callers_own(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Timeout => error.scope() == Scope::Request,
        ErrorKind::Cancelled => true,
        _ => false,
    }
}

/// Would every equal call meet it? What cannot be tried again, unless one of our own layers refused, which looks at
/// more than the request.
fn is_everybodys(error: &Error) -> bool {
    error.verdict().same == SameCandidate::No && error.rejection().is_none()
}

#[cfg(test)]
mod tests;
