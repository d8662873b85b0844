//! The forms in which configuration says how the key is sent.

use super::AuthScheme;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

const FORMS: &str = "`auth` is one of: bearer, header(NAME), query(NAME), none";

impl<'de> Deserialize<'de> for AuthScheme {
    /// One string (`bearer`, `header(api-key)`), or an object (`{"header": "api-key"}`).
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Named {
            Header(String),
            Query(String),
        }
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Named(Named),
        }
        // What was given stays out of the message: a key in the wrong place is an easy mistake.
        match Form::deserialize(deserializer) {
            Ok(Form::Text(text)) => parse(&text).ok_or_else(|| D::Error::custom(FORMS)),
            Ok(Form::Named(Named::Header(name))) => Ok(AuthScheme::Header(name)),
            Ok(Form::Named(Named::Query(name))) => Ok(AuthScheme::Query(name)),
            Err(_) => Err(D::Error::custom(FORMS)),
        }
    }
}

fn parse(text: &str) -> Option<AuthScheme> {
    let text = text.trim();
    let named = |form: &str| {
        let name = text
            .strip_prefix(form)?
            .strip_prefix('(')?
            .strip_suffix(')')?
            .trim();
        (!name.is_empty()).then(|| name.to_owned())
    };
    match text {
        "bearer" => Some(AuthScheme::Bearer),
        "none" => Some(AuthScheme::None),
        _ => named("header")
            .map(AuthScheme::Header)
            .or_else(|| named("query").map(AuthScheme::Query)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scheme_has_its_forms() {
        for (form, scheme) in [
            (r#""bearer""#, Some(AuthScheme::Bearer)),
            (r#""none""#, Some(AuthScheme::None)),
            (
                r#""header(api-key)""#,
                Some(AuthScheme::Header("api-key".to_owned())),
            ),
            (r#""query( key )""#, Some(AuthScheme::Query("key".to_owned()))),
            (
                r#"{"header": "api-key"}"#,
                Some(AuthScheme::Header("api-key".to_owned())),
            ),
            (r#""header()""#, None),
            (r#""header""#, None),
            (r#""basic""#, None),
            (r#"{"bearer": "a key"}"#, None),
            ("7", None),
        ] {
            assert_eq!(serde_json::from_str(form).ok(), scheme, "{form}");
        }
    }
}
