//! One redis-server of our own: started, killed, paused, asked. Gone when the value is dropped, and when this
//! process dies in whatever way. The tests of llm-resilience include this file, so it uses nothing but std.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A redis-server on a loopback port, with all that it has confirmed on disk.
#[derive(Debug)]
pub(crate) struct Node {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    guard: Option<Child>,
    process: String,
}

/// Keeps everything that it has confirmed, through any kill.
const DURABLE: [&str; 6] = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];

/// Starts the server, says its process id, and kills it when standard input closes: when we let go of it, or die.
const GUARD: &str =
    r#"trap '' INT; "$@" >>log 2>&1 </dev/null & echo $!; read -r _; kill -KILL $! 2>/dev/null"#;

/// How often, and how many times, a server that comes up is asked whether it is there.
const PATIENCE: (Duration, u32) = (Duration::from_millis(20), 1000);

impl Node {
    /// Starts a server on any free port, with its files in `folder`, which must be its own.
    pub(crate) fn start(program: &Path, folder: &Path, settings: &[&str]) -> io::Result<Self> {
        Self::start_on(free_port()?, program, folder, settings)
    }

    /// The same on this port.
    pub(crate) fn start_on(port: u16, program: &Path, folder: &Path, settings: &[&str]) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut node = Node {
            program: program.to_owned(),
            folder: folder.to_owned(),
            port,
            settings: settings.iter().map(|&word| word.to_owned()).collect(),
            guard: None,
            process: String::new(),
        };
        node.restart()?;
        Ok(node)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// As a client takes it.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Starts it again after a kill, on the same port and files.
    pub(crate) fn restart(&mut self) -> io::Result<()> {
        self.kill();
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, "sh"]).arg(&self.program);
        command.args(["--bind", "127.0.0.1", "--port", &self.port.to_string()]);
        command
            .args(DURABLE)
            .args(&self.settings)
            .current_dir(&self.folder);
        let mut guard = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut process = String::new();
        if let Some(output) = guard.stdout.take() {
            BufReader::new(output).read_line(&mut process)?;
        }
        self.process = process.trim().to_owned();
        self.guard = Some(guard);
        let (pause, times) = PATIENCE;
        for _ in 0..times {
            match self.ask(&["PING"]) {
                Ok(answer) if !answer.starts_with("LOADING") => return Ok(()),
                _ => thread::sleep(pause),
            }
        }
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(5).collect();
        Err(io::Error::other(format!(
            "redis-server did not come up on port {}; its last words: {last:?}",
            self.port
        )))
    }

    /// Kills it (-9), and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            drop(guard.stdin.take());
            let _ = guard.wait();
        }
    }

    /// Stops it (SIGSTOP): its connections stay and nothing is answered.
    pub(crate) fn pause(&self) -> io::Result<()> {
        self.signal("-STOP")
    }

    /// Lets it go on.
    pub(crate) fn resume(&self) -> io::Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, name: &str) -> io::Result<()> {
        let status = Command::new("kill").args([name, &self.process]).status()?;
        match status.success() {
            true => Ok(()),
            false => Err(io::Error::other(format!("kill {name} failed: {status}"))),
        }
    }

    /// Sends one command on a connection of its own. Lists come back as lines, errors as their text.
    pub(crate) fn ask(&self, words: &[&str]) -> io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            command.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        stream.write_all(command.as_bytes())?;
        read_answer(&mut BufReader::new(stream))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One value of the Redis protocol as text.
fn read_answer(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let line = line.trim_end();
    let Some(rest) = line.get(1..) else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let length = || rest.parse::<usize>().unwrap_or(0);
    match line.as_bytes()[0] {
        b'$' if rest != "-1" => {
            let mut bytes = vec![0; length() + 2];
            stream.read_exact(&mut bytes)?;
            bytes.truncate(length());
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
        b'*' => {
            let values: io::Result<Vec<String>> = (0..length()).map(|_| read_answer(stream)).collect();
            Ok(values?.join("\n"))
        }
        _ => Ok(rest.to_owned()),
    }
}

/// A port that nobody listens on.
pub(super) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
