//! What stands in the place of TLS where it is not compiled in.

use llm_core::{Error, ErrorKind, Result};
use std::sync::Arc;

const REASON: &str = "https needs the feature `rustls` of llm-http (of llm-suite too); enable it, or bring a \
                      transport of your own";

pub(super) struct Tls {
    pub(super) no_https: Option<Arc<str>>,
}

pub(super) fn configure(extra_roots: &[Vec<u8>], _http1_only: bool) -> Result<Tls> {
    if extra_roots.is_empty() {
        Ok(Tls {
            no_https: Some(REASON.into()),
        })
    } else {
        Err(Error::new(ErrorKind::Config, REASON))
    }
}

impl Tls {
    pub(super) fn apply(&self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        client
    }
}
