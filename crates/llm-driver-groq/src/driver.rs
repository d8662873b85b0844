//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{Groq, GroqConfig};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::chat_completions::Dialect;

/// Speaks with Groq. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_groq::{GroqConfig, GroqDriver};
/// let driver = GroqDriver::new(GroqConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type GroqDriver = HostDriver<Groq>;

impl ChatVendor for Groq {
    type Format = Dialect;

    const NAME: &'static str = "Groq";

    fn parts(config: GroqConfig) -> Result<HostParts<Groq>> {
        let dialect = dialect_of(&config);
        let models = models(&config, &dialect)?;
        Ok(HostParts::new(config, dialect, models))
    }
}
