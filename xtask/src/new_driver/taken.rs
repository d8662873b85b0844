//! Names that a new driver cannot have, because something else has them: read from the files that it would be
//! written into.

use std::fs;
use std::path::Path;

use super::name::Name;
use crate::failure::{Context, Failure, Outcome};

/// Endings of the types that a driver has.
const ENDINGS: [&str; 4] = ["", "Config", "Driver", "Options"];

/// Refuses a name whose types the crate itself would mistake for others.
pub(super) fn check_types(template: &Path, name: &Name) -> Outcome {
    for (file, text) in sources(template)? {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            let called = name.type_name();
            let is_ours = |word: &str| {
                word.strip_prefix(&*called)
                    .is_some_and(|end| ENDINGS.contains(&end))
            };
            if let Some(word) = words(line).find(|word| is_ours(word)) {
                return Err(refusal(
                    name,
                    &format!("makes a type `{word}`, and {file} uses another of that name"),
                ));
            }
        }
    }
    Ok(())
}

/// Refuses a name that llm-suite has for something else: a feature, or something at its root.
pub(super) fn check_suite(root: &Path, name: &Name) -> Outcome {
    let manifest = read(root, "crates/llm-suite/Cargo.toml")?;
    if features(&manifest).any(|feature| feature == name.id()) {
        return Err(refusal(name, "is a feature of llm-suite already"));
    }
    let module = name.module();
    let library = read(root, "crates/llm-suite/src/lib.rs")?;
    let ends = |line: &str| {
        let item = line.strip_suffix(';').unwrap_or(line);
        let item = item.split('(').next().unwrap_or(item);
        ["mod ", "use ", "fn "].iter().any(|word| line.contains(word)) && words(item).last() == Some(&module)
    };
    if library
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .any(ends)
    {
        return Err(refusal(name, &format!("is `llm_suite::{module}` already")));
    }
    Ok(())
}

fn refusal(name: &Name, why: &str) -> Failure {
    Failure::usage(format!(
        "new-driver: the name `{}` {why}; choose another",
        name.id()
    ))
}

fn read(root: &Path, file: &str) -> Outcome<String> {
    fs::read_to_string(root.join(file)).while_doing(format_args!("reading {file}"))
}

/// The names of a manifest's features.
fn features(manifest: &str) -> impl Iterator<Item = &str> {
    manifest
        .lines()
        .skip_while(|line| *line != "[features]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ["))
        .map(|(name, _)| name)
}

/// The Rust files right in a folder, with their names.
fn sources(folder: &Path) -> Outcome<Vec<(String, String)>> {
    let doing = || format!("reading {}", folder.display());
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).while_doing(doing())? {
        let path = entry.while_doing(doing())?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).while_doing(doing())?;
            let name = path.file_name().unwrap_or_default();
            sources.push((name.to_string_lossy().into_owned(), text));
        }
    }
    Ok(sources)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::new_driver::template::TEMPLATE;
    use crate::workspace;

    fn why_not(name: &str) -> String {
        let root = workspace::root().unwrap();
        let name = Name::parse(name).unwrap();
        let checked =
            check_suite(&root, &name).and_then(|()| check_types(&root.join(TEMPLATE).join("src"), &name));
        let failure = checked.expect_err(name.id());
        assert_eq!(failure.code, 2);
        failure.message
    }

    /// On the files as they are.
    #[test]
    fn names_of_the_suite_are_taken() {
        let root = workspace::root().unwrap();
        let manifest = read(&root, "crates/llm-suite/Cargo.toml").unwrap();
        let all: Vec<&str> = features(&manifest).collect();
        assert!(
            ["full", "redis", "default", "cache-memory", "openai"]
                .iter()
                .all(|name| all.contains(name))
        );
        for name in all {
            assert!(why_not(name).contains("is a feature of llm-suite"), "{name}");
        }
        for name in ["prelude", "builtin", "context", "builtin-registry"] {
            assert!(why_not(name).contains("llm_suite::"), "{name}");
        }
    }

    #[test]
    fn names_of_types_that_a_driver_uses_are_taken() {
        for name in ["result", "arc", "host", "vendor-id", "model-table"] {
            assert!(why_not(name).contains("makes a type"), "{name}");
        }
    }

    #[test]
    fn other_names_are_free() {
        let root = workspace::root().unwrap();
        for name in ["nimbus", "cloud-nine", "re-dis", "hosted", "speaks"] {
            let name = Name::parse(name).unwrap();
            assert!(
                check_suite(&root, &name).is_ok()
                    && check_types(&root.join(TEMPLATE).join("src"), &name).is_ok()
            );
        }
    }
}
