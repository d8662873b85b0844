//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{Anthropic, ClaudeConfig};
use crate::dialect::{dialect_of, with_version, without_betas};
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::messages::Dialect;

/// Speaks Anthropic Messages with Anthropic or any host of the same format. One value serves any number of calls at
/// once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_claude::{ClaudeConfig, ClaudeDriver};
/// let driver = ClaudeDriver::new(ClaudeConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type ClaudeDriver = HostDriver<Anthropic>;

impl ChatVendor for Anthropic {
    type Format = Dialect;

    const NAME: &'static str = "Anthropic Messages";

    fn parts(config: ClaudeConfig) -> Result<HostParts<Anthropic>> {
        let (config, betas) = without_betas(config)?;
        let dialect = dialect_of(&config, betas);
        let models = models(&config, &dialect)?;
        let lists = with_version(config.clone());
        Ok(HostParts::new(config, dialect, models).with_lists(lists))
    }
}
