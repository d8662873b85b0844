//! Three masters with a replica each. The tests of llm-resilience include this file, so it uses nothing but std.

use super::node::{Node, free_port};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

const MASTERS: usize = 3;

/// The number of slots of every cluster.
const SLOTS: usize = 16384;

/// How often, and how many times, the nodes are asked whether they agree.
const PATIENCE: (Duration, u32) = (Duration::from_millis(50), 600);

/// A cluster on loopback: a master that is away for a second is replaced.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// First the masters, then the replica of each, as they were at the start.
    pub(crate) nodes: Vec<Node>,
}

impl Cluster {
    /// Starts it, with its files below `folder`.
    pub(crate) fn start(program: &Path, folder: &Path) -> io::Result<Self> {
        let mut nodes = Vec::new();
        for index in 0..MASTERS * 2 {
            let bus = free_port()?.to_string();
            let settings = [
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                &bus,
                "--cluster-node-timeout",
                "1000",
                // An old copy is better than none: what may be lost is for the client to know.
                "--cluster-replica-validity-factor",
                "0",
            ];
            nodes.push((
                Node::start(program, &folder.join(index.to_string()), &settings)?,
                bus,
            ));
        }
        for (index, (node, _)) in nodes.iter().enumerate() {
            node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(index + 1).to_string()])?;
            if index < MASTERS {
                let first = (index * SLOTS / MASTERS).to_string();
                let last = ((index + 1) * SLOTS / MASTERS - 1).to_string();
                node.ask(&["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
            }
            let (first, bus) = &nodes[0];
            if index > 0 {
                node.ask(&["CLUSTER", "MEET", "127.0.0.1", &first.port().to_string(), bus])?;
            }
        }
        let cluster = Cluster {
            nodes: nodes.into_iter().map(|(node, _)| node).collect(),
        };
        cluster.wait_for("cluster_known_nodes:6")?;
        for index in 0..MASTERS {
            let master = cluster.nodes[index].ask(&["CLUSTER", "MYID"])?;
            wait_until("a replica", || {
                let answer = cluster.nodes[index + MASTERS].ask(&["CLUSTER", "REPLICATE", &master]);
                answer.is_ok_and(|answer| answer == "OK")
            })?;
        }
        for replica in &cluster.nodes[MASTERS..] {
            wait_until("a copy of the master", || {
                let state = replica.ask(&["INFO", "replication"]);
                state.is_ok_and(|state| state.contains("master_link_status:up"))
            })?;
        }
        cluster.wait_for("cluster_state:ok")?;
        Ok(cluster)
    }

    /// What a client takes to find the cluster.
    pub(crate) fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(Node::url).collect()
    }

    /// The place in `nodes` of the master that holds a key now; `None` while none but those that are not to be
    /// asked says so.
    pub(crate) fn master_of(&self, key: &str, not_asked: &[usize]) -> Option<usize> {
        let masters = self.nodes.iter().enumerate().filter(|(index, node)| {
            if not_asked.contains(index) {
                return false;
            }
            let role = node.ask(&["ROLE"]);
            role.is_ok_and(|role| role.starts_with("master"))
        });
        let holds = |(index, node): (usize, &Node)| {
            let answer = node.ask(&["EXISTS", key]).ok()?;
            (!answer.starts_with("MOVED") && !answer.starts_with("CLUSTERDOWN")).then_some(index)
        };
        masters.filter_map(holds).next()
    }

    /// Waits until every node says so in its `CLUSTER INFO`.
    fn wait_for(&self, line: &str) -> io::Result<()> {
        for node in &self.nodes {
            wait_until(line, || {
                let state = node.ask(&["CLUSTER", "INFO"]);
                state.is_ok_and(|state| state.contains(line))
            })?;
        }
        Ok(())
    }
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) -> io::Result<()> {
    let (pause, times) = PATIENCE;
    for _ in 0..times {
        if holds() {
            return Ok(());
        }
        thread::sleep(pause);
    }
    Err(io::Error::other(format!("the cluster never came to `{what}`")))
}
