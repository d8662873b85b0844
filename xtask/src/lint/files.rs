//! Files and folders: the house shape of drivers and wire formats, banned names, and length.

use std::collections::BTreeSet;
use std::path::Path;

use super::Finding;
use crate::failure::{Context, Outcome};

/// Where our own code lies.
const SOURCE_FOLDERS: [&str; 3] = ["crates", "examples", "xtask"];

/// What is built or fetched, not written.
const SKIPPED_FOLDERS: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// Every driver crate has these, so that two drivers can be compared file by file.
const DRIVER_FILES: [&str; 8] = [
    "README.md",
    "src/lib.rs",
    "src/config.rs",
    "src/options.rs",
    "src/models.rs",
    "src/driver.rs",
    "src/dialect.rs",
    "tests/it/main.rs",
];

/// Every chat format has these; the server-side four come when a face needs them.
const FORMAT_FILES: [&str; 5] = [
    "types.rs",
    "encode_request.rs",
    "decode_response.rs",
    "decode_stream.rs",
    "decode_error.rs",
];

/// Folders of llm-wire that hold no chat format.
const NOT_A_CHAT_FORMAT: [&str; 2] = ["embeddings", "transcription"];

/// Names that say nothing about what is inside.
const BANNED_NAMES: [&str; 6] = ["common", "helper", "helpers", "misc", "util", "utils"];

const LONGEST: usize = 700;
const LONG: usize = 400;

/// A file of ours, with its text where it is Rust.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// From the workspace's root, with `/` between the parts.
    pub(super) path: String,
    pub(super) text: String,
}

/// Reads all files below the source folders.
pub(super) fn read_all(root: &Path) -> Outcome<Vec<SourceFile>> {
    let mut files = Vec::new();
    for folder in SOURCE_FOLDERS {
        if root.join(folder).is_dir() {
            read_folder(root, folder, &mut files)?;
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(files)
}

fn read_folder(root: &Path, folder: &str, files: &mut Vec<SourceFile>) -> Outcome {
    for entry in std::fs::read_dir(root.join(folder)).while_doing(format_args!("reading {folder}"))? {
        let entry = entry.while_doing(format_args!("reading {folder}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        let kind = entry.file_type().while_doing(format_args!("reading {path}"))?;
        if kind.is_dir() {
            if !SKIPPED_FOLDERS.contains(&name.as_str()) && !name.starts_with('.') {
                read_folder(root, &path, files)?;
            }
        } else {
            let text = match name.ends_with(".rs") {
                true => std::fs::read_to_string(entry.path()).while_doing(format_args!("reading {path}"))?,
                false => String::new(),
            };
            files.push(SourceFile { path, text });
        }
    }
    Ok(())
}

/// Names, lengths and required files.
pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .flat_map(check_one)
        .collect();
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for driver in folders_below(&paths, "crates/")
        .into_iter()
        .filter(|name| is_driver(name))
    {
        let folder = format!("crates/{driver}");
        findings.extend(missing(
            &paths,
            &folder,
            &DRIVER_FILES,
            "each driver crate has it; add it",
        ));
    }
    for format in folders_below(&paths, "crates/llm-wire/src/") {
        let folder = format!("crates/llm-wire/src/{format}");
        let is_codec = FORMAT_FILES
            .iter()
            .any(|name| paths.contains(&format!("{folder}/{name}").as_str()));
        if !is_codec || NOT_A_CHAT_FORMAT.contains(&format) {
            continue;
        }
        let advice = "each chat format has it; add it (a folder that is no chat format is listed in \
                      xtask/src/lint/files.rs)";
        findings.extend(missing(&paths, &folder, &FORMAT_FILES, advice));
    }
    findings
}

/// Whether a folder below `crates` holds a driver.
pub(super) fn is_driver(folder: &str) -> bool {
    folder.starts_with("llm-driver-") && folder != "llm-driver-testkit"
}

/// Long files that are not yet too long.
pub(super) fn length_notes(files: &[SourceFile]) -> Vec<Finding> {
    let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
    rust.filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LONG && lines <= LONGEST)
            .then(|| Finding::new(&file.path, format!("{lines} lines; most files stay under {LONG}")))
    })
    .collect()
}

fn check_one(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if lines > LONGEST {
        findings.push(Finding::new(
            &file.path,
            format!("{lines} lines; split it, the limit is {LONGEST}"),
        ));
    }
    let parts: Vec<&str> = file.path.trim_end_matches(".rs").split('/').collect();
    if parts.last() == Some(&"mod") {
        findings.push(Finding::new(
            &file.path,
            "no mod.rs; name the file after its module, beside its folder",
        ));
    }
    if let Some(name) = parts.iter().find(|part| BANNED_NAMES.contains(part)) {
        let message = format!("`{name}` says nothing; name it after what is inside");
        findings.push(Finding::new(&file.path, message));
    }
    findings
}

/// Names of the folders directly below `prefix`.
fn folders_below<'a>(paths: &BTreeSet<&'a str>, prefix: &str) -> BTreeSet<&'a str> {
    let below = paths.iter().filter_map(|path| path.strip_prefix(prefix));
    below
        .filter_map(|rest| rest.split_once('/'))
        .map(|(folder, _)| folder)
        .collect()
}

fn missing(paths: &BTreeSet<&str>, folder: &str, required: &[&str], advice: &str) -> Vec<Finding> {
    let wanted = required.iter().map(|name| format!("{folder}/{name}"));
    wanted
        .filter(|path| !paths.contains(path.as_str()))
        .map(|path| Finding::new(path, format!("missing; {advice}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> SourceFile {
        SourceFile {
            path: path.to_owned(),
            text: String::new(),
        }
    }

    fn told(files: &[SourceFile]) -> Vec<String> {
        check(files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn whole_driver_and_format_pass() {
        let mut files: Vec<SourceFile> = DRIVER_FILES
            .iter()
            .map(|name| file(&format!("crates/llm-driver-openai/{name}")))
            .collect();
        files.extend(
            FORMAT_FILES
                .iter()
                .map(|name| file(&format!("crates/llm-wire/src/chat_completions/{name}"))),
        );
        files.push(file("crates/llm-wire/src/frame/sse.rs"));
        files.push(file("crates/llm-wire/src/lib.rs"));
        files.push(file("crates/llm-driver-testkit/src/lib.rs"));
        assert_eq!(told(&files), [] as [&str; 0]);
    }

    #[test]
    fn each_missing_file_is_named() {
        let files = [
            file("crates/llm-driver-openai/README.md"),
            file("crates/llm-driver-openai/src/lib.rs"),
            file("crates/llm-wire/src/ollama/types.rs"),
        ];
        let told = told(&files);
        assert_eq!(
            told.len(),
            DRIVER_FILES.len() - 2 + FORMAT_FILES.len() - 1,
            "{told:?}"
        );
        assert!(
            told[0].starts_with("lint: crates/llm-driver-openai/src/config.rs: missing; "),
            "{told:?}"
        );
        assert!(
            told.iter()
                .any(|line| line.contains("crates/llm-wire/src/ollama/decode_stream.rs")),
            "{told:?}"
        );
    }

    #[test]
    fn banned_names_are_found_as_files_and_as_folders() {
        let files = [
            file("crates/llm-core/src/chat/mod.rs"),
            file("crates/llm-core/src/utils.rs"),
            file("crates/llm-core/tests/common/start.rs"),
            file("crates/llm-core/src/model.rs"),
            file("crates/llm-core/docs/common.md"),
        ];
        assert_eq!(told(&files).len(), 3, "{:?}", told(&files));
    }

    #[test]
    fn length_is_noted_and_then_refused() {
        let of = |lines: usize| SourceFile {
            path: "xtask/src/long.rs".to_owned(),
            text: "x\n".repeat(lines),
        };
        assert_eq!((length_notes(&[of(400)]).len(), told(&[of(400)]).len()), (0, 0));
        assert_eq!((length_notes(&[of(401)]).len(), told(&[of(401)]).len()), (1, 0));
        assert_eq!((length_notes(&[of(701)]).len(), told(&[of(701)]).len()), (0, 1));
    }
}
