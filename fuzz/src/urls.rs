//! Joining addresses, and what comes from outside as one step of a path.

use llm_core::codec::path_segment;
use llm_http::redact::{scrub, without_user_info};
use llm_http::url::{join, same_origin};

/// A base URL and a path, on two lines.
pub(crate) fn urls(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (base, path) = text.split_once('\n').unwrap_or((text, ""));
    let _ = without_user_info(base);
    for base in [base, "https://api.example/v1", "http://127.0.0.1:80/a?v=1"] {
        if let Ok(joined) = join(base, path) {
            assert!(
                same_origin(base, &joined),
                "{base:?} and {path:?} lead to {joined:?}"
            );
            let own = join(base, "").unwrap_or_default();
            let folder = own
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .trim_end_matches('/');
            assert!(
                joined.starts_with(folder),
                "{base:?} and {path:?} leave {folder:?} for {joined:?}"
            );
        }
    }
    let step = path_segment(path);
    if !path.is_empty() {
        let joined = join("https://api.example/v1", &format!("models/{step}:run"));
        let joined = joined.unwrap_or_else(|error| panic!("{step:?} is no step of a path: {error}"));
        assert_eq!(
            joined,
            format!("https://api.example/v1/models/{step}:run"),
            "{path:?}"
        );
        assert_eq!(joined.matches('/').count(), 5, "{joined:?}");
    }
    let secret = "sk-sentinel-4f1d9a";
    let scrubbed = scrub(&format!("{base}{secret}{path}"), &[secret]);
    assert!(!scrubbed.contains(secret), "{scrubbed:?}");
}
