//! The daemon as a black box: the real binary on a loopback port before fake vendors.

#[cfg(test)]
mod auth;
#[cfg(test)]
mod call;
#[cfg(test)]
mod client;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod config;
#[cfg(test)]
mod daemon;
#[cfg(test)]
mod faces;
#[cfg(test)]
mod fallback;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod head_wait;
#[cfg(test)]
mod load;
#[cfg(test)]
mod record;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod vendor;
