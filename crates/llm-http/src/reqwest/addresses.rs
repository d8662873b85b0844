//! Addresses that were read before. A program calls the same few again and again, and reading one takes longer than
//! anything else that is ours in a call.

use crate::url::parse_http;
use llm_core::Result;
use reqwest::Url;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Beyond this many all are forgotten: addresses that are never the same gain nothing here.
const MOST_KEPT: usize = 256;

/// Longer ones are not kept. What follows a `?` never is: it differs from call to call, and a key may be in it.
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
        match text.split_once('?') {
            None => self.read_place(text),
            // Where white space stands decides what becomes of it, and what follows a `#` is no query.
            Some(_) if text.bytes().any(|byte| byte <= b' ' || byte == b'#') => read(text),
            Some((place, query)) => {
                let mut address = self.read_place(place)?;
                address.url.set_query(Some(query));
                Ok(address)
            }
        }
    }

    /// An address without a query.
    fn read_place(&self, place: &str) -> Result<Address> {
        if let Some(known) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(place) {
            return Ok(known.clone());
        }
        let address = read(place)?;
        if place.len() <= LONGEST_KEPT {
            let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= MOST_KEPT {
                known.clear();
            }
            known.insert(place.to_owned(), address.clone());
        }
        Ok(address)
    }
}

fn read(text: &str) -> Result<Address> {
    let url = parse_http(text)?;
    let host = url.authority().into();
    Ok(Address { url, host })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_address_is_what_reading_it_gives(
            text in "(https?://)?[a-zA-Z.:@\\[\\]0-9]{0,8}[/a-z%?#&=+é |{}\"'<>\\\\\t]{0,24}",
        ) {
            let addresses = Addresses::default();
            for _ in 0..2 {
                match (addresses.read(&text), read(&text)) {
                    (Ok(ours), Ok(read)) => {
                        prop_assert_eq!(ours.url, read.url);
                        prop_assert_eq!(ours.host, read.host);
                    }
                    (ours, read) => prop_assert_eq!(ours.is_err(), read.is_err()),
                }
            }
        }
    }

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
        let known = addresses.0.read().unwrap();
        assert_eq!(known.len(), 2);
        assert!(known.values().all(|address| address.url.query().is_none()));
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
