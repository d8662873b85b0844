//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{OllamaConfig, OllamaHost, address_of};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::ollama::Dialect;

/// Speaks Ollama's own chat format. One value serves any number of calls at once.
///
/// [`ModelCatalog::refresh`](llm_core::ModelCatalog::refresh) asks the server for its models and for what each can do;
/// before that nothing is known of them, and nothing is refused.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_ollama::{OllamaConfig, OllamaDriver};
/// let driver = OllamaDriver::new(OllamaConfig::default())?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type OllamaDriver = HostDriver<OllamaHost>;

impl ChatVendor for OllamaHost {
    type Format = Dialect;

    const NAME: &'static str = "Ollama chat";

    fn parts(config: OllamaConfig) -> Result<HostParts<OllamaHost>> {
        let address = address_of(&config.base_url);
        let config = config.with_base_url(address);
        let dialect = dialect_of(&config);
        let models = models(&config)?;
        Ok(HostParts::new(config, dialect, models))
    }
}
