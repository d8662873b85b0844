//! What the runner promises, seen from outside.

mod folders;
mod mutation;
mod suites;
