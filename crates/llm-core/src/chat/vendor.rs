//! Namespaced bags for what only one vendor has.

use super::request::ChatRequest;
use crate::driver::VendorId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Options of a request that only one vendor knows, by vendor.
///
/// A driver reads its own namespace, refuses keys there that it does not know, and ignores all others: so
/// one request can carry options for every target a router may pick.
///
/// ```
/// use llm_core::{VendorId, VendorOptions};
/// use serde_json::json;
/// let mut options = VendorOptions::default();
/// options.set(VendorId::from_static("openai"), "verbosity", json!("low"));
/// assert_eq!(options.of("openai").unwrap()["verbosity"], "low");
/// assert!(options.of("mistral").is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct VendorOptions {
    by_vendor: BTreeMap<VendorId, Map<String, Value>>,
}

/// What only one vendor reports (citations, log-probabilities, fingerprints), by vendor.
pub type VendorMetadata = VendorOptions;

impl VendorOptions {
    /// Sets one key of a vendor.
    pub fn set(&mut self, vendor: VendorId, key: impl Into<String>, value: Value) {
        self.by_vendor
            .entry(vendor)
            .or_default()
            .insert(key.into(), value);
    }

    /// Everything under a vendor's name.
    pub fn of(&self, vendor: &str) -> Option<&Map<String, Value>> {
        self.by_vendor.get(vendor)
    }

    /// Is nothing set?
    pub fn is_empty(&self) -> bool {
        self.by_vendor.is_empty()
    }

    /// All vendors with their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&VendorId, &Map<String, Value>)> {
        self.by_vendor.iter()
    }

    /// Takes over another bag; a later value of a key wins, except that two lists are joined (pieces of
    /// metadata arrive in pieces).
    pub fn merge(&mut self, later: VendorOptions) {
        if self.by_vendor.is_empty() {
            *self = later;
            return;
        }
        for (vendor, fields) in later.by_vendor {
            let into = self.by_vendor.entry(vendor).or_default();
            for (key, value) in fields {
                match (into.get_mut(&key), value) {
                    (Some(Value::Array(earlier)), Value::Array(more)) => earlier.extend(more),
                    (Some(earlier), value) => *earlier = value,
                    (None, value) => {
                        into.insert(key, value);
                    }
                }
            }
        }
    }
}

/// One vendor's options on their way into a request: what the typed options of a driver crate are made of.
///
/// ```
/// use llm_core::chat::VendorBag;
/// use llm_core::{ChatRequest, VendorId};
/// let bag = VendorBag::default().with("verbosity", "low").with_field("body", "top_a", 0.5);
/// let request = bag.apply(&VendorId::from_static("openai"), ChatRequest::user("hi"));
/// assert_eq!(request.vendor.of("openai").unwrap()["body"]["top_a"], 0.5);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use = "options do nothing until they are applied to a request"]
pub struct VendorBag {
    keys: Map<String, Value>,
}

impl VendorBag {
    /// One key with its value.
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.keys.insert(key.into(), value.into());
        self
    }

    /// One more field of the object under a key.
    pub fn with_field(mut self, key: &str, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let object = self.keys.entry(key).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(fields) = object {
            fields.insert(name.into(), value.into());
        }
        self
    }

    /// One more item of the list under a key.
    pub fn with_item(mut self, key: &str, item: impl Into<Value>) -> Self {
        let list = self.keys.entry(key).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(items) = list {
            items.push(item.into());
        }
        self
    }

    /// Puts them into a request, under this vendor's name.
    #[must_use]
    pub fn apply(self, vendor: &VendorId, mut request: ChatRequest) -> ChatRequest {
        for (key, value) in self.keys {
            request.vendor.set(vendor.clone(), key, value);
        }
        request
    }
}
