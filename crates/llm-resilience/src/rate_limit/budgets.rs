//! The budgets of a layer, one for each of what its scope tells apart.

use super::budget::Budget;
use super::config::{RateLimitPolicy, RateLimitScope};
use super::settle::Settler;
use super::store::QuotaStore;
use crate::policy::Target;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(super) struct Budgets {
    policy: RateLimitPolicy,
    settler: Option<Arc<Settler>>,
    shared: Arc<Budget>,
    apart: Mutex<Apart>,
}

#[derive(Debug, Default)]
struct Apart {
    budgets: HashMap<String, Arc<Budget>>,
    /// How many there may be before the idle ones are cleared away: callers choose models' names.
    sweep_at: usize,
}

impl Budgets {
    const SWEEP_FROM: usize = 64;

    pub(super) fn new(policy: RateLimitPolicy, store: Option<Arc<dyn QuotaStore>>) -> Self {
        let settler = store.map(|store| Arc::new(Settler::new(store)));
        Budgets {
            shared: Arc::new(Budget::new(policy.budget.clone(), &policy, settler.clone())),
            policy,
            settler,
            apart: Mutex::default(),
        }
    }

    /// Is nothing limited?
    pub(super) fn are_off(&self) -> bool {
        self.policy.requests_per_minute.is_none() && self.policy.tokens_per_minute.is_none()
    }

    pub(super) fn of(&self, target: &Target<'_>) -> Arc<Budget> {
        let (budget, driver) = (&self.policy.budget, target.driver);
        let name = match self.policy.scope {
            RateLimitScope::Layer => return Arc::clone(&self.shared),
            RateLimitScope::Driver => format!("{budget} {} {}", driver.id, driver.base_url),
            RateLimitScope::Model => {
                let model = target.serving_model();
                let model = model.as_ref().map_or("", |model| model.as_str());
                format!("{budget} {} {} {model}", driver.id, driver.base_url)
            }
        };
        let mut apart = self.apart.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(budget) = apart.budgets.get(&name) {
            return Arc::clone(budget);
        }
        if apart.budgets.len() >= apart.sweep_at.max(Self::SWEEP_FROM) {
            // Who holds a budget is about to use it, or has a lease of it.
            apart
                .budgets
                .retain(|_, budget| Arc::strong_count(budget) > 1 || !budget.is_idle());
            apart.sweep_at = apart.budgets.len() * 2;
        }
        let budget = Arc::new(Budget::new(name.clone(), &self.policy, self.settler.clone()));
        apart.budgets.insert(name, Arc::clone(&budget));
        budget
    }
}
