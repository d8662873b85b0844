//! TLS, with a certificate of an authority that only these tests know.

use crate::server::{Server, cx, get, transport, whole};
use llm_core::{ErrorKind, Phase};
use llm_http::{HttpRequest, ReqwestTransport, Transport};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

const AUTHORITY: &[u8] = include_bytes!("tls/authority.pem");
const CERTIFICATE: &[u8] = include_bytes!("tls/server.pem");
const KEY: &[u8] = include_bytes!("tls/server.key.pem");

async fn server() -> Server {
    serving(false).await
}

/// Answers the first request on each connection. Closes then, or under the second request without a word of TLS.
async fn serving(under_the_second: bool) -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    Server::start(move |connection| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(connection.stream).await else {
                return;
            };
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream
                .write_all(whole("200 OK", "", "in secret").as_bytes())
                .await;
            if under_the_second {
                let _ = stream.read(&mut request).await;
            } else {
                let _ = stream.shutdown().await;
            }
        }
    })
    .await
}

fn https(server: &Server, host: &str) -> String {
    format!("https://{host}:{}/", server.address.port())
}

/// Apple's verifier takes no certificate that is valid for longer than some years, and Windows' asks its own
/// store first.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_certificate_of_an_added_authority_is_trusted() {
    let server = server().await;
    let transport = ReqwestTransport::builder()
        .with_root_certificates(AUTHORITY)
        .build()
        .unwrap();
    for host in ["localhost", "127.0.0.1"] {
        let request = HttpRequest::get(https(&server, host));
        let response = transport.send(&cx(), request).await.unwrap();
        assert_eq!(response.body.read_all(100).await.unwrap(), "in secret");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_kept_connection_that_closes_under_a_request_costs_no_call() {
    let server = serving(true).await;
    let transport = ReqwestTransport::builder()
        .with_root_certificates(AUTHORITY)
        .build()
        .unwrap();
    for _ in 0..20 {
        let request = HttpRequest::get(https(&server, "localhost"));
        let response = transport.send(&cx(), request).await.unwrap();
        assert_eq!(response.body.read_all(100).await.unwrap(), "in secret");
    }
    assert_eq!(server.connections(), 20);
}

#[tokio::test]
async fn a_certificate_of_nobody_is_refused_before_anything_is_sent() {
    let server = server().await;
    let error = get(https(&server, "localhost")).await.unwrap_err();
    // A machine without certificates of its own says so instead.
    if error.kind() != ErrorKind::Config {
        assert_eq!(
            (error.kind(), error.phase()),
            (ErrorKind::Connection, Phase::NotSent),
            "{error:?}"
        );
        assert!(error.message().contains("TLS"), "{error}");
    }
}

#[tokio::test]
async fn tls_with_a_plain_server_is_a_connection_that_was_not_made() {
    let server = Server::start(|mut connection| async move {
        // As web servers do when a greeting is no request.
        let _ = connection.stream.read(&mut [0; 4096]).await;
        connection
            .write(whole("400 Bad Request", "", "").as_bytes())
            .await;
    })
    .await;
    let transport = ReqwestTransport::builder()
        .with_root_certificates(AUTHORITY)
        .build()
        .unwrap();
    let request = HttpRequest::get(server.url("/").replace("http:", "https:"));
    let error = transport.send(&cx(), request).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.phase()),
        (ErrorKind::Connection, Phase::NotSent),
        "{error:?}"
    );
    assert!(error.message().contains("TLS"), "{error}");
}

#[test]
fn certificates_that_cannot_be_read_are_a_config_error() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in [
        "",
        "no pem",
        "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n",
        broken,
    ] {
        let error = ReqwestTransport::builder()
            .with_root_certificates(pem)
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{pem}");
    }
    // Nothing above needed a process-wide provider.
    assert!(rustls::crypto::CryptoProvider::get_default().is_none());
    let _ = transport();
}
