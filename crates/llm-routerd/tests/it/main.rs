//! The daemon as a black box: the real binary on a loopback port before fake vendors.

mod client;
mod clients;
mod daemon;
mod faces;
mod fallback;
mod faults;
mod load;
mod vendor;
