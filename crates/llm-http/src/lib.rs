#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod api;
pub mod chat;
pub mod clock;
mod config;
pub mod credential;
pub mod deadline;
pub mod exchange;
mod host;
pub mod limits;
mod model_list;
mod moment;
mod probe;
mod rate_limit;
pub mod redact;
pub mod request;
mod reqwest;
pub mod retry_after;
pub mod transport;
pub mod url;

pub use self::api::VendorApi;
pub use self::chat::{ChatCall, EncodedChat};
pub use self::clock::{SystemClock, shared_clock};
pub use self::config::config_from_value;
pub use self::credential::{AuthScheme, Credential, CredentialSource, FixedCredential};
pub use self::deadline::{bound_body, within_deadline};
pub use self::exchange::{CallFacts, Exchange, status_error};
pub use self::host::{ChatVendor, HostConfig, HostDriver, HostParts, HostedVendor, VendorHost};
pub use self::limits::Limits;
pub use self::request::HttpRequest;
pub use self::reqwest::{ReqwestTransport, ReqwestTransportBuilder};
pub use self::retry_after::{HeaderFacts, header_facts};
pub use self::transport::{Body, HttpResponse, Transport, transport_from};
pub use self::url::{join, same_origin};
pub use llm_core::codec::{parse_model_list, path_segment};
