//! What was asked of a scripted transport or a fake server.

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

/// A request that came in, and how far its answer got.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How far the answer got.
    pub progress: Progress,
    /// How many bytes of the answer's body were taken.
    pub bytes_taken: usize,
}

/// How far a call or an exchange got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// It is still going on.
    Running,
    /// It came to its end, good or bad.
    Ended,
    /// The caller dropped it before its end.
    Dropped,
}

impl RecordedRequest {
    pub(crate) fn new(method: Method, url: String, headers: HeaderMap, body: Bytes) -> Self {
        RecordedRequest {
            method,
            url,
            headers,
            body,
            progress: Progress::Running,
            bytes_taken: 0,
        }
    }

    /// Path and query: everything behind the host.
    pub fn path(&self) -> &str {
        let behind_scheme = self.url.find("://").map_or(0, |at| at + 3);
        let rest = &self.url[behind_scheme..];
        rest.find(['/', '?', '#']).map_or("", |at| &rest[at..])
    }

    /// A header as text; absent when it is missing or no text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// What serde_json says of a body that is none.
    pub fn json(&self) -> serde_json::Result<Value> {
        serde_json::from_slice(&self.body)
    }
}

impl crate::log::Logged for RecordedRequest {
    fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_everything_behind_the_host() {
        let path = |url: &str| {
            RecordedRequest::new(Method::GET, url.to_owned(), HeaderMap::new(), Bytes::new())
                .path()
                .to_owned()
        };
        assert_eq!(path("http://a.test/v1/x?y=1"), "/v1/x?y=1");
        assert_eq!(path("http://a.test?y=1"), "?y=1");
        assert_eq!(path("http://a.test"), "");
    }
}
