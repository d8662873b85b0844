//! Classes of service. A request names one in the words of one vendor; another may know other words, and refuse what it
//! does not know.

/// The classes of service that a host knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServiceTiers {
    /// Nobody knows which: any word is sent, and the host decides.
    Any,
    /// These. Where there are none, the host has no classes of service.
    Only(&'static [&'static str]),
}

impl ServiceTiers {
    /// None at all.
    pub const NONE: ServiceTiers = ServiceTiers::Only(&[]);

    /// Why this one is not sent; `None`: it is.
    pub(crate) fn why_not(self, tier: &str) -> Option<String> {
        match self {
            ServiceTiers::Any => None,
            ServiceTiers::Only([]) => Some("is not sent: this host does not take it".to_owned()),
            ServiceTiers::Only(known) if known.contains(&tier) => None,
            ServiceTiers::Only(known) => Some(format!("is not sent: this host knows {}", known.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_another_vendor_is_not_sent() {
        let known = ServiceTiers::Only(&["auto", "flex"]);
        assert_eq!(known.why_not("flex"), None);
        let message = known.why_not("standard_only").unwrap();
        assert!(message.ends_with("this host knows auto, flex"), "{message}");
        assert_eq!(ServiceTiers::Any.why_not("standard_only"), None);
        assert!(ServiceTiers::NONE.why_not("auto").is_some());
    }
}
