//! What a call costs, where the vendor does not say it.

use llm_core::{CallContext, Capability, ChatRequest, Price, ResolvedModel, Usage, Warning, capability};
use std::sync::Arc;
use std::time::SystemTime;

/// What vendors call the class of service whose prices are in the catalogue, and a choice that is left to them.
/// The answer says what became of such a choice. Any other word is that of another class, with prices of its own.
///
/// Sources: the wire notes of the vendors (`service_tier`, `serviceTier`), state of 2026-11-29.
const STANDARD: [&str; 6] = [
    "default",
    "auto",
    "standard",
    "standard_only",
    "on_demand",
    "unspecified",
];

/// What the cost depends on beside the usage.
#[derive(Debug)]
pub(super) struct CostRule {
    model: Arc<ResolvedModel>,
    /// What goes before the model's usual price; `Some(None)`: nobody knows.
    instead: Option<Option<Box<Price>>>,
    /// When the call was sent, where the price depends on that.
    sent: Option<SystemTime>,
    /// The class of service that the vendor was asked for.
    asked_tier: Option<String>,
}

impl CostRule {
    /// `instead` goes before the model's usual price. Prices that depend on the hour or the day are those of now, when
    /// the call is sent. A class of service that the `warnings` name was not asked for.
    pub(super) fn new(
        cx: &CallContext,
        request: &ChatRequest,
        model: &Arc<ResolvedModel>,
        instead: Option<Option<Box<Price>>>,
        warnings: &[Warning],
    ) -> Self {
        // Sound is counted in tokens of another price, which no catalogue row has.
        let hears = || capability::needs(request).contains(&Capability::AudioInput);
        let tier_is_sent = !warnings.iter().any(|warning| warning.field == "service_tier");
        let mut rule = CostRule {
            model: model.clone(),
            instead: instead.or_else(|| hears().then_some(None)),
            sent: None,
            asked_tier: request.service_tier.clone().filter(|_| tier_is_sent),
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
        let tier = served_tier.or(self.asked_tier.as_deref());
        let standard = tier.is_none_or(|tier| STANDARD.iter().any(|word| tier.eq_ignore_ascii_case(word)));
        if usage.cost.is_none() && standard {
            usage.cost = self.price().and_then(|price| match self.sent {
                Some(sent) => price.at(sent).cost(usage),
                None => price.cost(usage),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_core::ModelId;

    /// Is there a cost, with this class of service asked for, sent or not, and that one served?
    fn is_priced(asked: Option<&str>, sent: bool, served: Option<&str>) -> bool {
        let mut price = Price::default();
        price.rates.input = Some(1_000_000);
        price.rates.output = Some(1_000_000);
        let model = ResolvedModel::unknown(ModelId::new("m").unwrap()).with_price(price);
        let mut request = ChatRequest::user("hi");
        request.service_tier = asked.map(str::to_owned);
        let warning = Warning::option("service_tier", "is not sent: this host does not take it");
        let warnings = if sent { vec![] } else { vec![warning] };
        let rule = CostRule::new(
            &CallContext::new(crate::shared_clock()),
            &request,
            &Arc::new(model),
            None,
            &warnings,
        );
        let mut usage = Usage::default();
        (usage.input_tokens, usage.output_tokens) = (Some(3), Some(4));
        rule.apply(&mut usage, served);
        usage.cost.is_some()
    }

    #[test]
    fn words_for_the_usual_class_have_the_usual_price() {
        for tier in STANDARD {
            assert!(is_priced(Some(tier), true, None), "{tier}");
            assert!(is_priced(Some("flex"), true, Some(tier)), "{tier}");
        }
        assert!(is_priced(None, true, None));
        assert!(is_priced(None, true, Some("STANDARD")));
    }

    #[test]
    fn any_other_word_is_a_class_of_unknown_price() {
        for tier in [
            "flex",
            "priority",
            "fast",
            "scale",
            "batch",
            "performance",
            "ultrafast",
            "reserved",
            "new",
        ] {
            assert!(!is_priced(Some(tier), true, None), "{tier}");
            assert!(!is_priced(None, true, Some(tier)), "{tier}");
            assert!(!is_priced(Some("default"), true, Some(tier)), "{tier}");
        }
    }

    #[test]
    fn a_class_that_was_not_asked_for_changes_no_price() {
        assert!(is_priced(Some("flex"), false, None));
        assert!(!is_priced(Some("flex"), false, Some("priority")));
    }
}
