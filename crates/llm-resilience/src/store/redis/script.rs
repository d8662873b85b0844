//! A decision as a script: written once, sent by its hash, taken in one step where the state is.

use crate::store::{StoreError, StoreErrorKind};
use deadpool_redis::redis::{self, Cmd, ErrorKind, ServerErrorKind, Value};
use std::fmt;

/// What every script finds in front of it.
const PRELUDE: &str = include_str!("prelude.lua");

/// A Lua script. Make it once and keep it (`LazyLock`): its hash is what is sent.
///
/// Two functions are there for every script:
///
/// * `server_now()`: the server's time in whole milliseconds since 1970. All processes see this one clock.
/// * `run_id()`: forty hexadecimal digits that name the running server process which takes this step. Another
///   name than the one that a state was written under means that the server was started anew, that a replica
///   took its place, or that the key has moved to another node: what was confirmed last may be lost.
///
/// Keys come as `KEYS`, at least one; arguments as `ARGV`, always strings (use `tonumber`). A script returns an
/// integer, a string, or a flat list of those; Lua cuts fractions off, so multiply before you return.
///
/// A call may be sent again when its connection broke, so a script can run twice for one call. Write it so that
/// the second time changes nothing, or errs on the safe side, or call it with [`ScriptCall::once`].
pub struct Script {
    source: String,
    hash: String,
}

impl Script {
    /// A script with this body.
    pub fn new(body: &str) -> Self {
        let source = format!("{PRELUDE}{body}");
        let hash = redis::Script::new(&source).get_hash().to_owned();
        Script { source, hash }
    }

    /// A call of it on this key, which also says which node of a cluster takes it.
    pub fn on(&self, key: impl Into<String>) -> ScriptCall<'_> {
        ScriptCall {
            script: self,
            keys: vec![key.into()],
            arguments: Vec::new(),
            once: false,
        }
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Script({})", self.hash)
    }
}

/// One call of a script: its keys and arguments, in order.
#[derive(Debug, Clone)]
#[must_use = "`RedisLink::run` runs it"]
pub struct ScriptCall<'a> {
    script: &'a Script,
    keys: Vec<String>,
    arguments: Vec<Vec<u8>>,
    once: bool,
}

impl ScriptCall<'_> {
    /// One more key. In a cluster, all keys of a call must live in one slot: make them with the same `id`
    /// (see `RedisLink::key`).
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.keys.push(key.into());
        self
    }

    /// One more argument: a text.
    pub fn text(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into().into_bytes());
        self
    }

    /// One more argument: an integer.
    pub fn integer(self, argument: impl Into<i128>) -> Self {
        self.text(argument.into().to_string())
    }

    /// Never sends it again when its connection broke: for a script that must not run twice. It fails instead. (When
    /// a node of a cluster goes away in the middle, the call may still go to the one that takes over.)
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    pub(super) fn is_once(&self) -> bool {
        self.once
    }

    pub(super) fn by_hash(&self) -> Cmd {
        self.command("EVALSHA", &self.script.hash)
    }

    /// Also leaves the script with the server, so that its hash will do from then on.
    pub(super) fn by_source(&self) -> Cmd {
        self.command("EVAL", &self.script.source)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(self.keys.len());
        command.arg(self.keys.as_slice());
        for argument in &self.arguments {
            command.arg(argument.as_slice());
        }
        command
    }
}

/// Does the error say that the script has to be sent in full?
pub(super) fn is_unknown_script(error: &redis::RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// What a script returned: a list, of one if it was no list.
#[derive(Clone, PartialEq)]
pub struct Reply(Vec<Value>);

impl Reply {
    pub(super) fn new(value: Value) -> Self {
        match value {
            Value::Array(values) => Reply(values),
            single => Reply(vec![single]),
        }
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The integer at this place, counted from 0; one in a string counts too.
    ///
    /// # Errors
    /// `Corrupt`, when there is something else, or nothing.
    pub fn integer(&self, index: usize) -> Result<i64, StoreError> {
        let read = match self.0.get(index) {
            Some(Value::Int(integer)) => Some(*integer),
            Some(Value::BulkString(bytes)) => {
                std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok())
            }
            _ => None,
        };
        read.ok_or_else(|| self.corrupt(index, "an integer"))
    }

    /// The text at this place, counted from 0.
    ///
    /// # Errors
    /// `Corrupt`, when there is something else, or nothing.
    pub fn text(&self, index: usize) -> Result<&str, StoreError> {
        let read = match self.0.get(index) {
            Some(Value::BulkString(bytes)) => std::str::from_utf8(bytes).ok(),
            Some(Value::SimpleString(text)) => Some(text.as_str()),
            _ => None,
        };
        read.ok_or_else(|| self.corrupt(index, "a text"))
    }

    /// Is nothing at this place, or nil?
    pub fn is_nil(&self, index: usize) -> bool {
        matches!(self.0.get(index), None | Some(Value::Nil))
    }

    fn corrupt(&self, index: usize, wanted: &str) -> StoreError {
        StoreError::new(
            StoreErrorKind::Corrupt,
            format!("the answer has not {wanted} at place {index} of {}", self.0.len()),
        )
    }
}

/// Not what it holds: that may be anybody's.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reply({} values)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_what_they_are_and_nothing_else() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let reply = Reply::new(Value::Array(vec![
            Value::Int(7),
            text("-8"),
            text("nine"),
            Value::Nil,
            Value::BulkString(vec![0xff]),
        ]));
        assert_eq!((reply.integer(0), reply.integer(1)), (Ok(7), Ok(-8)));
        assert_eq!((reply.text(1), reply.text(2)), (Ok("-8"), Ok("nine")));
        assert!(reply.is_nil(3) && reply.is_nil(5) && !reply.is_nil(4));
        for index in 2..6 {
            assert_eq!(reply.integer(index).unwrap_err().kind(), StoreErrorKind::Corrupt);
        }
        for index in [0, 3, 4, 5] {
            assert_eq!(reply.text(index).unwrap_err().kind(), StoreErrorKind::Corrupt);
        }
        assert_eq!(Reply::new(Value::Int(1)).integer(0), Ok(1));
        assert_eq!(format!("{reply:?}"), "Reply(5 values)");
    }

    #[test]
    fn a_call_is_sent_as_redis_wants_it() {
        let script = Script::new("return 1");
        let call = script.on("a{x}").key("b{x}").integer(5_u64).text("six");
        let packed = String::from_utf8(call.by_hash().get_packed_command()).unwrap();
        let words: Vec<&str> = packed
            .lines()
            .filter(|line| !line.starts_with(['*', '$']))
            .collect();
        assert_eq!(
            words,
            ["EVALSHA", script.hash.as_str(), "2", "a{x}", "b{x}", "5", "six"]
        );
        let whole = String::from_utf8(call.by_source().get_packed_command()).unwrap();
        assert!(whole.contains("EVAL\r\n") && whole.contains("return 1"));
    }
}
