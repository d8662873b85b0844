use super::*;
use llm_core::{ChatRequest, ContentPart, ImagePart, Message, Role, ToolCall, ToolResult};
use proptest::prelude::*;

#[test]
fn known_secrets_are_scrubbed_also_when_encoded() {
    assert_eq!(
        scrub("a my+secret b my%2Bsecret c", &["my+secret"]),
        "a *** b *** c"
    );
    assert_eq!(scrub("abcabc", &["abc", ""]), "abcabc");
    assert_eq!(
        scrub("secret-onesecret-two", &["secret-one", "secret-two"]),
        "***"
    );
}

#[test]
fn keys_are_known_by_their_shape() {
    for (text, shown) in [
        ("key sk-abcdef12345678 refused", "key *** refused"),
        ("(sk-ant-api03-x_y-z)", "(***)"),
        (
            "Incorrect API key provided: sk-abc***********xyz.",
            "Incorrect API key provided: ***.",
        ),
        ("gsk_0123456789abc", "***"),
        ("AIzaSyA0123456789", "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("task-force risk-assessment", "task-force risk-assessment"),
        ("sk-1", "sk-1"),
        ("the mask-generation step", "the mask-generation step"),
    ] {
        assert_eq!(scrub(text, &[]), shown);
    }
}

#[test]
fn what_follows_a_scheme_is_scrubbed() {
    for (text, shown) in [
        ("Authorization: Bearer abc.def-1", "Authorization: Bearer ***"),
        ("authorization=bearer%20abcdef", "authorization=bearer%20***"),
        ("BEARER  x1", "BEARER  ***"),
        ("Basic dXNlcjpwYXNz", "Basic ***"),
        ("missing bearer token", "missing bearer token"),
        ("use bearer authentication.", "use bearer authentication."),
        ("a basic question about bearers", "a basic question about bearers"),
    ] {
        assert_eq!(scrub(text, &[]), shown);
    }
}

#[test]
fn values_of_secret_names_are_scrubbed() {
    for (text, shown) in [
        ("https://h/v1?key=abc&b=2", "https://h/v1?key=***&b=2"),
        ("https://h/v1?b=2&API_KEY=abc#x", "https://h/v1?b=2&API_KEY=***#x"),
        (
            "?apikey=a ?Access_Token=b ?token=c",
            "?apikey=*** ?Access_Token=*** ?token=***",
        ),
        (
            "{\"api_key\": \"abc\", \"n\": 1}",
            "{\"api_key\": \"***\", \"n\": 1}",
        ),
        ("{\\\"api_key\\\":\\\"abc\\\"}", "{\\\"api_key\\\":\\\"***\\\"}"),
        ("x-goog-api-key: abc", "x-goog-api-key: ***"),
        (
            "Unexpected token: foo, monkey=1",
            "Unexpected token: foo, monkey=1",
        ),
        ("max_tokens=5", "max_tokens=5"),
        ("é=1 ékey=é,x", "é=1 ékey=***,x"),
        ("key=", "key="),
    ] {
        assert_eq!(scrub(text, &[]), shown);
    }
}

#[test]
fn user_names_are_cut_from_addresses() {
    assert_eq!(without_user_info("https://a:b@h/c@d"), "https://h/c@d");
    assert_eq!(without_user_info("https://h?a@b"), "https://h?a@b");
    assert_eq!(without_user_info("a@b"), "a@b");
}

#[test]
fn content_is_found_whole_and_in_part() {
    let text = "The quick brown fox jumps over the lazy dog.";
    for (message, shown) in [
        (
            "bad: The quick brown fox jumps over the lazy dog.",
            "bad: [content]",
        ),
        ("bad: 'quick brown fox jumps over' here", "bad: '[content]' here"),
        ("bad: quick brown fox", "bad: quick brown fox"),
        (
            "twice: The quick brown fox jumps, The quick brown fox jumps",
            "twice: [content], [content]",
        ),
    ] {
        assert_eq!(scrub_content(message, [text]), shown);
    }
    assert_eq!(
        scrub_content("say hello you, hello you", ["hello you"]),
        "say [content], [content]"
    );
    assert_eq!(scrub_content("say hello", ["hello"]), "say hello");
    assert_eq!(scrub_content("", [text]), "");
    assert_eq!(scrub_content("nothing", [""; 0]), "nothing");
}

#[test]
fn white_space_does_not_hide_content() {
    let text = "\n  line one\nline   two\n\tline three\n";
    let message = "bad value 'line one line two line three' given";
    assert_eq!(scrub_content(message, [text]), "bad value '[content]' given");
    assert_eq!(
        scrub_content("got line one\n line two!", ["line one line two"]),
        "got [content]!"
    );
    // Twenty-four characters, most of them spaces: only the exact view has the run.
    let spaced = format!("a{}b", " ".repeat(30));
    assert_eq!(
        scrub_content(&format!("'{spaced}'"), [spaced.as_str()]),
        "'[content]'"
    );
}

#[test]
fn texts_of_a_request_are_all_that_can_be_quoted() {
    let request = ChatRequest::new([
        Message::system("system"),
        Message::new(
            Role::User,
            vec![
                ContentPart::text("user"),
                ContentPart::Image(ImagePart::new(llm_core::MediaSource::url("https://picture"))),
                ContentPart::ToolCall(ToolCall::new("id", "name", "{\"a\":1}")),
                ContentPart::ToolResult(ToolResult::new("id", "result")),
            ],
        ),
    ]);
    let texts: Vec<_> = request_texts(&request).collect();
    assert_eq!(
        texts,
        ["system", "user", "https://picture", "{\"a\":1}", "result"]
    );
}

#[test]
fn repetitive_content_is_scrubbed_in_one_pass() {
    // Quadratic work on this would take minutes.
    let text = "a".repeat(1_000_000);
    let message = "a".repeat(100_000);
    assert_eq!(scrub_content(&message, [text.as_str()]), "[content]");
}

fn shares_a_run(one: &str, other: &str) -> bool {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    one.windows(24)
        .any(|run| other.windows(24).any(|there| there == run))
}

proptest! {
    #[test]
    fn scrubbing_never_panics_and_leaves_no_secret(
        before in "\\PC{0,30}|[a-z=:&?%\"' -]{0,30}",
        after in "\\PC{0,30}|[a-z=:&?%\"' -]{0,30}",
        secret in "[A-Za-z0-9+/=_.-]{8,40}",
    ) {
        let shown = scrub(&format!("{before}{secret}{after}"), &[&secret]);
        prop_assert!(!shown.contains(&secret), "{}", shown);
    }

    #[test]
    fn no_shared_run_is_left(
        texts in proptest::collection::vec("[abé \n]{0,60}", 0..4),
        message in "[abé \n]{0,120}",
    ) {
        let shown = scrub_content(&message, texts.iter().map(String::as_str));
        for text in &texts {
            prop_assert!(!shares_a_run(&shown, text), "{:?} in {:?}", text, shown);
            if text.chars().count() >= 8 {
                prop_assert!(!shown.contains(text.as_str()), "{:?} in {:?}", text, shown);
            }
        }
    }

    #[test]
    fn what_shares_nothing_stays_as_it_is(
        texts in proptest::collection::vec("[a-f ]{0,60}", 0..4),
        message in "[g-m\n]{0,120}",
    ) {
        prop_assert_eq!(scrub_content(&message, texts.iter().map(String::as_str)), message);
    }

    #[test]
    fn quoted_content_is_always_found(
        text in "\\PC{24,80}",
        before in "\\PC{0,10}",
        after in "\\PC{0,10}",
    ) {
        let shown = scrub_content(&format!("{before}{text}{after}"), [text.as_str()]);
        prop_assert!(shown.contains("[content]"), "{}", shown);
        prop_assert!(!shown.contains(&text));
    }
}
