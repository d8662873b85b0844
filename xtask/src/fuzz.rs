//! `cargo xtask fuzz`: everything that reads bytes from outside, on bytes that nobody should send.

use std::path::Path;
use std::process::{Command as Process, Stdio};

use crate::arguments::{Arguments, Command, Flag, nearest};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "fuzz",
    summary: "Feed every decoder with bytes that nobody should send",
    details: "\
Runs each TARGET (all, where none is named) for a while, from the corpus in fuzz/corpus. With a nightly
toolchain and `cargo fuzz` (`cargo install cargo-fuzz`) libFuzzer runs it, and follows what the code does;
without, or with --stable, the same functions run on seeded mutations of the corpus. The targets are the
folders of fuzz/corpus and stand in fuzz/src/lib.rs, with what must always hold.

An input that breaks something is kept in fuzz/artifacts. Fix the kind of it at its root, and keep it: as a
test beside the code, and in the corpus.

example: cargo xtask fuzz --seconds 120 chat_completions_stream
",
    operands: &["[TARGET..]"],
    flags: &[
        Flag {
            name: "--seconds",
            value: Some("N"),
            help: "how long each target runs; 60 where nothing is said",
        },
        Flag {
            name: "--stable",
            value: None,
            help: "without libFuzzer, whatever is installed",
        },
    ],
    run: start,
};

/// How long each target runs in `cargo xtask ci`: enough for some thousand inputs.
pub(crate) const IN_CI: f64 = 0.5;

const MANIFEST: &str = "fuzz/Cargo.toml";
const CORPUS: &str = "fuzz/corpus";

fn start(arguments: &Arguments) -> Outcome {
    let seconds = match arguments.value("--seconds") {
        None => 60.0,
        Some(text) => match text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds < 1e6 => seconds,
            _ => {
                return Err(Failure::usage(format!(
                    "`--seconds {text}` is no number of seconds"
                )));
            }
        },
    };
    let targets = chosen(&known()?, arguments.operands())?;
    if arguments.has("--stable") {
        return run_stable(&targets, seconds);
    }
    match missing() {
        None => run_libfuzzer(&targets, seconds),
        Some(what) => {
            println!("{what}: the stable runner takes its place");
            run_stable(&targets, seconds)
        }
    }
}

/// Every target, on any toolchain.
pub(crate) fn run_all_stable(seconds: f64) -> Outcome {
    run_stable(&known()?, seconds)
}

fn run_stable(targets: &[String], seconds: f64) -> Outcome {
    let root = workspace::root()?;
    let manifest = root.join(MANIFEST).to_string_lossy().into_owned();
    let words = ["run", "--quiet", "--bin", "mutate", "--manifest-path", &manifest];
    let mut command = workspace::cargo(&words)?;
    command.arg("--").arg(seconds.to_string()).args(targets);
    // What the workspace has built is not built again.
    command.env("CARGO_TARGET_DIR", workspace::target_folder()?);
    workspace::run(command.current_dir(root.join("fuzz")))
}

fn run_libfuzzer(targets: &[String], seconds: f64) -> Outcome {
    let root = workspace::root()?;
    let mut broken = Vec::new();
    for target in targets {
        println!("==> {target}");
        // What is found on the way goes to the first folder; the committed corpus stays small.
        let found = workspace::target_folder()?.join("fuzz-corpus").join(target);
        std::fs::create_dir_all(&found).while_doing(format_args!("making {}", found.display()))?;
        let mut command = nightly(&["fuzz", "run", "--features", "libfuzzer", target]);
        command.arg(&found).arg(root.join(CORPUS).join(target));
        command.args([
            "--",
            "-max_len=8192",
            "-timeout=20",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
        ]);
        command.arg(format!("-max_total_time={}", seconds.ceil()));
        command.env("CARGO_TARGET_DIR", workspace::target_folder()?.join("fuzz"));
        if workspace::run(command.current_dir(&root)).is_err() {
            broken.push(target.as_str());
        }
    }
    match broken.as_slice() {
        [] => Ok(()),
        names => Err(Failure::new(format!(
            "broken: {}; the inputs are in fuzz/artifacts",
            names.join(", ")
        ))),
    }
}

/// What libFuzzer needs and is not there.
fn missing() -> Option<&'static str> {
    let works = |words: &[&str]| {
        let mut command = nightly(words);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    match () {
        () if !works(&["--version"]) => Some("no nightly toolchain"),
        () if !works(&["fuzz", "--version"]) => {
            Some("no `cargo fuzz` (`cargo install cargo-fuzz` brings it)")
        }
        () => None,
    }
}

/// The nightly cargo, whichever toolchain started us.
fn nightly(words: &[&str]) -> Process {
    let mut command = Process::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(words);
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

/// Every target, by its folder in the corpus.
fn known() -> Outcome<Vec<String>> {
    let folder = workspace::root()?.join(CORPUS);
    names_in(&folder).while_doing(format_args!("reading {}", folder.display()))
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn chosen(known: &[String], names: &[String]) -> Outcome<Vec<String>> {
    for name in names {
        if !known.contains(name) {
            let hint = match nearest(name, known.iter().map(String::as_str)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            return Err(Failure::usage(format!("no fuzz target `{name}`; {hint}")));
        }
    }
    let wanted = if names.is_empty() { known } else { names };
    Ok(wanted.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target, its corpus and its binary have one name; nothing else would find them.
    #[test]
    fn each_target_has_its_corpus_and_its_binary() {
        let root = workspace::root().unwrap();
        let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
        let (source, manifest) = (read("fuzz/src/lib.rs"), read(MANIFEST));
        let named = |text: &str, before: &str| -> Vec<String> {
            let pieces = text.split(before).skip(1);
            let mut names: Vec<String> = pieces
                .map(|rest| rest.split('"').next().unwrap_or_default().to_owned())
                .collect();
            names.sort();
            names
        };
        let targets = named(&source, " name: \"");
        assert!(!targets.is_empty());
        assert_eq!(targets, known().unwrap());
        assert_eq!(targets, named(&manifest, "[[bin]]\nname = \""));
        for target in targets {
            let binary = read(&format!("fuzz/fuzz_targets/{target}.rs"));
            assert!(
                binary.contains(&format!("llm_fuzz::run(\"{target}\"")),
                "{target}"
            );
        }
    }

    #[test]
    fn unknown_target_suggests_the_nearest() {
        let known = ["frame_sse".to_owned(), "urls".to_owned()];
        let failure = chosen(&known, &["frame_ssee".to_owned()]).unwrap_err();
        assert!(
            failure.message.contains("did you mean `frame_sse`?"),
            "{}",
            failure.message
        );
        assert_eq!(chosen(&known, &[]).unwrap(), known);
    }
}
