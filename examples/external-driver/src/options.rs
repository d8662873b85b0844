//! What a request can ask of this vendor only: the keys of its options bag, typed.

use crate::VENDOR;
use llm_core::ChatRequest;
use llm_core::chat::VendorBag;
use serde_json::Value;

/// What a request can ask of Acme only. Goes into the request's options bag, which every other driver ignores.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct AcmeOptions {
    bag: VendorBag,
}

impl AcmeOptions {
    /// A field of the request's body that nothing else writes, or in the place of one. The last resort.
    pub fn with_body_field(self, name: &str, value: impl Into<Value>) -> Self {
        let bag = self.bag.with_field("body", name, value);
        AcmeOptions { bag }
    }

    /// The request with these options in its bag.
    pub fn apply(self, request: ChatRequest) -> ChatRequest {
        self.bag.apply(&VENDOR, request)
    }
}
