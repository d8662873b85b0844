//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{DeepSeek, DeepSeekConfig};
use crate::dialect::{dialect_of, usual_base_url};
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::chat_completions::Dialect;

/// Speaks with DeepSeek. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_deepseek::{DeepSeekConfig, DeepSeekDriver};
/// let driver = DeepSeekDriver::new(DeepSeekConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type DeepSeekDriver = HostDriver<DeepSeek>;

impl ChatVendor for DeepSeek {
    type Format = Dialect;

    const NAME: &'static str = "DeepSeek";

    /// The beta endpoint has no list of models: that is asked for at the usual one.
    fn parts(config: DeepSeekConfig) -> Result<HostParts<DeepSeek>> {
        let dialect = dialect_of(&config);
        let models = models(&config, &dialect)?;
        let usual = usual_base_url(&config.base_url).map(|url| config.clone().with_base_url(url));
        let parts = HostParts::new(config, dialect, models);
        Ok(match usual {
            Some(usual) => parts.with_lists(usual),
            None => parts,
        })
    }
}
