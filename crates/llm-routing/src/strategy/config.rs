//! A strategy as it stands in a configuration file.

use super::Strategy;
use crate::policy::RoutingPolicy;
use llm_core::error::Result;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// A strategy and its options, as one object: the name under `strategy`, and the options beside it. Reading it checks
/// everything, so that a faulty configuration is found when it is loaded.
///
/// ```
/// use llm_routing::StrategyConfig;
/// let config: StrategyConfig =
///     serde_json::from_str(r#"{ "strategy": "round_robin", "weights": { "local": 3, "cloud": 1 } }"#).unwrap();
/// assert_eq!(config.strategy().as_str(), "round-robin");
/// let wrong = serde_json::from_str::<StrategyConfig>(r#"{ "strategy": "cheapest" }"#).unwrap_err();
/// assert!(wrong.to_string().contains("there are: priority, weighted"), "{wrong}");
/// ```
#[derive(Debug, Clone)]
pub struct StrategyConfig {
    strategy: Strategy,
    policy: RoutingPolicy,
}

impl StrategyConfig {
    /// Reads it from an object.
    ///
    /// # Errors
    /// `Config`, when no strategy is named, and as [`Strategy::parse`] and [`Strategy::policy`].
    pub fn read(mut fields: Map<String, Value>) -> Result<Self> {
        let strategy = match fields.remove("strategy") {
            Some(Value::String(name)) => Strategy::parse(&name)?,
            _ => {
                let all = Strategy::ALL.map(Strategy::as_str).join(", ");
                return Err(super::config_error(format!("`strategy` must name one of: {all}")));
            }
        };
        Ok(StrategyConfig {
            strategy,
            policy: strategy.policy(&Value::Object(fields))?,
        })
    }

    /// Which one.
    pub fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// The policy that it makes. A round robin's round is shared by all that come from one configuration.
    pub fn policy(&self) -> RoutingPolicy {
        self.policy.clone()
    }
}

impl<'de> Deserialize<'de> for StrategyConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Map::deserialize(deserializer)?;
        StrategyConfig::read(fields).map_err(|error| D::Error::custom(error.message()))
    }
}
