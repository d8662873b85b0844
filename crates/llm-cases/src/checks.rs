//! The check language of request translations: statements about a JSON document.

use crate::case::{Fault, Fields, list};
use crate::outcome::same;
use regex::Regex;
use serde_json::Value;

/// One statement: the nodes a path selects, and what must hold for them.
#[derive(Debug)]
pub(crate) struct Check {
    path: String,
    op: Op,
    /// One node is enough.
    any: bool,
    /// It also holds where nothing is selected.
    optional: bool,
}

#[derive(Debug)]
enum Op {
    Absent,
    Present,
    Unique,
    Equals(Value),
    NotEquals(Value),
    Length(u64),
    Contains(String),
    NotContains(String),
    Matches(Regex),
    NotMatches(Regex),
    Type(Type),
}

#[derive(Debug, Clone, Copy)]
enum Type {
    String,
    Object,
    Array,
    Boolean,
    Number,
    Integer,
}

/// Reads a list of checks strictly.
pub(crate) fn read(checks: &Value, at: &str) -> Result<Vec<Check>, Fault> {
    let checks = list(checks, at)?;
    if checks.is_empty() {
        return Err(Fault::malformed(format!("{at} is empty")));
    }
    let place = |number| format!("{at}[{number}]");
    let read = |(number, check)| Check::read(check, &place(number));
    checks.iter().enumerate().map(read).collect()
}

impl Check {
    fn read(check: &Value, at: &str) -> Result<Check, Fault> {
        let mut fields = Fields::of(check, at)?;
        let path = fields.text("path")?.to_owned();
        if !path.is_empty() && !path.starts_with('/') {
            return Err(Fault::malformed(format!("{at}: a path begins with /")));
        }
        let name = fields.text("op")?;
        let op = match name {
            "absent" => Op::Absent,
            "present" => Op::Present,
            "unique" => Op::Unique,
            "equals" => Op::Equals(fields.required("value")?.clone()),
            "not_equals" => Op::NotEquals(fields.required("value")?.clone()),
            "length" => Op::Length(fields.count("value")?),
            "contains" => Op::Contains(fields.text("value")?.to_owned()),
            "not_contains" => Op::NotContains(fields.text("value")?.to_owned()),
            "matches" => Op::Matches(pattern(fields.text("value")?, at)?),
            "not_matches" => Op::NotMatches(pattern(fields.text("value")?, at)?),
            "type" => Op::Type(match fields.text("value")? {
                "string" => Type::String,
                "object" => Type::Object,
                "array" => Type::Array,
                "boolean" => Type::Boolean,
                "number" => Type::Number,
                "integer" => Type::Integer,
                other => return Err(Fault::unknown("type", other)),
            }),
            other => return Err(Fault::unknown("operation", other)),
        };
        let (any, optional) = (fields.flag("any")?, fields.flag("optional")?);
        fields.end()?;
        Ok(Check {
            path,
            op,
            any,
            optional,
        })
    }

    /// What is wrong, if it does not hold for this document.
    pub(crate) fn fault_in(&self, document: &Value) -> Option<String> {
        let nodes = select(document, &self.path);
        let holds = match &self.op {
            Op::Absent => nodes.is_empty(),
            Op::Present => !nodes.is_empty(),
            Op::Unique => {
                let mut texts: Vec<String> = nodes.iter().map(|node| text_of(node)).collect();
                texts.sort_unstable();
                texts.dedup();
                !nodes.is_empty() && texts.len() == nodes.len()
            }
            op if nodes.is_empty() => {
                self.optional || matches!(op, Op::NotEquals(_) | Op::NotContains(_) | Op::NotMatches(_))
            }
            op if self.any => nodes.iter().any(|node| op.holds(node)),
            op => nodes.iter().all(|node| op.holds(node)),
        };
        (!holds).then(|| {
            format!(
                "{:?} must hold {}; there is {}",
                self.path,
                self.op,
                shown(&nodes)
            )
        })
    }
}

impl Op {
    /// For one node; what is about all of them was decided before.
    fn holds(&self, node: &Value) -> bool {
        match self {
            Op::Absent | Op::Present | Op::Unique => true,
            Op::Equals(value) => same(value, node),
            Op::NotEquals(value) => !same(value, node),
            Op::Length(length) => length_of(node) == Some(*length),
            Op::Contains(part) => text_of(node).contains(part),
            Op::NotContains(part) => !text_of(node).contains(part),
            Op::Matches(pattern) => pattern.is_match(&text_of(node)),
            Op::NotMatches(pattern) => !pattern.is_match(&text_of(node)),
            Op::Type(kind) => match kind {
                Type::String => node.is_string(),
                Type::Object => node.is_object(),
                Type::Array => node.is_array(),
                Type::Boolean => node.is_boolean(),
                Type::Number => node.is_number(),
                Type::Integer => node.is_i64() || node.is_u64(),
            },
        }
    }
}

impl std::fmt::Display for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Op::Absent => f.write_str("nothing"),
            Op::Present => f.write_str("something"),
            Op::Unique => f.write_str("values of which no two are equal"),
            Op::Equals(value) => write!(f, "{value}"),
            Op::NotEquals(value) => write!(f, "anything but {value}"),
            Op::Length(length) => write!(f, "something of length {length}"),
            Op::Contains(part) => write!(f, "something that contains {part:?}"),
            Op::NotContains(part) => write!(f, "nothing that contains {part:?}"),
            Op::Matches(pattern) => write!(f, "something that matches {:?}", pattern.as_str()),
            Op::NotMatches(pattern) => write!(f, "nothing that matches {:?}", pattern.as_str()),
            Op::Type(kind) => write!(f, "something of type {kind:?}"),
        }
    }
}

fn pattern(text: &str, at: &str) -> Result<Regex, Fault> {
    Regex::new(text).map_err(|_| Fault::malformed(format!("{at}: the pattern {text:?} cannot be read")))
}

/// The nodes that a path names: `*` is any child, `**` any depth, also none.
fn select<'a>(document: &'a Value, path: &str) -> Vec<&'a Value> {
    let mut nodes = vec![document];
    for step in path.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        nodes = match step.as_str() {
            "**" => nodes.into_iter().flat_map(descendants).collect(),
            "*" => nodes.into_iter().flat_map(children).collect(),
            step => nodes.into_iter().filter_map(|node| child(node, step)).collect(),
        };
    }
    nodes
}

fn child<'a>(node: &'a Value, step: &str) -> Option<&'a Value> {
    match node {
        Value::Object(fields) => fields.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}

fn children(node: &Value) -> Vec<&Value> {
    match node {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    }
}

/// A node and everything below it.
fn descendants(node: &Value) -> Vec<&Value> {
    let mut found = vec![node];
    let mut next = 0;
    while let Some(node) = found.get(next) {
        found.extend(children(node));
        next += 1;
    }
    found
}

/// Text as it is, anything else as compact JSON text.
fn text_of(node: &Value) -> String {
    match node {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn length_of(node: &Value) -> Option<u64> {
    let length = match node {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => return None,
    };
    u64::try_from(length).ok()
}

fn shown(nodes: &[&Value]) -> String {
    match nodes {
        [] => "nothing".to_owned(),
        nodes => nodes
            .iter()
            .take(3)
            .map(|node| node.to_string().chars().take(160).collect::<String>())
            .collect::<Vec<_>>()
            .join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "messages": [
                {"role": "user", "content": "one"},
                {"role": "tool", "content": [{"type": "text", "text": "two"}], "id": "a"},
            ],
            "limit": 9, "share": 0.5, "whole": 2.0, "on": true, "a/b": 1, "x~y": 2, "name": "ä🦀",
        })
    }

    fn holds(check: Value) -> bool {
        let checks = read(&json!([check]), "expect.checks").unwrap();
        checks[0].fault_in(&document()).is_none()
    }

    fn check(path: &str, op: &str, value: Value) -> bool {
        holds(json!({"path": path, "op": op, "value": value}))
    }

    #[test]
    fn paths_select_nodes_at_any_depth() {
        let count = |path: &str| select(&document(), path).len();
        assert_eq!(count(""), 1);
        assert_eq!(count("/messages/*"), 2);
        assert_eq!(count("/messages/1/content/0/text"), 1);
        assert_eq!(count("/**/type"), 1);
        assert_eq!(count("/messages/**/content"), 2);
        assert_eq!(count("/a~1b"), 1);
        assert_eq!(count("/x~0y"), 1);
        assert_eq!(count("/messages/2"), 0);
        assert_eq!(count("/messages/role"), 0);
    }

    #[test]
    fn every_operation_says_yes_and_no() {
        for (path, op, yes, no) in [
            ("/limit", "equals", json!(9.0), json!("9")),
            ("/limit", "not_equals", json!(8), json!(9)),
            ("/messages", "length", json!(2), json!(3)),
            ("/name", "length", json!(2), json!(6)),
            ("/messages/1", "length", json!(3), json!(2)),
            (
                "/messages/0",
                "contains",
                json!("{\"role\":\"user\""),
                json!("system"),
            ),
            ("/messages/0/content", "not_contains", json!("two"), json!("on")),
            (
                "/messages/*/role",
                "matches",
                json!("^(user|tool)$"),
                json!("^user$"),
            ),
            ("/messages/*/role", "not_matches", json!("\\s"), json!("^u")),
            ("/limit", "type", json!("integer"), json!("string")),
            ("/share", "type", json!("number"), json!("integer")),
            ("/on", "type", json!("boolean"), json!("number")),
            ("/messages", "type", json!("array"), json!("object")),
        ] {
            assert!(check(path, op, yes.clone()), "{path} {op} {yes}");
            assert!(!check(path, op, no.clone()), "{path} {op} {no}");
        }
        assert!(holds(json!({"path": "/nothing", "op": "absent"})));
        assert!(!holds(json!({"path": "/limit", "op": "absent"})));
        assert!(holds(json!({"path": "/limit", "op": "present"})));
        assert!(!holds(json!({"path": "/nothing", "op": "present"})));
        assert!(holds(json!({"path": "/messages/*/role", "op": "unique"})));
        assert!(!holds(json!({"path": "/nothing", "op": "unique"})));
        let twice = json!(["a", "a"]);
        let checks = read(&json!([{"path": "/*", "op": "unique"}]), "").unwrap();
        assert!(checks[0].fault_in(&twice).is_some());
    }

    #[test]
    fn a_check_needs_a_node_unless_it_is_negative_or_optional() {
        assert!(!check("/nothing", "equals", json!(1)));
        assert!(check("/nothing", "not_equals", json!(1)));
        assert!(check("/nothing", "not_contains", json!("x")));
        assert!(check("/nothing", "not_matches", json!("x")));
        assert!(holds(
            json!({"path": "/nothing", "op": "equals", "value": 1, "optional": true})
        ));
        assert!(!holds(
            json!({"path": "/limit", "op": "equals", "value": 1, "optional": true})
        ));
    }

    #[test]
    fn one_node_is_enough_with_any() {
        let all = json!({"path": "/messages/*/role", "op": "equals", "value": "tool"});
        assert!(!holds(all.clone()));
        let mut any = all;
        any["any"] = json!(true);
        assert!(holds(any));
    }

    #[test]
    fn unknown_words_are_faults() {
        let fault = |check: Value| read(&json!([check]), "expect.checks").unwrap_err().to_string();
        assert_eq!(
            fault(json!({"path": "", "op": "resembles"})),
            "unknown operation resembles"
        );
        assert_eq!(
            fault(json!({"path": "", "op": "absent", "value": 1})),
            "unknown key expect.checks[0].value"
        );
        assert_eq!(
            fault(json!({"path": "", "op": "present", "whim": 1})),
            "unknown key expect.checks[0].whim"
        );
        assert_eq!(
            fault(json!({"path": "", "op": "type", "value": "date"})),
            "unknown type date"
        );
        assert!(fault(json!({"path": "x", "op": "absent"})).starts_with("malformed"));
        assert!(fault(json!({"path": "", "op": "matches", "value": "("})).starts_with("malformed"));
        assert!(fault(json!({"path": "", "op": "equals"})).starts_with("malformed"));
    }
}
