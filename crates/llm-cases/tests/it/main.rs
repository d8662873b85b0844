//! What the runner promises, seen from outside.

#[cfg(test)]
mod deadlines;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod simulations;
#[cfg(test)]
mod suites;
