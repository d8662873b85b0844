//! The template: the example of a driver elsewhere, which CI builds and tests, under another name.

use std::fs;
use std::path::Path;

use super::name::Name;
use crate::failure::{Context, Failure, Outcome};

/// A wire format that a driver can begin with.
#[derive(Debug)]
pub(super) struct Wire {
    name: &'static str,
    /// The module of llm-wire and the dialect to begin with.
    dialect: &'static str,
    /// How the format is called, for people.
    title: &'static str,
    path: &'static str,
    stream_body: &'static str,
    /// Does the template have exchanges in it?
    fixtures: bool,
}

const WIRES: [Wire; 2] = [
    Wire {
        name: "chat_completions",
        dialect: "Dialect::compatible()",
        title: "Chat Completions",
        path: "/v1/chat/completions",
        stream_body: r#"{ "stream": true, "stream_options": { "include_usage": true } }"#,
        fixtures: true,
    },
    Wire {
        name: "messages",
        dialect: "Dialect::anthropic()",
        title: "Messages",
        path: "/v1/messages",
        stream_body: r#"{ "stream": true }"#,
        fixtures: false,
    },
];

impl Wire {
    pub(super) fn named(name: &str) -> Outcome<&'static Self> {
        WIRES.iter().find(|wire| wire.name == name).ok_or_else(|| {
            let known: Vec<&str> = WIRES.iter().map(|wire| wire.name).collect();
            Failure::usage(format!(
                "new-driver: no template for `{name}`; there are {}. For another format begin with one of these and \
                 exchange the dialect in src/dialect.rs and src/driver.rs",
                known.join(" and ")
            ))
        })
    }
}

/// Where the crate will live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// In this workspace.
    Inside,
    /// Elsewhere, on published versions.
    Outside,
}

pub(super) const TEMPLATE: &str = "examples/external-driver";

/// What is there only because the example is an example, or is made by cargo.
const NOT_COPIED: [&str; 4] = ["Cargo.toml", "Cargo.lock", ".gitignore", "target"];

/// Writes the crate.
pub(super) fn write(root: &Path, folder: &Path, name: &Name, wire: &Wire, home: Home) -> Outcome {
    copy(&root.join(TEMPLATE), folder, name, wire)?;
    if !wire.fixtures {
        let fixtures = folder.join("tests/fixtures");
        fs::remove_dir_all(&fixtures).while_doing("removing the fixtures of another format")?;
        put(&fixtures.join(".gitkeep"), "")?;
    }
    match home {
        Home::Inside => put(&folder.join("Cargo.toml"), &manifest_inside(name, wire)),
        Home::Outside => {
            put(&folder.join(".gitignore"), "/target\n")?;
            put(&folder.join("Cargo.toml"), &manifest_outside(root, name)?)
        }
    }
}

fn copy(from: &Path, to: &Path, name: &Name, wire: &Wire) -> Outcome {
    for entry in fs::read_dir(from).while_doing(format_args!("reading {}", from.display()))? {
        let entry = entry.while_doing(format_args!("reading {}", from.display()))?;
        let file = entry.file_name();
        if NOT_COPIED.iter().any(|skipped| file == *skipped) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(&file));
        if source.is_dir() {
            copy(&source, &target, name, wire)?;
        } else {
            let text =
                fs::read_to_string(&source).while_doing(format_args!("reading {}", source.display()))?;
            put(&target, &rendered(&text, name, wire))?;
        }
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> Outcome {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).while_doing(format_args!("making {}", folder.display()))?;
    }
    fs::write(path, text).while_doing(format_args!("writing {}", path.display()))
}

/// A file of the example, for another vendor.
fn rendered(text: &str, name: &Name, wire: &Wire) -> String {
    let standard = &WIRES[0];
    let text = text
        .split_inclusive('\n')
        .filter(|line| !line.starts_with("Acme is invented"))
        // Chat Completions alone has this in its dialect.
        .filter(|line| wire.fixtures || !line.contains("dialect.options."))
        .collect::<String>()
        .replace("tokens.\n\n\n", "tokens.\n\n")
        .replace(
            "use llm_wire::chat_completions::",
            &format!("use llm_wire::{}::", wire.name),
        )
        .replace(standard.dialect, wire.dialect)
        .replace(standard.title, wire.title)
        .replace(standard.path, wire.path)
        .replace(standard.stream_body, wire.stream_body);
    renamed(&text, name)
}

fn renamed(text: &str, name: &Name) -> String {
    text.replace("llm_driver_acme", &format!("llm_driver_{}", name.module()))
        .replace("ACME", &name.variable())
        .replace("Acme", &name.type_name())
        .replace("acme", name.id())
}

fn manifest_inside(name: &Name, wire: &Wire) -> String {
    let (package, module) = (name.package(), name.module());
    let (title, called) = (wire.title, name.type_name());
    format!(
        r#"[package]
name = "{package}"
description = "{called} driver: {title} in {called}'s dialect"
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
readme = "README.md"

[lib]
name = "llm_driver_{module}"

[features]
default = ["rustls"]
# TLS for the shared transport; without it: plain HTTP only, or a Transport of your own.
rustls = ["llm-http/rustls"]

[dependencies]
llm-core.workspace = true
llm-http.workspace = true
llm-wire.workspace = true
serde_json.workspace = true

[dev-dependencies]
llm-driver-testkit.workspace = true
tokio = {{ workspace = true, features = ["rt", "time"] }}

[lints]
workspace = true
"#
    )
}

/// The example's manifest with versions in the place of paths.
fn manifest_outside(root: &Path, name: &Name) -> Outcome<String> {
    let read = |path: &Path| fs::read_to_string(path).while_doing(format_args!("reading {}", path.display()));
    let workspace = read(&root.join("Cargo.toml"))?;
    let version = workspace
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    let version = version.ok_or_else(|| Failure::new("Cargo.toml names no version of the workspace"))?;
    let mut manifest =
        String::from("# An empty table: whatever workspace lies around it, this crate is its own.\n");
    for line in read(&root.join(TEMPLATE).join("Cargo.toml"))?.lines() {
        let kept = !line.starts_with('#') || line.starts_with("# TLS");
        if !kept || line.starts_with("publish = false") {
            continue;
        }
        match line.split_once("path = \"") {
            Some((before, path)) => {
                let after = path.split_once('"').map_or("", |(_, after)| after);
                manifest.push_str(&format!("{before}version = \"{version}\"{after}\n"));
            }
            None => manifest.push_str(&format!("{line}\n")),
        }
    }
    Ok(renamed(&manifest, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn written(wire: &str, home: Home) -> std::path::PathBuf {
        let root = workspace::root().unwrap();
        let folder = std::env::temp_dir().join(format!("new-driver-{}-{wire}-{home:?}", std::process::id()));
        let name = Name::parse("cloud-nine").unwrap();
        write(&root, &folder, &name, Wire::named(wire).unwrap(), home).unwrap();
        folder
    }

    fn texts(folder: &Path) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(texts(&path));
            } else {
                found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
            }
        }
        found
    }

    #[test]
    fn nothing_of_the_example_is_left() {
        for (wire, home) in [
            ("chat_completions", Home::Inside),
            ("chat_completions", Home::Outside),
            ("messages", Home::Inside),
        ] {
            let folder = written(wire, home);
            let all = texts(&folder);
            fs::remove_dir_all(&folder).unwrap();
            assert!(all.len() > 10 || wire == "messages", "{}", all.len());
            for (path, text) in &all {
                for word in ["acme", "Acme", "ACME", "invented: this", "../../crates"] {
                    assert!(!text.contains(word), "{path} has {word}");
                }
                if wire == "messages" {
                    assert!(
                        !text.contains("chat_completions") && !text.contains("Chat Completions"),
                        "{path}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_crate_elsewhere_names_versions() {
        let folder = written("chat_completions", Home::Outside);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(
            manifest.contains("name = \"llm-driver-cloud-nine\""),
            "{manifest}"
        );
        assert!(
            manifest.contains("package = \"llm-driver-core\", version = \""),
            "{manifest}"
        );
        assert!(
            !manifest.contains("path =") && !manifest.contains("publish"),
            "{manifest}"
        );
    }

    #[test]
    fn an_unknown_format_says_which_there_are() {
        let failure = Wire::named("converse").unwrap_err();
        assert!(
            failure.message.contains("chat_completions and messages"),
            "{}",
            failure.message
        );
    }
}
