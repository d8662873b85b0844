//! What the request's options bag holds for this vendor.

use crate::bag::Bag;
use crate::fault::unsupported;
use crate::generate_content::dialect::{Dialect, is_generation_key};
use crate::generate_content::request_types::Fields;
use llm_core::{ChatRequest, Result};
use serde_json::Value;

/// The bag, checked.
pub(super) struct OwnOptions<'a> {
    /// Keys that go into the body as they are, and the patch.
    pub(super) bag: Bag<'a>,
    /// Tools that the vendor runs, in its own form.
    pub(super) server_tools: &'a [Value],
    /// Is cached content named? Instructions, tools and the choice among them are part of it then.
    pub(super) cached_content: bool,
}

impl<'a> OwnOptions<'a> {
    pub(super) fn read(dialect: &Dialect, request: &'a ChatRequest) -> Result<Self> {
        let mut bag = Bag::read(&dialect.vendor, dialect.option_keys, &[], request)?;
        let field = |key: &str| format!("vendor.{}.{key}", dialect.vendor);
        if bag
            .value("candidateCount")
            .is_some_and(|count| count.as_u64() != Some(1))
        {
            let message = "must be 1: an answer has one candidate here; ask several times for several";
            return Err(unsupported(field("candidateCount"), message));
        }
        if bag.value("labels").is_some() && !dialect.labels {
            return Err(unsupported(field("labels"), "are not taken by this host"));
        }
        let server_tools = bag.take_list("serverTools");
        let cached_content = bag.text("cachedContent").is_some_and(|name| !name.is_empty());
        Ok(OwnOptions {
            bag,
            server_tools,
            cached_content,
        })
    }

    /// Adds the keys to the body and to its `generationConfig`.
    pub(super) fn add(&self, body: &mut Fields<'a>, config: &mut Fields<'a>) {
        for (name, value) in &self.bag.fields {
            match *name {
                // these go their own way
                "thinkingConfig" | "toolConfig" => {}
                name if is_generation_key(name) => config.add(name, *value),
                name => body.add(name, *value),
            }
        }
    }
}
