//! What the request's options bag holds for this vendor.

use crate::bag::Bag;
use crate::fault::wrong_type;
use crate::ollama::dialect::{Dialect, is_body_key};
use crate::ollama::request_types::Fields;
use llm_core::{ChatRequest, Result};
use serde_json::Value;

/// The bag, checked.
pub(super) struct OwnOptions<'a> {
    pub(super) bag: Bag<'a>,
}

impl<'a> OwnOptions<'a> {
    pub(super) fn read(dialect: &Dialect, request: &'a ChatRequest) -> Result<Self> {
        let bag = Bag::read(&dialect.vendor, dialect.option_keys, &[], request)?;
        let field = |key: &str| format!("vendor.{}.{key}", dialect.vendor);
        if bag
            .value("keep_alive")
            .is_some_and(|time| !time.is_string() && !time.is_number())
        {
            return Err(wrong_type(
                field("keep_alive"),
                "a time as a string, or a number of seconds",
            ));
        }
        if bag
            .value("think")
            .is_some_and(|think| !think.is_string() && !think.is_boolean())
        {
            return Err(wrong_type(field("think"), "true, false or a level"));
        }
        Ok(OwnOptions { bag })
    }

    /// Adds the keys to the body and to its `options`.
    pub(super) fn add(&self, body: &mut Fields<'a>, options: &mut Fields<'a>) {
        for (name, value) in &self.bag.fields {
            match (*name, value) {
                ("options", Value::Object(fields)) => {
                    for (name, value) in fields {
                        options.add(name, value);
                    }
                }
                (name, value) if is_body_key(name) => body.add(name, *value),
                (name, value) => options.add(name, *value),
            }
        }
    }
}
