//! The driver: what is put together from this crate's parts. Everything that waits is [`HostDriver`]'s.

use crate::config::{GeminiConfig, Google};
use crate::dialect::dialect_of;
use crate::models::models;
use llm_core::Result;
use llm_http::{ChatVendor, HostDriver, HostParts};
use llm_wire::generate_content::Dialect;

/// Speaks generateContent with Google or any host of the same format. One value serves any number of calls at once.
///
/// It does not retry, cache or log: layers do. See the [crate's page](crate) for an example.
///
/// ```
/// use llm_driver_gemini::{GeminiConfig, GeminiDriver};
/// let driver = GeminiDriver::new(GeminiConfig::new("an invented key"))?;
/// # Ok::<(), llm_core::Error>(())
/// ```
pub type GeminiDriver = HostDriver<Google>;

impl ChatVendor for Google {
    type Format = Dialect;

    const NAME: &'static str = "Google generateContent";

    fn parts(config: GeminiConfig) -> Result<HostParts<Google>> {
        let dialect = dialect_of(&config);
        let models = models(&config, &dialect)?;
        Ok(HostParts::new(config, dialect, models))
    }
}
