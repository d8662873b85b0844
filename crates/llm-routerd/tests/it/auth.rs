//! Who may call, and what happens to those who may not.

use crate::client::Reply;
use crate::daemon::{ADMIN_TOKEN, Daemon, Setup, TOKEN, bearer, command};
use crate::vendor::{ask, says, vendor};
use serde_json::json;

async fn get(daemon: &Daemon, path: &str, headers: &[(&str, &str)]) -> Reply {
    let mut connection = daemon.connect().await;
    connection.send("GET", path, headers, b"").await;
    connection.reply().await
}

/// Runs a `serve` that must refuse to start: what it said.
fn refused(setup: &serde_json::Value, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.yaml");
    std::fs::write(&config, setup.to_string()).unwrap();
    let mut command = command(folder.path());
    command.args(["serve", "--port", "0", "--config"]).arg(&config);
    let output = command
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("error: "), "{said}");
    assert!(!said.contains("listening on"), "{said}");
    said
}

#[tokio::test]
async fn without_the_token_nothing_is_served_and_nobody_asked() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let body = ask("a").to_string();
    for header in [
        None,
        Some("Bearer wrong"),
        Some("Bearer "),
        Some("Bearer"),
        Some(TOKEN),
        Some("Basic cm91dGVyLXRva2VuLTQ3MTE="),
        Some("Bearer router-token-471"),
        Some("Bearer router-token-4711x"),
        Some("Bearer \u{e9}"),
    ] {
        let headers: Vec<_> = header.iter().map(|value| ("authorization", *value)).collect();
        let mut connection = daemon.connect().await;
        connection
            .send("POST", "/v1/chat/completions", &headers, body.as_bytes())
            .await;
        let reply = connection.reply().await;
        assert_eq!(
            (reply.status(), reply.error_code()),
            (401, json!("invalid_api_key"))
        );
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert!(!reply.text().contains(TOKEN), "{}", reply.text());
        assert_eq!(get(&daemon, "/v1/models", &headers).await.status(), 401);
    }
    assert_eq!(cloud.request_count(), 0);
    let either_case = ("authorization", "bearer router-token-4711");
    assert_eq!(get(&daemon, "/v1/models", &[either_case]).await.status(), 200);
}

#[tokio::test]
async fn what_is_not_a_call_needs_the_admin_token() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    for path in ["/health", "/logs", "/decisions/r-1"] {
        assert_eq!(get(&daemon, path, &[]).await.status(), 401);
        assert_eq!(get(&daemon, path, &[bearer(TOKEN)]).await.status(), 401);
        let status = get(&daemon, path, &[bearer(ADMIN_TOKEN)]).await.status();
        assert_ne!(status, 401);
    }
    // the admin may call too
    assert_eq!(
        get(&daemon, "/v1/models", &[bearer(ADMIN_TOKEN)]).await.status(),
        200
    );
    for path in ["/healthz", "/readyz"] {
        let reply = get(&daemon, path, &[]).await;
        assert_eq!((reply.status(), reply.text()), (200, "ok"));
    }
    let said = daemon.said();
    assert!(!said.contains(TOKEN) && !said.contains(ADMIN_TOKEN), "{said}");
}

#[tokio::test]
async fn without_an_admin_token_the_token_opens_everything() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud])
        .without("proxy", "admin_token")
        .start()
        .await;
    assert_eq!(get(&daemon, "/health", &[bearer(TOKEN)]).await.status(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_token_is_made_once_kept_privately_and_never_shown() {
    use std::os::unix::fs::PermissionsExt;
    let cloud = vendor([says("ok"), says("ok")]).await;
    let setup = || {
        Setup::new(&[&cloud])
            .without("proxy", "token")
            .without("proxy", "admin_token")
    };
    let daemon = setup().start().await;
    let path = daemon.state("token");
    let token = std::fs::read_to_string(&path).unwrap();
    assert!(token.len() >= 32, "{} characters", token.len());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let header = format!("Bearer {token}");
    assert_eq!(get(&daemon, "/v1/models", &[]).await.status(), 401);
    let with = [("authorization", header.as_str())];
    assert_eq!(get(&daemon, "/v1/models", &with).await.status(), 200);
    assert_eq!(get(&daemon, "/health", &with).await.status(), 200);
    let said = daemon.said();
    assert!(
        said.contains("token: none is configured") && said.contains("state/token"),
        "{said}"
    );
    assert!(!said.contains(&token), "the token was shown");
    // the same one the next time
    daemon.terminate();
    let (_, _, folder) = daemon.ended().await;
    let daemon = setup().start_in(folder).await;
    assert_eq!(get(&daemon, "/v1/models", &with).await.status(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn an_empty_token_file_that_others_may_read_is_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let cloud = vendor([]).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("state")).unwrap();
    let path = folder.path().join("state/token");
    std::fs::write(&path, "\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let setup = Setup::new(&[&cloud])
        .without("proxy", "token")
        .without("proxy", "admin_token");
    let daemon = setup.start_in(folder).await;
    let mode = std::fs::metadata(daemon.state("token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn a_token_from_the_environment_is_taken_and_trimmed() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud])
        .with("proxy/token", json!("env:THE_TOKEN"))
        .with("proxy/admin_token", json!(format!(" {ADMIN_TOKEN} ")))
        .with_environment("THE_TOKEN", &format!("{TOKEN}\n"))
        .start()
        .await;
    assert_eq!(get(&daemon, "/v1/models", &[bearer(TOKEN)]).await.status(), 200);
    assert_eq!(
        get(&daemon, "/health", &[bearer(ADMIN_TOKEN)]).await.status(),
        200
    );
}

#[test]
fn a_variable_that_is_not_set_refuses_to_start() {
    let backend =
        json!({ "a": { "adapter": "openai_api", "url": "http://127.0.0.1:9/v1", "api_key": "sk-secret" } });
    let token = |token: &str| json!({ "backends": backend, "proxy": { "token": token } });
    for environment in [&[][..], &[("NOT_SET", "")], &[("NOT_SET", "  ")]] {
        let said = refused(&token("env:NOT_SET"), &[], environment);
        assert!(said.contains("proxy.token") && said.contains("NOT_SET"), "{said}");
        assert!(!said.contains("sk-secret"), "{said}");
    }
    for key in ["token", "admin_token"] {
        let mut config = token("t");
        config["proxy"][key] = json!("");
        let said = refused(&config, &[], &[]);
        assert!(said.contains(&format!("proxy.{key} is empty")), "{said}");
    }
    let mut config = token("t");
    config["backends"]["a"]["api_key"] = json!("env:NO_KEY");
    let said = refused(&config, &[], &[]);
    assert!(
        said.contains("backends.a.api_key") && said.contains("NO_KEY"),
        "{said}"
    );
}

#[tokio::test]
async fn anybody_may_call_only_on_this_machine() {
    let cloud = vendor([says("ok")]).await;
    let daemon = Setup::new(&[&cloud])
        .without("proxy", "token")
        .without("proxy", "admin_token")
        .with_argument("--unsafe-no-auth")
        .start()
        .await;
    assert_eq!(get(&daemon, "/v1/models", &[]).await.status(), 200);
    assert_eq!(get(&daemon, "/health", &[]).await.status(), 200);
    assert!(
        !daemon.state("token").exists(),
        "no token is made that nobody needs"
    );
    for host in ["0.0.0.0", "::", "192.0.2.1", "localhost.example"] {
        let config = json!({
            "backends": { "a": { "adapter": "openai_api", "url": "http://127.0.0.1:9/v1" } },
            "proxy": { "host": host },
        });
        let said = refused(&config, &["--unsafe-no-auth"], &[]);
        assert!(
            said.contains("--unsafe-no-auth") && said.contains("loopback"),
            "{said}"
        );
    }
}

/// The answer reaches a client that is still sending.
#[tokio::test]
async fn a_wrong_token_is_told_to_who_sends_much() {
    let cloud = vendor([]).await;
    let daemon = Setup::new(&[&cloud]).start().await;
    let much = vec![b' '; 20_000_000];
    for path in ["/v1/chat/completions", "/nowhere"] {
        let mut connection = daemon.connect().await;
        let wrong = [("authorization", "Bearer wrong")];
        connection.send("POST", path, &wrong, &much).await;
        assert!(matches!(connection.reply().await.status(), 401 | 404));
    }
    let held = daemon.memory();
    assert!(held < 100 * 1024, "{held} kB");
}
