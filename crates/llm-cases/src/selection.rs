//! Which files of a folder are run.

use crate::case::{Label, Wire};
use crate::run;
use serde_json::Value;

/// Which files of a folder are run. An empty list takes all.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) kinds: Vec<String>,
    pub(crate) wires: Vec<String>,
    pub(crate) dialects: Vec<String>,
    pub(crate) ids: Vec<String>,
    /// Only what this build can run.
    pub(crate) supported: bool,
}

impl Selection {
    /// By the file's name alone: all that is known of a file that cannot be read.
    pub(crate) fn takes_name(&self, name: &str) -> bool {
        takes(&self.ids, Some(name))
    }

    /// By what the file says of itself.
    pub(crate) fn takes(&self, label: &Label, file: &Value) -> bool {
        takes(&self.kinds, Some(&label.kind))
            && takes(&self.wires, Some(&label.wire))
            && takes(&self.dialects, label.dialect.as_deref())
            && (!self.supported || runs(&label.wire, file))
    }
}

fn takes(list: &[String], word: Option<&str>) -> bool {
    list.is_empty() || word.is_some_and(|word| list.iter().any(|listed| listed == word))
}

/// Words that the format does not have stay in: they are a fault of the file, not of the build.
fn runs(wire: &str, file: &Value) -> bool {
    Wire::parse(wire).is_none_or(|wire| run::supported(wire, &file["input"]).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn taken(selection: &Selection, file: Value) -> bool {
        selection.takes(&Label::of(&file), &file)
    }

    #[test]
    fn every_filter_must_agree() {
        let words = |word: &str| vec![word.to_owned()];
        let file = || json!({"kind": "errors", "wire": "http-error", "input": {"dialect": "groq"}});
        assert!(taken(&Selection::default(), file()));
        let selection = Selection {
            kinds: words("errors"),
            wires: words("http-error"),
            dialects: words("groq"),
            ..Selection::default()
        };
        assert!(taken(&selection, file()));
        for (key, value) in [
            ("kind", json!("usage")),
            ("wire", json!("openai-chat-json")),
            ("input", json!({"dialect": "kimi"})),
            ("input", json!({})),
        ] {
            let mut other = file();
            other[key] = value;
            assert!(!taken(&selection, other), "{key}");
        }
        let one = Selection {
            ids: words("a"),
            ..Selection::default()
        };
        assert!(one.takes_name("a") && !one.takes_name("b"));
    }

    #[test]
    fn supported_leaves_out_what_is_known_and_not_built() {
        let selection = Selection {
            supported: true,
            ..Selection::default()
        };
        assert!(!taken(&selection, json!({"wire": "mcp-stdio", "input": {}})));
        assert!(!taken(
            &selection,
            json!({"wire": "http-error", "input": {"dialect": "bedrock"}})
        ));
        assert!(taken(
            &selection,
            json!({"wire": "http-error", "input": {"dialect": "groq"}})
        ));
        let unknown = [
            json!({"wire": "morse", "input": {}}),
            json!({"wire": "http-error", "input": {"dialect": "klingon"}}),
            json!({"wire": "request-translation", "input": {"from": "x", "to": "openai-chat"}}),
        ];
        for file in unknown {
            assert!(
                taken(&selection, file),
                "a word the format does not have is a failure"
            );
        }
    }
}
