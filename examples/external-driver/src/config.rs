//! What the driver is set up with.

use crate::{DRIVER_ID, VENDOR};
use llm_http::{HostConfig, HostedVendor, VendorHost};

/// What the driver ([`AcmeDriver`](crate::AcmeDriver)) is set up with: a key is enough.
pub type AcmeConfig = HostConfig<Acme>;

/// Acme, as a type: it tells this driver's configuration from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acme {}

impl HostedVendor for Acme {
    const HOST: VendorHost = VendorHost::new(DRIVER_ID, VENDOR, "https://api.acme.example/v1")
        .with_domains(&["api.acme.example"])
        .with_variables(&["ACME_API_KEY"], "ACME_BASE_URL");
}
