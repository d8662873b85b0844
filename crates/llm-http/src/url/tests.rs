use super::*;
use llm_core::codec::path_segment;
use proptest::prelude::*;

#[test]
fn base_and_path_are_joined_with_one_slash() {
    for (base, path, joined) in [
        ("http://h:1", "/api/chat", "http://h:1/api/chat"),
        ("http://h:1/", "api/chat", "http://h:1/api/chat"),
        ("https://h/v1", "/models", "https://h/v1/models"),
        ("https://h/v1///", "///models", "https://h/v1/models"),
        (" https://h/v1\n", "/models", "https://h/v1/models"),
        ("https://h/v1", "", "https://h/v1"),
        ("https://h", "", "https://h/"),
        (
            "https://h/v1?api-version=7",
            "/models",
            "https://h/v1/models?api-version=7",
        ),
        ("https://h/v1?", "/models", "https://h/v1/models"),
        (
            "https://h/v1?a=1",
            "/m:stream?alt=sse",
            "https://h/v1/m:stream?alt=sse&a=1",
        ),
        ("https://h/v1", "/models/a%2Fb", "https://h/v1/models/a%2Fb"),
        ("https://[::1]:8443/v1", "/models", "https://[::1]:8443/v1/models"),
    ] {
        assert_eq!(join(base, path).unwrap(), joined, "{base} {path}");
    }
}

#[test]
fn a_bad_base_is_a_config_error_that_shows_nothing_of_it() {
    for base in [
        "",
        "sentinel",
        "localhost:11434/sentinel",
        "ftp://sentinel/",
        "file:///sentinel",
        "http://",
        "http://sentinel@host/",
        "http://sentinel:word@host/",
        "https://host/#sentinel",
        "http://host:notaport/sentinel",
    ] {
        let error = join(base, "/models").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{base}");
        assert!(!format!("{error:?}").contains("sentinel"), "{error:?}");
    }
}

#[test]
fn a_path_cannot_climb() {
    for path in [
        "/../keys",
        "a/../../keys",
        "..",
        "%2e%2e/keys",
        ".%2E/keys",
        "a/%2e%2E",
        "..\\keys",
        "a#b",
        "a?b#c",
    ] {
        let error = join("https://h/v1", path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{path}");
    }
}

#[test]
fn query_parameters_are_added_before_the_fragment() {
    assert_eq!(with_query("http://h/a", "x=1"), "http://h/a?x=1");
    assert_eq!(with_query("http://h/a?", "x=1"), "http://h/a?x=1");
    assert_eq!(with_query("http://h/a?b=2#c", "x=1"), "http://h/a?b=2&x=1#c");
}

#[test]
fn what_is_shown_of_an_address_holds_no_secret() {
    assert_eq!(
        shown("https://user:pass@h/v1?key=sentinel#sentinel"),
        "https://h/v1"
    );
}

#[test]
fn origins_differ_in_scheme_host_or_port_and_never_in_path() {
    let ours = "https://api.example/v1";
    for (other, same) in [
        ("https://api.example", true),
        ("https://api.example:443/x?y#z", true),
        ("https://api.example:8443/v1", false),
        ("http://api.example/v1", false),
        ("https://api.example.evil.example/v1", false),
        ("https://evil.example/https://api.example/v1", false),
        ("https://key@api.example/v1", false),
        ("//api.example/v1", false),
        ("/v1/next", false),
        ("data:text/plain,x", false),
        ("", false),
    ] {
        assert_eq!(same_origin(ours, other), same, "{other}");
    }
}

proptest! {
    #[test]
    fn a_segment_is_one_step_whatever_it_holds(text in "\\PC{1,40}|[./\\\\%2eE?#@: \n]{1,12}") {
        let url = join("https://h/v1", &format!("models/{}", path_segment(&text))).unwrap();
        let parsed = Url::parse(&url).unwrap();
        prop_assert_eq!(parsed.host_str(), Some("h"));
        prop_assert_eq!(parsed.query(), None);
        let steps: Vec<_> = parsed.path_segments().unwrap().collect();
        prop_assert_eq!(steps.len(), 3, "{}", url);
        prop_assert_eq!((steps[0], steps[1]), ("v1", "models"));
    }

    #[test]
    fn joining_never_leaves_the_base(path in "\\PC{0,30}|[./\\\\%2eE?#@: \n]{0,12}") {
        if let Ok(url) = join("https://h:7/v1", &path) {
            prop_assert!(same_origin("https://h:7", &url), "{}", url);
            prop_assert!(url.starts_with("https://h:7/v1"), "{}", url);
        }
    }
}
