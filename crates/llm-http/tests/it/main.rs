//! The transport against real servers on loopback: whole answers, and every way an exchange goes wrong.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod reuse;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod server;
#[cfg(test)]
#[cfg(feature = "rustls")]
mod tls;
