//! What several models can do together.

use llm_core::{ModelId, ReasoningEffort, ResolvedModel};
use std::sync::Arc;

/// What these can do together, under the id they all have, else the name that was asked for; `None`: there
/// are none.
pub(super) fn of(models: Vec<Arc<ResolvedModel>>, named: &ModelId) -> Option<ResolvedModel> {
    models.into_iter().map(Arc::unwrap_or_clone).reduce(|all, one| {
        let mut both = all.clone();
        if all.id != one.id {
            both.id = named.clone();
        }
        both.known = all.known || one.known;
        both.capabilities = all.capabilities.union(one.capabilities);
        both.limits.context_window = largest(all.limits.context_window, one.limits.context_window);
        both.limits.max_input = largest(all.limits.max_input, one.limits.max_input);
        both.limits.max_output = largest(all.limits.max_output, one.limits.max_output);
        both.price = all.price.filter(|price| one.price.as_ref() == Some(price));
        both.efforts = either(all.efforts, one.efforts);
        // what only some reject or ignore, another may take
        both.rejects.retain(|knob| one.rejects.contains(knob));
        both.ignores.retain(|knob| one.ignores.contains(knob));
        if all.deprecated_on != one.deprecated_on {
            both.deprecated_on = None;
        }
        both
    })
}

/// An unknown limit may be the largest, so it stays unknown.
fn largest(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.max(b?))
}

fn either(a: Option<Vec<ReasoningEffort>>, b: Option<Vec<ReasoningEffort>>) -> Option<Vec<ReasoningEffort>> {
    let (mut all, more) = (a?, b?);
    all.extend(more);
    all.sort_unstable();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_driver::model;
    use llm_core::model::Knob;
    use llm_core::{Capabilities, Capability, ModelLimits, Price, Support};

    fn one(id: &str, window: Option<u64>) -> ResolvedModel {
        ResolvedModel::unknown(model(id)).with_limits(ModelLimits::new(window, None, Some(10)))
    }

    fn union(models: [ResolvedModel; 2]) -> ResolvedModel {
        of(models.map(Arc::new).to_vec(), &model("asked")).unwrap()
    }

    #[test]
    fn abilities_and_limits_are_the_best_of_any() {
        let mut a = one("a", Some(100)).with_capabilities(Capabilities::only([Capability::Tools]));
        a.efforts = Some(vec![ReasoningEffort::High]);
        a.rejects = vec![Knob::Sampling, Knob::Prefill];
        let mut b = one("b", Some(200)).with_capabilities(Capabilities::unknown());
        b.efforts = Some(vec![ReasoningEffort::Low]);
        b.rejects = vec![Knob::Prefill];
        let both = union([a, b]);
        assert_eq!(both.id, model("asked"));
        assert_eq!(both.capabilities.support(Capability::Tools), Support::Yes);
        assert_eq!(both.capabilities.support(Capability::Vision), Support::Unknown);
        assert_eq!(both.limits, ModelLimits::new(Some(200), None, Some(10)));
        assert_eq!(
            both.efforts,
            Some(vec![ReasoningEffort::Low, ReasoningEffort::High])
        );
        assert_eq!(both.rejects, [Knob::Prefill]);
    }

    #[test]
    fn unknown_limits_stay_unknown_and_a_common_price_and_id_stay() {
        let price = Price::default();
        let a = one("same", None).with_price(price.clone());
        let b = one("same", Some(5)).with_price(price.clone());
        let both = union([a.clone(), b]);
        assert_eq!(
            (both.id, both.limits.context_window, both.price),
            (model("same"), None, Some(price))
        );
        assert_eq!(union([a, one("same", None)]).price, None);
        assert!(of(vec![], &model("asked")).is_none());
    }
}
