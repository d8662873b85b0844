//! One key for each logical call, the same in all its attempts, so that a host that takes such a key answers a
//! repeated request once.

use llm_core::CallContext;
use std::fmt::Write;

/// The context with a key: the caller's own where it gave one, else a new one.
///
/// A key only has to differ from all others of its account, so a fast generator is enough: it is no secret.
pub(crate) fn with_key(cx: CallContext) -> CallContext {
    if cx.idempotency_key().is_some() {
        return cx;
    }
    let key = new_key();
    cx.with_idempotency_key(key)
}

/// 16 random bytes in hexadecimal.
fn new_key() -> String {
    let mut bytes = [0; 16];
    fastrand::fill(&mut bytes);
    bytes.iter().fold(String::with_capacity(32), |mut key, byte| {
        // Writing to a string cannot fail.
        let _ = write!(key, "{byte:02x}");
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_driver_testkit::TestClock;

    #[test]
    fn the_callers_key_stays() {
        let cx = TestClock::context().with_idempotency_key("mine");
        assert_eq!(with_key(cx).idempotency_key(), Some("mine"));
    }

    #[test]
    fn a_new_key_is_made_once_and_stays() {
        let cx = with_key(TestClock::context());
        let key = cx.idempotency_key().unwrap().to_owned();
        assert_eq!(key.len(), 32);
        assert!(key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(with_key(cx).idempotency_key(), Some(&*key));
    }

    #[test]
    fn keys_differ() {
        let keys: std::collections::HashSet<String> = (0..1000).map(|_| new_key()).collect();
        assert_eq!(keys.len(), 1000);
    }
}
