//! The name of a driver, in all its spellings.

use crate::failure::{Failure, Outcome};

/// `my-cloud`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(String);

/// Words of the language, those that it keeps for later included, and its own crates. None of them can be the name of a
/// module.
const WORDS: [&str; 53] = [
    "abstract", "alloc", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self",
    "static", "std", "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// The longest name: crates have limits of their own.
const LONGEST: usize = 40;

impl Name {
    /// Lower-case words of letters and digits, with dashes between them; the first begins with a letter.
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let wrong = match text {
            _ if text.starts_with("llm-") => "leave out `llm-driver-`: it is added",
            "testkit" | "core" | "wire" | "http" => "is the name of another crate of ours; choose another",
            _ if WORDS.contains(&text) => "is a word of Rust, which no module can be named; choose another",
            _ if text.len() > LONGEST => "is too long; 40 characters are the most",
            _ if !text.starts_with(|first: char| first.is_ascii_lowercase())
                || !text.split('-').all(is_word) =>
            {
                "must be lower-case letters and digits, words joined by dashes, as in `my-cloud`"
            }
            _ => return Ok(Name(text.to_owned())),
        };
        Err(Failure::usage(format!("new-driver: the name `{text}` {wrong}")))
    }

    /// `my-cloud`: the driver's id, and the feature.
    pub(super) fn id(&self) -> &str {
        &self.0
    }

    /// `llm-driver-my-cloud`.
    pub(super) fn package(&self) -> String {
        format!("llm-driver-{}", self.0)
    }

    /// `my_cloud`.
    pub(super) fn module(&self) -> String {
        self.0.replace('-', "_")
    }

    /// `MY_CLOUD`.
    pub(super) fn variable(&self) -> String {
        self.module().to_ascii_uppercase()
    }

    /// `MyCloud`.
    pub(super) fn type_name(&self) -> String {
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        self.0.split('-').map(capital).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_all_its_spellings() {
        let name = Name::parse("my-cloud9").unwrap();
        let spellings = (name.package(), name.module(), name.variable(), name.type_name());
        let expected = ("llm-driver-my-cloud9", "my_cloud9", "MY_CLOUD9", "MyCloud9");
        assert_eq!(
            (&*spellings.0, &*spellings.1, &*spellings.2, &*spellings.3),
            expected
        );
    }

    #[test]
    fn bad_names_say_what_a_good_one_is() {
        for (bad, hint) in [
            ("Nimbus", "lower-case"),
            ("", "lower-case"),
            ("9lives", "lower-case"),
            ("a--b", "lower-case"),
            ("../x", "lower-case"),
            ("llm-driver-nimbus", "is added"),
            ("testkit", "another crate"),
            ("self", "word of Rust"),
            ("crate", "word of Rust"),
            ("type", "word of Rust"),
            ("async", "word of Rust"),
            ("std", "word of Rust"),
            (&"x".repeat(41), "too long"),
        ] {
            let failure = Name::parse(bad).unwrap_err();
            assert!(failure.message.contains(hint), "{bad}: {}", failure.message);
            assert_eq!(failure.code, 2);
        }
    }
}
