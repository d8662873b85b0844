//! The daemon as a black box: the real binary on a loopback port before fake vendors.

mod auth;
mod call;
mod client;
mod clients;
mod config;
mod daemon;
mod faces;
mod fallback;
mod faults;
mod head_wait;
mod load;
mod requests;
mod stopping;
mod vendor;
