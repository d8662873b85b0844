//! What the request's options bag holds for this vendor.

use crate::bag::Bag;
use crate::chat_completions::dialect::Dialect;
use crate::fault::unsupported;
use llm_core::{ChatRequest, Result};
use serde_json::Value;

/// The bag, checked.
pub(super) struct OwnOptions<'a> {
    /// Keys that go into the body as they are, and the patch.
    pub(super) bag: Bag<'a>,
    /// Tools of other kinds than functions, in the vendor's own form.
    pub(super) own_tools: &'a [Value],
}

impl<'a> OwnOptions<'a> {
    pub(super) fn read(dialect: &Dialect, request: &'a ChatRequest) -> Result<Self> {
        let vendor = &dialect.vendor;
        let answers = request.vendor.of(vendor.as_str()).and_then(|own| own.get("n"));
        if answers.is_some_and(|answers| !answers.is_null() && answers.as_u64() != Some(1)) {
            let message = "must be 1: an answer has one choice here; ask several times for several";
            return Err(unsupported(format!("vendor.{vendor}.n"), message));
        }
        let mut bag = Bag::read(vendor, dialect.option_keys, &["n"], request)?;
        let own_tools = bag.take_list(OWN_TOOLS);
        Ok(OwnOptions { bag, own_tools })
    }
}

/// The key under which tools of other kinds than functions are given.
const OWN_TOOLS: &str = "custom_tools";
