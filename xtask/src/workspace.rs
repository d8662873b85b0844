//! Where the workspace lies, and how other programs are started in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context, Failure, Outcome};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> Outcome<PathBuf> {
    let manifest_folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    match manifest_folder.parent() {
        Some(root) if root.join("Cargo.toml").is_file() => Ok(root.to_path_buf()),
        _ => Err(Failure::new(
            "the workspace was not found; start this with `cargo xtask` inside the checkout",
        )),
    }
}

/// The build folder, in which services are installed too.
pub(crate) fn target_folder() -> Outcome<PathBuf> {
    let root = root()?;
    Ok(match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root.join(folder),
        None => root.join("target"),
    })
}

/// The cargo that started us, so that the toolchain is the same, at work in the workspace's root.
pub(crate) fn cargo(words: &[&str]) -> Outcome<Command> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(words).current_dir(root()?);
    for (name, _) in std::env::vars_os() {
        if is_about_this_program(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    Ok(command)
}

/// Whether cargo has set this variable for the program it runs. Some build scripts watch these, and would
/// run again with each switch between `cargo xtask test` and `cargo test`.
fn is_about_this_program(variable: &str) -> bool {
    let prefixes = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];
    variable == "OUT_DIR" || prefixes.iter().any(|prefix| variable.starts_with(prefix))
}

/// What to call a program in a message: its name without its folder.
fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Runs a program that prints for itself; its failure is ours, with its exit code.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let name = name_of(command);
    let status = command.status().while_doing(format_args!("starting `{name}`"))?;
    if status.success() {
        return Ok(());
    }
    match status.code().map(u8::try_from) {
        Some(Ok(code)) => Err(Failure::already_told(code)),
        _ => Err(Failure::new(format!("`{name}` was stopped: {status}"))),
    }
}

/// Runs a program for what it writes to standard output; what it says on standard error becomes the message.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let name = name_of(command);
    let output = command.output().while_doing(format_args!("starting `{name}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::new(format!(
            "`{name}` failed ({}): {said}",
            output.status
        )));
    }
    String::from_utf8(output.stdout).while_doing(format_args!("reading what `{name}` printed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_about_this_program_are_held_back() {
        for variable in [
            "CARGO_PKG_NAME",
            "CARGO_MANIFEST_DIR",
            "CARGO_BIN_NAME",
            "OUT_DIR",
        ] {
            assert!(is_about_this_program(variable), "{variable}");
        }
        for variable in [
            "CARGO",
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_JOBS",
            "PATH",
        ] {
            assert!(!is_about_this_program(variable), "{variable}");
        }
    }

    #[test]
    fn messages_name_programs_without_folders() {
        assert_eq!(name_of(&Command::new("/some/where/cargo")), "cargo");
    }

    #[test]
    fn exit_code_of_a_child_is_handed_on() {
        let failure = run(Command::new("sh").args(["-c", "exit 7"])).unwrap_err();
        assert_eq!((failure.code, failure.message.as_str()), (7, ""));
        let failure = output(Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
        assert!(
            failure.message.contains("`sh` failed") && failure.message.ends_with("why"),
            "{}",
            failure.message
        );
    }
}
