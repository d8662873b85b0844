//! Who is asked after whom, when the walk stops, and what the caller and the log are told.

use crate::client::{Reply, until};
use crate::daemon::Setup;
use crate::vendor::{ask, ask_stream, fails, limited, says, streams, vendor};
use llm_driver_testkit::Answer;
use serde_json::{Value, json};

/// Nothing of a vendor's words, our keys, or the prompt.
fn keeps_to_itself(reply: &Reply) {
    for secret in ["sentinel", "sk-vendor", "model-of-"] {
        assert!(!reply.text().contains(secret), "{}", reply.text());
    }
}

#[tokio::test]
async fn a_limited_backend_is_passed_over_plain_and_streamed() {
    let cloud = vendor([limited(7), limited(7)]).await;
    let local = vendor([says("local"), streams(&["local"])]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    let plain = daemon.chat_as("r-plain", &ask("role:main")).await;
    assert_eq!(plain.json()["choices"][0]["message"]["content"], "local");
    let streamed = daemon.chat_as("r-stream", &ask_stream("role:main")).await;
    assert_eq!(streamed.streamed_text(), "local");
    for (reply, id) in [(plain, "r-plain"), (streamed, "r-stream")] {
        assert_eq!(reply.status(), 200);
        assert_eq!(reply.header("x-router-backend"), Some("b"));
        assert_eq!(reply.header("x-router-chain-position"), Some("1"));
        assert_eq!(reply.header("x-router-fallback-reason"), Some("rate_limit"));
        assert_eq!(daemon.log(id).await, ["a fallback rate_limit 429", "b pass - -"]);
        let rows = daemon.rows(id).await;
        assert_eq!(
            (&rows[0]["chain_position"], &rows[1]["chain_position"]),
            (&json!(0), &json!(1))
        );
    }
}

#[tokio::test]
async fn when_all_are_limited_the_shortest_hint_comes_back() {
    let cloud = vendor([limited(90), limited(90)]).await;
    let local = vendor([limited(7), limited(7)]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for (id, body) in [("r-1", ask("role:main")), ("r-2", ask_stream("role:main"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!(reply.status(), 429, "{}", reply.text());
        assert_eq!(reply.header("retry-after"), Some("7"));
        assert_eq!(reply.error_code(), "rate_limit_exceeded");
        assert_eq!(reply.header("x-router-backend"), None);
        keeps_to_itself(&reply);
        let expected = [
            "a fallback rate_limit 429",
            "b fallback rate_limit 429",
            "- degraded rate_limit -",
        ];
        assert_eq!(daemon.log(id).await, expected);
        assert_eq!(daemon.rows(id).await[2]["tier_alias"], "a,b");
    }
}

#[tokio::test]
async fn vendors_that_fail_are_a_502_or_503_without_their_words() {
    let down = || fails(500, "server_error", "boom");
    let full = || fails(503, "server_error", "overloaded");
    let cloud = vendor([
        full(),
        down(),
        Answer::html(502, "<html>vendor-text-sentinel</html>"),
    ])
    .await;
    let local = vendor([full(), down(), Answer::json(200, "vendor-text-sentinel")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    let reply = daemon.chat_as("r-full", &ask("role:main")).await;
    assert_eq!((reply.status(), reply.error_code()), (503, json!("overloaded")));
    keeps_to_itself(&reply);
    assert_eq!(daemon.log("r-full").await[2], "- degraded overloaded -");
    let reply = daemon.chat_as("r-down", &ask_stream("role:main")).await;
    assert_eq!((reply.status(), reply.error_code()), (502, json!("server")));
    keeps_to_itself(&reply);
    let expected = [
        "a fallback server 500",
        "b fallback server 500",
        "- degraded server -",
    ];
    assert_eq!(daemon.log("r-down").await, expected);
    // an answer that cannot be understood
    let reply = daemon.chat_as("r-odd", &ask("role:main")).await;
    assert_eq!(reply.status(), 502, "{}", reply.text());
    keeps_to_itself(&reply);
    let log = daemon.log("r-odd").await;
    assert_eq!(log[0], "a fallback server 502");
    assert!(log[1].starts_with("b fallback protocol"), "{log:?}");
}

#[tokio::test]
async fn the_callers_own_faults_stop_the_walk_and_count_for_nobody() {
    let bad = Answer::json(
        400,
        json!({ "error": { "message": "'temperature' must be at most 2", "type": "invalid_request_error",
                           "param": "temperature", "code": "invalid_value" } })
        .to_string(),
    );
    let long = Answer::json(
        400,
        json!({ "error": { "message": "maximum context length is 8 tokens", "type": "invalid_request_error",
                           "param": "messages", "code": "context_length_exceeded" } })
        .to_string(),
    );
    let cloud = vendor([bad.clone(), bad.clone(), bad, long]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for (id, body) in [("r-1", ask("a")), ("r-2", ask_stream("a")), ("r-3", ask("a"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (400, json!("invalid_value"))
        );
        assert_eq!(reply.json()["error"]["param"], "temperature");
        assert!(reply.text().contains("'temperature' must be at most 2"));
        assert_eq!(daemon.log(id).await, ["a failed invalid_request 400"]);
    }
    let reply = daemon.chat_as("r-long", &ask("a")).await;
    assert_eq!(
        (reply.status(), reply.error_code()),
        (400, json!("context_length_exceeded"))
    );
    let said = reply.text();
    assert!(said.contains("maximum context length is 8 tokens"), "{said}");
    assert!(
        !said.contains("candidate") && !said.contains("model-of-a"),
        "{said}"
    );
    // no backend is left with a larger window
    assert_eq!(
        daemon.log("r-long").await,
        ["a fallback context_length 400", "- degraded context_length -"]
    );
    let health = daemon.read("/health").await.json();
    assert_eq!(health["status"], "ok", "{health}");
    assert_ne!(health["backends"]["a"], "degraded");
    let models = daemon.read("/v1/models").await.json();
    assert_eq!(models["data"][0]["router"]["consecutive_failures"], 0, "{models}");
}

#[tokio::test]
async fn a_fault_of_the_caller_is_not_carried_to_the_next_backend() {
    let cloud = vendor([fails(400, "invalid_request_error", "bad"), fails(422, "x", "bad")]).await;
    let local = vendor([says("never")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for _ in 0..2 {
        assert_eq!(daemon.chat(&ask("role:main")).await.status(), 400);
    }
    assert_eq!(local.request_count(), 0);
}

#[tokio::test]
async fn our_own_credential_is_nothing_the_caller_hears_of() {
    let refusal = || fails(401, "invalid_request_error", "invalid_api_key");
    let cloud = vendor([refusal(), refusal(), refusal()]).await;
    let local = vendor([says("local")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    let reply = daemon.chat_as("r-both", &ask("role:main")).await;
    assert_eq!(reply.header("x-router-fallback-reason"), Some("auth"));
    assert_eq!(daemon.log("r-both").await, ["a fallback auth 401", "b pass - -"]);
    for (id, body) in [("r-1", ask("a")), ("r-2", ask_stream("a"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (502, json!("upstream_auth"))
        );
        keeps_to_itself(&reply);
        assert_eq!(daemon.log(id).await, ["a fallback auth 401", "- degraded auth -"]);
    }
    until("the alarm", || {
        daemon.said().contains("does not accept our credential")
    })
    .await;
}

#[tokio::test]
async fn a_model_that_is_gone_and_a_quota_that_is_used_up_move_on() {
    let cloud = vendor([
        fails(404, "invalid_request_error", "model_not_found"),
        fails(429, "insufficient_quota", "insufficient_quota"),
        fails(404, "invalid_request_error", "model_not_found"),
        fails(429, "insufficient_quota", "insufficient_quota"),
    ])
    .await;
    let local = vendor([says("local"), says("local")]).await;
    let daemon = Setup::new(&[&cloud, &local]).start().await;
    for reason in ["not_found", "quota_exhausted"] {
        let reply = daemon.chat(&ask("role:main")).await;
        assert_eq!(reply.header("x-router-fallback-reason"), Some(reason));
    }
    let reply = daemon.chat(&ask("a")).await;
    assert_eq!(
        (reply.status(), reply.error_code()),
        (404, json!("model_not_found"))
    );
    keeps_to_itself(&reply);
    let reply = daemon.chat(&ask("a")).await;
    assert_eq!(
        (reply.status(), reply.error_code()),
        (429, json!("insufficient_quota"))
    );
    keeps_to_itself(&reply);
}

#[tokio::test]
async fn the_deadline_of_the_request_is_a_504_and_nobody_is_blamed() {
    let cloud = vendor([Answer::silent(), Answer::silent()]).await;
    let local = vendor([says("never")]).await;
    let daemon = Setup::new(&[&cloud, &local])
        .with("proxy/max_request_seconds", json!(1))
        .start()
        .await;
    for (id, body) in [("r-1", ask("role:main")), ("r-2", ask_stream("role:main"))] {
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!((reply.status(), reply.error_code()), (504, json!("timeout")));
        assert_eq!(daemon.log(id).await, ["a request_deadline timeout -"]);
    }
    assert_eq!(local.request_count(), 0);
    let models = daemon.read("/v1/models").await.json();
    assert_eq!(models["data"][0]["router"]["consecutive_failures"], 0, "{models}");
    crate::vendor::freed(&cloud).await;
}

#[tokio::test]
async fn every_form_of_a_model_name_is_served_and_unknown_ones_are_told() {
    let cloud = vendor((0..6).map(|_| says("a"))).await;
    let local = vendor((0..2).map(|_| says("b"))).await;
    let daemon = Setup::new(&[&cloud, &local])
        .with("tiers", json!({ "fast": ["b", "a"] }))
        .start()
        .await;
    for (model, backend, asked) in [
        ("role:main", "a", "model-of-a"),
        ("backend:a", "a", "model-of-a"),
        ("a", "a", "model-of-a"),
        ("chain:nothing-of-it,a", "-", ""),
        ("chain:b,a", "b", "model-of-b"),
        ("fast", "b", "model-of-b"),
        ("openai/some/model:x", "a", "some/model:x"),
    ] {
        let reply = daemon.chat(&ask(model)).await;
        if backend == "-" {
            assert_eq!(
                (reply.status(), reply.error_code()),
                (404, json!("model_not_found"))
            );
            continue;
        }
        assert_eq!(reply.header("x-router-backend"), Some(backend), "{model}");
        assert_eq!(reply.json()["model"], model);
        let vendor = if backend == "a" { &cloud } else { &local };
        let sent = vendor.requests().last().unwrap().json().unwrap();
        assert_eq!(sent["model"], asked);
    }
    for unknown in [
        "nope",
        "role:nope",
        "backend:fast",
        "chain:",
        "mistral/x",
        "gpt-4o",
    ] {
        for body in [ask(unknown), ask_stream(unknown)] {
            let reply = daemon.chat(&body).await;
            assert_eq!(
                (reply.status(), reply.error_code()),
                (404, json!("model_not_found"))
            );
            assert_eq!(reply.json()["error"]["param"], "model");
            let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(
                message.contains("role:main") && message.contains("fast"),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn a_backend_in_two_entries_is_asked_once() {
    let cloud = vendor([limited(1), says("twice")]).await;
    let local = vendor([limited(1)]).await;
    let daemon = Setup::new(&[&cloud, &local])
        .with("tiers", json!({ "fast": ["a"], "slow": ["a", "b"] }))
        .with("chains/twice", json!(["fast", "slow"]))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask("role:twice")).await;
    assert_eq!(reply.status(), 429);
    assert_eq!((cloud.request_count(), local.request_count()), (1, 1));
    assert_eq!(daemon.log("r-1").await.len(), 3);
}

/// All members of a tier are tried before the chain moves on.
#[tokio::test]
async fn members_of_a_tier_stand_in_for_each_other() {
    let (one, two, three) = (
        vendor([limited(1)]).await,
        vendor([says("two")]).await,
        vendor([]).await,
    );
    let daemon = Setup::new(&[&one, &two, &three])
        .with("tiers", json!({ "fast": ["a", "b"] }))
        .with("chains/tiered", json!(["fast", "c"]))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask("role:tiered")).await;
    assert_eq!(reply.header("x-router-backend"), Some("b"));
    assert_eq!(reply.header("x-router-chain-position"), Some("0"));
    assert_eq!(reply.header("x-router-fallback-reason"), Some("rate_limit"));
    let rows = daemon.rows("r-1").await;
    assert!(rows.iter().all(|row| row["tier_alias"] == "fast"), "{rows:?}");
    assert_eq!(three.request_count(), 0);
}

#[tokio::test]
async fn a_second_try_of_the_same_backend_is_no_fallback() {
    let cloud = vendor([fails(500, "server_error", "boom"), says("at last")]).await;
    let daemon = Setup::new(&[&cloud])
        .with("backends/a/max_attempts", json!(2))
        .start()
        .await;
    let reply = daemon.chat_as("r-1", &ask("a")).await;
    assert_eq!(reply.status(), 200);
    assert_eq!(reply.header("x-router-fallback-reason"), None);
    assert_eq!(daemon.log("r-1").await, ["a fallback server 500", "a pass - -"]);
}

/// The catalogue knows what this model of OpenAI's cannot do, so nothing is sent.
#[tokio::test]
async fn what_no_backend_can_do_is_a_422() {
    let unused = vendor([]).await;
    let daemon = Setup::new(&[&unused])
        .with(
            "backends/cloud",
            json!({ "adapter": "openai_api", "api_key": "sk-unused", "model": "gpt-3.5-turbo-16k" }),
        )
        .start()
        .await;
    let mut body = ask("cloud");
    body["tools"] = json!([{ "type": "function", "function": { "name": "weather" } }]);
    for (id, streamed) in [("r-1", false), ("r-2", true)] {
        body["stream"] = json!(streamed);
        let reply = daemon.chat_as(id, &body).await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (422, json!("no_eligible_candidate")),
            "{}",
            reply.text()
        );
        assert_eq!(daemon.log(id).await, ["- refused no_eligible_candidate -"]);
        let decision = daemon.read(&format!("/decisions/{id}")).await;
        assert_eq!(decision.status(), 200, "{}", decision.text());
        let decision: Value = decision.json();
        assert_eq!(decision["decision"]["selected"], json!(null));
        let rejection = &decision["decision"]["evaluations"][0]["rejections"][0];
        assert_eq!(rejection["code"], "missing_tools", "{decision}");
    }
}
