//! The tables themselves: reports in, Markdown out.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Report;

const MADE: &str =
    "<!-- made by `cargo xtask docs` from what the conformance suites proved; do not edit -->\n";

/// A capability: the word of the reports, and a heading.
const CAPABILITIES: [(&str, &str); 9] = [
    ("streaming", "streaming"),
    ("tools", "tools"),
    ("parallel_tools", "parallel tools"),
    ("json_schema", "JSON schema"),
    ("vision", "pictures"),
    ("documents", "documents"),
    ("audio_input", "sound"),
    ("reasoning", "reasoning"),
    ("prompt_cache", "prompt cache"),
];

/// The scenarios of a report.
pub(super) fn scenarios(found: &Value) -> impl Iterator<Item = &Value> {
    found["scenarios"].as_array().into_iter().flatten()
}

/// Drivers by capabilities.
pub(super) fn capabilities(reports: &[Report]) -> String {
    let headings = CAPABILITIES.map(|(_, heading)| heading);
    let rows = reports.iter().map(|report| {
        let cells = CAPABILITIES.map(|(word, _)| capability(&report.found, word));
        (format!("`{}`", report.driver), cells.to_vec())
    });
    table("driver", &headings, rows)
}

/// Proved by a fixture, refused before sending, or not known of any model.
fn capability(found: &Value, word: &str) -> String {
    let name = format!("capability_{word}");
    let outcome = scenarios(found).find(|scenario| scenario["name"] == name.as_str());
    let claims = |says: &str| {
        let models = found["models"].as_object().into_iter().flatten();
        models.filter(|(_, claims)| claims[word] == says).count() > 0
    };
    match outcome.map(|scenario| scenario["outcome"].as_str().unwrap_or_default()) {
        Some("proved") if claims("no") => "yes, by model",
        Some("proved") => "yes",
        Some("refused") => "no",
        _ if claims("no") => "no",
        _ => "–",
    }
    .to_owned()
}

pub(super) fn capabilities_page(reports: &[Report]) -> String {
    let mut page = format!("{MADE}\n# Capabilities\n\n");
    page += "Each *yes* is proved by a fixture, plain and as a stream where that applies; each *no* is refused with\n";
    page += "`Unsupported` before anything is sent. *By model*: some of the models below can, others cannot, and each is\n";
    page += "held to its own word. –: no model that was asked says anything about it.\n\n";
    page += &capabilities(reports);
    page += "\n## By model\n\n";
    let headings = CAPABILITIES.map(|(_, heading)| heading);
    let rows = reports.iter().flat_map(|report| {
        let models = report.found["models"].as_object().into_iter().flatten();
        models.map(|(model, claims)| {
            let cells = CAPABILITIES.map(|(word, _)| match claims[word].as_str() {
                Some(says @ ("yes" | "no")) => says.to_owned(),
                _ => "–".to_owned(),
            });
            (format!("`{}`: `{model}`", report.driver), cells.to_vec())
        })
    });
    page += &table("model", &headings, rows);
    page += "\n## Not proved\n\nScenarios of the suite that a driver's format cannot express, and why.\n\n";
    let mut skipped = String::new();
    for report in reports {
        for scenario in scenarios(&report.found) {
            if let Some(reason @ Value::String(_)) = scenario.get("reason") {
                let name = scenario["name"].as_str().unwrap_or_default();
                skipped += &format!(
                    "- `{}`, `{name}`: {}\n",
                    report.driver,
                    reason.as_str().unwrap_or_default()
                );
            }
        }
    }
    page + if skipped.is_empty() { "None.\n" } else { &skipped }
}

pub(super) fn options_page(reports: &[Report]) -> String {
    let mut page = format!("{MADE}\n# Options of a request\n\n");
    page +=
        "What becomes of each option of a `ChatRequest`, by driver, over the models that its suite asks:\n\n";
    page += "- **sent**: it goes to the vendor;\n";
    page += "- **refused**: `Unsupported`, before anything is sent;\n";
    page += "- **warned**: it is not sent, or changed, and the response says so;\n";
    page += "- **holds**: it asks for what holds in any case, so nothing is sent and nothing is lost;\n";
    page += "- –: its answers hold no such state, so there is none to send back.\n\n";
    page += "Several words: it depends on the model, or on the value.\n\n";
    let options = |report: &Report| {
        scenarios(&report.found)
            .find(|scenario| scenario["name"] == "options_none_dropped")
            .cloned()
            .unwrap_or_default()
    };
    let found: Vec<Value> = reports.iter().map(options).collect();
    let mut names: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<(&str, usize), BTreeSet<&str>> = BTreeMap::new();
    for (column, scenario) in found.iter().enumerate() {
        for (_, row) in scenario["options"].as_object().into_iter().flatten() {
            for (name, words) in row.as_object().into_iter().flatten() {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
                let words = words.as_array().into_iter().flatten().filter_map(Value::as_str);
                cells.entry((name, column)).or_default().extend(words);
            }
        }
    }
    names.sort_unstable();
    let drivers: Vec<&str> = reports.iter().map(|report| report.driver.as_str()).collect();
    let rows = names.iter().map(|name| {
        let row = (0..found.len()).map(|column| match cells.get(&(*name, column)) {
            Some(words) => words.iter().copied().collect::<Vec<_>>().join(", "),
            None => "–".to_owned(),
        });
        (format!("`{name}`"), row.collect())
    });
    page += &table("option", &drivers, rows);
    page += "\n## What a vendor does anyway\n\n";
    for (report, scenario) in reports.iter().zip(&found) {
        for (option, reason) in scenario["inherent"].as_object().into_iter().flatten() {
            let reason = reason.as_str().unwrap_or_default();
            page += &format!("- `{}`, `{option}`: {reason}\n", report.driver);
        }
    }
    page
}

fn table<S: AsRef<str>>(
    first: &str,
    headings: &[S],
    rows: impl Iterator<Item = (String, Vec<String>)>,
) -> String {
    let headings: Vec<&str> = headings.iter().map(S::as_ref).collect();
    let mut text = format!(
        "| {first} | {} |\n|---|{}\n",
        headings.join(" | "),
        "---|".repeat(headings.len())
    );
    for (name, cells) in rows {
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Report {
        let found = json!({
            "models": {"a": {"tools": "yes", "vision": "no"}, "b": {"tools": "no"}},
            "scenarios": [
                {"name": "capability_tools", "outcome": "proved"},
                {"name": "capability_vision", "outcome": "refused"},
                {"name": "limits_rate_limit_headers", "outcome": "skipped", "reason": "it sends none"},
                {"name": "options_none_dropped", "outcome": "proved",
                 "options": {"a": {"stop": ["sent"]}, "b": {"stop": ["refused"], "user": ["holds"]}},
                 "inherent": {"user": "it always knows"}},
            ],
        });
        Report {
            driver: "acme".to_owned(),
            found,
        }
    }

    #[test]
    fn a_capability_is_what_was_proved_and_not_what_was_claimed() {
        let found = report().found;
        assert_eq!(capability(&found, "tools"), "yes, by model");
        assert_eq!(capability(&found, "vision"), "no");
        assert_eq!(capability(&found, "documents"), "–");
        let page = capabilities_page(&[report()]);
        assert!(
            page.contains("- `acme`, `limits_rate_limit_headers`: it sends none\n"),
            "{page}"
        );
    }

    #[test]
    fn an_option_shows_every_answer_that_it_got() {
        let page = options_page(&[report()]);
        assert!(page.contains("| `stop` | refused, sent |\n"), "{page}");
        assert!(page.contains("| `user` | holds |\n"), "{page}");
        assert!(page.contains("- `acme`, `user`: it always knows\n"), "{page}");
    }
}
