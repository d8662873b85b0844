use super::*;
use llm_core::ErrorKind;
use llm_driver_testkit::TestClock;

const SECOND: Duration = Duration::from_secs(1);

/// A ledger with keys of these weights, under their places as names.
struct Pool {
    ledger: Ledger,
    keys: Vec<KeyName>,
    policy: KeyPoolPolicy,
    now: Instant,
}

impl Pool {
    fn of(weights: &[u32]) -> Self {
        let key = |(place, weight): (usize, &u32)| KeyName {
            name: place.to_string().into(),
            weight: *weight,
        };
        Pool {
            ledger: Ledger::default(),
            keys: weights.iter().enumerate().map(key).collect(),
            policy: KeyPoolPolicy::default(),
            now: TestClock::context().clock().now(),
        }
    }

    fn choose(&mut self, model: Option<&ModelId>, tried: &[usize]) -> Option<usize> {
        let tried: Vec<bool> = (0..self.keys.len()).map(|place| tried.contains(&place)).collect();
        let ask = Ask {
            keys: &self.keys,
            model,
            tried: &tried,
            caller: None,
        };
        self.ledger.choose(self.now, &ask)
    }

    fn turns(&mut self, count: usize) -> Vec<usize> {
        (0..count).map(|_| self.choose(None, &[]).unwrap()).collect()
    }

    fn fail(&mut self, place: usize, model: Option<&ModelId>, error: &Error) -> bool {
        let name = Arc::clone(&self.keys[place].name);
        self.ledger.failed(self.now, &self.policy, &name, model, error)
    }

    fn end(&self, place: usize, model: Option<&ModelId>) -> Option<(UnavailableReason, Option<Duration>)> {
        match self.ledger.availability(self.now, &self.keys[place], model) {
            Availability::Unavailable { reason, until } => {
                Some((reason, until.map(|until| until - self.now)))
            }
            _ => None,
        }
    }
}

fn error(kind: ErrorKind) -> Error {
    Error::new(kind, "scripted")
}

#[test]
fn turns_go_round_smoothly_by_weight_and_weight_zero_has_none() {
    assert_eq!(Pool::of(&[1, 1, 1]).turns(6), [0, 1, 2, 0, 1, 2]);
    assert_eq!(Pool::of(&[3, 1, 0]).turns(8), [0, 0, 1, 0, 0, 0, 1, 0]);
}

#[test]
fn a_hint_rests_a_key_for_its_model_alone() {
    let (m1, m2) = (ModelId::new("m1").unwrap(), ModelId::new("m2").unwrap());
    let mut pool = Pool::of(&[1, 1]);
    let limit = error(ErrorKind::RateLimit).with_retry_after(SECOND * 20);
    assert!(pool.fail(0, Some(&m1), &limit));
    assert_eq!(
        pool.end(0, Some(&m1)),
        Some((UnavailableReason::RateLimit, Some(SECOND * 20)))
    );
    assert_eq!(pool.end(0, Some(&m2)), None);
    assert_eq!(pool.choose(Some(&m1), &[]), Some(1));
    assert_eq!(pool.choose(Some(&m1), &[1]), None);
    // A shorter hint later does not bring it back earlier.
    pool.fail(0, Some(&m1), &limit.clone().with_retry_after(SECOND));
    pool.now += SECOND * 19;
    assert_eq!(
        pool.end(0, Some(&m1)),
        Some((UnavailableReason::RateLimit, Some(SECOND)))
    );
    pool.now += SECOND;
    assert_eq!(pool.end(0, Some(&m1)), None);
}

#[test]
fn without_a_hint_a_key_is_passed_over_while_others_are_fresh_and_is_the_last_resort() {
    let mut pool = Pool::of(&[1, 1]);
    assert!(pool.fail(0, None, &error(ErrorKind::RateLimit)));
    assert_eq!(pool.end(0, None), None, "usable all the same");
    assert_eq!(pool.turns(3), [1, 1, 1]);
    pool.now += SECOND;
    pool.fail(1, None, &error(ErrorKind::RateLimit));
    assert_eq!(
        pool.choose(None, &[]),
        Some(0),
        "the one that rests the longest already"
    );
    assert_eq!(pool.choose(None, &[0]), None, "a call goes on to fresh ones only");
    pool.now += SECOND * 5;
    assert_eq!(pool.turns(2), [0, 1]);
}

#[test]
fn a_quota_rests_a_key_for_all_models_and_longer_each_time() {
    let model = ModelId::new("m1").unwrap();
    let mut pool = Pool::of(&[1]);
    for minutes in [10_u32, 20, 40] {
        assert!(pool.fail(0, Some(&model), &error(ErrorKind::QuotaExhausted)));
        let expected = Some((UnavailableReason::Quota, Some(SECOND * 60 * minutes)));
        assert_eq!(
            (pool.end(0, None), pool.end(0, Some(&model))),
            (expected, expected)
        );
        pool.now += SECOND * 60 * minutes;
    }
    pool.ledger.served(&"0".into());
    pool.fail(
        0,
        None,
        &error(ErrorKind::QuotaExhausted).with_retry_after(SECOND * 3600 * 48),
    );
    assert_eq!(
        pool.end(0, None),
        Some((UnavailableReason::Quota, Some(SECOND * 3600 * 24))),
        "a day at most"
    );
}

#[test]
fn a_refused_key_is_out_until_it_is_readmitted() {
    let mut pool = Pool::of(&[1, 1]);
    for kind in [ErrorKind::Auth, ErrorKind::Permission] {
        assert!(pool.fail(0, None, &error(kind)));
        pool.now += SECOND * 3600 * 1000;
        assert_eq!(pool.end(0, None), Some((UnavailableReason::Credential, None)));
        assert_eq!(pool.turns(2), [1, 1]);
        let keys = pool.keys.clone();
        pool.ledger.readmit(&keys);
        assert_eq!(pool.end(0, None), None);
    }
}

#[test]
fn what_says_nothing_of_a_credential_rests_none() {
    let mut pool = Pool::of(&[1]);
    for kind in ErrorKind::ALL {
        let is_about_keys = matches!(
            kind,
            ErrorKind::Auth | ErrorKind::Permission | ErrorKind::RateLimit | ErrorKind::QuotaExhausted
        );
        assert_eq!(pool.fail(0, None, &error(kind)), is_about_keys, "{kind}");
    }
}
