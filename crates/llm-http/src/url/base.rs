//! A base URL that is read once.

use super::{join, same_origin};
use llm_core::Result;
use std::sync::Arc;

/// A base URL that was read once: what each call asks of it is then answered from its text. (Reading addresses would
/// cost more than all else that is done to send a call.)
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl {
    /// As [`join`] writes it.
    text: Arc<str>,
    /// How much of it is scheme, host and port.
    origin: usize,
}

impl BaseUrl {
    /// # Errors
    /// `Config`, when it is no base URL (see [`join`]).
    pub(crate) fn parse(base_url: &str) -> Result<Self> {
        let text = join(base_url, "")?;
        let host = text.find("://").map_or(0, |colon| colon + 3);
        let origin = text[host..].find('/').map_or(text.len(), |length| host + length);
        Ok(BaseUrl {
            text: text.into(),
            origin,
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// As [`join`].
    ///
    /// # Errors
    /// `InvalidRequest`, when the path would leave the base.
    pub(crate) fn join(&self, path: &str) -> Result<String> {
        let step = path.strip_prefix('/').unwrap_or(path);
        if self.text.contains('?') || !is_plain(step) {
            return join(&self.text, path);
        }
        Ok([self.text.trim_end_matches('/'), step].join("/"))
    }

    /// As [`same_origin`].
    pub(crate) fn is_origin_of(&self, url: &str) -> bool {
        let ours = url.strip_prefix(&self.text[..self.origin]);
        ours.is_some_and(|rest| rest.starts_with('/')) || same_origin(&self.text, url)
    }
}

/// Is this a path that stays as it is: no step upwards, nothing that is encoded, no empty step, perhaps a plain query?
fn is_plain(path: &str) -> bool {
    let (path, query) = path.split_once('?').unwrap_or((path, "v"));
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    let is_step = |step: &str| !matches!(step, "" | "." | "..") && step.bytes().all(is_name);
    path.split('/').all(is_step)
        && !query.is_empty()
        && query
            .bytes()
            .all(|byte| is_name(byte) || matches!(byte, b'=' | b'&'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BASES: [&str; 6] = [
        "http://127.0.0.1:8080/v1",
        "https://host",
        "https://HOST:443/a/b/",
        "https://host/a?v=2",
        "http://[::1]:9/",
        "http://h/%7e",
    ];

    proptest! {
        /// What is answered from the text is what reading the address gives.
        #[test]
        fn a_base_that_was_read_answers_as_reading_does(
            at in 0..BASES.len(),
            path in "(/?[a-z.:/?&=%#@ \\\\-]{0,12}|/models/[a-z.]{1,4}:run(\\?alt=sse)?)",
        ) {
            let base = BaseUrl::parse(BASES[at]).unwrap();
            match (base.join(&path), join(BASES[at], &path)) {
                (Ok(ours), Ok(read)) => prop_assert_eq!(ours, read),
                (ours, read) => prop_assert_eq!(ours.is_err(), read.is_err(), "{}", path),
            }
        }

        #[test]
        fn no_address_of_another_host_passes_for_ours(
            at in 0..BASES.len(),
            tail in "[a-z0-9.:/@?#\\\\ -]{0,12}",
            keep in 0_usize..30,
        ) {
            let base = BaseUrl::parse(BASES[at]).unwrap();
            let start: String = base.as_str().chars().take(keep).collect();
            for url in [format!("{start}{tail}"), format!("{}{tail}", base.as_str())] {
                prop_assert_eq!(base.is_origin_of(&url), same_origin(BASES[at], &url), "{}", url);
            }
        }
    }
}
