//! Packages of others in a private folder: fetched once, complete or not there at all.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Context, Failure, Outcome};
use crate::steps::seconds;
use crate::workspace;

/// A set of packages that makes one service.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: &'static str,
    /// What is fetched, with its size, for the person who waits.
    pub(super) contents: &'static str,
    /// Its packages, each with its version.
    pub(super) parts: &'static [&'static str],
}

/// Written last: an installation without it is not one.
const STAMP: &str = "complete.txt";

/// How often a silent installer is reported to be alive.
const HEARTBEAT: Duration = Duration::from_secs(3);

/// Longer than a slow line needs; a hanging installer must not hang us.
const LONGEST: Duration = Duration::from_secs(30 * 60);

impl Package {
    /// The folder that holds the packages; fetches them if they are not there yet. `tag` tells installations apart that
    /// must not be mixed. `installer` is told of a scratch folder and of the folder to fill, and says what is run and
    /// what that is called.
    pub(super) fn provide(
        &self,
        tag: &str,
        installer: impl FnOnce(&Path, &Path) -> Outcome<(&'static str, Command)>,
    ) -> Outcome<PathBuf> {
        let services = workspace::target_folder()?.join("services");
        let folder = services.join(self.name);
        let stamp = format!("{}\n{tag}\n", self.parts.join(" "));
        if is_complete(&folder, &stamp) {
            return Ok(folder.join("site"));
        }
        fs::create_dir_all(&services).while_doing("making target/services")?;
        sweep(&services, self.name);
        let scratch = services.join(format!("{}.partial-{}", self.name, std::process::id()));
        remove(&scratch)?;
        fs::create_dir_all(scratch.join("tmp")).while_doing("making a folder in target/services")?;
        let fetched = installer(&scratch, &scratch.join("site"))
            .and_then(|(name, command)| self.fetch(name, command, &scratch));
        let outcome = fetched.and_then(|()| {
            remove(&scratch.join("tmp"))?;
            remove(&scratch.join("venv"))?;
            fs::write(scratch.join(STAMP), &stamp).while_doing("finishing the installation")?;
            if !is_complete(&folder, &stamp) {
                remove(&folder)?;
                fs::rename(&scratch, &folder).while_doing("moving the installation to its place")?;
            }
            Ok(folder.join("site"))
        });
        remove(&scratch)?;
        outcome
    }

    fn fetch(&self, name: &'static str, mut command: Command, scratch: &Path) -> Outcome {
        eprintln!("services: fetching {} with {name}, once", self.contents);
        command.env("TMPDIR", scratch.join("tmp"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn().while_doing(format_args!("starting {name}"))?;
        let readers = [echo(child.stdout.take(), name), echo(child.stderr.take(), name)];
        let finished = watch(&mut child, scratch, start);
        for reader in readers.into_iter().flatten() {
            // A reader that panicked has nothing more to tell.
            let _ = reader.join();
        }
        if !finished? {
            return Err(Failure::new(format!(
                "{name} could not install {}; its words are above. It needs its package registry; \
                 check the network and {name}'s settings, then run this again",
                self.parts.join(" ")
            )));
        }
        eprintln!(
            "services: installed {} in {}",
            self.name,
            seconds(start.elapsed())
        );
        Ok(())
    }
}

fn is_complete(folder: &Path, stamp: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|present| present == stamp)
}

/// Removes the folders, named by this and a process, that runs which were stopped in the middle have left.
pub(super) fn sweep(services: &Path, prefix: &str) {
    for entry in fs::read_dir(services).into_iter().flatten().flatten() {
        let file_name = entry.file_name().to_string_lossy().into_owned();
        let Some(process) = file_name.strip_prefix(prefix) else {
            continue;
        };
        if !may_be_at_work(process, &entry.path()) && fs::remove_dir_all(entry.path()).is_ok() {
            eprintln!("services: removed what a run that was stopped had left");
        }
    }
}

/// Whether another process may still be filling `folder`; where processes cannot be looked up, its age decides.
fn may_be_at_work(process: &str, folder: &Path) -> bool {
    let processes = Path::new("/proc");
    if processes.join("self").exists() {
        return processes.join(process).exists();
    }
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < LONGEST))
}

pub(super) fn remove(folder: &Path) -> Outcome {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::new(format!(
            "removing {}: {error}; remove it by hand",
            folder.display()
        ))),
        _ => Ok(()),
    }
}

/// Prints what the installer says, line by line, as ours.
fn echo(stream: Option<impl Read + Send + 'static>, name: &'static str) -> Option<thread::JoinHandle<()>> {
    let stream = stream?;
    Some(thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if !line.trim().is_empty() {
                eprintln!("  {name}: {}", line.trim());
            }
        }
    }))
}

/// Waits for the installer and shows that it is alive; whether it succeeded.
fn watch(child: &mut Child, scratch: &Path, start: Instant) -> Outcome<bool> {
    let mut told = Instant::now();
    loop {
        if let Some(status) = child.try_wait().while_doing("waiting for the installer")? {
            return Ok(status.success());
        }
        if start.elapsed() > LONGEST {
            child.kill().while_doing("stopping the installer")?;
            child.wait().while_doing("stopping the installer")?;
            return Err(Failure::new(format!(
                "the installer was stopped after {}",
                seconds(LONGEST)
            )));
        }
        if told.elapsed() >= HEARTBEAT {
            let megabytes = size(scratch) / 1_000_000;
            eprintln!(
                "services: still fetching: {}, {megabytes} MB on disk",
                seconds(start.elapsed())
            );
            told = Instant::now();
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Bytes of all files below `folder`, as far as they can be read.
fn size(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes += size(&entry.path()),
            Ok(metadata) => bytes += metadata.len(),
            Err(_) => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_stamp_of_the_same_packages_counts() {
        let folder = std::env::temp_dir().join(format!("xtask-stamp-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(!is_complete(&folder, "one"));
        fs::write(folder.join(STAMP), "one").unwrap();
        assert!(is_complete(&folder, "one"));
        assert!(!is_complete(&folder, "two"));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn leftovers_of_dead_processes_are_swept() {
        let services = std::env::temp_dir().join(format!("xtask-sweep-{}", std::process::id()));
        let dead = services.join("thing.partial-999999999");
        let other = services.join("thing");
        fs::create_dir_all(&dead).unwrap();
        fs::create_dir_all(&other).unwrap();
        sweep(&services, "thing.partial-");
        assert!(!dead.exists());
        assert!(other.exists());
        fs::remove_dir_all(&services).unwrap();
    }
}
