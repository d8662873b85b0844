//! Which key a caller keeps. Pure.

use super::ledger::KeyName;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The key of a caller among these: the highest of a score that caller and key make together, in proportion to weights.
/// When a key goes, only its own callers move; when it comes back, they come back.
pub(super) fn kept_by<'a>(caller: &str, keys: impl Iterator<Item = (usize, &'a KeyName)>) -> Option<usize> {
    let score = |key: &KeyName| -f64::from(key.weight) / share(caller, &key.name).ln();
    keys.map(|(place, key)| (score(key), place))
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, place)| place)
}

/// Anything between 0 and 1, neither of them, and always the same for the same two names.
fn share(caller: &str, key: &str) -> f64 {
    let mut hasher = DefaultHasher::new();
    (caller, key).hash(&mut hasher);
    // 53 bits fit a float.
    ((hasher.finish() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[(&str, u32)]) -> Vec<KeyName> {
        let key = |(name, weight): &(&str, u32)| KeyName {
            name: (*name).into(),
            weight: *weight,
        };
        names.iter().map(key).collect()
    }

    fn kept(caller: usize, keys: &[KeyName]) -> String {
        let place = kept_by(&format!("caller-{caller}"), keys.iter().enumerate()).unwrap();
        keys[place].name.to_string()
    }

    #[test]
    fn callers_keep_their_key_and_only_those_of_a_lost_one_move() {
        let all = keys(&[("a", 1), ("b", 1), ("c", 1)]);
        let left = keys(&[("a", 1), ("c", 1)]);
        for caller in 0..1000 {
            let key = kept(caller, &all);
            assert_eq!(key, kept(caller, &all));
            if key != "b" {
                assert_eq!(key, kept(caller, &left));
            }
        }
    }

    #[test]
    fn callers_spread_by_weight() {
        let all = keys(&[("a", 3), ("b", 1)]);
        let of_a = (0..4000).filter(|caller| kept(*caller, &all) == "a").count();
        assert!((2800..3200).contains(&of_a), "{of_a} of 4000, about 3000 are due");
    }
}
