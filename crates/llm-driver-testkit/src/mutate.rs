//! Changing one place of a JSON text.

use serde_json::{Map, Value, json};
use std::fmt;

/// One change of one place.
#[derive(Debug, Clone)]
pub(crate) struct Mutation {
    path: Vec<Step>,
    change: Change,
}

#[derive(Debug, Clone)]
enum Step {
    Key(String),
    Index(usize),
}

#[derive(Debug, Clone)]
enum Change {
    Remove,
    Rename,
    Replace(Value),
}

/// A frame of a stream that holds JSON, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) value: Value,
    from: usize,
    to: usize,
}

/// Every change of every place below the whole: removed, renamed, null, and each other type.
pub(crate) fn mutations(whole: &Value) -> Vec<Mutation> {
    let mut all = Vec::new();
    descend(whole, &mut Vec::new(), &mut all);
    all
}

fn descend(value: &Value, path: &mut Vec<Step>, all: &mut Vec<Mutation>) {
    if let Some(last) = path.last() {
        let mut changes = vec![Change::Remove];
        if let Step::Key(_) = last {
            changes.push(Change::Rename);
        }
        let others = [
            Value::Null,
            json!("kit"),
            json!(7),
            json!(true),
            json!([]),
            json!({}),
        ];
        let others = others
            .into_iter()
            .filter(|other| std::mem::discriminant(other) != std::mem::discriminant(value));
        changes.extend(others.map(Change::Replace));
        all.extend(changes.into_iter().map(|change| Mutation {
            path: path.clone(),
            change,
        }));
    }
    let children: Vec<(Step, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(key, child)| (Step::Key(key.clone()), child))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, child)| (Step::Index(index), child))
            .collect(),
        _ => Vec::new(),
    };
    for (step, child) in children {
        path.push(step);
        descend(child, path, all);
        path.pop();
    }
}

impl Mutation {
    /// The whole with this change.
    pub(crate) fn apply(&self, whole: &Value) -> Value {
        let mut changed = whole.clone();
        if let Some((last, above)) = self.path.split_last() {
            let mut place = Some(&mut changed);
            for step in above {
                place = place.and_then(|place| match step {
                    Step::Key(key) => place.get_mut(key),
                    Step::Index(index) => place.get_mut(index),
                });
            }
            if let Some(place) = place {
                self.change_in(place, last);
            }
        }
        changed
    }

    fn change_in(&self, parent: &mut Value, step: &Step) {
        match (parent, step, &self.change) {
            (Value::Object(fields), Step::Key(key), Change::Remove) => {
                fields.shift_remove(key);
            }
            (Value::Object(fields), Step::Key(key), Change::Rename) => {
                let renamed: Map<_, _> = std::mem::take(fields)
                    .into_iter()
                    .map(|(name, value)| {
                        if name == *key {
                            (format!("kit_{name}"), value)
                        } else {
                            (name, value)
                        }
                    })
                    .collect();
                *fields = renamed;
            }
            (Value::Object(fields), Step::Key(key), Change::Replace(value)) => {
                fields.insert(key.clone(), value.clone());
            }
            (Value::Array(items), Step::Index(index), Change::Remove) => {
                items.remove(*index);
            }
            (Value::Array(items), Step::Index(index), Change::Replace(value)) => {
                items[*index] = value.clone()
            }
            _ => {}
        }
    }

    /// The change of the same place to another text, where this one makes a text null.
    pub(crate) fn replaces_text_by(&self, text: &str, whole: &Value) -> Option<Mutation> {
        let makes_null = matches!(self.change, Change::Replace(Value::Null));
        let is_text = makes_null && self.place_in(whole).is_some_and(Value::is_string);
        is_text.then(|| Mutation {
            path: self.path.clone(),
            change: Change::Replace(Value::from(text)),
        })
    }

    fn place_in<'a>(&self, whole: &'a Value) -> Option<&'a Value> {
        self.path.iter().try_fold(whole, |place, step| match step {
            Step::Key(key) => place.get(key),
            Step::Index(index) => place.get(index),
        })
    }

    /// The place as `essential` names it: a JSON pointer with `*` for every index of a list.
    pub(crate) fn pattern(&self) -> String {
        let steps = self.path.iter().map(|step| match step {
            Step::Key(key) => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Step::Index(_) => "/*".to_owned(),
        });
        steps.collect()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.change {
            Change::Remove => write!(f, "{} removed", self.pattern()),
            Change::Rename => write!(f, "{} renamed", self.pattern()),
            Change::Replace(value) => write!(f, "{} = {value}", self.pattern()),
        }
    }
}

/// The keys and types of a value, without its texts and numbers; the word of a field `type` belongs to it.
pub(crate) fn shape(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "text".to_owned(),
        Value::Array(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, field)| match field {
                Value::String(word) if key == "type" => format!("{key}={word}"),
                _ => format!("{key}:{}", shape(field)),
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
    }
}

/// The frames of a stream that hold a JSON object or list: `data` lines of an event stream, lines of JSON lines.
pub(crate) fn frames(stream: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut from = 0;
    for line in stream.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii_end();
        let skip = match text.strip_prefix(b"data:") {
            Some(data) => text.len() - data.trim_ascii_start().len(),
            None => 0,
        };
        if let Ok(value) = serde_json::from_slice::<Value>(&text[skip..])
            && (value.is_object() || value.is_array())
        {
            frames.push(Frame {
                value,
                from: from + skip,
                to: from + text.len(),
            });
        }
        from += line.len();
    }
    frames
}

/// The frames of a stream, or the whole of a plain answer in JSON.
pub(crate) fn frames_or_whole(body: &[u8]) -> Vec<Frame> {
    match serde_json::from_slice(body) {
        Ok(value) => vec![Frame {
            value,
            from: 0,
            to: body.len(),
        }],
        Err(_) => frames(body),
    }
}

impl Frame {
    /// The stream with another value in this frame.
    pub(crate) fn replaced(&self, stream: &[u8], value: &Value) -> Vec<u8> {
        let mut changed = stream[..self.from].to_vec();
        changed.extend_from_slice(value.to_string().as_bytes());
        changed.extend_from_slice(&stream[self.to..]);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_removed_renamed_and_replaced() {
        let whole = json!({"a": [1, {"b": "x"}]});
        let all = mutations(&whole);
        let shown: Vec<_> = all.iter().map(ToString::to_string).collect();
        for says in [
            "/a removed",
            "/a renamed",
            "/a = null",
            "/a/* removed",
            "/a/* = \"kit\"",
            "/a/*/b = 7",
        ] {
            assert!(shown.iter().any(|shown| shown == says), "{says} in {shown:?}");
        }
        assert!(all.iter().all(|mutation| mutation.apply(&whole) != whole));
        let renamed = all
            .iter()
            .find(|mutation| mutation.to_string() == "/a/*/b renamed")
            .unwrap();
        assert_eq!(renamed.apply(&whole), json!({"a": [1, {"kit_b": "x"}]}));
    }

    #[test]
    fn frames_are_found_and_replaced_where_they_stand() {
        let stream = b"event: x\ndata: {\"a\":1}\r\n\ndata:[2]\n: hi\ndata: [DONE]\n\n";
        let found = frames(stream);
        assert_eq!(found.len(), 2);
        let replaced = found[1].replaced(stream, &json!({}));
        assert_eq!(
            replaced,
            b"event: x\ndata: {\"a\":1}\r\n\ndata:{}\n: hi\ndata: [DONE]\n\n"
        );
        assert_eq!(frames(b"{\"a\":1}\n{\"b\":2}\n").len(), 2);
        assert_eq!(
            shape(&json!({"type": "x", "a": [1, "b"]})),
            "{type=x,a:[number,text]}"
        );
    }
}
