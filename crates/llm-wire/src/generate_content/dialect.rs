//! What the hosts of this format do differently, as plain data.

mod model_rule;
mod option_keys;

use llm_core::VendorId;

pub use crate::option_key::{JsonForm, OptionKey};
pub use crate::service_tiers::ServiceTiers;
pub use model_rule::{ModelRule, Penalties, Thinking};
pub(super) use option_keys::is_generation_key;

/// One host's differences. Start from [`Dialect::gemini`] (the developer API) or [`Dialect::vertex`] and change
/// fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose options bag is read, and whose replay state is sent back.
    pub vendor: VendorId,
    /// Where the vendor's own files are found by their name (`files/abc`). Absent: only whole addresses are taken.
    pub files_base: Option<&'static str>,
    /// Does the host read `gs://` addresses?
    pub gs_addresses: bool,
    /// The most stop sequences it takes.
    pub max_stop_sequences: usize,
    /// Does it take penalties for the models of the 2.5 family?
    pub penalties_for_2_5: bool,
    /// Must it be told that calls of its own tools may stand beside calls of functions?
    pub server_tool_switch: bool,
    /// Does it take `labels`?
    pub labels: bool,
    /// The classes of service that it knows.
    pub service_tiers: ServiceTiers,
    /// The keys of the vendor's options bag.
    pub option_keys: &'static [OptionKey],
}

impl Dialect {
    /// Google's developer API.
    pub fn gemini() -> Self {
        Dialect {
            vendor: VendorId::from_static("gemini"),
            files_base: Some("https://generativelanguage.googleapis.com/v1beta/"),
            gs_addresses: false,
            max_stop_sequences: 5,
            penalties_for_2_5: false,
            server_tool_switch: true,
            labels: false,
            service_tiers: ServiceTiers::Only(&["unspecified", "flex", "standard", "priority"]),
            option_keys: OptionKey::GEMINI,
        }
    }

    /// The same format at Vertex AI.
    pub fn vertex() -> Self {
        Dialect {
            files_base: None,
            gs_addresses: true,
            penalties_for_2_5: true,
            server_tool_switch: false,
            labels: true,
            ..Dialect::gemini()
        }
    }
}
