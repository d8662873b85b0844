//! `cargo xtask new-driver`: a driver crate that compiles at once, here or outside.

mod edits;
mod name;
mod taken;
mod template;

use std::path::{Path, PathBuf};

use self::name::Name;
use self::template::{Home, Wire};
use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "new-driver",
    summary: "Begin a driver crate that compiles at once",
    details: "\
Writes crates/llm-driver-NAME after examples/external-driver, with its fixtures and conformance suite, and makes it
known: the workspace's table, the features and the registry of llm-suite, a row in the docs, a line in the changelog.
With --out it writes the same crate elsewhere, on registry versions, and changes nothing here.

NAME is the vendor's, in lower case: it becomes the driver's id, the feature, and with llm-driver- the crate.
Then: put the vendor's address and variables into src/config.rs and its differences into src/dialect.rs, replace
src/models.json and the invented exchanges in tests/fixtures, and run the suite (`cargo test -p llm-driver-NAME`): each
failure says what is missing. How it works: examples/external-driver/README.md.

example: cargo xtask new-driver nimbus --out ../llm-driver-nimbus
",
    operands: &["[NAME]"],
    flags: &[
        Flag {
            name: "--wire",
            value: Some("FORMAT"),
            help: "chat_completions (with fixtures) or messages (the suite asks for them)",
        },
        Flag {
            name: "--out",
            value: Some("PATH"),
            help: "a folder that is not there yet, outside of this workspace",
        },
        Flag {
            name: "--check",
            value: None,
            help: "begin one in the build folder and run its suite, as CI does",
        },
    ],
    run: start,
};

fn start(arguments: &Arguments) -> Outcome {
    if arguments.has("--check") {
        return check();
    }
    let Some(name) = arguments.operands().first() else {
        return Err(Failure::usage(
            "new-driver: NAME is missing; `cargo xtask new-driver --help` shows an example",
        ));
    };
    let name = Name::parse(name)?;
    let wire = Wire::named(arguments.value("--wire").unwrap_or("chat_completions"))?;
    taken::check_types(&workspace::root()?.join(template::TEMPLATE).join("src"), &name)?;
    match arguments.value("--out") {
        Some(folder) => outside(&name, wire, Path::new(folder)),
        None => inside(&name, wire),
    }
}

fn inside(name: &Name, wire: &Wire) -> Outcome {
    let root = workspace::root()?;
    taken::check_suite(&root, name)?;
    let folder = root.join("crates").join(name.package());
    if folder.exists() {
        return Err(Failure::usage(format!(
            "crates/{} is there already; choose another name, or go on with that one",
            name.package()
        )));
    }
    // First all that can go wrong, then writing.
    let edits = edits::all(&root, name)?;
    template::write(&root, &folder, name, wire, Home::Inside)?;
    for edit in &edits {
        edit.write()?;
    }
    println!(
        "crates/{}: begun. Next: cargo test -p {}",
        name.package(),
        name.package()
    );
    Ok(())
}

fn outside(name: &Name, wire: &Wire, folder: &Path) -> Outcome {
    let root = workspace::root()?;
    if folder.exists() {
        return Err(Failure::usage(format!(
            "{} is there already; name a new folder",
            folder.display()
        )));
    }
    template::write(&root, folder, name, wire, Home::Outside)?;
    println!("{}: begun. Next: cd {0} && cargo test", folder.display());
    Ok(())
}

/// Begins a driver in the build folder, on this workspace's crates in the place of published ones, and runs its suite.
pub(crate) fn check() -> Outcome {
    let root = workspace::root()?;
    let target = workspace::target_folder()?;
    let folder = target.join("new-driver");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).while_doing(format_args!("emptying {}", folder.display()))?;
    }
    let name = Name::parse("cloud-nine")?;
    template::write(
        &root,
        &folder,
        &name,
        Wire::named("chat_completions")?,
        Home::Outside,
    )?;
    // The versions that are built already.
    let lock = folder.join("Cargo.lock");
    std::fs::copy(root.join("Cargo.lock"), &lock).while_doing(format_args!("copying {}", lock.display()))?;
    let mut command = workspace::cargo(&["test", "--quiet"])?;
    for (package, path) in PUBLISHED {
        let path: PathBuf = root.join(path);
        command.arg("--config").arg(format!(
            "patch.crates-io.{package}.path={:?}",
            path.to_string_lossy()
        ));
    }
    workspace::run(command.current_dir(&folder).env("CARGO_TARGET_DIR", &target))
}

/// The crates that a driver elsewhere depends on: where they are published, and where they lie.
const PUBLISHED: [(&str, &str); 4] = [
    ("llm-driver-core", "crates/llm-core"),
    ("llm-driver-http", "crates/llm-http"),
    ("llm-driver-wire", "crates/llm-wire"),
    ("llm-driver-testkit", "crates/llm-driver-testkit"),
];
