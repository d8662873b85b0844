//! The catalogue as a whole: cut by crate, one model a line, and differences told in words.

use serde_json::json;

use super::*;

fn catalogue() -> Value {
    json!({
        "header": {"as_of": "2026-11-29", "sources": ["one 1.0", "two 2.0"]},
        "models": [
            {"provider": "openai", "id": "zeta", "mode": "chat", "input_usd_per_mtok": 0.15},
            {"provider": "anthropic", "id": "claude", "mode": "chat"},
            {"provider": "openai", "id": "alpha", "mode": "embedding", "output_usd_per_mtok": 0}
        ]
    })
}

#[test]
fn each_crate_gets_its_rows_one_a_line() {
    let files = cut(&catalogue()).unwrap();
    assert_eq!(
        files.keys().copied().collect::<Vec<_>>(),
        ["llm-driver-claude", "llm-driver-openai"]
    );
    let text = &files["llm-driver-openai"];
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], r#""source": "one 1.0, two 2.0","#);
    assert_eq!(lines[2], r#""as_of": "2026-11-29","#);
    assert_eq!(lines[6], r#"{"id":"alpha","mode":"embedding","output":0},"#);
    assert_eq!(lines[7], r#"{"id":"zeta","mode":"chat","input":150000000}"#);
    assert_eq!(
        serde_json::from_str::<Value>(text).unwrap()["models"][1]["input"],
        json!(150_000_000)
    );
}

#[test]
fn order_of_the_source_does_not_matter() {
    let mut turned = catalogue();
    turned["models"].as_array_mut().unwrap().reverse();
    assert_eq!(cut(&catalogue()), cut(&turned));
}

#[test]
fn wrong_catalogues_are_refused() {
    let mut unknown = catalogue();
    unknown["models"][0]["provider"] = json!("acme");
    assert!(
        cut(&unknown)
            .unwrap_err()
            .contains("no crate is known for `acme`")
    );
    let mut twice = catalogue();
    twice["models"][2]["id"] = json!("zeta");
    assert!(
        cut(&twice)
            .unwrap_err()
            .contains("openai/zeta: stands there twice")
    );
    assert!(cut(&json!({"models": []})).unwrap_err().contains("header"));
}

#[test]
fn differences_are_told_by_model_and_key() {
    let old = r#"{"source": "one 0.9", "models": [
        {"id": "gone"}, {"id": "same"}, {"id": "moved", "input": 1, "mode": "chat"}]}"#;
    let new = r#"{"source": "one 1.0", "models": [
        {"id": "same"}, {"id": "moved", "input": 2}, {"id": "new"}]}"#;
    assert_eq!(
        compare(old, new),
        [
            "`source` differs",
            "moved: `input` is 1, should be 2, `mode` is left over",
            "new: missing in the crate",
            "gone: no longer in the source",
        ]
    );
    assert_eq!(compare("", new), ["missing, or not JSON"]);
    assert_eq!(compare(new, new), ["only the form differs (order or spaces)"]);
}

#[test]
fn writing_needs_a_source_and_checking_the_form_does_not() {
    let error = run(None, false).unwrap_err();
    assert!(error.message.contains("--source PATH"), "{}", error.message);
    run(None, true).unwrap();
    let error = run(Some("no/such/file.json"), true).unwrap_err();
    assert!(error.message.contains("no/such/file.json"), "{}", error.message);
}
