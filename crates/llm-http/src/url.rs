//! Addresses: joining a base URL and a path, and what may stand in either.
//!
//! Addresses are read with the same parser that the transport sends with, so that what is checked here is what
//! is called there.

mod base;

pub(crate) use base::BaseUrl;

use crate::redact::without_user_info;
use llm_core::{Error, ErrorKind, Result};
use reqwest::Url;

/// Puts a path behind a base URL. Slashes between the two are made one, the base's query is kept (some hosts
/// want `?api-version=…` on every call), the path may bring a query of its own.
///
/// ```
/// # fn main() -> llm_core::Result<()> {
/// use llm_http::url::join;
/// assert_eq!(join("http://localhost:8080/v1/", "/models")?, "http://localhost:8080/v1/models");
/// assert_eq!(join("https://host/a?v=2", "b?alt=sse")?, "https://host/a/b?alt=sse&v=2");
/// assert!(join("https://user:password@host", "/models").is_err());
/// # Ok(()) }
/// ```
///
/// # Errors
/// `Config`, when the base is not an `http` or `https` address with a host, or holds a user name or a
/// fragment; `InvalidRequest`, when the path climbs out of the base or holds a fragment.
pub fn join(base_url: &str, path: &str) -> Result<String> {
    let base = parse_base(base_url)?;
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let start = base.path().trim_end_matches('/');
    let mut joined = base.clone();
    if path.is_empty() {
        joined.set_path(start);
    } else {
        joined.set_path(&format!("{start}/{}", path.trim_start_matches('/')));
    }
    let outside = |c: char| c == '#' || c.is_control();
    let climbs = path.split(['/', '\\']).any(is_dot_step);
    if climbs || path.contains(outside) || query.is_some_and(|query| query.contains(outside)) {
        let message =
            "a path holds a step upwards, a fragment or a control character; encode what comes from outside";
        return Err(Error::new(ErrorKind::InvalidRequest, message));
    }
    let queries: Vec<&str> = [query, base.query()]
        .into_iter()
        .flatten()
        .filter(|query| !query.is_empty())
        .collect();
    joined.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
    Ok(joined.into())
}

/// Is an address that came in an answer at the same scheme, host and port as one of ours? Only then may a
/// credential go there.
///
/// ```
/// use llm_http::url::same_origin;
/// assert!(same_origin("https://api.example/v1", "https://API.example:443/next?page=2"));
/// assert!(!same_origin("https://api.example/v1", "http://api.example/v1"));
/// assert!(!same_origin("https://api.example/v1", "https://api.example@evil.example/v1"));
/// ```
pub fn same_origin(ours: &str, other: &str) -> bool {
    match (parse_http(ours), parse_http(other)) {
        (Ok(ours), Ok(other)) => ours.origin() == other.origin(),
        _ => false,
    }
}

/// Reads an address that can be called: `http` or `https`, with a host, without a user name.
pub(crate) fn parse_http(url: &str) -> Result<Url> {
    let fault = match Url::parse(url) {
        Err(_) => "is not an address",
        Ok(parsed) if !matches!(parsed.scheme(), "http" | "https") => {
            "does not begin with http:// or https://"
        }
        Ok(parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            "holds a user name or password; give the credential on its own"
        }
        Ok(parsed) if parsed.host_str().is_none_or(str::is_empty) => "names no host",
        Ok(parsed) => return Ok(parsed),
    };
    // The address itself stays out: what could not be read may hold anything.
    Err(Error::new(ErrorKind::Config, format!("the URL {fault}")))
}

fn parse_base(url: &str) -> Result<Url> {
    let parsed = parse_http(url.trim()).map_err(|error| {
        Error::new(
            ErrorKind::Config,
            error.message().replace("the URL", "the base URL"),
        )
    })?;
    if parsed.fragment().is_some() {
        let message = "the base URL holds a fragment (#…); leave it out";
        return Err(Error::new(ErrorKind::Config, message));
    }
    Ok(parsed)
}

/// An address with one more `name=value`, encoded already.
pub(crate) fn with_query(url: &str, parameter: &str) -> String {
    let (url, fragment) = match url.split_once('#') {
        Some((url, fragment)) => (url, format!("#{fragment}")),
        None => (url, String::new()),
    };
    let joint = match url.split_once('?') {
        None => "?",
        Some((_, "")) => "",
        Some(_) => "&",
    };
    format!("{url}{joint}{parameter}{fragment}")
}

/// An address as it may be shown: without user name, query and fragment.
pub(crate) fn shown(url: &str) -> String {
    let address = url.split(['?', '#']).next().unwrap_or_default();
    without_user_info(address).into_owned()
}

/// Is this `.` or `..`, in any of the spellings that mean it?
fn is_dot_step(step: &str) -> bool {
    let plain = step.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

#[cfg(test)]
mod tests;
