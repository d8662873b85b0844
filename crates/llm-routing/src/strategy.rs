//! The twelve named strategies: a name and options make a policy.

mod config;
mod options;

use crate::policy::RoutingPolicy;
use llm_core::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value};
use std::fmt;

pub use config::StrategyConfig;

/// A named way to choose among candidates.
///
/// Each builds a [`RoutingPolicy`] from its [options](Self::options). All of them hold a named model binding and never
/// plan a candidate whose stack does not take its model; what the request needs beyond that (abilities, window, quota) is
/// binding too, unless `strict` is false: then it only takes from the score.
///
/// ```
/// use llm_routing::Strategy;
/// use serde_json::json;
/// let policy = Strategy::parse("least_busy")?.policy(&json!({}))?;
/// assert_eq!(policy.name(), "least-busy");
///
/// let error = Strategy::Weighted.policy(&json!({ "wieghts": { "a": 1 } })).unwrap_err();
/// assert!(error.message().contains("it has: weights, strict, penalty"), "{error}");
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// By a fixed list.
    Priority,
    /// By chance, in proportion to weights.
    Weighted,
    /// By chance, all alike.
    Random,
    /// Who has the fewest calls running.
    LeastBusy,
    /// Who has answered fastest.
    Latency,
    /// Who would cost least.
    Cost,
    /// Who was used least.
    Usage,
    /// Who has answered most reliably.
    Reliability,
    /// In the order given, where the input fits.
    ContextWindow,
    /// In the order given, who can do what is needed.
    Capability,
    /// Who has most of its quota left.
    Quota,
    /// In turn.
    RoundRobin,
}

/// One option of a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrategyOption {
    /// Its key.
    pub name: &'static str,
    /// What it holds.
    pub form: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 12] = [
        Strategy::Priority,
        Strategy::Weighted,
        Strategy::Random,
        Strategy::LeastBusy,
        Strategy::Latency,
        Strategy::Cost,
        Strategy::Usage,
        Strategy::Reliability,
        Strategy::ContextWindow,
        Strategy::Capability,
        Strategy::Quota,
        Strategy::RoundRobin,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Strategy::Priority => "priority",
            Strategy::Weighted => "weighted",
            Strategy::Random => "random",
            Strategy::LeastBusy => "least-busy",
            Strategy::Latency => "latency",
            Strategy::Cost => "cost",
            Strategy::Usage => "usage",
            Strategy::Reliability => "reliability",
            Strategy::ContextWindow => "context-window",
            Strategy::Capability => "capability",
            Strategy::Quota => "quota",
            Strategy::RoundRobin => "round-robin",
        }
    }

    /// Other names that are understood. (In every name, case does not matter, and `_` is as good as `-`.)
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Strategy::LeastBusy => &["leastbusy"],
            Strategy::Usage => &["usage-based"],
            Strategy::ContextWindow => &["capacity"],
            Strategy::Capability => &["capabilities"],
            Strategy::RoundRobin => &["roundrobin"],
            Strategy::Priority
            | Strategy::Weighted
            | Strategy::Random
            | Strategy::Latency
            | Strategy::Cost
            | Strategy::Reliability
            | Strategy::Quota => &[],
        }
    }

    /// Whom it prefers, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Strategy::Priority => "the highest number of a fixed list",
            Strategy::Weighted => "by chance, in proportion to weights",
            Strategy::Random => "by chance, all alike",
            Strategy::LeastBusy => "the fewest calls running now",
            Strategy::Latency => "the shortest time of recent calls",
            Strategy::Cost => "the lowest estimated cost",
            Strategy::Usage => "the least used in the last ten minutes",
            Strategy::Reliability => "the highest share of recent calls that ended well",
            Strategy::ContextWindow => "the first whose context window takes input and output",
            Strategy::Capability => "the first that can do all that is needed",
            Strategy::Quota => "the largest share of quota left",
            Strategy::RoundRobin => "in turn, each as often as its weight",
        }
    }

    /// What can be set, its own options first.
    pub fn options(self) -> impl Iterator<Item = &'static StrategyOption> {
        options::own(self).iter().chain(options::COMMON)
    }

    /// The strategy of this name.
    ///
    /// # Errors
    /// `Config`, when there is none; the message lists all names.
    pub fn parse(name: &str) -> Result<Self> {
        let plain = name.trim().to_ascii_lowercase().replace('_', "-");
        let named =
            |strategy: &Strategy| strategy.as_str() == plain || strategy.aliases().contains(&plain.as_str());
        Strategy::ALL.into_iter().find(named).ok_or_else(|| {
            let all = Strategy::ALL.map(Strategy::as_str).join(", ");
            config_error(format!("there is no strategy {name:?}; there are: {all}"))
        })
    }

    /// The policy of this strategy with these options, an object.
    ///
    /// # Errors
    /// `Config`, when an option is not known (the message lists those that are), is of the wrong form, or holds a value
    /// that says nothing: a negative or infinite weight, weights that are all 0.
    pub fn policy(self, options: &Value) -> Result<RoutingPolicy> {
        let Some(options) = options.as_object() else {
            return Err(config_error(format!(
                "the options of the strategy {self} must be an object"
            )));
        };
        self.check_keys(options)?;
        options::policy(self, options)
            .map_err(|error| config_error(format!("strategy {self}: {}", error.message())))
    }

    fn check_keys(self, options: &Map<String, Value>) -> Result<()> {
        let known: Vec<_> = self.options().map(|option| option.name).collect();
        let unknown = options.keys().find(|key| !known.contains(&key.as_str()));
        match unknown {
            Some(key) => Err(config_error(format!(
                "the strategy {self} has no option {key:?}; it has: {}",
                known.join(", ")
            ))),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

fn config_error(message: String) -> Error {
    Error::new(ErrorKind::Config, message)
}

#[cfg(test)]
mod tests;
