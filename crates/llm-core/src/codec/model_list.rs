//! The list of models, as most hosts send it.

use crate::driver::CatalogModel;
use crate::error::{Error, ErrorKind, Phase, Result};
use crate::model::ModelId;
use serde_json::Value;

/// Reads a list of models as most vendors send it: an object with a list under this name, or the bare list; each
/// entry with its name under that one. An entry without a usable name is passed over, and so is one that is marked as
/// not active (Groq).
///
/// ```
/// let body = br#"{"data":[{"id":"small","created":1700000000},{"no":"name"}]}"#;
/// let models = llm_core::codec::parse_model_list(body, "data", "id")?;
/// assert_eq!(models[0].id.as_str(), "small");
/// assert_eq!(models.len(), 1);
/// # Ok::<(), llm_core::Error>(())
/// ```
///
/// # Errors
/// `Protocol`, when there is no list.
pub fn parse_model_list(body: &[u8], list: &str, name: &str) -> Result<Vec<CatalogModel>> {
    let document: Option<Value> = serde_json::from_slice(body).ok();
    let entries = match &document {
        Some(Value::Array(entries)) => Some(entries),
        Some(document) => document.get(list).and_then(Value::as_array),
        None => None,
    };
    let Some(entries) = entries else {
        let message = "the list of models is not one of this format";
        return Err(Error::new(ErrorKind::Protocol, message).with_phase(Phase::Sent));
    };
    let models = entries.iter().filter_map(|entry| {
        if entry.get("active").and_then(Value::as_bool) == Some(false) {
            return None;
        }
        let id = entry.get(name).and_then(Value::as_str)?;
        let mut model = CatalogModel::new(ModelId::new(id).ok()?);
        model.created = entry.get("created").and_then(Value::as_u64);
        model.owned_by = entry.get("owned_by").and_then(Value::as_str).map(str::to_owned);
        Some(model)
    });
    Ok(models.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_lists_are_read_leniently() {
        let names = |body: &str| -> Vec<String> {
            let models = parse_model_list(body.as_bytes(), "data", "id").unwrap();
            models.iter().map(|model| model.id.to_string()).collect()
        };
        let list = r#"{"object":"list","data":[{"id":"a","created":1,"owned_by":"x"},{"id":""},{"no":1},{"id":"b","active":true},
            {"id":"old","active":false}]}"#;
        assert_eq!(names(list), ["a", "b"]);
        assert_eq!(names(r#"[{"id":"c","created":"soon"}]"#), ["c"]);
        assert_eq!(names(r#"{"data":[]}"#), [""; 0]);
        for broken in ["", "<html>", "{}", r#"{"data":7}"#] {
            let error = parse_model_list(broken.as_bytes(), "data", "id").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Protocol);
        }
    }
}
