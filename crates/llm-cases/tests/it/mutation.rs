//! Would the runner notice a broken build? One cell of the verdict table, one line of a codec and one of each layer
//! are broken in a copy of the sources; the copy is built and runs both suites.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What of the workspace is copied.
const COPIED: [&str; 6] = [
    "Cargo.toml",
    "Cargo.lock",
    "rust-toolchain.toml",
    "benches",
    "crates",
    "xtask",
];

/// One broken line: the crate whose sources hold it, what it says and what it says instead.
struct Mutation {
    sources: &'static str,
    line: &'static str,
    broken: &'static str,
    /// What a case of each suite must say of it.
    noticed: &'static str,
    /// What other cases may say because of it.
    follows: &'static [&'static str],
}

const MUTATIONS: [Mutation; 7] = [
    Mutation {
        sources: "crates/llm-core/src",
        line: "(K::Server | K::Connection, _) => row(S::Backoff,",
        broken: "(K::Server | K::Connection, _) => row(S::No,",
        noticed: "error.retryable: expected true, got false",
        follows: &["attempts: expected "],
    },
    Mutation {
        sources: "crates/llm-wire/src",
        line: "\"length\" | \"model_length\" => FinishKind::Length,",
        broken: "\"length\" | \"model_length\" => FinishKind::Stop,",
        noticed: "finish_reason: expected \"length\", got ",
        // What looks complete is kept.
        follows: &["FAIL cache-no-truncated"],
    },
    Mutation {
        sources: "crates/llm-resilience/src",
        line: "let wait = hint.saturating_add(policy.jitter.apply(backoff, facts.random));",
        broken: "let wait = policy.jitter.apply(backoff, facts.random);",
        noticed: "waits_ms: expected [{\"min\":3000,\"max\":",
        follows: &["waits_ms: expected "],
    },
    Mutation {
        sources: "crates/llm-resilience/src",
        line: "request.remove(\"model\");",
        broken: "request.remove(\"max_output_tokens\");",
        noticed: "].cache: expected \"miss\", got \"hit\"",
        follows: &[],
    },
    Mutation {
        sources: "crates/llm-resilience/src",
        line: "(None, Some(idle)) => waiting_since.checked_add(idle)",
        broken: "(None, Some(idle)) => None.filter(|_: &Instant| idle.is_zero())",
        noticed: "outcome: expected \"error\", got \"no end\"",
        follows: &["FAIL timeout-idle-too-late: "],
    },
    Mutation {
        sources: "crates/llm-resilience/src",
        line: "if (out.clone().count() as u64) < rules.probes {",
        broken: "if u64::MAX > rules.probes {",
        noticed: "steps[3].passed_count: expected 1, got 10",
        follows: &["passed_count: expected "],
    },
    Mutation {
        sources: "crates/llm-routing/src",
        line: "OtherCandidate::Yes | OtherCandidate::BeforeCommit => Next::Other,",
        broken: "OtherCandidate::Yes | OtherCandidate::BeforeCommit => Next::Stop,",
        noticed: "].attempts: expected [\"a\",\"b\"",
        follows: &["FAIL route-"],
    },
];

#[test]
fn a_broken_verdict_a_broken_codec_line_and_broken_layers_make_their_cases_fail() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = build(&here.join("../.."));
    for suite in ["cases", "cases-own"] {
        let output = Command::new(&program)
            .arg("run")
            .arg(here.join(suite))
            .arg("--supported")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        let failed: Vec<&str> = text.lines().filter(|line| line.starts_with("FAIL ")).collect();
        for mutation in &MUTATIONS {
            let noticed = |line: &&str| line.contains(mutation.noticed);
            assert!(
                failed.iter().any(noticed),
                "{suite}: nobody noticed {}",
                mutation.broken
            );
        }
        let expected = |line: &str| {
            MUTATIONS.iter().any(|mutation| {
                let mut words = mutation.follows.iter().chain([&mutation.noticed]);
                words.any(|words| line.contains(words))
            })
        };
        for line in failed {
            assert!(expected(line), "{suite}: failed for another reason: {line}");
        }
    }
}

/// Builds the runner from broken sources. What was built for it before is used again.
fn build(workspace: &Path) -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutation");
    let copy = room.join("workspace");
    let mut broken = [0; MUTATIONS.len()];
    let mut written = HashSet::new();
    for file in COPIED.iter().flat_map(|name| files_under(&workspace.join(name))) {
        let place = file.strip_prefix(workspace).unwrap();
        let mut content = fs::read(&file).unwrap();
        for (mutation, broken) in MUTATIONS.iter().zip(&mut broken) {
            if place.starts_with(mutation.sources)
                && let Some(changed) = changed(&content, mutation)
            {
                content = changed;
                *broken += 1;
            }
        }
        write(&copy.join(place), &content);
        written.insert(copy.join(place));
    }
    for (mutation, broken) in MUTATIONS.iter().zip(broken) {
        assert_eq!(
            broken, 1,
            "the line is not there once any more; choose another: {}",
            mutation.line
        );
    }
    for stale in files_under(&copy).iter().filter(|file| !written.contains(*file)) {
        fs::remove_file(stale).unwrap();
    }
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--package", "llm-cases", "--manifest-path"])
        .arg(copy.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(room.join("target"))
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    room.join("target/debug")
        .join(format!("llm-cases{}", std::env::consts::EXE_SUFFIX))
}

/// The file with its line broken; nothing where the line does not stand there exactly once.
fn changed(content: &[u8], mutation: &Mutation) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(content).ok()?;
    (text.matches(mutation.line).count() == 1)
        .then(|| text.replace(mutation.line, mutation.broken).into_bytes())
}

/// Writes what has changed, so that only that is built again.
fn write(path: &Path, content: &[u8]) {
    if fs::read(path).is_ok_and(|present| present == content) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// A file, or all files of a folder but the cases: those are read where they are.
fn files_under(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    if path.ends_with("llm-cases/cases") || path.ends_with("llm-cases/cases-own") {
        return Vec::new();
    }
    let entries = fs::read_dir(path).unwrap();
    entries
        .flat_map(|entry| files_under(&entry.unwrap().path()))
        .collect()
}
