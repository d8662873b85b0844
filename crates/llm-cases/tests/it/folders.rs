//! Folders that are not as they should be: what is said, and with which exit code.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of its own for one test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("folders-{name}"));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn with(self, case: &Value) -> Self {
        self.write(
            &format!("{}.json", case["id"].as_str().unwrap()),
            &case.to_string(),
        );
        self
    }

    /// Exit code and lines of the program.
    pub(crate) fn run(&self, options: &[&str]) -> (i32, Vec<String>) {
        program(&[&["run", self.0.to_str().unwrap()], options].concat())
    }
}

fn program(words: &[&str]) -> (i32, Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_llm-cases"))
        .args(words)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    let lines = String::from_utf8(text)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    (output.status.code().unwrap(), lines)
}

/// What makes a good case a bad one.
type Change = fn(&mut Value);

fn case(id: &str) -> Value {
    json!({
        "id": id, "kind": "errors", "wire": "http-error", "level": "must",
        "input": {"dialect": "openai", "status": 500, "headers": {}, "body": "it broke"},
        "expect": {"outcome": "error", "error": {"class": "server"}},
        "why": "because",
    })
}

fn changed(id: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut case = case(id);
    change(&mut case);
    case
}

#[test]
fn a_good_folder_exits_with_0() {
    let folder = Folder::new("good").with(&case("a")).with(&case("b"));
    folder.write("notes.txt", "no case");
    assert_eq!(
        folder.run(&[]),
        (0, vec!["ok a".into(), "ok b".into(), "2 passed, 0 failed".into()])
    );
}

#[test]
fn a_must_case_that_fails_exits_with_1_and_a_should_case_does_not() {
    let wrong = |case: &mut Value| case["expect"]["error"]["class"] = json!("timeout");
    let should = changed("should", |case| {
        wrong(case);
        case["level"] = json!("should");
    });
    let folder = Folder::new("should").with(&should).with(&case("good"));
    let (code, lines) = folder.run(&[]);
    assert_eq!(code, 0);
    assert_eq!(lines[0], "ok good");
    assert!(lines[1].starts_with("differs should (should): asked plainly: error.class: expected"));
    assert_eq!(lines[2..], ["1 should-cases differ", "1 passed, 0 failed"]);
    let folder = folder.with(&changed("must", wrong));
    let (code, lines) = folder.run(&[]);
    assert_eq!(code, 1);
    assert!(lines[1].starts_with("FAIL must: "));
    assert_eq!(lines.last().unwrap(), "1 passed, 1 failed");
}

#[test]
fn words_that_the_runner_does_not_know_are_failures_whatever_the_level() {
    let changes: [(&str, Change); 9] = [
        ("unknown key whim", |case| case["whim"] = json!(1)),
        ("unknown key input.whim", |case| case["input"]["whim"] = json!(1)),
        ("unknown key expect.whim", |case| {
            case["expect"]["whim"] = json!(1)
        }),
        ("unknown key expect.error.whim", |case| {
            case["expect"]["error"]["whim"] = json!(1);
        }),
        ("unknown key accept[0].usage.whim", |case| {
            case["accept"] = json!([{"outcome": "ok", "usage": {"whim": 1}}]);
        }),
        ("unknown wire morse", |case| case["wire"] = json!("morse")),
        ("unknown dialect klingon", |case| {
            case["input"]["dialect"] = json!("klingon")
        }),
        ("unknown key input.options.whim", |case| {
            case["input"]["options"] = json!({"whim": true});
        }),
        ("unknown operation resembles", |case| {
            case["wire"] = json!("request-translation");
            case["input"] = json!({"from": "openai-chat", "to": "openai-chat", "request": {}});
            case["expect"] = json!({"outcome": "ok", "checks": [{"path": "", "op": "resembles"}]});
        }),
    ];
    for (number, (fault, change)) in changes.into_iter().enumerate() {
        for options in [&[][..], &["--supported"]] {
            let case = changed("a", |case| {
                case["level"] = json!("should");
                change(case);
            });
            let folder = Folder::new(&format!("unknown-{number}")).with(&case);
            let (code, lines) = folder.run(options);
            assert_eq!(
                lines,
                [format!("FAIL a: {fault}"), "0 passed, 1 failed".to_owned()]
            );
            assert_eq!(code, 1);
        }
    }
}

#[test]
fn a_wire_that_this_build_cannot_run_is_a_failure_unless_it_is_left_out() {
    let folder = Folder::new("unsupported")
        .with(&case("a"))
        .with(&changed("b", |case| case["wire"] = json!("mcp-stdio")))
        .with(&changed("c", |case| case["input"]["dialect"] = json!("bedrock")));
    let (code, lines) = folder.run(&[]);
    assert_eq!(code, 1);
    assert_eq!(lines[1], "FAIL b: this build cannot run the wire mcp-stdio yet");
    assert_eq!(
        lines[2],
        "FAIL c: this build cannot run errors of the dialect bedrock yet"
    );
    assert_eq!(lines[3], "1 passed, 2 failed");
    assert_eq!(folder.run(&["--supported"]).0, 0);
    assert_eq!(folder.run(&["--id", "a"]).0, 0);
    assert_eq!(folder.run(&["--dialect", "openai", "--wire", "http-error"]).0, 0);
}

#[test]
fn malformed_files_are_failures() {
    let folder = Folder::new("malformed").with(&changed("a", |case| {
        case["input"].as_object_mut().unwrap().remove("status");
    }));
    folder.write("b.json", "{\"id\": ");
    folder.write("c.json", "[]");
    folder.write("d.json", &case("e").to_string());
    std::fs::write(folder.0.join("e.json"), [0xff, 0xfe]).unwrap();
    let (code, lines) = folder.run(&[]);
    assert_eq!(code, 1);
    assert_eq!(lines[0], "FAIL a: malformed: input.status is missing");
    assert!(lines[1].starts_with("FAIL b: malformed: not JSON"));
    assert!(lines[2].starts_with("FAIL c: malformed: "));
    assert_eq!(lines[3], "FAIL d: malformed: the id \"e\" is not the file's name");
    assert!(lines[4].starts_with("FAIL e: malformed: "));
    assert_eq!(lines[5], "0 passed, 5 failed");
    let (code, lines) = folder.run(&["--kind", "usage"]);
    assert_eq!(code, 1, "what cannot be read cannot be left out by what it says");
    assert_eq!(lines.last().unwrap(), "0 passed, 2 failed");
}

#[test]
fn a_run_of_nothing_exits_with_1() {
    let folder = Folder::new("nothing");
    let nothing = (
        1,
        vec!["no case file matched".to_owned(), "0 passed, 0 failed".to_owned()],
    );
    assert_eq!(folder.run(&[]), nothing);
    let folder = folder.with(&case("a"));
    assert_eq!(folder.run(&["--kind", "usage"]), nothing);
    assert_eq!(folder.run(&["--id", "b"]), nothing);
}

#[test]
fn a_command_line_that_cannot_be_read_exits_with_2() {
    for words in [
        &["walk"][..],
        &["run"],
        &["run", "no-such-folder"],
        &["run", ".", "--kind", "moods"],
        &["run", ".", "--fast"],
    ] {
        let (code, lines) = program(words);
        assert_eq!(code, 2, "{lines:?}");
        assert!(lines[0].starts_with("llm-cases: "), "{lines:?}");
    }
    let (code, lines) = program(&["--help"]);
    assert_eq!(code, 0);
    assert!(lines[0].starts_with("llm-cases run DIR"));
}

#[test]
fn byte_by_byte_is_run_whether_or_not_the_case_asks_for_it() {
    let case = json!({
        "id": "a", "kind": "sse-framing", "wire": "openai-chat-sse", "level": "must",
        "input": {"status": 200, "headers": {"content-type": "text/event-stream"}, "end": "eof",
            "chunks": ["data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n"]},
        "expect": {"outcome": "ok", "text": "Ho"}, "why": "because",
    });
    let (_, lines) = Folder::new("bytewise").with(&case).run(&[]);
    assert_eq!(
        lines[0],
        "FAIL a: whole: text: expected \"Ho\", got \"Hi\"; byte by byte: text: expected \"Ho\", got \"Hi\""
    );
}
