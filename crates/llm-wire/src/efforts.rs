//! The levels of thought that can be asked of a model.

use llm_core::model::Knob;
use llm_core::{Capability, ReasoningEffort, ResolvedModel, Support};

/// The levels that can be sent, of those that the format takes for this model where that is known (`taken`); `None`:
/// unknown.
pub(crate) fn offered(
    model: &ResolvedModel,
    taken: Option<&[ReasoningEffort]>,
) -> Option<Vec<ReasoningEffort>> {
    let mut offered = match (&model.efforts, taken) {
        (Some(listed), Some(taken)) if !listed.is_empty() => {
            let mut both = taken.to_vec();
            both.retain(|level| listed.contains(level));
            if both.is_empty() { taken.to_vec() } else { both }
        }
        (Some(listed), _) => listed.clone(),
        (None, Some(taken)) => taken.to_vec(),
        (None, None) if model.capabilities.support(Capability::Reasoning) == Support::No => Vec::new(),
        (None, None) => return None,
    };
    if model.rejects(Knob::ThinkingOff) {
        offered.retain(|level| *level != ReasoningEffort::None);
    }
    Some(offered)
}
