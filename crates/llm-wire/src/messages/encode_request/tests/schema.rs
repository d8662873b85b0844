use super::*;

/// The schema as it is sent, and whether a warning goes with it.
fn closed(schema: Value) -> (Value, bool) {
    let request = hi().with_output(OutputFormat::json_schema("x", schema));
    let (body, warnings) = encoded("demo", &request);
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
    (
        body["output_config"]["format"]["schema"].clone(),
        !warnings.is_empty(),
    )
}

fn is_refused(schema: Value) {
    let request = hi().with_output(OutputFormat::json_schema("x", schema.clone()));
    assert_eq!(
        refused("demo", &request),
        (ErrorKind::Unsupported, "output.schema".into()),
        "{schema}"
    );
}

#[test]
fn objects_are_closed() {
    let inner = json!({"type": ["object", "null"], "properties": {"a": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"b": inner, "c": {"items": inner}},
        "$defs": {"d": {"properties": {"e": true}, "additionalProperties": true}}});
    let (sent, warned) = closed(schema);
    for path in ["", "/properties/b", "/properties/c/items", "/$defs/d"] {
        assert_eq!(
            sent.pointer(&format!("{path}/additionalProperties")),
            Some(&json!(false)),
            "{path}"
        );
    }
    assert!(!warned);
    let already = json!({"type": "object", "properties": {}, "additionalProperties": false});
    assert_eq!(closed(already.clone()).0, already);
}

#[test]
fn bounds_are_said_in_words() {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 9},
        "s": {"type": "string", "format": "email", "pattern": "^a"},
        "t": {"type": "string", "format": "phone"},
        "minimum": {"type": "number"}}});
    let (sent, warned) = closed(schema);
    assert_eq!(
        sent["properties"],
        json!({
            "n": {"type": "integer", "description": "How many. (minimum: 1, maximum: 9)"},
            "s": {"type": "string", "format": "email", "description": "(pattern: \"^a\")"},
            "t": {"type": "string", "description": "(format: phone)"},
            "minimum": {"type": "number"},
        })
    );
    assert!(warned);
}

#[test]
fn one_of_several_is_any_of_them_and_values_are_left_alone() {
    let choice = json!([{"const": {"minimum": 1}}, {"enum": [{"not": 1}], "default": {"pattern": 1}}]);
    assert_eq!(closed(json!({"oneOf": choice})).0, json!({"anyOf": choice}));
}

#[test]
fn open_objects_are_refused() {
    is_refused(json!({"type": "object"}));
    is_refused(json!({"type": "object", "additionalProperties": {"type": "string"}}));
    is_refused(json!({"properties": {"a": {"type": "object", "additionalProperties": true}}}));
    is_refused(json!({"properties": {"a": true}, "patternProperties": {"^x": true}}));
}

#[test]
fn a_description_goes_into_the_schema() {
    let output = OutputFormat::JsonSchema {
        name: "x".into(),
        description: Some("What it is for.".into()),
        schema: json!({"type": "string"}),
        strict: None,
    };
    let body = clean("demo", &hi().with_output(output));
    let format = &body["output_config"]["format"];
    assert_eq!(
        format["schema"],
        json!({"type": "string", "description": "What it is for."})
    );
}

#[test]
fn what_is_closed_stays_as_it_is() {
    let bounded = json!({"properties": {"n": {"type": "integer", "minimum": 1}}, "additionalProperties": false,
        "maxProperties": 1, "title": "t"});
    for description in [None, Some("What it is for.".to_owned())] {
        let output = |schema: Value, description: Option<String>| OutputFormat::JsonSchema {
            name: "x".into(),
            description,
            schema,
            strict: None,
        };
        let sent = |output| {
            let (body, _) = encoded("demo", &hi().with_output(output));
            body["output_config"]["format"]["schema"].clone()
        };
        let once = sent(output(bounded.clone(), description));
        let twice = sent(output(once.clone(), None));
        // the order of the keys too: a vendor caches by the bytes
        assert_eq!(once.to_string(), twice.to_string());
    }
}

#[test]
fn a_schema_that_contains_itself_is_refused_where_it_is_to_be_kept() {
    let tree = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": false});
    is_refused(tree.clone());
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}});
    is_refused(json!({"$ref": "#/$defs/node", "$defs": {"node": node}}));
    let tool = |strict| {
        let tool = ToolSpec::new("f")
            .with_parameters(tree.clone())
            .with_strict(strict);
        hi().with_tools([ToolSpec::new("g"), tool])
    };
    assert_eq!(
        refused("demo", &tool(true)),
        (ErrorKind::Unsupported, "tools[1].parameters".into())
    );
    assert_eq!(clean("demo", &tool(false))["tools"][1]["input_schema"], tree);
}
