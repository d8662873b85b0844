//! What the daemon recorded of a call, for people and as the demo's last line.

use serde_json::{Value, json};

/// Who was considered, why, and what came of it, as the daemon tells it.
pub(super) fn story(decision: &Value, rows: &[Value]) -> String {
    let mut story = format!(
        "\nthe decision, read back from the daemon:\n{}\n",
        text(decision, "explanation")
    );
    story.push_str("\nwhat was recorded of the call:\n");
    for row in rows.iter().rev() {
        let backend = row["backend_id"].as_str().unwrap_or("nobody");
        let tokens = match (
            row["prompt_tokens_est"].as_u64(),
            row["completion_tokens_est"].as_u64(),
        ) {
            (Some(input), Some(output)) => format!(", {input} tokens in, {output} out"),
            _ => String::new(),
        };
        let why = row["error_type"]
            .as_str()
            .map(|kind| format!(" ({kind})"))
            .unwrap_or_default();
        let status = row["vendor_status"]
            .as_u64()
            .map(|status| format!(", status {status}"))
            .unwrap_or_default();
        story.push_str(&format!(
            "  {backend}: {}{why}{status} after {} ms{tokens}\n",
            text(row, "outcome"),
            row["latency_ms"]
        ));
    }
    story
}

/// The last line, built from the record alone; only the text is the client's.
pub(super) fn last_line(rows: &[Value], answer: &str) -> Result<Value, String> {
    let row = |outcome: &str| rows.iter().find(|row| row["outcome"] == outcome);
    let served = row("pass").ok_or("recorded no call that was served")?;
    let failed = row("fallback").ok_or("recorded no failed attempt, so nothing has failed over")?;
    if failed["vendor_status"] != 429 {
        return Err(format!(
            "met {} first, not the 429 of the busy vendor",
            failed["vendor_status"]
        ));
    }
    if answer.trim().is_empty() {
        return Err("got no text from the model".to_owned());
    }
    Ok(json!({
        "request_id": served["request_id"],
        "served_by": served["backend_id"],
        "fallback_from": failed["backend_id"],
        "status_first": failed["vendor_status"],
        "input_tokens": served["prompt_tokens_est"],
        "output_tokens": served["completion_tokens_est"],
        "text": answer.trim(),
    }))
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Value> {
        vec![
            json!({"outcome": "pass", "backend_id": "local", "request_id": "r-1", "prompt_tokens_est": 12,
                   "completion_tokens_est": 30, "latency_ms": 8, "vendor_status": null, "error_type": null}),
            json!({"outcome": "fallback", "backend_id": "cloud", "request_id": "r-1", "vendor_status": 429,
                   "error_type": "rate_limit", "latency_ms": 2}),
        ]
    }

    #[test]
    fn the_last_line_says_what_was_recorded() {
        let line = last_line(&rows(), " Because.\n").unwrap();
        let expected = r#"{"request_id":"r-1","served_by":"local","fallback_from":"cloud","status_first":429,"input_tokens":12,"output_tokens":30,"text":"Because."}"#;
        assert_eq!(line, serde_json::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn a_record_of_something_else_is_told() {
        assert!(
            last_line(&rows()[..1], "x")
                .unwrap_err()
                .contains("no failed attempt")
        );
        assert!(
            last_line(&rows()[1..], "x")
                .unwrap_err()
                .contains("no call that was served")
        );
        assert!(last_line(&rows(), " \n").unwrap_err().contains("no text"));
        let mut other = rows();
        other[1]["vendor_status"] = json!(500);
        assert!(last_line(&other, "x").unwrap_err().contains("met 500 first"));
    }

    #[test]
    fn the_story_tells_attempts_in_their_order() {
        let story = story(&json!({"explanation": "a table"}), &rows());
        let (cloud, local) = (
            story.find("cloud: fallback (rate_limit), status 429"),
            story.find("local: pass"),
        );
        assert!(cloud.is_some() && cloud < local, "{story}");
        assert!(
            story.contains("a table") && story.contains("12 tokens in, 30 out"),
            "{story}"
        );
    }
}
