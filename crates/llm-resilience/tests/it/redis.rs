//! Stores on a real redis-server, killed and paused at will. Each test has a server of its own.

mod breaker;
mod faults;
mod key_value;
mod script;

#[path = "../../../../xtask/src/services/redis/cluster.rs"]
mod cluster;
#[path = "../../../../xtask/src/services/redis/node.rs"]
mod node;

use llm_resilience::store::redis::{RedisConfig, RedisLink};
use node::Node;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// The redis-server to start, or a note and nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "the program is named by whoever found or installed it"
)]
fn program() -> Option<PathBuf> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let program = variable("LLM_TEST_REDIS_SERVER");
    if program.is_none() {
        assert_ne!(
            variable("CI").as_deref(),
            Some("true"),
            "LLM_TEST_REDIS_SERVER is not set; run `cargo xtask test`, which finds or installs one and sets it"
        );
        println!("skipped: LLM_TEST_REDIS_SERVER is not set (it names a redis-server program)");
    }
    program.map(PathBuf::from)
}

/// A server with nothing in it, and where its files are.
struct Server {
    node: Node,
    _folder: TempDir,
}

impl Server {
    /// `None`, with a note, where there is no redis-server to start.
    fn start(settings: &[&str]) -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().ok()?;
        match Node::start(&program, folder.path(), settings) {
            Ok(node) => Some(Server {
                node,
                _folder: folder,
            }),
            Err(error) => {
                assert_eq!(error.to_string(), "", "{} did not start", program.display());
                None
            }
        }
    }

    fn config(&self) -> RedisConfig {
        patient(RedisConfig::single(self.node.url()))
    }

    fn link(&self) -> RedisLink {
        link(self.config())
    }

    /// What it was asked since `CONFIG RESETSTAT`, and how often.
    fn commands(&self) -> Vec<String> {
        let statistics = self.node.ask(&["INFO", "commandstats"]).unwrap_or_default();
        let mut commands: Vec<String> = statistics
            .lines()
            .filter_map(|line| {
                let (name, figures) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
                Some(format!("{name} {}", figures.split(',').next()?))
            })
            .collect();
        commands.sort();
        commands
    }
}

/// With time enough for a machine that is busy with other tests.
fn patient(config: RedisConfig) -> RedisConfig {
    config
        .with_connect_timeout(Duration::from_secs(6))
        .with_command_timeout(Duration::from_secs(2))
}

fn link(config: RedisConfig) -> RedisLink {
    match RedisLink::new(config) {
        Ok(link) => link,
        Err(error) => unreachable!("{error}"),
    }
}
