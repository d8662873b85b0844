//! Making a new driver known in the workspace: a line here and there, beside those of the other drivers.

use std::fs;
use std::path::{Path, PathBuf};

use super::name::Name;
use crate::failure::{Context, Failure, Outcome};

/// A file with its new text.
#[derive(Debug)]
pub(super) struct Edit {
    path: PathBuf,
    text: String,
}

impl Edit {
    pub(super) fn write(&self) -> Outcome {
        fs::write(&self.path, &self.text).while_doing(format_args!("writing {}", self.path.display()))
    }
}

/// Where a line goes: after the last line that looks like those of other drivers.
struct Place {
    file: &'static str,
    /// How such a line begins, white space aside.
    begins: &'static str,
    /// How it goes on somewhere.
    holds: &'static str,
    line: String,
}

/// Every change, worked out and not yet written.
pub(super) fn all(root: &Path, name: &Name) -> Outcome<Vec<Edit>> {
    let mut edits: Vec<Edit> = Vec::new();
    for place in places(name) {
        let path = root.join(place.file);
        let at = match edits.iter().position(|edit| edit.path == path) {
            Some(at) => at,
            None => {
                let text = fs::read_to_string(&path).while_doing(format_args!("reading {}", place.file))?;
                edits.push(Edit { path, text });
                edits.len() - 1
            }
        };
        edits[at].text = with_line(&edits[at].text, &place)?;
    }
    Ok(edits)
}

fn places(name: &Name) -> Vec<Place> {
    let (id, package, module, called) = (name.id(), name.package(), name.module(), name.type_name());
    let place = |file, begins, holds, line: String| Place {
        file,
        begins,
        holds,
        line,
    };
    vec![
        place(
            "Cargo.toml",
            "llm-driver-",
            "default-features = false }",
            format!(
                "{package} = {{ path = \"crates/{package}\", version = \"0.1.0\", default-features = false }}"
            ),
        ),
        place(
            "crates/llm-suite/Cargo.toml",
            "",
            "= [\"dep:llm-driver-",
            format!("{id} = [\"dep:{package}\"]"),
        ),
        place(
            "crates/llm-suite/Cargo.toml",
            "drivers = [",
            "]",
            format!("\"{id}\""),
        ),
        place(
            "crates/llm-suite/Cargo.toml",
            "\"llm-driver-",
            "?/rustls\",",
            format!("    \"{package}?/rustls\","),
        ),
        place(
            "crates/llm-suite/Cargo.toml",
            "llm-driver-",
            "optional = true }",
            format!("{package} = {{ workspace = true, optional = true }}"),
        ),
        place(
            "crates/llm-suite/src/builtin.rs",
            "llm_driver_",
            "::register,",
            format!("    #[cfg(feature = \"{id}\")]\n    llm_driver_{module}::register,"),
        ),
        place(
            "crates/llm-suite/src/lib.rs",
            "pub use llm_driver_",
            " as ",
            format!(
                "/// The {called} driver (feature `{id}`).\n#[cfg(feature = \"{id}\")]\npub use llm_driver_{module} as {module};"
            ),
        ),
        place(
            "crates/llm-suite/README.md",
            "| `",
            " driver |",
            format!("| `{module}` | | the {called} driver |"),
        ),
        place(
            "README.md",
            "| [`llm-driver-",
            "](crates/llm-driver-",
            format!("| [`{package}`](crates/{package}) | {called} |"),
        ),
        place(
            "docs/architecture.md",
            "| `llm-driver-",
            "`src/driver.rs` |",
            format!("| `{package}` | {called} | `src/dialect.rs` |"),
        ),
        place(
            "CHANGELOG.md",
            "### Added",
            "",
            format!("- **{package}**: {called}, plain and streaming."),
        ),
    ]
}

/// The text with the line in its place. A list in one line gets one more element; under a heading a line comes first.
fn with_line(text: &str, place: &Place) -> Outcome<String> {
    let fits = |line: &str| {
        let line = line.trim_start();
        line.starts_with(place.begins) && line.contains(place.holds) && !line.contains("llm-driver-testkit")
    };
    let lines: Vec<&str> = text.lines().collect();
    let at = if place.begins.starts_with('#') {
        // Behind the blank line that follows the first such heading.
        lines.iter().position(|line| fits(line)).map(|at| at + 1)
    } else {
        lines.iter().rposition(|line| fits(line))
    };
    let Some(at) = at.filter(|at| *at < lines.len()) else {
        return Err(Failure::new(format!(
            "{} has no line that begins with `{}` and holds `{}` any more; bring xtask/src/new_driver/edits.rs up to date",
            place.file, place.begins, place.holds
        )));
    };
    let mut edited: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match lines[at]
        .strip_suffix(']')
        .filter(|_| place.begins.ends_with('['))
    {
        Some(list) => edited[at] = format!("{list}, {}]", place.line),
        None => edited.insert(at + 1, place.line.clone()),
    }
    Ok(edited.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// On the files as they are: a file that changes its shape is noticed here, not by whoever begins a driver.
    #[test]
    fn a_new_driver_is_known_everywhere() {
        let root = workspace::root().unwrap();
        let name = Name::parse("cloud-nine").unwrap();
        let edits = all(&root, &name).unwrap();
        assert_eq!(edits.len(), 8);
        for edit in &edits {
            let before = fs::read_to_string(&edit.path).unwrap();
            assert!(
                edit.text.contains("cloud-nine") || edit.text.contains("cloud_nine"),
                "{}",
                edit.path.display()
            );
            let lost: Vec<&str> = before
                .lines()
                .filter(|line| !edit.text.contains(line.trim_end_matches(']')))
                .collect();
            assert_eq!(lost, [] as [&str; 0], "{}", edit.path.display());
        }
        let changes = &edits
            .iter()
            .find(|edit| edit.path.ends_with("CHANGELOG.md"))
            .unwrap()
            .text;
        assert!(
            changes.contains("### Added\n\n- **llm-driver-cloud-nine**: CloudNine"),
            "{}",
            &changes[..600]
        );
        let suite = &edits
            .iter()
            .find(|edit| edit.path.ends_with("llm-suite/Cargo.toml"))
            .unwrap()
            .text;
        for line in [
            "cloud-nine = [\"dep:llm-driver-cloud-nine\"]",
            ", \"cloud-nine\"]",
            "    \"llm-driver-cloud-nine?/rustls\",",
            "llm-driver-cloud-nine = { workspace = true, optional = true }",
        ] {
            assert!(suite.contains(line), "{line}");
        }
    }

    #[test]
    fn a_file_of_another_shape_is_named() {
        let place = Place {
            file: "x.toml",
            begins: "a",
            holds: "b",
            line: "c".to_owned(),
        };
        let failure = with_line("nothing\n", &place).unwrap_err();
        assert!(
            failure.message.contains("x.toml") && failure.message.contains("edits.rs"),
            "{}",
            failure.message
        );
    }
}
