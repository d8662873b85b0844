//! Secrets in the configuration: the value itself, or `env:NAME`.

use super::environment;
use llm_suite::core::{Error, ErrorKind, Result, Secret};
use serde::Deserialize;

/// A secret as it stands in the file. Never printed.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct SecretSource(Secret<String>);

impl Default for SecretSource {
    fn default() -> Self {
        SecretSource(Secret::new(String::new()))
    }
}

impl From<Secret<String>> for SecretSource {
    fn from(secret: Secret<String>) -> Self {
        SecretSource(secret)
    }
}

impl SecretSource {
    /// Is nothing configured?
    pub fn is_empty(&self) -> bool {
        self.0.expose().is_empty()
    }

    /// The secret. `key` names the place in the file, for the error.
    ///
    /// # Errors
    /// `Config`, when `env:NAME` names a variable that is not set, or set to nothing.
    pub fn resolve(&self, key: &str) -> Result<Secret<String>> {
        let Some(name) = self.0.expose().strip_prefix("env:") else {
            return Ok(self.0.clone());
        };
        match environment::variable(name) {
            Some(value) if !value.trim().is_empty() => Ok(Secret::new(value.trim().to_owned())),
            _ => {
                let message = format!(
                    "{key} is env:{name}, but the variable {name} is not set; set it or change {key}"
                );
                Err(Error::new(ErrorKind::Config, message))
            }
        }
    }
}
