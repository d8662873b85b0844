//! Scripts: what they get, what they give back, and what each costs.

use super::Server;
use llm_resilience::store::StoreErrorKind;
use llm_resilience::store::redis::Script;
use std::time::Duration;

#[tokio::test]
async fn a_script_gets_keys_and_arguments_and_gives_integers_and_texts() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    let script = Script::new(
        "redis.call('SET', KEYS[1], ARGV[1]); \
         return {redis.call('INCRBY', KEYS[1], ARGV[2]), ARGV[3], KEYS[2], server_now(), run_id(), 7.9}",
    );
    let call = script
        .on(link.key("one", "x"))
        .key(link.key("two", "x"))
        .integer(40)
        .integer(-2)
        .text("zwölf\n");
    let reply = link.run(call, None).await.unwrap();
    assert_eq!((reply.integer(0), reply.text(1)), (Ok(38), Ok("zwölf\n")));
    assert_eq!(reply.text(2), Ok("llm_router:two:{x}"));
    let time = server.node.ask(&["TIME"]).unwrap();
    let second: i64 = time.lines().next().unwrap().parse().unwrap();
    assert!((reply.integer(3).unwrap() / 1000 - second).abs() <= 5);
    let info = server.node.ask(&["INFO", "server"]).unwrap();
    assert!(info.contains(&format!("run_id:{}", reply.text(4).unwrap())));
    assert_eq!(reply.integer(5), Ok(7));
}

#[tokio::test]
async fn one_decision_is_one_round_trip() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    let script = Script::new("return redis.call('INCR', KEYS[1])");
    link.run(script.on("warm"), None).await.unwrap();
    server.node.ask(&["CONFIG", "RESETSTAT"]).unwrap();
    for expected in 2..=101 {
        assert_eq!(
            link.run(script.on("warm"), None).await.unwrap().integer(0),
            Ok(expected)
        );
    }
    assert_eq!(
        server.commands(),
        ["config|resetstat 1", "evalsha 100", "incr 100"]
    );
}

#[tokio::test]
async fn a_server_that_has_forgotten_the_script_is_told_it_again() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    let script = Script::new("return redis.call('INCR', KEYS[1])");
    for expected in 1..=4 {
        assert_eq!(
            link.run(script.on("k"), None).await.unwrap().integer(0),
            Ok(expected)
        );
        if expected == 2 {
            server.node.ask(&["SCRIPT", "FLUSH"]).unwrap();
        }
    }
}

#[tokio::test]
async fn errors_of_scripts_are_told_apart() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    server.node.ask(&["HSET", "hash", "field", "value"]).unwrap();
    for (body, expected) in [
        ("return redis.call('INCR', KEYS[1])", StoreErrorKind::WrongType),
        ("return nothing + 1", StoreErrorKind::Script),
        ("this is no Lua", StoreErrorKind::Script),
        ("return redis.call('NONSENSE')", StoreErrorKind::Script),
    ] {
        let error = link.run(Script::new(body).on("hash"), None).await.unwrap_err();
        assert_eq!(error.kind(), expected, "{body}: {error}");
    }
    let fine = Script::new("return 1");
    assert_eq!(link.run(fine.on("hash"), None).await.unwrap().integer(0), Ok(1));
}

#[tokio::test]
async fn without_time_nothing_is_asked() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    let script = Script::new("return redis.call('INCR', KEYS[1])");
    let error = link.run(script.on("k"), Some(Duration::ZERO)).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Timeout);
    assert_eq!(server.node.ask(&["EXISTS", "k"]).unwrap(), "0");
}

#[tokio::test]
async fn keys_of_one_id_share_a_slot_whatever_the_id() {
    let Some(server) = Server::start(&[]) else { return };
    let link = server.link();
    let mut seen = std::collections::BTreeSet::new();
    for id in ["a", "", "{", "}", "{}", "a}b{c", "%7B", "é{", "%"] {
        let slot = |space: &str| {
            let key = link.key(space, id);
            assert!(seen.insert(key.clone()), "{key} means two things");
            server.node.ask(&["CLUSTER", "KEYSLOT", &key]).unwrap()
        };
        let slots: Vec<String> = ["one", "two"].into_iter().map(slot).collect();
        assert_eq!(slots[0], slots[1], "{id}");
    }
}
