//! TLS by rustls with ring, set up here and not by a process-wide provider, which nobody may have installed.

use llm_core::{Error, ErrorKind, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::sync::Arc;

pub(super) struct Tls {
    config: ClientConfig,
    /// Why nothing can be trusted, where the machine has no certificates.
    pub(super) no_https: Option<Arc<str>>,
}

impl Tls {
    /// Clients of one `Tls` share its certificates and sessions.
    pub(super) fn apply(&self, client: reqwest::ClientBuilder) -> reqwest::ClientBuilder {
        client.tls_backend_preconfigured(self.config.clone())
    }
}

pub(super) fn configure(extra_roots: &[Vec<u8>], http1_only: bool) -> Result<Tls> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::new(ErrorKind::Config, "TLS cannot be set up").with_source(error))?;
    let extra = parse_certificates(extra_roots)?;
    let (builder, no_https) = if extra.is_empty() {
        match Verifier::new(provider) {
            Ok(verifier) => (trusting(builder, verifier), None),
            Err(_) => {
                let reason = "this machine has no certificates to trust (on Linux: install ca-certificates), or \
                              give the transport root certificates of your own";
                (
                    builder.with_root_certificates(RootCertStore::empty()),
                    Some(reason.into()),
                )
            }
        }
    } else {
        let verifier = Verifier::new_with_extra_roots(extra, provider).map_err(unreadable)?;
        (trusting(builder, verifier), None)
    };
    let mut config = builder.with_no_client_auth();
    if cfg!(feature = "http2") && !http1_only {
        config.alpn_protocols.push(b"h2".to_vec());
    }
    config.alpn_protocols.push(b"http/1.1".to_vec());
    Ok(Tls { config, no_https })
}

type WantsRoots = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;
type WantsClientAuth = rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert>;

fn trusting(builder: WantsRoots, verifier: Verifier) -> WantsClientAuth {
    // "Dangerous" is the door for any verifier but the built-in one; this one checks everything.
    builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
}

fn parse_certificates(pems: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>> {
    let mut certificates = Vec::new();
    for pem in pems {
        let before = certificates.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            certificates.push(certificate.map_err(unreadable)?);
        }
        if certificates.len() == before {
            let message = "a root certificate holds no PEM block; give it as -----BEGIN CERTIFICATE-----";
            return Err(Error::new(ErrorKind::Config, message));
        }
    }
    Ok(certificates)
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(
        ErrorKind::Config,
        "a root certificate cannot be read; give it in PEM form",
    )
    .with_source(error)
}
