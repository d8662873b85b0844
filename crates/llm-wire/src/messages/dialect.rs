//! What the hosts of this format do differently, as plain data.

mod model_rule;
mod option_keys;

use llm_core::VendorId;

pub use crate::option_key::{JsonForm, OptionKey};
pub use crate::service_tiers::ServiceTiers;
pub use model_rule::{ModelRule, Thinking, ThinkingOff};

/// One host's differences. Start from [`Dialect::anthropic`], or from [`Dialect::bedrock`] for the body of its
/// InvokeModel, and change fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose options bag is read, and whose blocks and signatures are sent back.
    pub vendor: VendorId,
    /// The version that stands in the body, where a host wants it there; then neither model nor `stream` stand in it,
    /// and betas do.
    pub body_version: Option<&'static str>,
    /// The version that every request is sent with. Absent: the newest one that takes the request.
    pub version: Option<&'static str>,
    /// Names of betas that every request is sent with, before its own.
    pub betas: Vec<String>,
    /// Are pictures and documents taken by address?
    pub media_urls: bool,
    /// Are pictures and documents taken by the id of an uploaded file?
    pub media_files: bool,
    /// The classes of service that it knows.
    pub service_tiers: ServiceTiers,
    /// Models, by the beginning of their name after the vendor's prefix, that take neither `strict` on tools nor a
    /// schema for the answer here.
    pub no_schema_models: &'static [&'static str],
    /// The cap on output for a model of which nothing is known. The field is required.
    pub default_max_tokens: u32,
    /// The largest cap that is sent when the caller gave none and wants a plain answer: longer ones take longer than
    /// hosts and their clients wait.
    pub plain_max_tokens: u32,
    /// The keys of the vendor's options bag.
    pub option_keys: &'static [OptionKey],
    /// What families of models do differently, by the beginning of their name.
    pub model_rules: &'static [(&'static str, ModelRule)],
    /// The rule for a Claude model that no row names: a newer one.
    pub newest_rule: ModelRule,
    /// The rule for any other model.
    pub other_rule: ModelRule,
}

impl Dialect {
    /// Anthropic itself, and hosts that do the same.
    pub fn anthropic() -> Self {
        Dialect {
            vendor: super::ANTHROPIC,
            body_version: None,
            version: None,
            betas: Vec::new(),
            media_urls: true,
            media_files: true,
            service_tiers: ServiceTiers::Only(&["auto", "standard_only"]),
            no_schema_models: &[],
            default_max_tokens: 4096,
            plain_max_tokens: 21_333,
            option_keys: OptionKey::ANTHROPIC,
            model_rules: ModelRule::ANTHROPIC,
            newest_rule: ModelRule::NEWEST,
            other_rule: ModelRule::PLAIN,
        }
    }

    /// The body of Bedrock's InvokeModel. The version is the one that every Claude model takes and that keeps the
    /// older rules.
    pub fn bedrock() -> Self {
        Dialect {
            vendor: VendorId::from_static("bedrock"),
            body_version: Some("bedrock-2023-05-31"),
            media_urls: false,
            media_files: false,
            service_tiers: ServiceTiers::NONE,
            no_schema_models: &[
                "claude-opus-4-7",
                "claude-opus-4-8",
                "claude-opus-5",
                "claude-sonnet-5",
                "claude-haiku-5-5",
            ],
            ..Dialect::anthropic()
        }
    }
}
