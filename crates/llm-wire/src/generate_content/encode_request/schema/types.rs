//! `type`, `nullable`, `const` and `enum`: which values a place may hold.

use super::conjunction::Conjunction;
use super::keyword::belongs_to;
use super::{Flaw, Rewriter, list, weight};
use serde_json::{Map, Value, json};

impl<'s> Rewriter<'s> {
    /// `type`, `nullable`, `const` and `enum` decide together.
    pub(super) fn types(&mut self, all: &Conjunction<'s>, out: &mut Map<String, Value>) -> Result<(), Flaw> {
        let mut types = all.types()?;
        let mut nullable = all.field("nullable") == Some(&Value::Bool(true));
        let mut values = match (all.field("const"), all.field("enum")) {
            (Some(only), _) => Some(vec![only]),
            (None, Some(values)) => Some(list(Some(values))?.iter().collect::<Vec<_>>()),
            (None, None) => None,
        };
        if let Some(values) = &mut values {
            for value in values.iter() {
                self.spend(weight(value))?;
            }
            let with_null = values.len();
            values.retain(|value| !value.is_null());
            if values.is_empty() && with_null > 0 {
                out.insert("type".to_owned(), json!("null"));
                return Ok(());
            }
            let null_fits = types.is_empty() || types.contains(&"null");
            nullable = with_null > values.len() && (null_fits || nullable);
            types.retain(|kind| *kind != "null");
            if types.is_empty() {
                types.extend(type_of_all(values));
            }
        }
        if types.is_empty() && out.contains_key("properties") && !out.contains_key("anyOf") {
            types.push("object");
        }
        if types.len() > 1 {
            nullable |= types.contains(&"null");
            types.retain(|kind| *kind != "null");
        }
        let values = values.map(|values| values.into_iter().cloned().collect::<Vec<_>>());
        let free = !out.contains_key("anyOf");
        match (types.as_slice(), values) {
            ([], None) => {
                if let (true, Some(Value::Array(alternatives))) = (nullable, out.get_mut("anyOf")) {
                    alternatives.push(json!({"type": "null"}));
                }
            }
            (kinds @ ([] | [_]), Some(values)) if nullable && free => {
                let mut alternative = json!({"enum": values});
                if let [kind] = kinds {
                    alternative = json!({"type": kind, "enum": values});
                }
                out.insert("anyOf".to_owned(), json!([alternative, {"type": "null"}]));
            }
            (several @ [_, _, ..], values) if free => {
                let mut alternatives: Vec<_> = several
                    .iter()
                    .filter_map(|kind| alternative(kind, values.as_deref(), out))
                    .collect();
                if nullable {
                    alternatives.push(json!({"type": "null"}));
                }
                out.retain(|name, _| !several.iter().any(|kind| belongs_to(name, kind)));
                if let (true, Some(values)) = (alternatives.is_empty(), values) {
                    // values of none of the types: nothing fits, and the schema says so itself
                    out.insert("enum".to_owned(), values.into());
                } else {
                    out.insert("anyOf".to_owned(), alternatives.into());
                }
            }
            (kinds, values) => {
                let mut kinds: Vec<Value> = kinds.iter().map(|kind| json!(kind)).collect();
                if nullable && !kinds.is_empty() {
                    kinds.push(json!("null"));
                }
                if let [kind] = kinds.as_slice() {
                    out.insert("type".to_owned(), kind.clone());
                } else if !kinds.is_empty() {
                    out.insert("type".to_owned(), kinds.into());
                }
                if let Some(values) = values {
                    out.insert("enum".to_owned(), values.into());
                }
            }
        }
        Ok(())
    }
}

/// One type of several, with the keywords that are about it. `None`: none of the values is of this type.
fn alternative(kind: &str, values: Option<&[Value]>, all: &Map<String, Value>) -> Option<Value> {
    let mut out = Map::new();
    out.insert("type".to_owned(), json!(kind));
    if let Some(values) = values {
        let values: Vec<_> = values
            .iter()
            .filter(|value| is_of_type(value, kind))
            .cloned()
            .collect();
        if values.is_empty() {
            return None;
        }
        out.insert("enum".to_owned(), values.into());
    }
    let own = all.iter().filter(|(name, _)| belongs_to(name, kind));
    out.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    Some(Value::Object(out))
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// The one type that all values have.
fn type_of_all(values: &[&Value]) -> Option<&'static str> {
    ["string", "integer", "number", "boolean"]
        .into_iter()
        .find(|kind| values.iter().all(|value| is_of_type(value, kind)))
}
