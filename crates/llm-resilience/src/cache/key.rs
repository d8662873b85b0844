//! Under which key an answer is kept.

use llm_core::{ChatRequest, DriverInfo, ModelId};
use serde::Serialize;
use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write};
use std::io;

/// Raised whenever keys or records change their meaning: what older code kept is then not found.
pub(super) const SCHEMA: u32 = 1;

/// What makes two calls equal: a hash of everything that may change the answer.
///
/// One hash that nobody can aim at: requests come from outside, and two of them with one key would get each
/// other's answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CacheKey([u8; 32]);

/// What is asked, of whom, for whom.
pub(super) struct Asked<'a> {
    pub(super) driver: &'a DriverInfo,
    /// The model that serves, not the name that the request has for it.
    pub(super) model: &'a ModelId,
    /// The layer's namespace and the caller's.
    pub(super) namespaces: [&'a str; 2],
    pub(super) request: &'a ChatRequest,
}

impl CacheKey {
    /// The key of a call; `None` where the request cannot be written down.
    ///
    /// The request goes in as it serialises, whole, so that a new field of it cannot be forgotten: what makes no
    /// difference to the answer is not in the request but in the context.
    pub(super) fn of(asked: &Asked<'_>) -> Option<CacheKey> {
        let Ok(Value::Object(mut request)) = serde_json::to_value(asked.request) else {
            return None;
        };
        // Stands beside it as the model that serves.
        request.remove("model");
        let mut hash = Hash(Sha256::new());
        let head = (
            SCHEMA,
            asked.namespaces,
            asked.driver.vendor.as_str(),
            &asked.driver.base_url,
            asked.model,
        );
        write_json(&mut hash, &head).ok()?;
        for field in sorted(&request) {
            write_json(&mut hash, field.0).ok()?;
            let inside = match field.0.as_str() {
                "tools" | "output" => Inside::Schema,
                _ => Inside::Data,
            };
            write_value(&mut hash, field.1, inside).ok()?;
        }
        Some(CacheKey(hash.0.finalize().into()))
    }

    /// As text, for stores and records.
    pub(super) fn to_text(self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CacheKey({})", self.to_text())
    }
}

/// Takes bytes as they are written.
struct Hash(Sha256);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where the order of an object's keys counts.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    /// Nowhere.
    Data,
    /// In the lists of properties: models write in the order in which a schema has them.
    Schema,
    /// Here.
    Properties,
}

fn write_value(hash: &mut Hash, value: &Value, inside: Inside) -> io::Result<()> {
    use io::Write;
    match value {
        Value::Object(fields) => {
            hash.write_all(b"{")?;
            let ordered = match inside {
                Inside::Properties => fields.iter().collect(),
                Inside::Data | Inside::Schema => sorted(fields),
            };
            for (name, value) in ordered {
                write_json(hash, name)?;
                hash.write_all(b":")?;
                let inside = match inside {
                    Inside::Schema if name == "properties" => Inside::Properties,
                    // A property that is itself called "properties" is a schema like any other.
                    Inside::Properties => Inside::Schema,
                    other => other,
                };
                write_value(hash, value, inside)?;
                hash.write_all(b",")?;
            }
            hash.write_all(b"}")
        }
        Value::Array(items) => {
            hash.write_all(b"[")?;
            for item in items {
                write_value(hash, item, inside)?;
                hash.write_all(b",")?;
            }
            hash.write_all(b"]")
        }
        Value::Number(number) => write_number(hash, number),
        other => write_json(hash, other),
    }
}

/// By value: 0, 0.0 and −0.0 are one number.
fn write_number(hash: &mut Hash, number: &Number) -> io::Result<()> {
    /// Beyond it, not every whole number has a float of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < EXACT => {
            write_json(hash, &(float as i64))
        }
        _ => write_json(hash, number),
    }
}

fn sorted(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_unstable_by_key(|(name, _)| *name);
    fields
}

fn write_json(hash: &mut Hash, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    serde_json::to_writer(hash, value).map_err(io::Error::from)
}

#[cfg(test)]
mod tests;
