//! `cargo xtask lint`: the rules of the architecture that no compiler checks.

mod arrows;
mod files;
mod licence;
mod packages;
mod sources;

use std::fmt;

use crate::arguments::{Arguments, Command};
use crate::failure::{Failure, Outcome};
use crate::metadata::Metadata;
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "lint",
    summary: "Check the rules of the architecture: arrows, purity, required files, licences",
    details: "\
Checks, and for each finding prints one line with what to do:
  arrows      a crate of the workspace depends only on those the architecture names
  purity      llm-core has exactly the listed dependencies; llm-wire has no runtime and no HTTP
  files       each driver crate and each wire format has the files of the house shape, and each
              driver runs the conformance suite; no mod.rs, utils.rs, helpers.rs, common.rs, misc.rs
  awaiting    in a driver crate only driver.rs and process.rs wait for anything
  length      a file past 700 lines is an error, past 400 a note
  licences    every dependency can be used under a licence of the list
  duplicates  no big crate is compiled in two incompatible versions
  manifests   every public crate has a README.md, `readme`, `description` and a licence
",
    operands: &[],
    flags: &[],
    run: |_: &Arguments| run(),
};

/// Something that breaks a rule: where, what is wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    message: String,
}

impl Finding {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "lint: {}: {}", self.path, self.message)
    }
}

/// Runs every check; fails when there is a finding.
pub(crate) fn run() -> Outcome {
    let root = workspace::root()?;
    let metadata = Metadata::read()?;
    let files = files::read_all(&root)?;
    for note in files::length_notes(&files) {
        println!("note: {}: {}", note.path, note.message);
    }
    let mut findings = arrows::check(&metadata);
    findings.extend(packages::check(&metadata, &files));
    findings.extend(files::check(&files));
    findings.extend(sources::check(&files));
    findings.sort();
    findings.dedup();
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!(
            "lint: {} files, {} packages: no findings",
            files.len(),
            metadata.packages.len()
        );
        return Ok(());
    }
    Err(Failure::new(format!("lint: {} findings", findings.len())))
}
