//! Golden invoices: what each vendor's own figures of one answer cost, written out by hand, line by line.
//!
//! `invoices.json` holds them. The rates in it are the shipped catalogue's of 2026-11-29; when a price changes there,
//! the invoice is written anew, by hand again.

use llm_driver_testkit::{Answer, ScriptedTransport, TestClock};
use llm_suite::builtin_registry;
use llm_suite::core::CallContext;
use llm_suite::core::stream::collect;
use llm_suite::core::{BuildContext, ChatDriver, ChatRequest, ChatResponse, ModelId};
use llm_suite::http::Transport;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

const INVOICES: &str = include_str!("invoices.json");

#[tokio::test(start_paused = true)]
async fn every_invoice_is_what_the_answer_and_the_stream_cost() {
    let invoices: Vec<Value> = serde_json::from_str(INVOICES).unwrap();
    let mut drivers: Vec<&str> = Vec::new();
    for invoice in &invoices {
        let name = invoice["name"].as_str().unwrap();
        let expected = total(invoice);
        drivers.push(invoice["driver"].as_str().unwrap());
        let mut asked = 0;
        for (way, response) in [("plain", plain(invoice).await), ("stream", stream(invoice).await)] {
            let Some(response) = response else { continue };
            asked += 1;
            let cost = response.usage.cost.map(|cost| cost.pico_usd);
            assert_eq!(cost, expected, "{name}, {way}: {:?}", response.usage);
        }
        assert!(asked > 0, "{name} asks for nothing");
    }
    let registry = builtin_registry().unwrap();
    for id in registry.ids() {
        assert!(drivers.contains(&id.as_str()), "no invoice of {id}");
    }
}

/// The sum of the lines in pico-dollars, checked against the total that stands below them; none: the price is unknown.
fn total(invoice: &Value) -> Option<u64> {
    let stated = invoice["total_usd"].as_str()?;
    let pico: u64 = match invoice["lines"].as_array() {
        // dollars for a million tokens are as many micro-dollars for one
        Some(lines) => lines
            .iter()
            .map(|line| line[1].as_u64().unwrap() * micro(line[2].as_f64().unwrap()))
            .sum(),
        None => pico(stated),
    };
    assert_eq!(pico, self::pico(stated), "{}: the sum is wrong", invoice["name"]);
    Some(pico)
}

fn micro(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}

/// Dollars in decimal digits, exactly.
fn pico(usd: &str) -> u64 {
    let (whole, rest) = usd.split_once('.').unwrap();
    assert!(rest.len() <= 12, "{usd}");
    format!("{whole}{rest:0<12}").parse().unwrap()
}

/// The driver under its own host, where the shipped prices hold, with a transport that plays the answer.
fn stack(invoice: &Value, answer: Answer) -> Arc<dyn ChatDriver> {
    let mut config = invoice["config"].clone();
    if config.is_null() {
        config = serde_json::json!({});
    }
    if invoice["driver"] != "ollama" {
        config["api_key"] = "test-key".into();
    }
    let mut context = BuildContext::default();
    let transport: Arc<dyn Transport> = Arc::new(ScriptedTransport::new([answer]));
    context.insert(transport);
    let registry = builtin_registry().unwrap();
    let driver = registry.build(invoice["driver"].as_str().unwrap(), config, &context);
    driver.unwrap().as_chat().unwrap()
}

fn call(invoice: &Value) -> (CallContext, ChatRequest) {
    let wall = UNIX_EPOCH + Duration::from_secs(invoice["at"].as_u64().unwrap_or(1_795_910_400));
    let cx = CallContext::new(Arc::new(TestClock::starting_at(wall)));
    let model = ModelId::new(invoice["model"].as_str().unwrap()).unwrap();
    (cx, ChatRequest::user("hi").with_model(model))
}

async fn plain(invoice: &Value) -> Option<ChatResponse> {
    let answer = invoice.get("answer")?;
    let stack = stack(invoice, Answer::json(200, answer.to_string()));
    let (cx, request) = call(invoice);
    Some(stack.chat(&cx, &request).await.unwrap())
}

async fn stream(invoice: &Value) -> Option<ChatResponse> {
    let frames = invoice.get("stream")?.as_array().unwrap();
    let answer = if invoice["driver"] == "ollama" {
        let lines: String = frames.iter().map(|frame| format!("{frame}\n")).collect();
        Answer::status(200)
            .with_header("content-type", "application/x-ndjson")
            .with_piece(lines)
    } else {
        let events = frames.iter().map(|frame| match frame["type"].as_str() {
            Some(name) => format!("event: {name}\ndata: {frame}\n\n"),
            None if frame.is_string() => format!("data: {}\n\n", frame.as_str().unwrap()),
            None => format!("data: {frame}\n\n"),
        });
        Answer::sse(events.collect::<String>())
    };
    let stack = stack(invoice, answer);
    let (cx, request) = call(invoice);
    Some(
        collect(stack.chat_stream(&cx, &request).await.unwrap())
            .await
            .unwrap(),
    )
}
