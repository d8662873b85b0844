//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{Mistral, MistralConfig};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::chat_completions::Dialect;

/// Speaks with Mistral. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_mistral::{MistralConfig, MistralDriver};
/// let driver = MistralDriver::new(MistralConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type MistralDriver = HostDriver<Mistral>;

impl ChatVendor for Mistral {
    type Format = Dialect;

    const NAME: &'static str = "Mistral";

    fn parts(config: MistralConfig) -> Result<HostParts<Mistral>> {
        let dialect = dialect_of(&config);
        let models = models(&config, &dialect)?;
        Ok(HostParts::new(config, dialect, models))
    }
}
