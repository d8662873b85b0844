//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{Kimi, KimiConfig};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::chat_completions::Dialect;

/// Speaks with Kimi. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_kimi::{KimiConfig, KimiDriver};
/// let driver = KimiDriver::new(KimiConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type KimiDriver = HostDriver<Kimi>;

impl ChatVendor for Kimi {
    type Format = Dialect;

    const NAME: &'static str = "Kimi";

    fn parts(config: KimiConfig) -> Result<HostParts<Kimi>> {
        let dialect = dialect_of(&config);
        let models = models(&config, &dialect)?;
        Ok(HostParts::new(config, dialect, models))
    }
}
