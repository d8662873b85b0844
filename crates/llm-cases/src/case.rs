//! The format of a case file, read strictly.

mod fields;
mod names;

use serde_json::Value;
use std::fmt;

pub(crate) use fields::{Fields, list, text};
pub(crate) use names::{DIALECTS, KINDS, Wire, dialect_of_form};

/// One case: raw material, and the outcome that is right.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) wire: Wire,
    /// Raw material, by wire. The runner of the wire reads it strictly.
    pub(crate) input: Value,
    /// The right outcome first, then the other complete outcomes that also pass.
    pub(crate) outcomes: Vec<Value>,
}

/// How much a case weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Any other outcome is a bug.
    Must,
    /// The preferred outcome; careful people differ.
    Should,
}

/// Why a file cannot be run as it is. Always a failure, whatever the level of the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It holds a word that this runner does not know.
    Unknown {
        /// What the word is: a key, a wire, an operation.
        what: &'static str,
        /// The word, or where it stands.
        name: String,
    },
    /// It is not in the format.
    Malformed(String),
    /// It is in the format, but there is nothing in this build to run it with.
    Unsupported(String),
}

impl Fault {
    pub(crate) fn unknown(what: &'static str, name: impl Into<String>) -> Fault {
        Fault::Unknown {
            what,
            name: name.into(),
        }
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Fault {
        Fault::Malformed(message.into())
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Fault {
        Fault::Unsupported(message.into())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unknown { what, name } => write!(f, "unknown {what} {name}"),
            Fault::Malformed(message) => write!(f, "malformed: {message}"),
            Fault::Unsupported(message) => write!(f, "this build cannot run {message}"),
        }
    }
}

/// What can be said of a file before it is read strictly: enough to choose among files.
#[derive(Debug)]
pub(crate) struct Label {
    pub(crate) kind: String,
    pub(crate) wire: String,
    pub(crate) dialect: Option<String>,
    pub(crate) level: Level,
}

/// Parses the text of a file.
pub(crate) fn parse(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::malformed(format!("not JSON: {error}")))
}

impl Label {
    /// Reads what is there; words that are missing are empty.
    pub(crate) fn of(file: &Value) -> Label {
        let word = |key: &str| file[key].as_str().unwrap_or_default().to_owned();
        let input = &file["input"];
        let wire = word("wire");
        let dialect = input["dialect"]
            .as_str()
            .or_else(|| dialect_of_form(input["to"].as_str()?))
            .or_else(|| Wire::parse(&wire)?.dialect());
        Label {
            kind: word("kind"),
            dialect: dialect.map(str::to_owned),
            level: if word("level") == "should" {
                Level::Should
            } else {
                Level::Must
            },
            wire,
        }
    }
}

impl Case {
    /// Reads the envelope of a file strictly. `name` is the file's name without its ending.
    pub(crate) fn read(file: &Value, name: &str) -> Result<Case, Fault> {
        let mut fields = Fields::of(file, "")?;
        let id = fields.text("id")?;
        if id != name {
            return Err(Fault::malformed(format!("the id {id:?} is not the file's name")));
        }
        let kind = fields.text("kind")?;
        if !KINDS.contains(&kind) {
            return Err(Fault::unknown("kind", kind));
        }
        let wire = fields.text("wire")?;
        let wire = Wire::parse(wire).ok_or_else(|| Fault::unknown("wire", wire))?;
        let level = fields.text("level")?;
        if !matches!(level, "must" | "should") {
            return Err(Fault::unknown("level", level));
        }
        let input = fields.required("input")?.clone();
        let mut outcomes = vec![fields.required("expect")?.clone()];
        if let Some(others) = fields.optional("accept") {
            outcomes.extend_from_slice(list(others, "accept")?);
        }
        fields.text("why")?;
        fields.end()?;
        Ok(Case {
            wire,
            input,
            outcomes,
        })
    }

    /// Where each of the outcomes stands in the file.
    pub(crate) fn places(&self) -> impl Iterator<Item = (String, &Value)> {
        self.outcomes.iter().enumerate().map(|(at, outcome)| match at {
            0 => ("expect".to_owned(), outcome),
            other => (format!("accept[{}]", other - 1), outcome),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file() -> Value {
        json!({
            "id": "a-case", "kind": "errors", "wire": "http-error", "level": "must",
            "input": {"dialect": "groq"}, "expect": {"outcome": "ok"}, "why": "because",
        })
    }

    fn fault(change: impl FnOnce(&mut Value)) -> String {
        let mut file = file();
        change(&mut file);
        match Case::read(&file, "a-case") {
            Ok(_) => "no fault".to_owned(),
            Err(fault) => fault.to_string(),
        }
    }

    #[test]
    fn every_departure_from_the_format_is_named() {
        assert_eq!(fault(|_| ()), "no fault");
        assert_eq!(fault(|file| file["whim"] = json!(1)), "unknown key whim");
        assert_eq!(fault(|file| file["wire"] = json!("morse")), "unknown wire morse");
        assert_eq!(fault(|file| file["kind"] = json!("moods")), "unknown kind moods");
        assert_eq!(fault(|file| file["level"] = json!("may")), "unknown level may");
        assert_eq!(
            fault(|file| file["why"] = json!(1)),
            "malformed: why is not a text"
        );
        assert_eq!(
            fault(|file| file["accept"] = json!({})),
            "malformed: accept is not a list"
        );
        assert_eq!(
            fault(|file| file["id"] = json!("other")),
            "malformed: the id \"other\" is not the file's name"
        );
        assert_eq!(
            fault(|file| {
                file.as_object_mut().unwrap().remove("expect");
            }),
            "malformed: expect is missing"
        );
        assert!(
            parse("{")
                .unwrap_err()
                .to_string()
                .starts_with("malformed: not JSON")
        );
    }

    #[test]
    fn a_label_knows_the_dialect_of_every_input() {
        let dialect = |file: Value| Label::of(&file).dialect;
        assert_eq!(dialect(file()).as_deref(), Some("groq"));
        assert_eq!(
            dialect(json!({"wire": "gemini-sse", "input": {}})).as_deref(),
            Some("gemini")
        );
        let translation =
            json!({"wire": "request-translation", "input": {"from": "openai-chat", "to": "gemini"}});
        assert_eq!(dialect(translation).as_deref(), Some("gemini"));
        assert_eq!(dialect(json!({"wire": "mcp-http", "input": {}})), None);
        assert_eq!(Label::of(&json!([])).kind, "");
    }
}
