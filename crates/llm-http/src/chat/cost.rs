//! What a call costs, where the vendor does not say it.

use llm_core::{CallContext, Capability, ChatRequest, Price, ResolvedModel, Usage, capability};
use std::sync::Arc;
use std::time::SystemTime;

/// What the cost depends on beside the usage.
#[derive(Debug)]
pub(super) struct CostRule {
    model: Arc<ResolvedModel>,
    /// What goes before the model's usual price; `Some(None)`: nobody knows.
    instead: Option<Option<Box<Price>>>,
    /// When the call was sent, where the price depends on that.
    sent: Option<SystemTime>,
    /// The class of service that was asked for.
    asked_tier: Option<String>,
}

impl CostRule {
    /// `instead` goes before the model's usual price. Prices that depend on the hour or the day are those of now, when
    /// the call is sent.
    pub(super) fn new(
        cx: &CallContext,
        request: &ChatRequest,
        model: &Arc<ResolvedModel>,
        instead: Option<Option<Box<Price>>>,
    ) -> Self {
        // Sound is counted in tokens of another price, which no catalogue row has.
        let hears = || capability::needs(request).contains(&Capability::AudioInput);
        let mut rule = CostRule {
            model: model.clone(),
            instead: instead.or_else(|| hears().then_some(None)),
            sent: None,
            asked_tier: request.service_tier.clone(),
        };
        if rule.price().is_some_and(Price::depends_on_time) {
            rule.sent = Some(cx.clock().wall());
        }
        rule
    }

    /// The price, whatever the time; absent: nobody knows.
    fn price(&self) -> Option<&Price> {
        match &self.instead {
            Some(price) => price.as_deref(),
            None => self.model.price.as_ref(),
        }
    }

    /// Adds what it cost, where it is not there: for the standard class of service alone, since the catalogue has no
    /// other prices.
    pub(super) fn apply(&self, usage: &mut Usage, served_tier: Option<&str>) {
        let tier = served_tier.or(self.asked_tier.as_deref()).unwrap_or("default");
        let standard = !matches!(
            tier,
            "flex" | "priority" | "fast" | "scale" | "batch" | "performance"
        );
        if usage.cost.is_none() && standard {
            usage.cost = self.price().and_then(|price| match self.sent {
                Some(sent) => price.at(sent).cost(usage),
                None => price.cost(usage),
            });
        }
    }
}
