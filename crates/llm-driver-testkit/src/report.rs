//! What was proved, written down: `target/conformance/DRIVER.json`, from which documentation is generated.
//!
//! Tests may run in one process or each in its own, so every scenario writes a file of its own
//! (`target/conformance/DRIVER/SCENARIO.json`), and the table is gathered from these. Writing is a best effort: a
//! report that cannot be written fails no test.

use crate::harness::{Endpoint, Harness};
use crate::scenario::{Finding, Outcome};
use crate::subject::{Notes, SCRIPTED_URL, SENTINEL_KEY};
use crate::suite::{SCENARIOS, Scenario};
use llm_core::{Capability, ModelId, Secret, Support};
use serde_json::{Map, Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As often the table is gathered again when another process wrote at the same time.
const ROUNDS: usize = 10;

pub(crate) fn write(scenario: &Scenario, harness: &Harness, finding: &Finding, notes: &Notes) {
    if let Some(folder) = target_folder() {
        let _ = write_into(&folder.join("conformance"), scenario, harness, finding, notes);
    }
}

fn write_into(
    folder: &Path,
    scenario: &Scenario,
    harness: &Harness,
    finding: &Finding,
    notes: &Notes,
) -> io::Result<()> {
    let scenarios = folder.join(harness.driver());
    fs::create_dir_all(&scenarios)?;
    replace(
        &scenarios.join(format!("{}.json", scenario.name)),
        &row(scenario, finding, notes),
    )?;
    let models = models(harness);
    // Whoever writes last gathers what all have written: after writing, look again.
    let mut written = None;
    for _ in 0..ROUNDS {
        let table = table(harness, &models, &scenarios);
        if written.as_ref() == Some(&table) {
            break;
        }
        replace(&folder.join(format!("{}.json", harness.driver())), &table)?;
        written = Some(table);
    }
    Ok(())
}

fn row(scenario: &Scenario, finding: &Finding, notes: &Notes) -> Value {
    let (outcome, reason) = match finding {
        Ok(Outcome::Proved) => ("proved", None),
        Ok(Outcome::Refused) => ("refused", None),
        Ok(Outcome::Skipped(reason)) => ("skipped", Some(reason)),
        Ok(Outcome::FailsAsExpected(reason)) => ("fails_as_expected", Some(reason)),
        Err(_) => ("failed", None),
    };
    let mut row = json!({"name": scenario.name, "family": scenario.family, "outcome": outcome});
    if let Some(fields) = row.as_object_mut() {
        if let Some(reason) = reason {
            fields.insert("reason".to_owned(), Value::String(reason.clone()));
        }
        fields.extend(notes.clone());
    }
    row
}

fn table(harness: &Harness, models: &Value, scenarios: &Path) -> Value {
    let rows = SCENARIOS.iter().filter_map(|scenario| {
        let text = fs::read(scenarios.join(format!("{}.json", scenario.name))).ok()?;
        serde_json::from_slice::<Value>(&text).ok()
    });
    json!({"driver": harness.driver(), "models": models, "scenarios": rows.collect::<Vec<_>>()})
}

/// What the harness's models claim.
fn models(harness: &Harness) -> Value {
    let mut claims = Map::new();
    let transport = Arc::new(crate::ScriptedTransport::new([]));
    let key = Secret::new(SENTINEL_KEY.to_owned());
    let Ok(driver) = harness.build(&Endpoint::new(SCRIPTED_URL, key).with_transport(transport)) else {
        return Value::Object(claims);
    };
    for name in harness.models() {
        let resolved = ModelId::new(name).and_then(|model| driver.resolve(Some(&model)));
        if let Ok(resolved) = resolved {
            let row = Capability::ALL.map(|capability| {
                let word = match resolved.capabilities.support(capability) {
                    Support::Yes => "yes",
                    Support::No => "no",
                    _ => "unknown",
                };
                (capability.as_str().to_owned(), Value::from(word))
            });
            claims.insert(name.clone(), Value::Object(row.into_iter().collect()));
        }
    }
    Value::Object(claims)
}

/// Writes beside, then moves: a reader sees the old file or the new one.
fn replace(path: &Path, value: &Value) -> io::Result<()> {
    let beside = path.with_extension(format!(
        "{}.{:?}.part",
        std::process::id(),
        std::thread::current().id()
    ));
    fs::write(&beside, format!("{value:#}\n"))?;
    fs::rename(&beside, path)
}

/// The build folder that this test was built into: cargo marks it.
fn target_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    Some(folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reply, ScriptedDriver};

    fn harness() -> Harness {
        Harness::new("report-test", "some-model", |_| {
            Ok(Arc::new(ScriptedDriver::always("report-test", Reply::text("hi"))))
        })
    }

    #[test]
    fn the_table_is_gathered_in_the_canonical_order_and_the_same_each_time() {
        let folder = target_folder().unwrap().join("conformance-self-test");
        let _ = fs::remove_dir_all(&folder);
        let skipped: Finding = Ok(Outcome::Skipped("no such thing".to_owned()));
        write_into(&folder, &SCENARIOS[3], &harness(), &skipped, &Notes::default()).unwrap();
        write_into(
            &folder,
            &SCENARIOS[1],
            &harness(),
            &Err("broken".to_owned()),
            &Notes::default(),
        )
        .unwrap();
        write_into(
            &folder,
            &SCENARIOS[0],
            &harness(),
            &Ok(Outcome::Proved),
            &Notes::default(),
        )
        .unwrap();
        let first = fs::read_to_string(folder.join("report-test.json")).unwrap();
        write_into(
            &folder,
            &SCENARIOS[0],
            &harness(),
            &Ok(Outcome::Proved),
            &Notes::default(),
        )
        .unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("report-test.json")).unwrap(),
            first
        );
        let table: Value = serde_json::from_str(&first).unwrap();
        let outcomes: Vec<_> = table["scenarios"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| &row["outcome"])
            .collect();
        assert_eq!(outcomes, ["proved", "failed", "skipped"]);
        assert_eq!(table["scenarios"][2]["reason"], "no such thing");
        assert_eq!(table["models"]["some-model"]["tools"], "unknown");
    }

    #[test]
    fn many_writers_lose_nothing() {
        let folder = target_folder().unwrap().join("conformance-race-test");
        let _ = fs::remove_dir_all(&folder);
        std::thread::scope(|scope| {
            for scenario in SCENARIOS {
                let folder = &folder;
                scope.spawn(move || {
                    write_into(
                        folder,
                        scenario,
                        &harness(),
                        &Ok(Outcome::Proved),
                        &Notes::default(),
                    )
                    .unwrap()
                });
            }
        });
        let text = fs::read_to_string(folder.join("report-test.json")).unwrap();
        let table: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(table["scenarios"].as_array().unwrap().len(), SCENARIOS.len());
    }
}
