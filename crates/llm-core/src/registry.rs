//! From a driver's id and its configuration to a driver.

use crate::driver::{Driver, DriverId};
use crate::error::{Error, ErrorKind, Result};
use crate::extensions::Extensions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What drivers of one process share while they are built: the transport, the clock.
pub type BuildContext = Extensions;

/// Makes a driver from its configuration. Does no I/O: drivers connect at their first call.
pub type Factory = fn(Value, &BuildContext) -> Result<Arc<dyn Driver>>;

/// The drivers that can be built by name. Each driver crate adds itself with its `register`.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    factories: BTreeMap<DriverId, Factory>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds a driver.
    ///
    /// # Errors
    /// `Config`, when the id is taken: two drivers of one name are a mistake, not an override.
    pub fn register(&mut self, id: DriverId, factory: Factory) -> Result<()> {
        if self.factories.contains_key(id.as_str()) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("the driver id {id} is registered twice"),
            ));
        }
        self.factories.insert(id, factory);
        Ok(())
    }

    /// Builds a driver.
    ///
    /// # Errors
    /// `Config`, when the id is not registered (the message lists those that are) or the configuration is
    /// wrong.
    pub fn build(&self, id: &str, config: Value, context: &BuildContext) -> Result<Arc<dyn Driver>> {
        match self.factories.get(id) {
            Some(factory) => factory(config, context),
            None => {
                let known: Vec<_> = self.ids().map(DriverId::as_str).collect();
                let message = format!(
                    "there is no driver {id:?}; registered are: {}",
                    if known.is_empty() {
                        "none".to_owned()
                    } else {
                        known.join(", ")
                    }
                );
                Err(Error::new(ErrorKind::Config, message))
            }
        }
    }

    /// All registered ids, in order.
    pub fn ids(&self) -> impl Iterator<Item = &DriverId> {
        self.factories.keys()
    }
}
