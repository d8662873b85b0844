//! Packages: licences, versions that are compiled twice, and what a public crate must say of itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::files::SourceFile;
use super::licence;
use crate::metadata::{Metadata, Package};

/// Crates that cost minutes or megabytes when two incompatible versions are compiled.
const BIG_CRATES: [&str; 6] = ["axum", "hyper", "reqwest", "rustls", "serde_json", "tokio"];

pub(super) fn check(metadata: &Metadata, files: &[SourceFile]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = metadata.packages.iter().filter_map(check_licence).collect();
    findings.extend(duplicates(&metadata.packages));
    for package in metadata.members().filter(|package| package.public) {
        findings.extend(check_manifest(package, files));
    }
    findings
}

fn check_licence(package: &Package) -> Option<Finding> {
    let place = format!("{} {}", package.name, package.version);
    let Some(expression) = &package.license else {
        return Some(Finding::new(
            place,
            "names no licence; replace it, or read its licence file and say so here",
        ));
    };
    match licence::is_accepted(expression) {
        Ok(true) => None,
        Ok(false) => Some(Finding::new(
            place,
            format!("`{expression}` is not on the list in xtask/src/lint/licence.rs; replace the dependency"),
        )),
        Err(error) => Some(Finding::new(
            place,
            format!("`{expression}` is no licence expression: {error}"),
        )),
    }
}

fn duplicates(packages: &[Package]) -> Vec<Finding> {
    let mut versions: BTreeMap<&str, BTreeMap<String, BTreeSet<&str>>> = BTreeMap::new();
    for package in packages
        .iter()
        .filter(|package| BIG_CRATES.contains(&package.name.as_str()))
    {
        let line = compatible_line(&package.version);
        versions
            .entry(&package.name)
            .or_default()
            .entry(line)
            .or_default()
            .insert(&package.version);
    }
    let twice = versions.into_iter().filter(|(_, lines)| lines.len() > 1);
    twice
        .map(|(name, lines)| {
            let all: Vec<&str> = lines.into_values().flatten().collect();
            let message = format!(
                "compiled as {}; bring its users to one (`cargo tree -i {name}@VERSION` shows them)",
                all.join(" and ")
            );
            Finding::new("Cargo.lock", format!("`{name}` is {message}"))
        })
        .collect()
}

/// Versions that cargo may merge share this: `1` for 1.4.2, `0.23` for 0.23.1, `0.0.3` for itself.
fn compatible_line(version: &str) -> String {
    let mut line: Vec<&str> = Vec::new();
    for part in version.split('.') {
        line.push(part);
        if part != "0" {
            break;
        }
    }
    line.join(".")
}

fn check_manifest(package: &Package, files: &[SourceFile]) -> Vec<Finding> {
    let folder = format!("crates/{}", package.folder_name());
    let manifest = format!("{folder}/Cargo.toml");
    let readme = format!("{folder}/README.md");
    let mut findings = Vec::new();
    if !files.iter().any(|file| file.path == readme) {
        findings.push(Finding::new(
            &readme,
            "missing; it is the documentation of a public crate",
        ));
    }
    for (key, value) in [
        ("readme", &package.readme),
        ("description", &package.description),
        ("license", &package.license),
    ] {
        if value.as_deref().is_none_or(|value| value.trim().is_empty()) {
            findings.push(Finding::new(
                &manifest,
                format!("no `{key}`; a public crate has one (or `publish = false`)"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn package(name: &str, version: &str, license: Option<&str>) -> Package {
        Package {
            name: name.to_owned(),
            version: version.to_owned(),
            license: license.map(str::to_owned),
            ..Package::default()
        }
    }

    #[test]
    fn licences_outside_the_list_are_found() {
        assert_eq!(
            check_licence(&package("good", "1.0.0", Some("MIT OR GPL-2.0"))),
            None
        );
        for (license, expected) in [
            (Some("GPL-2.0"), "not on the list"),
            (None, "names no licence"),
            (Some("MIT OR"), "no licence expression"),
        ] {
            let finding = check_licence(&package("bad", "1.0.0", license)).unwrap();
            assert!(finding.to_string().starts_with("lint: bad 1.0.0: "), "{finding}");
            assert!(finding.to_string().contains(expected), "{finding}");
        }
    }

    #[test]
    fn only_incompatible_versions_of_big_crates_are_duplicates() {
        let mit = Some("MIT");
        let packages = [
            package("tokio", "1.54.1", mit),
            package("tokio", "1.40.0", mit),
            package("rustls", "0.22.4", mit),
            package("rustls", "0.23.1", mit),
            package("small", "1.0.0", mit),
            package("small", "2.0.0", mit),
        ];
        let found = duplicates(&packages);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .to_string()
                .contains("`rustls` is compiled as 0.22.4 and 0.23.1"),
            "{found:?}"
        );
    }

    #[test]
    fn compatible_lines_follow_the_first_part_that_is_not_zero() {
        for (version, line) in [
            ("1.4.2", "1"),
            ("0.23.1", "0.23"),
            ("0.0.3", "0.0.3"),
            ("2.0.0-rc.1", "2"),
        ] {
            assert_eq!(compatible_line(version), line);
        }
    }

    #[test]
    fn public_crate_says_what_it_is() {
        let mut ours = package("llm-driver-core", "0.1.0", Some("MIT"));
        ours.folder = PathBuf::from("crates/llm-core");
        ours.readme = Some("README.md".to_owned());
        ours.description = Some("Data and traits".to_owned());
        let readme = SourceFile {
            path: "crates/llm-core/README.md".to_owned(),
            text: String::new(),
        };
        assert_eq!(check_manifest(&ours, std::slice::from_ref(&readme)), []);
        ours.description = Some(" ".to_owned());
        ours.readme = None;
        assert_eq!(check_manifest(&ours, &[]).len(), 3);
    }
}
