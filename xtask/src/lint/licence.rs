//! Licence expressions (SPDX): can a package be used under licences that we accept?

/// Licences that ask for no more than a notice.
const ACCEPTED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether the expression leaves a choice that we accept: every side of `AND`, one side of `OR`
/// (or of the old `/`).
pub(super) fn is_accepted(expression: &str) -> Result<bool, String> {
    let words = split(expression);
    let mut reader = Reader {
        words: &words,
        position: 0,
    };
    let accepted = reader.any_of()?;
    match reader.next() {
        None => Ok(accepted),
        Some(word) => Err(format!("`{word}` is out of place")),
    }
}

fn split(expression: &str) -> Vec<String> {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

struct Reader<'a> {
    words: &'a [String],
    position: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.position)?;
        self.position += 1;
        Some(word)
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self
            .words
            .get(self.position)
            .is_some_and(|word| word.eq_ignore_ascii_case(wanted));
        self.position += usize::from(found);
        found
    }

    fn any_of(&mut self) -> Result<bool, String> {
        let mut accepted = self.all_of()?;
        while self.take("OR") {
            accepted |= self.all_of()?;
        }
        Ok(accepted)
    }

    fn all_of(&mut self) -> Result<bool, String> {
        let mut accepted = self.one()?;
        while self.take("AND") {
            accepted &= self.one()?;
        }
        Ok(accepted)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let accepted = self.any_of()?;
            return if self.take(")") {
                Ok(accepted)
            } else {
                Err("a `)` is missing".to_owned())
            };
        }
        let name = match self.next() {
            Some(word)
                if !["OR", "AND", "WITH", ")"]
                    .iter()
                    .any(|other| word.eq_ignore_ascii_case(other)) =>
            {
                word
            }
            Some(word) => return Err(format!("`{word}` is out of place")),
            None => return Err("it ends too early".to_owned()),
        };
        let name = match self.take("WITH") {
            true => format!("{name} WITH {}", self.next().ok_or("it ends after WITH")?),
            false => name.to_owned(),
        };
        Ok(ACCEPTED
            .iter()
            .any(|accepted| accepted.eq_ignore_ascii_case(&name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_by_the_rules() {
        for (expression, expected) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0-only OR MIT", true),
            ("GPL-3.0-only", false),
            ("MIT AND GPL-3.0-only", false),
            ("(MIT OR GPL-2.0) AND Unicode-3.0", true),
            ("MIT AND (GPL-2.0-only OR LGPL-3.0-only)", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true),
            ("Apache-2.0 WITH Some-other-exception", false),
            ("GPL-3.0-only OR MIT AND ISC", true),
            ("MIT OR GPL-3.0-only AND GPL-2.0-only", true),
            ("Apache-2.0 AND ISC AND (MIT OR Apache-2.0)", true),
            ("AGPL-3.0-or-later AND MIT OR MPL-2.0", false),
        ] {
            assert_eq!(is_accepted(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn broken_expressions_are_no_licence() {
        for expression in [
            "",
            "MIT OR",
            "OR MIT",
            "(MIT",
            "MIT)",
            "MIT Apache-2.0",
            "MIT WITH",
            "()",
        ] {
            assert!(is_accepted(expression).is_err(), "{expression}");
        }
    }
}
