//! The configuration file, `check`, and starting without one.

use crate::client::until;
use crate::daemon::{BINARY, Daemon, Setup, VENDOR_KEY, command};
use crate::vendor::{ask, says, vendor};
use llm_driver_testkit::{Answer, FakeServer};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

/// Runs a verb on a configuration of this text.
fn run(folder: &TempDir, yaml: &str, arguments: &[&str]) -> Output {
    let config = folder.path().join("c.yaml");
    std::fs::write(&config, yaml).unwrap();
    let (verb, rest) = arguments.split_first().unwrap();
    let mut command = command(folder.path());
    command.arg(verb).arg("--config").arg(&config).args(rest);
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// It is refused by both verbs, with exit code 1 and these words; a secret in the file is never repeated.
fn refused(yaml: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for verb in ["check", "serve"] {
        let output = run(&folder, yaml, &[verb]);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{yaml}: {said}");
        assert!(said.contains("error: config: "), "{said}");
        for word in words {
            assert!(said.contains(word), "{yaml}: no {word:?} in {said}");
        }
        for secret in ["sk-secret", "424242"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
}

const BACKEND: &str =
    "backends:\n  a: {adapter: openai_api, url: 'http://127.0.0.1:9/v1', api_key: sk-secret}\n";

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    for (yaml, known) in [
        ("prxoy: {port: 1}\n", "did you mean proxy?"),
        ("proxy: {prot: 1}\n", "did you mean port?"),
        ("proxy: {toke: sk-secret}\n", "did you mean token?"),
        ("routing: {strategi: ordered}\n", "did you mean strategy?"),
        ("storage: {db_pth: x}\n", "did you mean db_path?"),
        ("log: {levle: info}\n", "did you mean level?"),
    ] {
        refused(&format!("{BACKEND}{yaml}"), &[known]);
    }
    let backend = "backends:\n  a: {adapter: openai_api, url: 'http://x', api_kye: sk-secret}\n";
    refused(backend, &["did you mean api_key?"]);
}

#[test]
fn what_does_not_fit_together_is_told_by_its_key() {
    for (yaml, words) in [
        ("tiers: {fast: [b]}\n", ["tiers.fast", "\"b\""]),
        ("tiers: {a: [a]}\n", ["tiers.a", "same name"]),
        ("tiers: {fast: []}\n", ["tiers.fast", "empty"]),
        ("chains: {main: [nope]}\n", ["chains.main", "nope"]),
        ("chains: {main: [a, a]}\n", ["chains.main", "twice"]),
        ("chains: {'a b': [a]}\n", ["chains.a b", "a name is"]),
        (
            "proxy: {max_body_bytes: 0}\n",
            ["proxy.max_body_bytes", "at least 1"],
        ),
        (
            "proxy: {keep_alive_seconds: 0}\n",
            ["proxy.keep_alive_seconds", "at least 1"],
        ),
        ("proxy: {port: many}\n", ["line 3", "u16"]),
        ("proxy: {port: 70000}\n", ["line 3", "u16"]),
        ("routing: {strategy: clever}\n", ["clever", "ordered"]),
        ("log: {level: loud}\n", ["log.level", "loud"]),
    ] {
        refused(&format!("{BACKEND}{yaml}"), &words);
    }
    refused("", &["is empty"]);
    refused(&format!("{BACKEND}{}", &BACKEND[10..]), &["uplicate"]);
    refused("backends: {}\n", &["backends", "at least one"]);
    refused("[1, 2", &["line"]);
    refused(
        "backends:\n  a: {adapter: openai_api}\n",
        &["backends.a", "set api_key"],
    );
    refused(
        "backends:\n  a: {adapter: openai_api, url: 'ftp://x'}\n",
        &["backends.a"],
    );
    refused(
        "backends:\n  a: {adapter: openai_api, url: 'http://x', idle_timeout_seconds: 0}\n",
        &["backends.a.idle_timeout_seconds"],
    );
    refused(
        "backends:\n  a: {adapter: clever_api, api_key: sk-secret}\n",
        &["clever_api", "openai_api"],
    );
}

/// A secret of another type than text must not come back as part of the complaint.
#[test]
fn a_secret_of_the_wrong_type_is_not_repeated() {
    for yaml in [
        "proxy: {token: 424242}\n",
        "proxy: {token: [sk-secret]}\n",
        "proxy: {token: {value: sk-secret}}\n",
        "proxy: sk-secret\n",
        "proxy: {port: sk-secret}\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = run(&folder, &format!("{BACKEND}{yaml}"), &["check"]);
        let said = stderr(&output) + &stdout(&output);
        assert!(
            !said.contains("424242") && !said.contains("sk-secret"),
            "{yaml}: {said}"
        );
    }
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for verb in ["check", "serve"] {
        let mut command = command(folder.path());
        let output = command.args([verb, "--config", "nowhere.yaml"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("nowhere.yaml"));
    }
    let output = command(folder.path()).arg("check").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--config FILE"));
}

#[tokio::test]
async fn check_shows_a_table_for_people_and_json_for_machines() {
    let well = FakeServer::always(Answer::json(200, r#"{"data":[{"id":"m"}]}"#))
        .await
        .unwrap();
    let yaml = format!(
        "backends:\n  a: {{adapter: openai_api, url: '{}/v1', api_key: {VENDOR_KEY}, model: m}}\n  \
         b: {{adapter: openai_api, url: 'http://127.0.0.1:9/v1', model: n, max_attempts: 2}}\n\
         tiers: {{fast: [a, b]}}\nchains: {{main: [fast]}}\n",
        well.base_url()
    );
    let folder = tempfile::tempdir().unwrap();
    let table = run(&folder, &yaml, &["check"]);
    assert_eq!(table.status.code(), Some(0), "{}", stderr(&table));
    let said = stdout(&table);
    for words in [
        "fits together",
        "backend a:",
        "model m",
        "tier fast: a, b",
        "role:main: fast",
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!said.contains("healthy"), "nobody was asked: {said}");
    assert_eq!(well.request_count(), 0);
    let machine = run(&folder, &yaml, &["check", "--json"]);
    let value: Value = serde_json::from_slice(&machine.stdout).unwrap();
    assert_eq!(value["backends"][0]["id"], "a");
    assert_eq!(value["backends"][1]["model"], "n");
    assert_eq!(value["chains"]["main"], json!(["fast"]));
    // one is well, nobody listens for the other
    let output = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        run(&folder, &yaml, &["check", "--json", "--probe"])
    });
    let probed = output.await.unwrap();
    assert_eq!(probed.status.code(), Some(1));
    assert!(stderr(&probed).contains("not healthy: b"), "{}", stderr(&probed));
    let value: Value = serde_json::from_slice(&probed.stdout).unwrap();
    assert!(
        value["backends"][0]["health"]
            .as_str()
            .unwrap()
            .starts_with("healthy")
    );
    assert!(
        value["backends"][1]["health"]
            .as_str()
            .unwrap()
            .starts_with("not healthy")
    );
    for output in [table, machine, probed] {
        let said = stdout(&output) + &stderr(&output);
        assert!(!said.contains(VENDOR_KEY), "{said}");
    }
}

#[test]
fn help_teaches_and_mistakes_are_told() {
    let run = |arguments: &[&str]| {
        let output = command(Path::new("/")).args(arguments).output().unwrap();
        (output.status.code(), stdout(&output), stderr(&output))
    };
    for help in [&[][..], &["--help"], &["-h"], &["help"]] {
        let (code, said, complained) = run(help);
        assert_eq!(code, Some(0), "{help:?}: {complained}");
        let said = said + &complained;
        for words in ["serve", "check", "call", "role:", "First steps"] {
            assert!(said.contains(words), "{help:?}: no {words:?} in {said}");
        }
    }
    let (code, said, _) = run(&["--version"]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("llm-routerd "), "{said}");
    for wrong in [
        &["srve"][..],
        &["serve", "--prot", "1"],
        &["call"],
        &["serve", "--port", "x"],
    ] {
        let (code, _, said) = run(wrong);
        assert_eq!(code, Some(2), "{wrong:?}");
        assert!(said.contains("error: "), "{said}");
    }
}

/// A `serve` without a configuration that looks only where it is told to.
fn discovering(folder: &Path, ports: &str) -> std::process::Command {
    let mut command = command(folder);
    command
        .args(["serve", "--port", "0"])
        .env("LLM_ROUTERD_DISCOVER_PORTS", ports);
    command
}

#[tokio::test]
async fn without_a_configuration_it_serves_what_is_reachable() {
    let models = json!({ "object": "list", "data": [{ "id": "found-model" }, { "id": "other" }] });
    let local = vendor([Answer::json(200, models.to_string()), says("hello")]).await;
    let folder = tempfile::tempdir().unwrap();
    let port = local.address().port();
    // a port where nobody listens, and words that are no ports
    let mut command = discovering(folder.path(), &format!("9, x,{port}"));
    let daemon = Daemon::of(&mut command, folder).await;
    let said = daemon.said();
    assert!(said.contains("looking for what is reachable"), "{said}");
    assert!(
        said.contains("found-model") && said.contains("role:default"),
        "{said}"
    );
    assert!(said.contains("nothing on http://127.0.0.1:9/v1"), "{said}");
    let token = std::fs::read_to_string(daemon.state("token")).unwrap();
    let header = format!("Bearer {token}");
    let mut connection = daemon.connect().await;
    let body = ask("role:default").to_string();
    connection
        .send(
            "POST",
            "/v1/chat/completions",
            &[("authorization", &header)],
            body.as_bytes(),
        )
        .await;
    let reply = connection.reply().await;
    assert_eq!(reply.status(), 200, "{}", reply.text());
    assert_eq!(
        reply.header("x-router-backend"),
        Some(format!("local-{port}").as_str())
    );
    assert_eq!(local.requests()[1].json().unwrap()["model"], "found-model");
}

#[test]
fn without_anything_reachable_it_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for ports in [",", "9"] {
        let output = discovering(folder.path(), ports).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        for words in [
            "nothing to route to",
            "OPENAI_API_KEY",
            "llm-routerd.yaml",
            "--config",
        ] {
            assert!(said.contains(words), "{said}");
        }
        assert!(
            !folder.path().join("state").exists(),
            "nothing is made for nothing"
        );
    }
}

#[tokio::test]
async fn a_key_in_the_environment_is_found_and_not_shown() {
    let cloud = vendor([says("cloud")]).await;
    let folder = tempfile::tempdir().unwrap();
    let mut command = discovering(folder.path(), ",");
    command
        .env("OPENAI_API_KEY", VENDOR_KEY)
        .env("OPENAI_BASE_URL", format!("{}/v1", cloud.base_url()));
    let daemon = Daemon::of(&mut command, folder).await;
    let said = daemon.said();
    assert!(said.contains("backend openai: OPENAI_API_KEY is set"), "{said}");
    assert!(!said.contains(VENDOR_KEY));
}

/// The named file, the variable, the working folder, the home: in this order.
#[tokio::test]
async fn a_configuration_is_found_where_it_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        |name: &str| format!("backends:\n  {name}: {{adapter: openai_api, url: 'http://127.0.0.1:9/v1'}}\n");
    let home = folder.path().join(".config/llm-routerd");
    std::fs::create_dir_all(&home).unwrap();
    let check = |arguments: &[&str], variable: Option<&str>| {
        let mut command = command(folder.path());
        command.arg("check").args(arguments);
        command.envs(variable.map(|value| ("LLM_ROUTERD_CONFIG", value)));
        stdout(&command.output().unwrap())
    };
    std::fs::write(home.join("llm-routerd.yaml"), config("home")).unwrap();
    let said = check(&[], None);
    assert!(
        said.contains("backend home") && said.contains("serves only openai/MODEL"),
        "{said}"
    );
    std::fs::write(folder.path().join("llm-routerd.yaml"), config("here")).unwrap();
    assert!(check(&[], None).contains("backend here"));
    std::fs::write(folder.path().join("v.yaml"), config("variable")).unwrap();
    assert!(check(&[], Some("v.yaml")).contains("backend variable"));
    std::fs::write(folder.path().join("n.yaml"), config("named")).unwrap();
    assert!(check(&["--config", "n.yaml"], Some("v.yaml")).contains("backend named"));
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.yaml");
    std::fs::write(&config, BACKEND).unwrap();
    let output = std::process::Command::new(BINARY)
        .env("LLM_ROUTERD_STATE_DIR", folder.path())
        .args(["serve", "--port", &daemon.address.port().to_string(), "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(
        said.contains("cannot listen on") && said.contains("proxy.port"),
        "{said}"
    );
    until("the first to be unharmed", || daemon.said().contains("listening")).await;
}
