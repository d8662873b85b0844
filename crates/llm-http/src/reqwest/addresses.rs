//! Addresses that were read before. A program calls the same few again and again, and reading one takes longer than
//! anything else that is ours in a call.

use crate::url::parse_http;
use llm_core::Result;
use reqwest::Url;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Beyond this many all are forgotten: addresses that are never the same gain nothing here.
const MOST_KEPT: usize = 256;

/// Longer ones are not kept, nor those with a query: a key may be in it.
const LONGEST_KEPT: usize = 1024;

/// An address that can be called.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) url: Url,
    /// Host and port alone, for messages: an address with a user name was refused.
    pub(super) host: Arc<str>,
}

/// What was read before.
#[derive(Default)]
pub(super) struct Addresses(RwLock<HashMap<String, Address>>);

impl Addresses {
    /// Reads an address.
    ///
    /// # Errors
    /// As [`parse_http`].
    pub(super) fn read(&self, text: &str) -> Result<Address> {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(text) {
            return Ok(known.clone());
        }
        let url = parse_http(text)?;
        let host = url.authority().into();
        let address = Address { url, host };
        if text.len() <= LONGEST_KEPT && !text.contains('?') {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_KEPT {
                known.clear();
            }
            known.insert(text.to_owned(), address.clone());
        }
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_kept_but_no_query_and_no_fault() {
        let addresses = Addresses::default();
        for _ in 0..2 {
            let address = addresses.read("https://api.example:8443/v1/chat").unwrap();
            assert_eq!(&*address.host, "api.example:8443");
            assert_eq!(address.url.path(), "/v1/chat");
            let with_key = addresses.read("https://api.example/v1/chat?key=k").unwrap();
            assert_eq!(with_key.url.query(), Some("key=k"));
            assert!(addresses.read("ftp://api.example/").is_err());
        }
        assert_eq!(addresses.0.read().unwrap().len(), 1);
    }

    #[test]
    fn many_and_long_ones_are_forgotten() {
        let addresses = Addresses::default();
        for number in 0..=MOST_KEPT {
            addresses.read(&format!("http://localhost/{number}")).unwrap();
        }
        addresses
            .read(&format!("http://localhost/{}", "a".repeat(LONGEST_KEPT)))
            .unwrap();
        assert_eq!(addresses.0.read().unwrap().len(), 1);
    }
}
