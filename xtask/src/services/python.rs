//! The Python of this machine, and the ways it offers to install wheels into a folder of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::{Failure, Outcome};

/// The oldest Python that the wheels are built for.
const OLDEST: (u32, u32) = (3, 10);

/// A Python that can run the services.
#[derive(Debug)]
pub(super) struct Python {
    pub(super) program: &'static str,
    /// Tells installations apart that must not be mixed, such as `cpython-3.11-linux-x86_64`.
    pub(super) tag: String,
}

/// A way to install wheels without touching the system's Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Installer {
    /// The pip module of some Python: the machine's own, or that of a fresh virtual environment.
    Pip(PathBuf),
    Uv,
}

impl Python {
    /// Looks for a Python that is new enough.
    pub(super) fn find() -> Outcome<Self> {
        let question = "import sys, sysconfig; print(*sys.version_info[:2], \
                        f'{sys.implementation.name}-{sys.version_info[0]}.{sys.version_info[1]}-{sysconfig.get_platform()}')";
        let mut found = None;
        for program in ["python3", "python"] {
            let Some(answer) = ask(Command::new(program).args(["-c", question])) else {
                continue;
            };
            match parse_answer(&answer) {
                Some((version, tag)) if version >= OLDEST => return Ok(Self { program, tag }),
                Some((version, _)) => found = Some((program, version)),
                None => {}
            }
        }
        let (major, minor) = OLDEST;
        let advice = "install it (Debian: apt-get install python3 python3-pip) and run this again";
        Err(Failure::new(match found {
            Some((program, (old_major, old_minor))) => format!(
                "the model server needs Python {major}.{minor} or newer, and `{program}` is {old_major}.{old_minor}; {advice}"
            ),
            None => format!(
                "the model server needs Python {major}.{minor} or newer, and there is no `python3`; {advice}"
            ),
        }))
    }

    /// The first way to install that this machine offers; a virtual environment would go to `scratch`.
    pub(super) fn installer(&self, scratch: &Path) -> Outcome<Installer> {
        if has_pip(Path::new(self.program)) {
            return Ok(Installer::Pip(PathBuf::from(self.program)));
        }
        let environment = scratch.join("venv");
        if ask(Command::new(self.program).args(["-m", "venv"]).arg(&environment)).is_some() {
            let inner = environment.join("bin/python");
            if has_pip(&inner) {
                return Ok(Installer::Pip(inner));
            }
        }
        if ask(Command::new("uv").arg("--version")).is_some() {
            return Ok(Installer::Uv);
        }
        Err(Failure::new(
            "Python has neither pip nor venv here, and there is no uv; \
             install one of them (Debian: apt-get install python3 python3-pip) and run this again",
        ))
    }
}

impl Installer {
    /// What the person sees.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Pip(_) => "pip",
            Self::Uv => "uv",
        }
    }

    /// The command that installs `wheels`, and nothing they depend on, into `folder`.
    pub(super) fn command(&self, python: &Python, wheels: &[&str], folder: &Path) -> Command {
        let mut command = match self {
            Self::Pip(program) => {
                let mut command = Command::new(program);
                command.args([
                    "-m",
                    "pip",
                    "install",
                    "--no-input",
                    "--disable-pip-version-check",
                ]);
                command
            }
            Self::Uv => {
                let mut command = Command::new("uv");
                command.args(["pip", "install", "--python", python.program]);
                command
            }
        };
        command
            .args(["--only-binary", ":all:", "--no-deps", "--target"])
            .arg(folder)
            .args(wheels);
        // Settings of a person's own that contradict --target.
        command
            .env("PIP_USER", "0")
            .env("PIP_REQUIRE_VIRTUALENV", "0")
            .env("PIP_ROOT_USER_ACTION", "ignore");
        command
    }
}

fn has_pip(program: &Path) -> bool {
    ask(Command::new(program).args(["-m", "pip", "--version"])).is_some()
}

/// What a small program prints, if it can be run and succeeds.
fn ask(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn parse_answer(answer: &str) -> Option<((u32, u32), String)> {
    let mut words = answer.split_whitespace();
    let version = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some((version, words.next()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(
            parse_answer("3 11 cpython-3.11-linux"),
            Some(((3, 11), "cpython-3.11-linux".to_owned()))
        );
        assert_eq!(parse_answer("Python 2.7"), None);
        assert_eq!(parse_answer(""), None);
    }

    #[test]
    fn both_installers_fill_our_folder_with_wheels_only() {
        let python = Python {
            program: "python3",
            tag: String::new(),
        };
        for installer in [Installer::Pip(PathBuf::from("python3")), Installer::Uv] {
            let command = installer.command(&python, &["one==1", "two==2"], Path::new("site"));
            let words: Vec<String> = command
                .get_args()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            let tail: Vec<&str> = words.iter().rev().take(7).rev().map(String::as_str).collect();
            assert_eq!(
                tail,
                [
                    "--only-binary",
                    ":all:",
                    "--no-deps",
                    "--target",
                    "site",
                    "one==1",
                    "two==2"
                ]
            );
        }
    }
}
