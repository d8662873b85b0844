//! What the driver is set up with.

use crate::DRIVER_ID;
use llm_core::VendorId;
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// Ollama, as a host: one's own machine unless something else is configured.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum OllamaHost {}

impl HostedVendor for OllamaHost {
    const HOST: VendorHost =
        // No catalogue holds anywhere, and no host needs a key to be set up.
        VendorHost::new(
            DRIVER_ID,
            VendorId::from_static("ollama"),
            "http://127.0.0.1:11434",
        )
        .with_variables(&["OLLAMA_API_KEY"], "OLLAMA_HOST")
        .with_think_tags();
}

/// What an [`OllamaDriver`](crate::OllamaDriver) is set up with. `base_url` takes every form that `OLLAMA_HOST` has.
pub type OllamaConfig = HostConfig<OllamaHost>;

/// The address that a form of `OLLAMA_HOST` means (wire notes, `ollama.md`, "Endpoint and auth").
pub(crate) fn address_of(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest, port) = match host.split_once("://") {
        Some((scheme, rest)) => (scheme, rest, None),
        None if host == "ollama.com" => ("https", host, None),
        None => ("http", host, Some("11434")),
    };
    let (authority, path) = match rest.split_once('/') {
        Some((authority, path)) => (authority, format!("/{path}")),
        None => (rest, String::new()),
    };
    // addresses to listen at are none to connect to
    let authority = if authority == "0.0.0.0" || authority.starts_with("0.0.0.0:") {
        authority.replacen("0.0.0.0", "127.0.0.1", 1)
    } else if authority == "[::]" || authority.starts_with("[::]:") {
        authority.replacen("[::]", "[::1]", 1)
    } else {
        authority.to_owned()
    };
    let has_port = authority.rsplit(']').next().unwrap_or_default().contains(':');
    match port {
        Some(port) if !has_port => format!("{scheme}://{authority}:{port}{path}"),
        _ => format!("{scheme}://{authority}{path}"),
    }
}

/// Does this address lead to the machine itself?
pub(crate) fn is_local(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host == "::1"
        || host.starts_with("127.") && host.bytes().all(|b| b == b'.' || b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_host_is_an_address() {
        for (form, address) in [
            ("box", "http://box:11434"),
            ("box:80", "http://box:80"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("[::]:9", "http://[::1]:9"),
            ("http://box", "http://box"),
            ("https://box/ollama/", "https://box/ollama"),
            ("ollama.com", "https://ollama.com"),
        ] {
            assert_eq!(address_of(form), address);
        }
        assert!(
            is_local("http://127.0.0.1:11434")
                && is_local("http://[::1]:9/a")
                && is_local("http://localhost")
        );
        assert!(!is_local("https://ollama.com") && !is_local("http://127.evil.example"));
    }
}
