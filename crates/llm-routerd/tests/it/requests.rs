//! Requests that are wrong: malformed, too large, too slow, or not HTTP at all.

use crate::client::{Connection, Reply, soon};
use crate::daemon::{Daemon, Setup, TOKEN, bearer};
use crate::vendor::{ask, says, vendor};
use serde_json::{Value, json};

async fn post(daemon: &Daemon, body: &[u8]) -> Reply {
    let mut connection = daemon.connect().await;
    let headers = [bearer(TOKEN), ("content-type", "application/json")];
    connection
        .send("POST", "/v1/chat/completions", &headers, body)
        .await;
    connection.reply().await
}

#[tokio::test]
async fn malformed_requests_are_400_and_name_what_is_wrong() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body = ask("a");
        change(&mut body);
        body.to_string()
    };
    let deep = "[".repeat(100) + &"]".repeat(100);
    let very_deep = "[".repeat(100_000);
    let cases: Vec<(String, Value)> = vec![
        (r#"{"model":"#.into(), json!(null)),
        (String::new(), json!(null)),
        ("[]".into(), json!(null)),
        ("null".into(), json!(null)),
        ("\u{0}".into(), json!(null)),
        (very_deep, json!(null)),
        (json!({ "model": "a" }).to_string(), json!("messages")),
        (with(&|body| body["messages"] = json!([])), json!("messages")),
        (with(&|body| body["messages"] = json!("hi")), json!("messages")),
        (
            with(&|body| body["messages"] = json!(["hi"])),
            json!("messages[0]"),
        ),
        (
            with(&|body| body["messages"][0]["role"] = json!("wizard")),
            json!("messages[0].role"),
        ),
        (
            with(&|body| body["messages"][0]["role"] = json!(7)),
            json!("messages[0].role"),
        ),
        (
            with(&|body| body["messages"][0]["content"] = json!(7)),
            json!("messages[0].content"),
        ),
        (
            with(&|body| body["messages"][0]["content"] = json!([{ "type": "poem" }])),
            json!("messages[0].content[0].type"),
        ),
        (with(&|body| body["model"] = json!(null)), json!("model")),
        (with(&|body| body["model"] = json!("")), json!("model")),
        (with(&|body| body["model"] = json!(7)), json!("model")),
        (
            with(&|body| body["model"] = json!("x".repeat(5_000))),
            json!("model"),
        ),
        (with(&|body| body["stream"] = json!("yes")), json!("stream")),
        (
            with(&|body| body["temperature"] = json!("hot")),
            json!("temperature"),
        ),
        (with(&|body| body["max_tokens"] = json!(-1)), json!("max_tokens")),
        (with(&|body| body["n"] = json!(2)), json!("n")),
        (with(&|body| body["tools"] = json!({})), json!("tools")),
        (
            with(&|body| body["tool_choice"] = json!("maybe")),
            json!("tool_choice"),
        ),
        (
            with(&|body| body["response_format"] = json!({ "type": "poem" })),
            json!("response_format.type"),
        ),
    ];
    for (body, param) in cases {
        let reply = post(&daemon, body.as_bytes()).await;
        let shown: String = body.chars().take(120).collect();
        assert_eq!(reply.status(), 400, "{shown}: {}", reply.text());
        reply.error_code();
        let error = reply.json()["error"].clone();
        assert_eq!(error["param"], param, "{shown}: {error}");
        assert_eq!(error["type"], "invalid_request_error");
        assert!(reply.header("x-request-id").is_some());
    }
    // not UTF-8
    assert_eq!(post(&daemon, b"{\"model\":\"\xff\"}").await.status(), 400);
    // deep, but within what is read: it belongs to no field that is known
    let mut body = ask("a");
    body["x_deep"] = serde_json::from_str(&deep).unwrap();
    let local = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&local]).start().await;
    assert_eq!(post(&daemon, body.to_string().as_bytes()).await.status(), 200);
    assert_eq!(cloud.request_count(), 0);
}

#[tokio::test]
async fn other_methods_and_paths_are_told() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let ask = |method: &'static str, path: &'static str| {
        let daemon = &daemon;
        async move {
            let mut connection = daemon.connect().await;
            connection.send(method, path, &[bearer(TOKEN)], b"").await;
            connection.reply().await
        }
    };
    for (method, path) in [
        ("GET", "/v1/chat/completions"),
        ("DELETE", "/v1/models"),
        ("POST", "/healthz"),
    ] {
        let reply = ask(method, path).await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (405, json!("method_not_allowed"))
        );
        assert!(reply.header("allow").is_some(), "405 names what is allowed");
    }
    for path in [
        "/",
        "/v1",
        "/v1/chat/completions/",
        "/v1/nowhere",
        "/v1/../health",
        "/%2e%2e/health",
    ] {
        let reply = ask("GET", path).await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (404, json!("unknown_url")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_body_above_the_limit_is_a_413_however_it_is_sent() {
    let cloud = vendor([says("ok")]).await;
    let cap = 1_000_000;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/max_body_bytes", json!(cap))
        .start()
        .await;
    let large = vec![b' '; 20 * cap];
    let reply = post(&daemon, &large).await;
    assert_eq!(reply.status(), 413, "with a length");
    assert!(reply.text().contains("proxy.max_body_bytes"), "{}", reply.text());
    reply.error_code();

    let mut connection = daemon.connect().await;
    let chunked = [bearer(TOKEN), ("transfer-encoding", "chunked")];
    connection
        .send_head("POST", "/v1/chat/completions", &chunked)
        .await;
    for _ in 0..20 {
        let mut chunk = format!("{cap:x}\r\n").into_bytes();
        chunk.extend(vec![b' '; cap]);
        chunk.extend(b"\r\n");
        connection.send_raw(&chunk).await;
    }
    connection.send_raw(b"0\r\n\r\n").await;
    let reply = connection.reply().await;
    assert_eq!(reply.status(), 413, "without a length");
    reply.error_code();

    // who asks first need not send anything
    let mut connection = daemon.connect().await;
    let polite = [
        bearer(TOKEN),
        ("content-length", "20000000"),
        ("expect", "100-continue"),
    ];
    connection
        .send_head("POST", "/v1/chat/completions", &polite)
        .await;
    assert_eq!(connection.head().await.status, 413);

    // exactly as much as is allowed
    let mut body = ask("a").to_string().into_bytes();
    body.resize(cap, b' ');
    assert_eq!(post(&daemon, &body).await.status(), 200);
    body.push(b' ');
    assert_eq!(post(&daemon, &body).await.status(), 413);
    let grown = daemon.memory();
    assert!(grown < 200 * 1024, "{grown} kB");
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_to_go_on() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let body = ask("a").to_string();
    let length = body.len().to_string();
    let mut connection = daemon.connect().await;
    let headers = [
        bearer(TOKEN),
        ("content-length", length.as_str()),
        ("expect", "100-continue"),
    ];
    connection
        .send_head("POST", "/v1/chat/completions", &headers)
        .await;
    assert_eq!(connection.head().await.status, 100);
    connection.send_raw(body.as_bytes()).await;
    assert_eq!(connection.reply().await.status(), 200);
}

#[tokio::test]
async fn a_body_that_comes_slowly_is_taken_and_one_that_never_comes_is_a_408() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/body_seconds", json!(2))
        .start()
        .await;
    let body = ask("a").to_string();
    let length = body.len().to_string();
    let headers = [bearer(TOKEN), ("content-length", length.as_str())];
    let mut connection = daemon.connect().await;
    connection
        .send_head("POST", "/v1/chat/completions", &headers)
        .await;
    for piece in body.as_bytes().chunks(body.len() / 8 + 1) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        connection.send_raw(piece).await;
    }
    assert_eq!(connection.reply().await.status(), 200);

    let mut connection = daemon.connect().await;
    connection
        .send_head("POST", "/v1/chat/completions", &headers)
        .await;
    connection.send_raw(&body.as_bytes()[..10]).await;
    let reply = connection.reply().await;
    assert_eq!(reply.status(), 408, "{}", reply.text());
    assert!(reply.text().contains("proxy.body_seconds"));
    connection.closed().await;
}

#[tokio::test]
async fn what_is_no_http_harms_nobody() {
    let cloud = vendor([says("ok"), says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let endless_head = format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(1024 * 1024));
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(5_000));
    for garbage in [
        "\r\n\r\n\r\n",
        "not http at all\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}",
        "GET / HTTP/9.9\r\n\r\n",
        "GET /healthz HTTP/1.1\r\ncontent-length: -5\r\n\r\n",
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\n",
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &endless_head,
        &many_headers,
    ] {
        let mut connection = daemon.connect().await;
        connection.try_send_raw(garbage.as_bytes()).await;
        connection.shut_down().await;
        connection.closed().await;
    }
    // a good request, and rubbish behind it
    let mut connection = daemon.connect().await;
    let body = ask("a").to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection
        .send_raw(format!("{head}{body}\u{0}\u{1} rubbish\r\n\r\n").as_bytes())
        .await;
    assert_eq!(connection.reply().await.status(), 200);
    connection.closed().await;
    // broken framing of a body is the client's fault
    let mut connection = daemon.connect().await;
    connection
        .send_head(
            "POST",
            "/v1/chat/completions",
            &[bearer(TOKEN), ("transfer-encoding", "chunked")],
        )
        .await;
    connection.send_raw(b"zz\r\nrubbish\r\n").await;
    let answered = soon("an end", connection.try_head()).await;
    assert!(answered.is_none_or(|head| head.status == 400));
    // and it still serves
    assert_eq!(daemon.chat(&ask("a")).await.status(), 200);
    assert!(!daemon.said().contains("panicked"), "{}", daemon.said());
}

#[tokio::test]
async fn old_clients_are_answered_as_they_can_read_it() {
    let cloud = vendor([says("ok"), crate::vendor::streams(&["old", " style"])]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for (body, wanted) in [(ask("a"), "ok"), (crate::vendor::ask_stream("a"), "old style")] {
        let body = body.to_string();
        let request = format!(
            "POST /v1/chat/completions HTTP/1.0\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut connection = Connection::open(daemon.address).await;
        connection.send_raw(request.as_bytes()).await;
        let reply = connection.reply().await;
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.header("transfer-encoding"), None);
        if wanted == "ok" {
            assert_eq!(reply.json()["choices"][0]["message"]["content"], wanted);
        } else {
            assert_eq!(reply.streamed_text(), wanted);
        }
        connection.closed().await;
    }
}
