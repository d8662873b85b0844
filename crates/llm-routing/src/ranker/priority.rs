//! Fixed priorities.

use super::{Ranker, Score};
use crate::facts::Facts;
use crate::pairing::Pairing;
use llm_core::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Scores by a fixed list: a candidate's number stands under its id, else under its model, else under its
/// driver's id, else it is 0.
///
/// A second list holds for calls that prefer quality
/// ([`CallContext::with_prefer_quality`](llm_core::CallContext::with_prefer_quality)); where it is empty, the
/// first holds for them too.
///
/// ```
/// use llm_routing::PriorityRanker;
/// let ranker = PriorityRanker::new([("local", 10.0), ("cloud", 5.0)])?.with_quality([("cloud", 10.0)])?;
/// assert!(PriorityRanker::new([("local", f64::NAN)]).is_err());
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriorityRanker {
    usual: BTreeMap<String, f64>,
    quality: BTreeMap<String, f64>,
}

impl PriorityRanker {
    /// With these priorities, by candidate id, model or driver id.
    ///
    /// # Errors
    /// `Config`, when one is not a finite number.
    pub fn new<K: Into<String>>(priorities: impl IntoIterator<Item = (K, f64)>) -> Result<Self> {
        Ok(PriorityRanker {
            usual: finite(priorities)?,
            quality: BTreeMap::new(),
        })
    }

    /// The priorities of calls that prefer quality.
    ///
    /// # Errors
    /// `Config`, when one is not a finite number.
    pub fn with_quality<K: Into<String>>(
        mut self,
        priorities: impl IntoIterator<Item = (K, f64)>,
    ) -> Result<Self> {
        self.quality = finite(priorities)?;
        Ok(self)
    }
}

fn finite<K: Into<String>>(priorities: impl IntoIterator<Item = (K, f64)>) -> Result<BTreeMap<String, f64>> {
    priorities
        .into_iter()
        .map(|(key, priority)| {
            let key = key.into();
            if priority.is_finite() {
                Ok((key, priority))
            } else {
                let message = format!("the priority of {key:?} is not a number; give a finite one");
                Err(Error::new(ErrorKind::Config, message))
            }
        })
        .collect()
}

impl Ranker for PriorityRanker {
    fn name(&self) -> &str {
        "priority"
    }

    fn score(&self, pairing: &Pairing<'_>) -> Result<Option<Score>> {
        let priorities = if pairing.prefers_quality && !self.quality.is_empty() {
            &self.quality
        } else {
            &self.usual
        };
        let (value, by) = pairing
            .find_with_name(priorities)
            .map_or((0.0, "nothing"), |(value, by)| (*value, by));
        Ok(Some(
            Score::new(value).with_facts(Facts::default().with("set_by", Cow::Borrowed(by))),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidate::Candidate;
    use crate::needs::{CallMode, Needs};
    use crate::test_driver::{TestDriver, model};
    use llm_core::ChatRequest;

    fn score(ranker: &PriorityRanker, id: &str, driver: &str, own: &str, quality: bool) -> (f64, String) {
        let driver = TestDriver::new(driver).serving(own).shared();
        let candidate = Candidate::new(id.to_owned(), driver).with_model(model(own));
        let request = ChatRequest::user("hi");
        let needs = Needs::of(&request, CallMode::Plain);
        let resolved = candidate.resolve(None);
        let pairing = Pairing::new(&request, &needs, &candidate, resolved.as_deref());
        let score = ranker
            .score(&pairing.with_prefers_quality(quality))
            .unwrap()
            .unwrap();
        (score.value, score.facts.to_string())
    }

    #[test]
    fn id_then_model_then_driver_then_zero() {
        let ranker = PriorityRanker::new([("a", 3.0), ("m", 2.0), ("d", 1.0)]).unwrap();
        assert_eq!(
            score(&ranker, "a", "d", "m", false),
            (3.0, "set_by=candidate".to_owned())
        );
        assert_eq!(
            score(&ranker, "b", "d", "m", false),
            (2.0, "set_by=model".to_owned())
        );
        assert_eq!(
            score(&ranker, "b", "d", "n", false),
            (1.0, "set_by=driver".to_owned())
        );
        assert_eq!(
            score(&ranker, "b", "e", "n", false),
            (0.0, "set_by=nothing".to_owned())
        );
    }

    #[test]
    fn the_quality_list_counts_when_it_is_asked_for_and_not_empty() {
        let ranker = PriorityRanker::new([("a", 3.0)]).unwrap();
        assert_eq!(score(&ranker, "a", "d", "m", true).0, 3.0);
        let ranker = ranker.with_quality([("b", 9.0)]).unwrap();
        assert_eq!(score(&ranker, "a", "d", "m", true).0, 0.0);
        assert_eq!(score(&ranker, "b", "d", "m", true).0, 9.0);
        assert_eq!(score(&ranker, "a", "d", "m", false).0, 3.0);
    }

    #[test]
    fn only_finite_numbers_are_taken() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = PriorityRanker::new([("a", odd)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(PriorityRanker::default().with_quality([("a", odd)]).is_err());
        }
    }
}
