//! The scripted upstream: a server that others wrote, with answers of ours in the formats of several vendors.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::installer::Package;
use super::served::Served;
use crate::failure::{Failure, Outcome};
use crate::steps::seconds;
use crate::workspace;

const PACKAGES: Package = Package {
    name: "scripted-upstream",
    contents: "a mock of several vendors' APIs (12 MB)",
    parts: &["@copilotkit/aimock@1.43.0"],
};

/// The oldest Node.js that the package runs on.
const OLDEST: (u32, u32) = (20, 15);

/// It is up in less than a second where it works at all.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running scripted upstream. Dropping it stops the server.
#[derive(Debug)]
pub(crate) struct ScriptedUpstream {
    served: Served,
    origin_url: String,
}

impl ScriptedUpstream {
    /// Sets the server up if needed, starts it on `port` (0: any free one) and waits until it answers.
    pub(crate) fn start(port: u16) -> Outcome<Self> {
        check_node()?;
        let site = PACKAGES.provide("npm", |scratch, site| Ok(("npm", installation(scratch, site))))?;
        let assets = workspace::root()?.join("xtask/assets");
        let start = Instant::now();
        let mut command = Command::new("node");
        command
            .arg(assets.join("scripted_upstream.mjs"))
            .arg(site)
            .arg(assets.join("scripted_upstream.json"))
            .arg(port.to_string());
        let served = Served::start(command, "the scripted upstream", PACKAGES.name, START_LIMIT)?;
        let origin_url = format!("http://{}", served.origin());
        eprintln!(
            "services: scripted upstream up in {} at {origin_url}",
            seconds(start.elapsed())
        );
        Ok(Self { served, origin_url })
    }

    /// Where it is, without a path: each vendor's paths stand behind it.
    pub(crate) fn origin_url(&self) -> &str {
        &self.origin_url
    }

    /// Waits until the server ends by itself, which it does not do while it works.
    pub(super) fn wait(&mut self) -> Outcome {
        self.served.wait()
    }
}

/// Installs into `site`, and runs nothing that a package brings.
fn installation(scratch: &Path, site: &Path) -> Command {
    let mut command = Command::new("npm");
    command
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--ignore-scripts",
            "--prefix",
        ])
        .arg(site)
        .args(PACKAGES.parts)
        .env("npm_config_cache", scratch.join("tmp"));
    command
}

fn check_node() -> Outcome {
    let mut ask = Command::new("node");
    let output = ask.arg("--version").stdin(Stdio::null()).output();
    let version = output.ok().filter(|output| output.status.success());
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let (major, minor) = OLDEST;
    let advice = format!("install Node.js {major}.{minor} or newer, with npm, and run this again");
    match version {
        None => Err(Failure::new(format!(
            "the scripted upstream needs Node.js, and there is no `node`; {advice}"
        ))),
        Some(version) if parse_version(&version).is_none_or(|found| found < OLDEST) => Err(Failure::new(
            format!("the scripted upstream needs another Node.js than {version}; {advice}"),
        )),
        Some(_) => Ok(()),
    }
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix('v')?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(parse_version("v20.20.2"), Some((20, 20)));
        assert!(parse_version("v9.11.2").is_some_and(|old| old < OLDEST));
        assert_eq!(parse_version("nightly"), None);
    }
}
