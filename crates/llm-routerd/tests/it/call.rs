//! `llm-routerd call`: one question to a running daemon.

use crate::daemon::{Daemon, Setup, TOKEN, command};
use crate::vendor::{fails, streams, vendor};
use serde_json::Value;
use std::io::Write;
use std::process::{Output, Stdio};

/// Runs `call` with these arguments and variables; `input` comes from standard input.
async fn call(
    server: String,
    arguments: &[&str],
    environment: &[(&str, &str)],
    input: Option<&str>,
) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command
        .arg("call")
        .args(["--server", &server])
        .args(arguments)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let input = input.map(str::to_owned);
    let run = move || {
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        if let Some(input) = input {
            stdin.write_all(input.as_bytes()).unwrap();
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        drop(folder);
        output
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn url(daemon: &Daemon) -> String {
    format!("http://{}", daemon.address)
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

#[tokio::test]
async fn the_text_streams_to_standard_output() {
    let cloud = vendor((0..4).map(|_| streams(&["Sev", "en."]))).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let token = [("LLM_ROUTERD_TOKEN", TOKEN)];
    for (arguments, input) in [
        (&["--model", "a", "what?"][..], None),
        (&["-m", "a", "--message", "what?"], None),
        (&["-m", "a", "--max-tokens", "5"], Some("what?")),
    ] {
        let output = call(url(&daemon), arguments, &token, input).await;
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output), "Seven.\n");
        assert_eq!(stderr(&output), "");
        let sent = cloud.requests().last().unwrap().json().unwrap();
        assert_eq!(sent["messages"][0]["content"], "what?");
    }
    assert_eq!(cloud.requests()[2].json().unwrap()["max_tokens"], 5);
    let output = call(url(&daemon), &["-m", "a", "--json", "what?"], &token, None).await;
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["text"], "Seven.");
    assert_eq!(answer["finish_reason"], "stop");
    assert_eq!(answer["usage"]["input_tokens"], 7);
    assert!(
        answer["request_id"].as_str().unwrap().starts_with("req-"),
        "{answer}"
    );
}

#[tokio::test]
async fn the_token_comes_from_the_first_place_that_has_one() {
    let cloud = vendor((0..6).map(|_| streams(&["ok"]))).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let file = daemon.folder.path().join("a-token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let empty = daemon.folder.path().join("no-token");
    std::fs::write(&empty, "\n").unwrap();
    let (file, empty) = (file.to_str().unwrap(), empty.to_str().unwrap());
    let wrong = ("LLM_ROUTERD_TOKEN", "wrong");
    let right = ("LLM_ROUTERD_TOKEN", TOKEN);
    for (arguments, environment) in [
        (&["--token", TOKEN, "--token-file", "nowhere"][..], &[wrong][..]),
        (&["--token-file", file], &[wrong]),
        (&["--token-file", empty], &[right]),
        (&["--token", ""], &[right]),
        (&[], &[right, ("LLM_ROUTERD_ADMIN_TOKEN", "wrong")]),
        (&[], &[("LLM_ROUTERD_ADMIN_TOKEN", TOKEN)]),
    ] {
        let arguments = [&["-m", "a", "hi"], arguments].concat();
        let output = call(url(&daemon), &arguments, environment, None).await;
        assert_eq!(stdout(&output), "ok\n", "{arguments:?}: {}", stderr(&output));
    }
}

/// A daemon that made its own token, and a `call` on the same machine.
#[tokio::test]
async fn the_made_token_is_found() {
    let cloud = vendor([streams(&["ok"])]).await;
    let daemon = Setup::new(&[&cloud])
        .without("proxy", "token")
        .without("proxy", "admin_token")
        .start()
        .await;
    let state = daemon.folder.path().join("state");
    let environment = [("LLM_ROUTERD_STATE_DIR", state.to_str().unwrap())];
    let output = call(url(&daemon), &["-m", "a", "hi"], &environment, None).await;
    assert_eq!(stdout(&output), "ok\n", "{}", stderr(&output));
}

#[tokio::test]
async fn mistakes_say_what_to_do() {
    let cloud = vendor([
        fails(500, "server_error", "boom"),
        crate::vendor::opened()
            .with_piece(crate::vendor::text("half"))
            .with_end(llm_driver_testkit::End::Cut),
    ])
    .await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let ask = ["-m", "a", "hi"];
    let failed = |output: &Output, words: &[&str]| {
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(output);
        assert!(said.contains("error: "), "{said}");
        for word in words {
            assert!(said.contains(word), "no {word:?} in {said}");
        }
        assert!(!said.contains("wrong-token"), "{said}");
    };
    let output = call(url(&daemon), &ask, &[], None).await;
    failed(&output, &["wants a token", "--token-file", "LLM_ROUTERD_TOKEN"]);
    let wrong = [("LLM_ROUTERD_TOKEN", "wrong-token")];
    let output = call(url(&daemon), &ask, &wrong, None).await;
    failed(&output, &["does not accept the token from LLM_ROUTERD_TOKEN"]);
    let output = call("http://127.0.0.1:9".to_owned(), &ask, &[], None).await;
    failed(
        &output,
        &["no router answers at http://127.0.0.1:9", "llm-routerd serve"],
    );
    let token = [("LLM_ROUTERD_TOKEN", TOKEN)];
    let output = call(url(&daemon), &["-m", "nope", "hi"], &token, None).await;
    failed(&output, &["nope", "role:main"]);
    let output = call(url(&daemon), &["-m", "a"], &token, Some(" \n")).await;
    failed(&output, &["there is no message"]);
    let output = call(
        url(&daemon),
        &["-m", "a", "--token-file", "nowhere", "hi"],
        &[],
        None,
    )
    .await;
    failed(&output, &["token file nowhere cannot be read"]);
    let output = call(url(&daemon), &ask, &token, None).await;
    failed(&output, &["the backend failed"]);
    assert_eq!(stdout(&output), "");
    // what came before the cut is shown, and the exit code says that it is not all
    let output = call(url(&daemon), &ask, &token, None).await;
    failed(&output, &["cut off"]);
    assert!(stdout(&output).starts_with("half"));
}
