//! The suite on a toy driver that keeps every promise, and on copies of it that each break one.

mod broken;
mod layers;
mod routers;
mod toy;

use llm_driver_testkit::conformance_suite;
use toy::{Flaw, harness};

conformance_suite!(harness(Flaw::None));
