//! What the service makes of a keyword (wire notes, `gemini.md`, Structured output).

pub(super) enum Keyword {
    /// The service reads it.
    Read,
    /// It constrains nothing.
    Note,
    /// It is about the schema as a document, or dealt with elsewhere.
    Structure,
    /// It constrains, and the service does not read it.
    NotRead { holds_schemas: bool },
}

pub(super) fn keyword(name: &str) -> Keyword {
    match name {
        "format" | "title" | "description" | "minItems" | "maxItems" | "minimum" | "maximum"
        | "propertyOrdering" => Keyword::Read,
        "$ref" | "$defs" | "definitions" | "$schema" | "$id" | "$anchor" | "$comment" | "$vocabulary"
        | "$dynamicAnchor" | "allOf" | "additionalItems" => Keyword::Structure,
        "patternProperties"
        | "propertyNames"
        | "dependentSchemas"
        | "dependencies"
        | "if"
        | "then"
        | "else"
        | "not"
        | "contains"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "$dynamicRef" => Keyword::NotRead { holds_schemas: true },
        "pattern" | "minLength" | "maxLength" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "uniqueItems" | "minContains" | "maxContains" | "minProperties" | "maxProperties"
        | "dependentRequired" => Keyword::NotRead { holds_schemas: false },
        _ => Keyword::Note,
    }
}

/// Is this keyword about values of this type?
pub(super) fn belongs_to(keyword: &str, kind: &str) -> bool {
    match kind {
        "object" => matches!(
            keyword,
            "properties"
                | "required"
                | "additionalProperties"
                | "propertyOrdering"
                | "minProperties"
                | "maxProperties"
        ),
        "array" => matches!(
            keyword,
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems"
        ),
        "string" => matches!(keyword, "minLength" | "maxLength" | "pattern" | "format"),
        "number" | "integer" => matches!(
            keyword,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        ),
        _ => false,
    }
}
