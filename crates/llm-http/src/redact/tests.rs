use super::*;
use llm_core::{
    ChatRequest, ContentPart, DocumentPart, ImagePart, Message, Role, ToolCall, ToolResult, ToolSpec,
    VendorId,
};
use proptest::prelude::*;

mod readable;

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
    let schema = serde_json::json!({"type": "object", "title": "T", "properties": {
        "description": {"type": "string", "enum": ["red", "blue"], "default": "red"}}});
    let mut request = ChatRequest::new([Message::new(
        Role::User,
        vec![ContentPart::Document(
            DocumentPart::new(llm_core::MediaSource::base64("text/plain", "aGk=")).with_name("mine.txt"),
        )],
    )])
    .with_tools([ToolSpec::new("area")
        .with_description("an area")
        .with_parameters(schema)])
    .with_stop(["END".to_owned()])
    .with_user("somebody")
    .with_vendor_option(
        VendorId::from_static("acme"),
        "metadata",
        serde_json::json!({"a": "my own data", "b": "low"}),
    );
    request.messages[0].name = Some("Ann".to_owned());
    let texts: Vec<_> = request_texts(&request).collect();
    assert_eq!(
        texts,
        [
            "aGk=",
            "mine.txt",
            "Ann",
            "an area",
            "END",
            "somebody",
            "my own data"
        ]
    );
}

const SAID: &str = "Please keep the SENTINEL prompt nine to yourself.";

/// What is left of a message, where nothing may be left of what was said.
fn left(message: &str) -> String {
    let shown = scrub_content(message, [SAID]);
    let lower = shown.to_lowercase();
    assert!(
        !lower.contains("sentinel") && !lower.contains("prompt nine"),
        "{message}: {shown}"
    );
    shown
}

#[test]
fn parts_of_content_are_found_in_quotes_and_where_they_are_cut() {
    for (message, shown) in [
        (
            "Invalid value: \"SENTINEL prompt ni...\"",
            "Invalid value: \"[content]...\"",
        ),
        ("Invalid value: 'SENTINEL prompt'.", "Invalid value: '[content]'."),
        (
            "Invalid value: `sentinel PROMPT nine`",
            "Invalid value: `[content]`",
        ),
        (
            "Invalid value: “the sentinel”, no",
            "Invalid value: “[content]”, no",
        ),
        ("got SENTINEL prompt ni… instead", "got [content]… instead"),
        ("got …SENTINEL prompt nine", "got …[content]"),
        ("got \"the SENTINEL prom", "got \"[content]"),
        ("{\"detail\":\"the SENTINEL prom\"}", "{\"detail\":\"[content]\"}"),
        (
            "bad: \\\"keep the SENTINEL\\\" here",
            "bad: \\\"[content]\\\" here",
        ),
    ] {
        assert_eq!(left(message), shown);
    }
}

#[test]
fn content_is_found_in_every_case_and_however_it_is_written() {
    for message in [
        "bad: PLEASE KEEP THE SENTINEL PROMPT NINE TO YOURSELF.",
        "bad: please keep the sentinel prompt nine to yourself.",
        "bad: Please%20keep%20the%20SENTINEL%20prompt%20nine%20to%20yourself.",
        "bad: 'SENTINEL%20prompt%20nine'",
        "bad: Please keep the\\nSENTINEL prompt\\u0020nine to yourself.",
        "bad: please KEEP the Sentinel%20Prompt nine",
    ] {
        assert!(left(message).contains("[content]"));
    }
    assert_eq!(
        scrub_content("bad: 'R%C3%A9sum%C3%A9'", ["résumé"]),
        "bad: '[content]'"
    );
}

#[test]
fn content_without_spaces_is_found() {
    let texts = ["请告诉我京都的秘密花园在哪里。", "京都的秘密花园很美"];
    for (message, shown) in [
        ("无法解析京都的秘密花园很美这句话", "无法解析[content]这句话"),
        ("无效:诉我京都的秘密花…", "无效:[content]…"),
        ("无效:“我京都的秘密花园在”", "无效:“[content]”"),
        ("无法解析秘密花园", "无法解析秘密花园"),
    ] {
        assert_eq!(scrub_content(message, texts), shown);
    }
}

#[test]
fn strings_inside_of_arguments_and_short_texts_are_found_in_quotes() {
    let arguments = "{\"city\": \"Ky\\u014dto\", \"list\": [{\"n\": \"seven\"}], \"n\": 7}";
    for (message, shown) in [
        (
            "'kyōto' is not one of ['a', 'b']",
            "'[content]' is not one of ['a', 'b']",
        ),
        (
            "Input should be 7, got \"Seven\"",
            "Input should be 7, got \"[content]\"",
        ),
        ("city is 'Kyōto city', not 7", "city is 'Kyōto city', not 7"),
        ("seven is wrong", "seven is wrong"),
    ] {
        assert_eq!(scrub_content(message, [arguments]), shown);
    }
    assert_eq!(
        scrub_content("unknown stop 'END'", ["END"]),
        "unknown stop '[content]'"
    );
}

/// Even to a caller who writes of nothing else.
#[test]
fn what_vendors_usually_say_stays_readable() {
    let texts = [
        "Tell me about the model gpt-6-luna, its messages, max_tokens, temperature and response_format.",
        "What does invalid_request_error mean? The field is required, I read. It is not supported.",
        "low",
        "8192",
        "string",
        "user",
    ];
    for message in [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        "The model `gpt-6-luna` does not exist or you do not have access to it.",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "Invalid type for 'messages[1].content': expected one of a string or array of objects.",
        "max_tokens: Field required",
        "messages.0.content: Input should be a valid list, got 'string'",
        "prompt is too long: 1000123 tokens > 1000000 maximum",
        "models/gemini-1.0-pro is not found for API version v1beta, or is not supported for generateContent.",
        "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).",
        "Rate limit reached for model on requests per day (RPD): Limit 8000, Used 7999. Please try again in 7m12s.",
        "Not found the model kimi-k9 or Permission denied",
        "model 'qwen4:8b' not found",
        "'8192' is too many",
        "Value error, temperature must be <= 1.5",
        "400: invalid_request_error (code 3051)",
    ] {
        let [shown] = scrub_contents([Said::message(message, Some("gpt-6-luna"))], texts);
        assert_eq!(shown, message);
    }
}

#[test]
fn repetitive_content_is_scrubbed_in_one_pass() {
    // Quadratic work on this would take minutes.
    let text = "a".repeat(1_000_000);
    let message = "a".repeat(100_000);
    assert_eq!(scrub_content(&message, [text.as_str()]), "[content]");
}

#[test]
fn many_equal_short_texts_are_looked_for_once() {
    // Work or memory that grows with texts times finds would not end.
    let list = format!("[{}]", vec!["\"aaaaaaaa\""; 100_000].join(","));
    let message = format!("No %41 {} {}", "a".repeat(100_000), "'aaaaaaaa' ".repeat(10_000));
    let shown = scrub_content(&message, [list.as_str()]);
    assert_eq!(shown.matches("'[content]'").count(), 10_000);
}

/// All that is said of one request is scrubbed with one look at each text.
#[test]
fn message_code_and_field_are_scrubbed_at_once() {
    let mut looks = 0;
    let texts = [SAID].into_iter().inspect(|_| looks += 1);
    let said = [
        Said::message("bad: 'SENTINEL prompt'", None),
        Said::code("no SENTINEL pro…"),
        Said::param("Please keep the SENTINEL prompt", None),
    ];
    assert_eq!(
        scrub_contents(said, texts),
        ["bad: '[content]'", "no [content]…", "[content]"]
    );
    assert_eq!(looks, 1);
}

fn shares_a_run(one: &str, other: &str) -> bool {
    let one: Vec<char> = shown::folded(one).collect();
    let other: Vec<char> = shown::folded(other.trim()).collect();
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
            let words: String = shown::folded(text.trim()).collect();
            if words.chars().count() >= 8 {
                let shown: String = shown::folded(&format!(" {shown} ")).collect();
                prop_assert!(!shown.contains(&format!(" {words} ")), "{:?} in {:?}", text, shown);
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
        prop_assume!(shown::folded(text.trim()).count() >= 24);
        let shown = scrub_content(&format!("{before}{text}{after}"), [text.as_str()]);
        prop_assert!(shown.contains("[content]"), "{}", shown);
        prop_assert!(!shown.contains(&text));
    }
}
