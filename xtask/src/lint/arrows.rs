//! Which crate of the workspace may depend on which, and what the pure crates may depend on at all.

use super::Finding;
use crate::metadata::{DependencyKind, Metadata, Package};

/// The kit that drivers, layers and routers are tested with.
const TESTKIT: &str = "llm-driver-testkit";

/// What benches are told with: benches alone use it, and it uses nothing of the workspace.
const BENCH: &str = "ratio";

/// The direct dependencies of `llm-core`, all of them: data and traits need no more.
const CORE_DEPENDENCIES: [&str; 6] = [
    "async-trait",
    "base64",
    "bytes",
    "futures-core",
    "serde",
    "serde_json",
];

/// What a crate of pure functions over bytes has no use for.
const NOT_IN_WIRE: [&str; 9] = [
    "tokio",
    "futures-util",
    "async-trait",
    "reqwest",
    "hyper",
    "hyper-util",
    "http",
    "rustls",
    "axum",
];

/// What stands between the crates of the workspace: the arrows of the architecture.
pub(super) fn check(metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata.members() {
        let from = package.folder_name();
        if Role::of(&from).is_none() {
            findings.push(Finding::new(
                manifest(&from),
                "a crate that the architecture does not name; give it a role in xtask/src/lint/arrows.rs",
            ));
            continue;
        }
        for dependency in &package.dependencies {
            let Some(to) = &dependency.workspace_folder else {
                continue;
            };
            if !is_allowed(&from, to, dependency.kind) {
                findings.push(Finding::new(
                    manifest(&from),
                    complaint(&from, to, dependency.kind),
                ));
            }
        }
        findings.extend(purity(&from, package));
    }
    findings
}

fn manifest(folder: &str) -> String {
    match folder {
        "xtask" => "xtask/Cargo.toml".to_owned(),
        BENCH => format!("benches/{BENCH}/Cargo.toml"),
        folder => format!("crates/{folder}/Cargo.toml"),
    }
}

fn complaint(from: &str, to: &str, kind: DependencyKind) -> String {
    let development = kind == DependencyKind::Development;
    if to == TESTKIT && !development {
        return format!("`{TESTKIT}` is a dev-dependency; move it to [dev-dependencies]");
    }
    if to == TESTKIT {
        return format!(
            "the testkit is built on `{from}`, so its tests would see two copies of each type; test it without the kit"
        );
    }
    if from.starts_with("llm-driver-") && to.starts_with("llm-driver-") {
        return format!(
            "a driver never depends on a driver (`{to}`); move what both need to llm-wire or llm-http"
        );
    }
    format!(
        "`{from}` must not depend on `{to}`; see the arrows in docs/architecture.md, or change them by a decision"
    )
}

/// What a crate is in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Core,
    Wire,
    Http,
    Driver,
    /// Layers and routers.
    Policy,
    Mcp,
    A2a,
    Testkit,
    Suite,
    Daemon,
    Cases,
    Bench,
    Xtask,
}

impl Role {
    fn of(folder: &str) -> Option<Self> {
        Some(match folder {
            "llm-core" => Self::Core,
            "llm-wire" => Self::Wire,
            "llm-http" => Self::Http,
            "llm-resilience" | "llm-routing" => Self::Policy,
            "llm-mcp" => Self::Mcp,
            "llm-a2a" => Self::A2a,
            TESTKIT => Self::Testkit,
            "llm-suite" => Self::Suite,
            "llm-routerd" => Self::Daemon,
            "llm-cases" => Self::Cases,
            BENCH => Self::Bench,
            "xtask" => Self::Xtask,
            folder if folder.starts_with("llm-driver-") => Self::Driver,
            _ => return None,
        })
    }

    fn may_use(self, other: Self) -> bool {
        match self {
            Self::Core | Self::Bench | Self::Xtask => false,
            Self::Wire | Self::Http | Self::Policy | Self::Mcp => other == Self::Core,
            Self::Driver | Self::Testkit | Self::A2a => matches!(other, Self::Core | Self::Wire | Self::Http),
            Self::Suite => !matches!(
                other,
                Self::Testkit | Self::Suite | Self::Daemon | Self::Cases | Self::Bench | Self::Xtask
            ),
            Self::Daemon => matches!(other, Self::Suite | Self::Wire),
            Self::Cases => !matches!(other, Self::Cases | Self::Bench | Self::Xtask),
        }
    }

    /// Layers and routers know no driver, but their tests and examples try them around a real one.
    fn may_be_tried_with(self, other: Self) -> bool {
        self == Self::Policy && matches!(other, Self::Wire | Self::Http | Self::Driver)
    }

    fn may_be_tested_with_the_kit(self) -> bool {
        !matches!(
            self,
            Self::Core | Self::Wire | Self::Http | Self::Testkit | Self::Bench | Self::Xtask
        )
    }
}

fn is_allowed(from: &str, to: &str, kind: DependencyKind) -> bool {
    let (Some(user), Some(used)) = (Role::of(from), Role::of(to)) else {
        return false;
    };
    let with_the_kit = used == Role::Testkit && user.may_be_tested_with_the_kit();
    let in_tests = kind == DependencyKind::Development
        && (with_the_kit || used == Role::Bench || user.may_be_tried_with(used));
    user.may_use(used) || in_tests
}

fn purity(folder: &str, package: &Package) -> Vec<Finding> {
    let direct: Vec<&str> = package
        .dependencies
        .iter()
        .filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let mut messages = Vec::new();
    match Role::of(folder) {
        Some(Role::Core) => {
            for name in direct.iter().filter(|name| !CORE_DEPENDENCIES.contains(name)) {
                messages.push(format!(
                    "`{name}` is not on the list of what llm-core may depend on; do without it"
                ));
            }
            for name in CORE_DEPENDENCIES.iter().filter(|name| !direct.contains(name)) {
                messages.push(format!(
                    "`{name}` is gone; take it off CORE_DEPENDENCIES in xtask/src/lint/arrows.rs"
                ));
            }
        }
        Some(Role::Wire) => {
            for name in direct.iter().filter(|name| NOT_IN_WIRE.contains(name)) {
                messages.push(format!(
                    "codecs are pure: `{name}` belongs in llm-http or in a driver"
                ));
            }
        }
        _ => {}
    }
    messages
        .into_iter()
        .map(|message| Finding::new(manifest(folder), message))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::metadata::Dependency;

    use DependencyKind::{Build, Development, Normal};

    #[test]
    fn drawn_arrows_pass() {
        for (from, to, kind) in [
            ("llm-wire", "llm-core", Normal),
            ("llm-driver-openai", "llm-http", Normal),
            ("llm-driver-openai", "llm-driver-testkit", Development),
            ("llm-routing", "llm-driver-testkit", Development),
            ("llm-resilience", "llm-driver-openai", Development),
            ("llm-driver-testkit", "llm-wire", Normal),
            ("llm-suite", "llm-driver-openai", Normal),
            ("llm-suite", "llm-driver-testkit", Development),
            ("llm-routerd", "llm-wire", Normal),
            ("llm-cases", "llm-driver-testkit", Normal),
            ("llm-cases", "llm-suite", Normal),
            ("llm-wire", "ratio", Development),
        ] {
            assert!(is_allowed(from, to, kind), "{from} -> {to}");
        }
    }

    #[test]
    fn other_arrows_fail() {
        for (from, to, kind) in [
            ("llm-core", "llm-wire", Normal),
            ("llm-core", "llm-driver-testkit", Development),
            ("llm-wire", "llm-http", Normal),
            ("llm-wire", "llm-driver-testkit", Development),
            ("llm-driver-openai", "llm-driver-claude", Normal),
            ("llm-driver-openai", "llm-driver-claude", Development),
            ("llm-driver-openai", "llm-driver-testkit", Normal),
            ("llm-driver-openai", "llm-driver-testkit", Build),
            ("llm-routing", "llm-resilience", Normal),
            ("llm-routing", "llm-wire", Normal),
            ("llm-resilience", "llm-driver-openai", Normal),
            ("llm-suite", "llm-driver-testkit", Normal),
            ("llm-routerd", "llm-core", Normal),
            ("llm-suite", "llm-routerd", Normal),
            ("xtask", "llm-core", Normal),
            ("llm-wire", "ratio", Normal),
            ("ratio", "llm-core", Normal),
            ("llm-cases", "stranger", Normal),
        ] {
            assert!(!is_allowed(from, to, kind), "{from} -> {to}");
        }
    }

    fn package(folder: &str, names: &[&str]) -> Package {
        Package {
            folder: PathBuf::from("crates").join(folder),
            member: true,
            dependencies: names
                .iter()
                .map(|name| Dependency {
                    name: (*name).to_owned(),
                    workspace_folder: name.starts_with("llm-").then(|| (*name).to_owned()),
                    kind: Normal,
                })
                .collect(),
            ..Package::default()
        }
    }

    #[test]
    fn core_has_exactly_the_listed_dependencies() {
        assert_eq!(purity("llm-core", &package("llm-core", &CORE_DEPENDENCIES)), []);
        let findings = purity(
            "llm-core",
            &package(
                "llm-core",
                &["async-trait", "base64", "bytes", "futures-core", "serde", "tokio"],
            ),
        );
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("`tokio` is not on the list"), "{told:?}");
        assert!(told[1].contains("`serde_json` is gone"), "{told:?}");
    }

    #[test]
    fn wire_has_no_runtime() {
        assert_eq!(purity("llm-wire", &package("llm-wire", &["serde", "memchr"])), []);
        assert_eq!(purity("llm-wire", &package("llm-wire", &["tokio"])).len(), 1);
    }

    #[test]
    fn each_wrong_edge_is_one_finding_that_says_what_to_do() {
        let metadata = Metadata {
            packages: vec![
                package(
                    "llm-driver-openai",
                    &["llm-driver-claude", "llm-driver-testkit", "llm-core"],
                ),
                package("llm-novelty", &["llm-core"]),
            ],
        };
        let told: Vec<String> = check(&metadata).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(
            told[0]
                .starts_with("lint: crates/llm-driver-openai/Cargo.toml: a driver never depends on a driver")
        );
        assert!(told[1].contains("move it to [dev-dependencies]"));
        assert!(told[2].contains("does not name"));
    }
}
