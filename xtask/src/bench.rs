//! `cargo xtask bench`: what our code costs, as ratios to a peer that does the same work in the same run.

use serde_json::Value;

use crate::arguments::{Arguments, Command, Flag, nearest};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "bench",
    summary: "Measure what our code costs, as ratios to a peer in the same run",
    details: "\
Builds in release and runs every bench target of the workspace (`[[bench]]` in a crate's Cargo.toml), and those
in benches/peers, which compares with other libraries and is a workspace of its own because these are heavy.
NAME is a bench target or a crate; `--list` shows both. Among them:
  codecs     llm-wire: each format there and back, over serde_json alone
  overhead   benches/peers: one call and one stream over loopback, over raw reqwest and serde_json, beside
             async-openai and genai; client and server share one core

The contestants take turns, so the ratios hold on a busy machine too; the times beside them do not. Nothing is
asserted: a ratio that moves by half is a question in review. How to write one: benches/ratio.
",
    operands: &["[NAME..]"],
    flags: &[
        Flag {
            name: "--quick",
            value: None,
            help: "fewer and shorter rounds, for a first look",
        },
        Flag {
            name: "--list",
            value: None,
            help: "only say which benches there are",
        },
    ],
    run: start,
};

/// Benches that compare with other libraries.
const PEERS: &str = "benches/peers/Cargo.toml";

/// Read by benches on `llm-bench-ratio`.
const QUICK: (&str, &str) = ("LLM_BENCH_QUICK", "1");

/// The same for benches on divan.
const QUICK_DIVAN: [(&str, &str); 2] = [("DIVAN_SAMPLE_COUNT", "20"), ("DIVAN_MAX_TIME", "0.2")];

/// One bench target.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bench {
    package: String,
    /// The folder of the package, by which people name a crate.
    folder: String,
    name: String,
    manifest: String,
    /// What its package must be built with, comma by comma.
    features: String,
}

fn start(arguments: &Arguments) -> Outcome {
    let benches = all()?;
    if arguments.has("--list") {
        for bench in &benches {
            println!("{:<12} {}", bench.name, bench.folder);
        }
        return Ok(());
    }
    for bench in chosen(&benches, arguments.operands())? {
        println!("==> {} ({})", bench.name, bench.folder);
        run(bench, arguments.has("--quick"), arguments.rest())?;
    }
    Ok(())
}

fn run(bench: &Bench, quick: bool, rest: &[String]) -> Outcome {
    let mut command = workspace::cargo(&["bench", "--quiet", "--manifest-path", &bench.manifest])?;
    command.args(["--package", &bench.package, "--bench", &bench.name]);
    if !bench.features.is_empty() {
        command.args(["--features", &bench.features]);
    }
    if !rest.is_empty() {
        command.arg("--").args(rest);
    }
    // The peers' dependencies that are ours too are not built again.
    command.env("CARGO_TARGET_DIR", workspace::target_folder()?);
    if quick {
        command.envs(QUICK_DIVAN).env(QUICK.0, QUICK.1);
    }
    workspace::run(&mut command)
}

/// Those that a person named; all, where nobody named any.
fn chosen<'b>(benches: &'b [Bench], names: &[String]) -> Outcome<Vec<&'b Bench>> {
    for name in names {
        if !benches.iter().any(|bench| bench.is_called(name)) {
            let known = || benches.iter().flat_map(|bench| [&*bench.name, &*bench.folder]);
            let hint = match nearest(name, known()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "`cargo xtask bench --list` shows all".to_owned(),
            };
            return Err(Failure::usage(format!(
                "no bench or crate `{name}` with benches; {hint}"
            )));
        }
    }
    let wanted = |bench: &&Bench| names.is_empty() || names.iter().any(|name| bench.is_called(name));
    Ok(benches.iter().filter(wanted).collect())
}

impl Bench {
    fn is_called(&self, name: &str) -> bool {
        [&self.name, &self.folder, &self.package]
            .iter()
            .any(|own| *own == name)
    }
}

/// Every bench of the workspace and of the comparison with others.
fn all() -> Outcome<Vec<Bench>> {
    let root = workspace::root()?;
    let mut benches = targets_below(&root.join("Cargo.toml").to_string_lossy())?;
    let peers = root.join(PEERS);
    if peers.is_file() {
        benches.extend(targets_below(&peers.to_string_lossy())?);
    }
    benches.sort();
    Ok(benches)
}

fn targets_below(manifest: &str) -> Outcome<Vec<Bench>> {
    let words = [
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
        "--manifest-path",
        manifest,
    ];
    let text = workspace::output(&mut workspace::cargo(&words)?)?;
    let value: Value = serde_json::from_str(&text).while_doing("reading `cargo metadata`")?;
    Ok(targets_of(&value, manifest))
}

fn targets_of(metadata: &Value, manifest: &str) -> Vec<Bench> {
    let list = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut benches = Vec::new();
    for package in list(metadata, "packages") {
        let path = text(&package, "manifest_path").replace('\\', "/");
        let folder = path.rsplit('/').nth(1).unwrap_or_default();
        for target in list(&package, "targets") {
            if list(&target, "kind").iter().any(|kind| kind == "bench") {
                let features = list(&target, "required-features");
                let features: Vec<&str> = features.iter().filter_map(Value::as_str).collect();
                benches.push(Bench {
                    package: text(&package, "name"),
                    folder: folder.to_owned(),
                    name: text(&target, "name"),
                    manifest: manifest.to_owned(),
                    features: features.join(","),
                });
            }
        }
    }
    benches
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sample() -> Vec<Bench> {
        let metadata = json!({"packages": [
            {"name": "llm-driver-wire", "manifest_path": "/x/crates/llm-wire/Cargo.toml", "targets": [
                {"name": "llm_wire", "kind": ["lib"]}, {"name": "codecs", "kind": ["bench"]}]},
            {"name": "llm-routing", "manifest_path": "/x/crates/llm-routing/Cargo.toml", "targets": [
                {"name": "plan", "kind": ["bench"], "required-features": ["a", "b"]}]},
        ]});
        targets_of(&metadata, "/x/Cargo.toml")
    }

    #[test]
    fn benches_are_found_by_target_crate_and_package() {
        let benches = sample();
        for (name, expected) in [
            ("codecs", 0),
            ("llm-wire", 0),
            ("llm-driver-wire", 0),
            ("plan", 1),
        ] {
            let chosen = chosen(&benches, &[name.to_owned()]).unwrap();
            assert_eq!(chosen, [&benches[expected]], "{name}");
        }
        assert_eq!(chosen(&benches, &[]).unwrap().len(), 2);
        assert_eq!([&*benches[0].features, &*benches[1].features], ["", "a,b"]);
    }

    #[test]
    fn unknown_bench_suggests_the_nearest() {
        let failure = chosen(&sample(), &["codec".to_owned()]).unwrap_err();
        assert!(
            failure.message.contains("did you mean `codecs`?"),
            "{}",
            failure.message
        );
        let failure = chosen(&sample(), &["zebra".to_owned()]).unwrap_err();
        assert!(failure.message.contains("--list"), "{}", failure.message);
    }
}
