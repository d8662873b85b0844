#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod app;
mod auth;
mod backend;
mod call_log;
mod cli;
pub mod config;
mod connection;
mod discover;
mod face;
mod request_id;
mod route;
mod running;
mod server;
pub mod store;
mod telemetry;

pub use cli::run;
