//! What cargo knows of the workspace and its dependencies, cut down to what the checks read.

use std::path::PathBuf;

use serde_json::Value;

use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

/// Every package of the resolved workspace, with all features on.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
}

/// One package: ours or somebody else's.
#[derive(Debug, Default, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) readme: Option<String>,
    /// Whether it may go to a registry.
    pub(crate) public: bool,
    /// Whether it is a member of this workspace.
    pub(crate) member: bool,
    pub(crate) folder: PathBuf,
    pub(crate) features: Vec<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A line in some package's table of dependencies.
#[derive(Debug, Default, Clone)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Name of the folder it lies in, where it is a crate of this workspace.
    pub(crate) workspace_folder: Option<String>,
    pub(crate) kind: DependencyKind,
}

/// When a dependency is used.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DependencyKind {
    #[default]
    Normal,
    Build,
    Development,
}

impl Package {
    /// The name of the package's folder, by which the architecture names crates.
    pub(crate) fn folder_name(&self) -> String {
        self.folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

impl Metadata {
    /// Asks cargo.
    pub(crate) fn read() -> Outcome<Self> {
        let mut command = workspace::cargo(&["metadata", "--format-version", "1", "--all-features"])?;
        let text = workspace::output(&mut command)?;
        let value: Value = serde_json::from_str(&text).while_doing("reading `cargo metadata`")?;
        Self::from_value(&value).ok_or_else(|| {
            Failure::new("`cargo metadata` has another shape than expected; see xtask/src/metadata.rs")
        })
    }

    /// The members of the workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.member)
    }

    fn from_value(value: &Value) -> Option<Self> {
        let members = value.get("workspace_members")?.as_array()?;
        let packages = value.get("packages")?.as_array()?;
        let packages = packages
            .iter()
            .map(|package| package_from(package, members))
            .collect::<Option<_>>()?;
        Some(Self { packages })
    }
}

fn package_from(value: &Value, members: &[Value]) -> Option<Package> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let dependencies = value.get("dependencies")?.as_array()?;
    Some(Package {
        name: text("name")?,
        version: text("version")?,
        license: text("license"),
        description: text("description"),
        readme: text("readme"),
        public: value
            .get("publish")
            .and_then(Value::as_array)
            .is_none_or(|registries| !registries.is_empty()),
        member: members.contains(value.get("id")?),
        folder: PathBuf::from(text("manifest_path")?).parent()?.to_path_buf(),
        features: value.get("features")?.as_object()?.keys().cloned().collect(),
        dependencies: dependencies.iter().map(dependency_from).collect::<Option<_>>()?,
    })
}

fn dependency_from(value: &Value) -> Option<Dependency> {
    let path = value.get("path").and_then(Value::as_str).map(PathBuf::from);
    Some(Dependency {
        name: value.get("name")?.as_str()?.to_owned(),
        workspace_folder: path
            .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned())),
        kind: match value.get("kind").and_then(Value::as_str) {
            Some("dev") => DependencyKind::Development,
            Some("build") => DependencyKind::Build,
            _ => DependencyKind::Normal,
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn packages_are_read_by_folder_and_kind() {
        let value = json!({
            "workspace_members": ["one"],
            "packages": [{
                "id": "one", "name": "llm-driver-core", "version": "0.1.0", "license": "MIT",
                "description": null, "readme": "README.md", "publish": [], "features": {"extra": []},
                "manifest_path": "/somewhere/crates/llm-core/Cargo.toml",
                "dependencies": [
                    {"name": "serde", "kind": null},
                    {"name": "llm-driver-testkit", "kind": "dev", "path": "/somewhere/crates/llm-driver-testkit"}
                ]
            }]
        });
        let metadata = Metadata::from_value(&value).unwrap();
        let package = metadata.members().next().unwrap();
        assert_eq!(package.folder_name(), "llm-core");
        assert!(!package.public);
        assert_eq!(package.dependencies[0].workspace_folder, None);
        assert_eq!(
            package.dependencies[1].workspace_folder.as_deref(),
            Some("llm-driver-testkit")
        );
        assert_eq!(package.dependencies[1].kind, DependencyKind::Development);
    }

    #[test]
    fn another_shape_is_noticed() {
        assert!(Metadata::from_value(&json!({"packages": []})).is_none());
    }
}
