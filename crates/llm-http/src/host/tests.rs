use super::*;
use crate::config_from_value;
use crate::request::HttpRequest;
use crate::transport::HttpResponse;
use llm_core::{CallContext, ModelEntry, Price, async_trait, price::Rates};
use serde_json::json;

#[derive(Debug, Clone, Copy)]
enum Acme {}

impl HostedVendor for Acme {
    const HOST: VendorHost = VendorHost::new(
        DriverId::from_static("acme"),
        VendorId::from_static("acme-inc"),
        "https://api.acme.example/v1",
    )
    .with_domains(&["api.acme.example"])
    .with_variables(&["ACME_API_KEY", "ACME_KEY"], "ACME_BASE_URL");
}

type AcmeConfig = HostConfig<Acme>;

static SHIPPED: ShippedCatalog = ShippedCatalog::new(
    r#"{"models": [
        {"id":"big","mode":"chat","input":5,"output":7,"capabilities":["tools"]},
        {"id":"ears","mode":"transcription","capabilities":[]}
    ]}"#,
);

#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl Transport for Nowhere {
    async fn send(&self, _: &CallContext, _: HttpRequest) -> Result<HttpResponse> {
        Err(Error::new(ErrorKind::Connection, "nobody there"))
    }
}

fn api(config: &AcmeConfig) -> Result<VendorApi> {
    config.api(Arc::new(Nowhere))
}

fn models(config: &AcmeConfig) -> ModelTable {
    config.models(&SHIPPED, "big", |model| model).unwrap()
}

fn id(name: &str) -> ModelId {
    ModelId::new(name).unwrap()
}

#[test]
fn variables_are_read_in_their_order_and_a_key_must_be_there() {
    let from = |variables: &'static [(&str, &str)]| {
        AcmeConfig::from_variables(move |name| {
            let found = variables.iter().find(|(there, _)| *there == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    };
    let key = |variables| from(variables).unwrap().api_key.unwrap().expose().clone();
    assert_eq!(key(&[("ACME_KEY", "k2"), ("ACME_API_KEY", " k1\n")]), "k1");
    assert_eq!(key(&[("ACME_KEY", "k2"), ("ACME_API_KEY", " ")]), "k2");
    let error = from(&[]).unwrap_err();
    assert_eq!(
        error.message(),
        "there is no key; set ACME_API_KEY or ACME_KEY, or ACME_BASE_URL for a host that wants none"
    );
    let own = from(&[("ACME_BASE_URL", "http://127.0.0.1:9/v1")]).unwrap();
    assert!(own.api_key.is_none() && api(&own).is_ok());
}

#[test]
fn the_vendors_own_hosts_are_known() {
    let own = |url: &str| AcmeConfig::compatible(url).is_own_host();
    for url in [
        "https://api.acme.example/v1",
        "https://eu.api.acme.example",
        " https://API.acme.example/beta ",
    ] {
        assert!(own(url), "{url}");
    }
    for url in [
        "https://evilapi.acme.example",
        "https://api.acme.example.evil.example",
        "http://localhost",
        "?",
    ] {
        assert!(!own(url), "{url}");
    }
}

#[test]
fn a_key_is_needed_at_the_vendor_alone() {
    assert_eq!(api(&AcmeConfig::default()).unwrap_err().kind(), ErrorKind::Config);
    assert!(api(&AcmeConfig::new("k")).is_ok());
    let own = AcmeConfig::compatible("http://127.0.0.1:9/v1");
    assert!(api(&own).is_ok());
    let header = own.with_auth(AuthScheme::Header("api-key".into()));
    assert_eq!(api(&header).unwrap_err().kind(), ErrorKind::Config);
    assert!(api(&AcmeConfig::new("k").with_idempotency_header("no name")).is_err());
    assert!(api(&AcmeConfig::new("k").with_base_url("acme")).is_err());
}

/// A vendor with a header of its own for the key, whose client takes an address without a version.
#[derive(Debug, Clone, Copy)]
enum Header {}

impl HostedVendor for Header {
    const HOST: VendorHost = VendorHost::new(
        DriverId::from_static("header"),
        VendorId::from_static("header"),
        "https://api.header.example/v1",
    )
    .with_domains(&["api.header.example"])
    .with_variables(&["HEADER_KEY"], "HEADER_URL")
    .with_version_path("/v1")
    .with_key_header("x-key");
}

#[test]
fn the_vendors_own_header_takes_the_key_unless_a_file_names_another_place() {
    let usual = AuthScheme::Header("x-key".into());
    let read = |value| config_from_value::<HostConfig<Header>>(value).unwrap().auth;
    assert_eq!(HostConfig::<Header>::new("k").auth, usual);
    assert_eq!(read(json!({"api_key": "k"})), usual);
    assert_eq!(
        read(json!({"api_key": "k", "auth": "bearer"})),
        AuthScheme::Bearer
    );
    let api = |config: HostConfig<Header>| config.api(Arc::new(Nowhere));
    assert!(api(HostConfig::default()).is_err());
    assert!(api(HostConfig::compatible("http://127.0.0.1:9")).is_ok());
    let bearer = HostConfig::compatible("http://127.0.0.1:9").with_auth(AuthScheme::Bearer);
    assert!(api(bearer).is_err(), "who names a place means it");
}

#[test]
fn the_variable_may_come_without_the_version() {
    for (given, used) in [
        ("http://h", "http://h/v1"),
        ("http://h/v1/", "http://h/v1/"),
        ("http://h/v1?a=b", "http://h/v1?a=b"),
    ] {
        let variable = |name: &str| (name == "HEADER_URL").then(|| given.to_owned());
        assert_eq!(
            HostConfig::<Header>::from_variables(variable).unwrap().base_url,
            used
        );
    }
    let variable = |name: &str| (name == "ACME_BASE_URL").then(|| "http://h".to_owned());
    assert_eq!(AcmeConfig::from_variables(variable).unwrap().base_url, "http://h");
}

#[test]
fn a_file_has_the_fields_names_and_no_others() {
    let config: AcmeConfig = config_from_value(json!({
        "api_key": "an invented key", "base_url": "http://h/v1/?v=2", "auth": "header(x)", "headers": {"a": "b"},
        "query": {"c": "d"}, "default_model": "m", "shipped_catalog": true, "unknown_models": "allow",
        "models": {"m": {"context_window": 5}}, "idempotency_header": "i", "limits": {"max_body_bytes": 9},
        "id": "mine", "vendor": "other",
    }))
    .unwrap();
    assert_eq!(config.limits.max_body_bytes, 9);
    let info = config.info("Acme");
    assert_eq!((info.id.as_str(), info.vendor.as_str()), ("mine", "other"));
    assert_eq!(info.base_url, "http://h/v1");
    assert!(!format!("{config:?}").contains("an invented key"));
    let error = config_from_value::<AcmeConfig>(json!({"api_keys": "x"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[test]
fn the_catalogue_holds_at_the_vendor_and_entries_go_over_it() {
    let mut rates = Rates::default();
    rates.input = Some(1);
    let entry = ModelEntry::default().with_price(Price::new(rates));
    let vendor = models(&AcmeConfig::new("k").with_model(id("big"), entry.clone()));
    let big = vendor.resolve(None).unwrap();
    assert_eq!(big.id, id("big"));
    let rates = big.price.as_ref().unwrap().rates;
    assert_eq!((rates.input, rates.output), (Some(1), Some(7)));
    assert_eq!(vendor.resolve(Some(&id("acme-inc/big"))).unwrap().id, id("big"));
    assert_eq!(
        vendor.resolve(Some(&id("ears"))).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    assert_eq!(
        vendor.resolve(Some(&id("small"))).unwrap_err().kind(),
        ErrorKind::UnknownModel
    );
    let elsewhere = models(&AcmeConfig::compatible("http://127.0.0.1:9/v1"));
    assert_eq!(elsewhere.resolve(None).unwrap_err().kind(), ErrorKind::Config);
    assert!(!elsewhere.resolve(Some(&id("big"))).unwrap().known);
    let gateway = AcmeConfig::compatible("http://127.0.0.1:9/v1").with_shipped_catalog(true);
    assert!(models(&gateway).resolve(Some(&id("big"))).unwrap().known);
}
