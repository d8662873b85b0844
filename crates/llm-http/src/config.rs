//! Reading a driver's configuration from the value that a registry hands over.

use llm_core::{Error, ErrorKind, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a driver's configuration. For the factory that a driver registers.
///
/// ```
/// #[derive(Debug, serde::Deserialize)]
/// #[serde(deny_unknown_fields)]
/// struct AcmeConfig { api_key: llm_core::Secret<String>, retries: u32 }
/// let error = llm_http::config_from_value::<AcmeConfig>(serde_json::json!({
///     "api_key": "sentinel", "retries": "sentinel",
/// })).unwrap_err();
/// assert_eq!(error.message(), "the configuration is wrong at `retries`: expected u32");
/// ```
///
/// # Errors
/// `Config`, naming the key at fault; never a value, since it may be a credential.
pub fn config_from_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|fault| {
        let path = fault.path().to_string();
        let at = if path == "." {
            String::new()
        } else {
            format!(" at `{path}`")
        };
        let message = format!(
            "the configuration is wrong{at}: {}",
            without_value(&fault.inner().to_string())
        );
        Error::new(ErrorKind::Config, message)
    })
}

/// serde's message without the value that it quotes (`invalid type: string "…", expected a map`).
fn without_value(message: &str) -> String {
    if !message.starts_with("invalid ") {
        return message.to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((_, expected)) => format!("expected {expected}"),
        None => "the value does not fit".to_owned(),
    }
}
