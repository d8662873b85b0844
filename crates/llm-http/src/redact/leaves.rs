//! The strings inside of a text that is JSON, without keeping them.

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A longer text is not read as JSON.
const LONGEST: usize = 4 * 1024 * 1024;

/// Shows every string below a JSON text, and nothing of another one. Of one that is cut, those before the end.
pub(super) fn each_leaf(text: &str, look: &mut dyn FnMut(&str)) {
    if text.len() > LONGEST || !text.trim_start().starts_with(['{', '[']) {
        return;
    }
    let mut document = serde_json::Deserializer::from_str(text);
    // where it ends to be JSON, no more is looked for
    let _ = Leaves(look).deserialize(&mut document);
}

struct Leaves<'l>(&'l mut dyn FnMut(&str));

impl<'de> DeserializeSeed<'de> for Leaves<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Leaves<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.0)(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Leaves(&mut *self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key::<serde::de::IgnoredAny>()?.is_some() {
            fields.next_value_seed(Leaves(&mut *self.0))?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}
