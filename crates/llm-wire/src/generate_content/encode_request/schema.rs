//! JSON schemas, made legal without losing what they mean.
//!
//! The service reads a part of JSON Schema (wire notes, `gemini.md`, Structured output): references are written out
//! where they stand, `allOf` is merged, `const` becomes an `enum` of one, several types become `anyOf`. A schema
//! that contains itself is cut at its first repetition, and what the service does not read is named.

mod conjunction;
mod keyword;
mod types;

use crate::json_schema::referenced;
use conjunction::Conjunction;
use keyword::{Keyword, keyword};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashSet};

/// How deep a schema may nest once it is written out. (Each level is two of JSON, of which readers take a hundred.)
const DEEPEST: usize = 40;
/// How large it may be then, in bytes or so.
const LARGEST: usize = 2 * 1024 * 1024;

/// A schema as it is sent.
#[derive(Debug)]
pub(super) struct Legal {
    pub(super) schema: Value,
    /// Does it contain itself?
    pub(super) cut: bool,
    /// Keywords that constrain and that the service does not read.
    pub(super) not_read: BTreeSet<String>,
}

/// Why a schema cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// It is no schema.
    NotASchema,
    /// A reference leads out of it, or nowhere.
    Reference,
    /// It is too deep or too large once it is written out.
    Size,
}

/// Makes a schema legal.
pub(super) fn legal(schema: &Value) -> Result<Legal, Flaw> {
    if !schema.is_object() {
        return Err(Flaw::NotASchema);
    }
    let mut rewriter = Rewriter {
        root: schema,
        open: Open::default(),
        left: LARGEST,
        cut: false,
        not_read: BTreeSet::new(),
    };
    let schema = rewriter.schema(schema, 0)?;
    Ok(Legal {
        schema,
        cut: rewriter.cut,
        not_read: rewriter.not_read,
    })
}

struct Rewriter<'s> {
    root: &'s Value,
    open: Open<'s>,
    /// How many bytes may still be written.
    left: usize,
    cut: bool,
    not_read: BTreeSet<String>,
}

/// The references that are being written out, in their order.
#[derive(Default)]
struct Open<'s> {
    order: Vec<&'s str>,
    all: HashSet<&'s str>,
}

impl<'s> Open<'s> {
    /// False: it is open already.
    fn open(&mut self, reference: &'s str) -> bool {
        let new = self.all.insert(reference);
        if new {
            self.order.push(reference);
        }
        new
    }

    /// Leaves only so many open.
    fn close(&mut self, left: usize) {
        for reference in self.order.drain(left..) {
            self.all.remove(reference);
        }
    }
}

impl<'s> Rewriter<'s> {
    fn schema(&mut self, schema: &'s Value, depth: usize) -> Result<Value, Flaw> {
        if depth > DEEPEST {
            return Err(Flaw::Size);
        }
        let already_open = self.open.order.len();
        let mut all = Conjunction::default();
        self.collect(schema, &mut all, depth)?;
        let out = self.written(&all, depth);
        self.open.close(already_open);
        out.map(Value::Object)
    }

    /// Collects everything that holds at one place: the schema, what it refers to, what stands in its `allOf`.
    fn collect(&mut self, schema: &'s Value, all: &mut Conjunction<'s>, depth: usize) -> Result<(), Flaw> {
        if depth > DEEPEST {
            return Err(Flaw::Size);
        }
        let fields = match schema {
            Value::Object(fields) => fields,
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => {
                self.not_read.insert("false".to_owned());
                return Ok(());
            }
            _ => return Err(Flaw::NotASchema),
        };
        self.spend(16)?;
        all.add(fields);
        if let Some(reference) = fields.get("$ref") {
            let reference = reference.as_str().ok_or(Flaw::NotASchema)?;
            let target = referenced(self.root, reference).ok_or(Flaw::Reference)?;
            if !all.refers_to(reference) {
                // it holds here already
            } else if reference == "#" || !self.open.open(reference) {
                self.cut = true;
                all.add_again(target);
            } else {
                self.collect(target, all, depth + 1)?;
            }
        }
        for part in list(fields.get("allOf"))? {
            self.collect(part, all, depth + 1)?;
        }
        Ok(())
    }

    fn written(&mut self, all: &Conjunction<'s>, depth: usize) -> Result<Map<String, Value>, Flaw> {
        let mut out = Map::new();
        for (name, value) in all.fields() {
            match name {
                "type" | "nullable" | "const" | "enum" | "required" | "properties" => {}
                "additionalProperties" if value.is_boolean() => {
                    out.insert(name.to_owned(), value.clone());
                }
                "additionalProperties" => {
                    out.insert(name.to_owned(), self.schema(value, depth + 1)?);
                }
                // the older form of `prefixItems`
                "items" if value.is_array() => {
                    out.insert("prefixItems".to_owned(), self.schemas(value, depth)?);
                    if let Some(rest) = all.field("additionalItems").filter(|rest| rest.is_object()) {
                        out.insert(name.to_owned(), self.schema(rest, depth + 1)?);
                    }
                }
                "items" => {
                    out.insert(name.to_owned(), self.schema(value, depth + 1)?);
                }
                "prefixItems" | "anyOf" | "oneOf" => {
                    let schemas = self.schemas(value, depth)?;
                    if schemas.as_array().is_some_and(|schemas| !schemas.is_empty()) {
                        out.insert(name.to_owned(), schemas);
                    }
                }
                _ => self.copy(name, value, &mut out)?,
            }
        }
        self.properties(all, depth, &mut out)?;
        self.types(all, &mut out)?;
        Ok(out)
    }

    fn schemas(&mut self, list: &'s Value, depth: usize) -> Result<Value, Flaw> {
        let schemas = self::list(Some(list))?.iter();
        // what can never hold is no alternative
        let schemas = schemas.filter(|schema| **schema != Value::Bool(false));
        schemas.map(|schema| self.schema(schema, depth + 1)).collect()
    }

    /// A keyword that holds no schema.
    fn copy(&mut self, name: &str, value: &Value, out: &mut Map<String, Value>) -> Result<(), Flaw> {
        match keyword(name) {
            Keyword::Read | Keyword::Note => {}
            Keyword::Structure => return Ok(()),
            Keyword::NotRead { holds_schemas } => {
                self.not_read.insert(name.to_owned());
                if holds_schemas {
                    return Ok(());
                }
            }
        }
        self.spend(weight(value))?;
        out.insert(name.to_owned(), value.clone());
        Ok(())
    }

    fn properties(
        &mut self,
        all: &Conjunction<'s>,
        depth: usize,
        out: &mut Map<String, Value>,
    ) -> Result<(), Flaw> {
        let mut properties = Map::new();
        for (name, schemas) in all.properties()? {
            if schemas.contains(&&Value::Bool(false)) {
                continue;
            }
            self.spend(name.len())?;
            let already_open = self.open.order.len();
            let mut both = Conjunction::default();
            for schema in schemas {
                self.collect(schema, &mut both, depth + 1)?;
            }
            if depth + 1 > DEEPEST {
                return Err(Flaw::Size);
            }
            let schema = self.written(&both, depth + 1);
            self.open.close(already_open);
            properties.insert(name.to_owned(), Value::Object(schema?));
        }
        let required = all.required()?;
        // a required property that is not described may be anything
        for name in &required {
            self.spend(name.len())?;
            if !properties.contains_key(*name) {
                properties.insert((*name).to_owned(), json!({}));
            }
        }
        if all.field("properties").is_some() || !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into_iter().collect());
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Flaw> {
        self.left = self.left.checked_sub(bytes).ok_or(Flaw::Size)?;
        Ok(())
    }
}

/// The items of a list that may be absent.
fn list(value: Option<&Value>) -> Result<&[Value], Flaw> {
    match value {
        None => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(Flaw::NotASchema),
    }
}

/// About how many bytes a value is.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| 8 + name.len() + weight(value));
            8 + fields.sum::<usize>()
        }
    }
}

#[cfg(test)]
mod tests;
