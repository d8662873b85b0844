//! Where the workspace lies, and how other programs are started in it.

use std::path::PathBuf;
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
    Ok(command)
}

/// Runs a program that prints for itself; its failure is ours, with its exit code.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
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
    let name = command.get_program().to_string_lossy().into_owned();
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
