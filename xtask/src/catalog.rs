//! `cargo xtask catalog`: the model catalogue of each driver crate, cut from one source of all vendors.

mod decimal;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Context, Failure, Outcome};
use crate::workspace;

pub(crate) const COMMAND: Command = Command {
    name: "catalog",
    summary: "Write the models.json of each driver crate from the shared catalogue",
    details: "\
Cuts the catalogue of all vendors into one src/models.json per driver crate: one model a line, prices
as integers (nano-dollars per million tokens). Crates that do not exist yet are skipped. The files are
checked in, so builds need no source; --check without --source checks their form alone.
",
    operands: &[],
    flags: &[
        Flag {
            name: "--check",
            value: None,
            help: "write nothing; fail and list what differs",
        },
        Flag {
            name: "--source",
            value: Some("PATH"),
            help: "the catalogue of all vendors; needed, except with --check",
        },
    ],
    run: start,
};

/// The source's name for a vendor, and the folder of the crate that drives it.
const CRATES: [(&str, &str); 8] = [
    ("anthropic", "llm-driver-claude"),
    ("bedrock", "llm-driver-bedrock"),
    ("deepseek", "llm-driver-deepseek"),
    ("gemini", "llm-driver-gemini"),
    ("groq", "llm-driver-groq"),
    ("mistral", "llm-driver-mistral"),
    ("moonshot", "llm-driver-kimi"),
    ("openai", "llm-driver-openai"),
];

const UNITS: &str = "prices in nano-dollars (10^-9 USD) per million tokens at the standard tier, \
                     audio_per_minute in nano-dollars per minute of audio, limits in tokens; \
                     an absent key means not published";

fn start(arguments: &Arguments) -> Outcome {
    run(arguments.value("--source"), arguments.has("--check"))
}

/// Writes the crates' files, or only compares them.
pub(crate) fn run(source: Option<&str>, check: bool) -> Outcome {
    let root = workspace::root()?;
    let Some(source) = source else {
        return if check {
            check_form(&root)
        } else {
            Err(Failure::new(
                "which catalogue? Pass that of all vendors with --source PATH",
            ))
        };
    };
    let path = std::env::current_dir()
        .while_doing("finding the current folder")?
        .join(source);
    if !path.is_file() {
        return Err(Failure::new(format!(
            "no file at `{source}`; pass the catalogue with --source PATH"
        )));
    }
    let text = std::fs::read_to_string(&path).while_doing("reading the catalogue")?;
    let value: Value = serde_json::from_str(&text).while_doing("reading the catalogue")?;
    let files = cut(&value).map_err(|error| Failure::new(format!("the catalogue: {error}")))?;
    let mut differences = Vec::new();
    for (folder, wanted) in files {
        let crate_folder = root.join("crates").join(folder);
        if !crate_folder.is_dir() {
            continue;
        }
        let name = format!("crates/{folder}/src/models.json");
        let file = crate_folder.join("src/models.json");
        let present = std::fs::read_to_string(&file).unwrap_or_default();
        if present == wanted {
            println!("catalog: {name}: up to date");
        } else if check {
            differences.extend(
                compare(&present, &wanted)
                    .into_iter()
                    .map(|line| format!("{name}: {line}")),
            );
        } else {
            std::fs::write(&file, wanted).while_doing(format_args!("writing {name}"))?;
            println!("catalog: {name}: written");
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the shipped catalogue is stale; run `cargo xtask catalog --source PATH` and commit the result\n  {}",
        differences.join("\n  ")
    )))
}

/// With no source there is nothing to compare with, but a crate's file must still be one of ours.
fn check_form(root: &Path) -> Outcome {
    println!("catalog: no --source: the checked-in files are the truth");
    for (_, folder) in CRATES {
        let crate_folder = root.join("crates").join(folder);
        if !crate_folder.is_dir() {
            continue;
        }
        let name = format!("crates/{folder}/src/models.json");
        let text = std::fs::read_to_string(crate_folder.join("src/models.json")).while_doing(&name)?;
        let value: Value = serde_json::from_str(&text).while_doing(&name)?;
        let models = value.get("models").and_then(Value::as_array).map_or(0, Vec::len);
        if models == 0 {
            return Err(Failure::new(format!(
                "{name}: no models; write it with `cargo xtask catalog --source PATH`"
            )));
        }
        println!("catalog: {name}: {models} models");
    }
    Ok(())
}

/// The text of each crate's file, by folder.
fn cut(catalogue: &Value) -> Result<BTreeMap<&'static str, String>, String> {
    let header = catalogue.get("header").ok_or("no `header`")?;
    let as_of = header
        .get("as_of")
        .and_then(Value::as_str)
        .ok_or("no `header.as_of`")?;
    let sources = header
        .get("sources")
        .and_then(Value::as_array)
        .ok_or("no `header.sources`")?;
    let sources: Vec<&str> = sources.iter().filter_map(Value::as_str).collect();
    let models = catalogue
        .get("models")
        .and_then(Value::as_array)
        .ok_or("no `models`")?;
    let mut rows: BTreeMap<&'static str, BTreeMap<String, Map<String, Value>>> = BTreeMap::new();
    for model in models {
        let model = model.as_object().ok_or("a model that is no object")?;
        let id = model
            .get("id")
            .and_then(Value::as_str)
            .ok_or("a model without `id`")?;
        let provider = model
            .get("provider")
            .and_then(Value::as_str)
            .ok_or(format!("{id}: no `provider`"))?;
        let (_, folder) = CRATES.iter().find(|(name, _)| *name == provider).ok_or_else(|| {
            format!("{id}: no crate is known for `{provider}`; add it to CRATES in xtask/src/catalog.rs")
        })?;
        let row = row::convert(model).map_err(|error| format!("{provider}/{id}: {error}"))?;
        if rows
            .entry(folder)
            .or_default()
            .insert(id.to_owned(), row)
            .is_some()
        {
            return Err(format!("{provider}/{id}: stands there twice"));
        }
    }
    let source = sources.join(", ");
    Ok(rows
        .into_iter()
        .map(|(folder, rows)| (folder, file(&source, as_of, rows)))
        .collect())
}

/// One crate's file: a short head, then one model a line, by id.
fn file(source: &str, as_of: &str, rows: BTreeMap<String, Map<String, Value>>) -> String {
    let head = [
        ("source", source),
        ("as_of", as_of),
        ("generated_by", "cargo xtask catalog"),
        ("units", UNITS),
    ];
    let mut text = String::from("{\n");
    for (key, value) in head {
        text.push_str(&format!("\"{key}\": {},\n", Value::from(value)));
    }
    let lines: Vec<String> = rows
        .into_values()
        .map(|row| Value::Object(row).to_string())
        .collect();
    text.push_str(&format!("\"models\": [\n{}\n]\n}}\n", lines.join(",\n")));
    text
}

/// What differs between a crate's file and what it should be, in words.
fn compare(present: &str, wanted: &str) -> Vec<String> {
    let (Ok(present), Ok(wanted)) = (
        serde_json::from_str::<Value>(present),
        serde_json::from_str::<Value>(wanted),
    ) else {
        return vec!["missing, or not JSON".to_owned()];
    };
    let mut differences = Vec::new();
    for key in ["source", "as_of", "generated_by", "units"] {
        if present.get(key) != wanted.get(key) {
            differences.push(format!("`{key}` differs"));
        }
    }
    let (present, wanted) = (models_by_id(&present), models_by_id(&wanted));
    for (id, row) in &wanted {
        match present.get(id) {
            None => differences.push(format!("{id}: missing in the crate")),
            Some(other) if other != row => differences.push(format!("{id}: {}", changed_keys(other, row))),
            Some(_) => {}
        }
    }
    differences.extend(
        present
            .keys()
            .filter(|id| !wanted.contains_key(*id))
            .map(|id| format!("{id}: no longer in the source")),
    );
    if differences.is_empty() {
        differences.push("only the form differs (order or spaces)".to_owned());
    }
    differences
}

fn models_by_id(file: &Value) -> BTreeMap<&str, &Value> {
    let models = file
        .get("models")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    models
        .iter()
        .filter_map(|model| Some((model.get("id")?.as_str()?, model)))
        .collect()
}

fn changed_keys(present: &Value, wanted: &Value) -> String {
    let empty = Map::new();
    let (present, wanted) = (
        present.as_object().unwrap_or(&empty),
        wanted.as_object().unwrap_or(&empty),
    );
    let mut changes: Vec<String> = Vec::new();
    for (key, value) in wanted {
        match present.get(key) {
            Some(other) if other == value => {}
            Some(other) => changes.push(format!("`{key}` is {other}, should be {value}")),
            None => changes.push(format!("`{key}` is missing")),
        }
    }
    changes.extend(
        present
            .keys()
            .filter(|key| !wanted.contains_key(*key))
            .map(|key| format!("`{key}` is left over")),
    );
    changes.join(", ")
}
