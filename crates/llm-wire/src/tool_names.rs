//! Names of tools that a format does not take.

use std::collections::{HashMap, HashSet};

/// Which tools were sent under another name than the caller's, because the format does not take theirs. Hand it to the
/// decoder of the answer ([`DecodeOptions::with_tool_names`](crate::DecodeOptions::with_tool_names)): calls come back
/// under the caller's names.
///
/// Nearly always empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolNames {
    /// What was sent, by the caller's name.
    sent: HashMap<String, String>,
    /// The caller's name, by what was sent.
    own: HashMap<String, String>,
}

/// Which names a format takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameRule {
    pub(crate) takes: fn(char) -> bool,
    pub(crate) longest: usize,
}

impl NameRule {
    fn fits(self, name: &str) -> bool {
        name.len() <= self.longest && name.chars().all(self.takes)
    }
}

impl ToolNames {
    /// Finds a name that fits for each that does not; none is used twice, whatever the order.
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str> + Clone, rule: NameRule) -> Self {
        ToolNames::beginning_with(names, rule, |_| true)
    }

    /// The same for a format that takes fewer characters at the beginning of a name. It must take `_` there.
    pub(crate) fn beginning_with<'n>(
        names: impl Iterator<Item = &'n str> + Clone,
        rule: NameRule,
        begins: fn(char) -> bool,
    ) -> Self {
        let mut renamed = ToolNames::default();
        let fits = |name: &&str| rule.fits(name) && name.chars().next().is_none_or(begins);
        if names.clone().all(|name| fits(&name)) {
            return renamed;
        }
        let taken: HashSet<&str> = names.clone().filter(fits).collect();
        // the last number behind each, so that any number of names is told apart in one pass
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for name in names.filter(|name| !fits(name)) {
            if renamed.sent.contains_key(name) {
                continue;
            }
            let fitting = |c: char| if (rule.takes)(c) { c } else { '_' };
            // a character that is replaced anyway needs nothing before it
            let needs_prefix = name.starts_with(|c| (rule.takes)(c) && !begins(c));
            let prefix = if needs_prefix { "_" } else { "" };
            let fitted = || prefix.chars().chain(name.chars().map(fitting));
            let mut sent: String = fitted().take(rule.longest).collect();
            let number = numbers.entry(sent.clone()).or_insert(1);
            while taken.contains(sent.as_str()) || renamed.own.contains_key(&sent) {
                *number += 1;
                let mark = format!("_{number}");
                sent = fitted().take(rule.longest - mark.len()).collect();
                sent.push_str(&mark);
            }
            renamed.own.insert(sent.clone(), name.to_owned());
            renamed.sent.insert(name.to_owned(), sent);
        }
        renamed
    }

    /// Was none renamed?
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty()
    }

    /// The name that is sent for one of the caller's.
    pub fn sent<'n>(&'n self, own: &'n str) -> &'n str {
        self.sent.get(own).map_or(own, String::as_str)
    }

    /// The caller's name for one that came back.
    pub fn own<'n>(&'n self, sent: &'n str) -> &'n str {
        self.own.get(sent).map_or(sent, String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: NameRule = NameRule {
        takes: |c| c.is_ascii_alphanumeric() || c == '_',
        longest: 8,
    };

    #[test]
    fn names_that_fit_are_kept_and_others_are_told_apart() {
        assert!(ToolNames::new(["read", "write"].into_iter(), RULE).is_empty());
        let names = [
            "fs.read",
            "fs_read",
            "fs/read",
            "a_very_long_name",
            "a_very_longer",
            "é",
        ];
        let renamed = ToolNames::new(names.into_iter(), RULE);
        let sent: Vec<_> = names.iter().map(|name| renamed.sent(name)).collect();
        assert_eq!(
            sent,
            ["fs_rea_2", "fs_read", "fs_rea_3", "a_very_l", "a_very_2", "_"]
        );
        for name in names {
            assert_eq!(renamed.own(renamed.sent(name)), name);
        }
        assert_eq!(renamed.own("never_sent"), "never_sent");
    }

    #[test]
    fn a_name_that_may_not_begin_so_gets_a_mark_in_front() {
        let names = ["2nd", "_2nd", "-a", "éa", "fine"];
        let rule = NameRule {
            takes: |c| c.is_ascii_alphanumeric() || c == '_' || c == '-',
            longest: 8,
        };
        let renamed = ToolNames::beginning_with(names.into_iter(), rule, |c| !c.is_ascii_digit() && c != '-');
        let sent: Vec<_> = names.iter().map(|name| renamed.sent(name)).collect();
        assert_eq!(sent, ["_2nd_2", "_2nd", "_-a", "_a", "fine"]);
        assert_eq!(renamed.own("_2nd_2"), "2nd");
    }
}
