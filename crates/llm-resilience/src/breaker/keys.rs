//! Under which names a target's records are kept.

use super::decision::BreakerScope;
use llm_core::ModelId;
use std::sync::Arc;

/// Under which names the records of one target are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BreakerKeys {
    stack: Arc<str>,
    credential: Arc<str>,
    model: Option<ModelId>,
}

/// What one record of a stack is kept under.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Vendor,
    Credential(Arc<str>),
    Model(Option<ModelId>),
    CredentialAndModel(Arc<str>, Option<ModelId>),
}

impl BreakerKeys {
    pub(super) fn new(stack: Arc<str>, credential: Arc<str>, model: Option<ModelId>) -> Self {
        BreakerKeys {
            stack,
            credential,
            model,
        }
    }

    /// The vendor's name. All records of a decision belong to one, so a store may lock or shard by it.
    pub fn stack(&self) -> &str {
        &self.stack
    }

    /// The name of a record, among those of the same vendor. No two records have the same.
    pub fn name(&self, scope: BreakerScope) -> String {
        let word = scope.as_str();
        let credential = &self.credential;
        let model = self.model.as_ref().map_or("", ModelId::as_str);
        match scope {
            BreakerScope::Vendor => word.to_owned(),
            BreakerScope::Credential => format!("{word}:{credential}"),
            BreakerScope::Model => format!("{word}:{model}"),
            // The length tells where the first name ends, whatever it holds.
            BreakerScope::CredentialAndModel => {
                format!("{word}:{}:{credential}:{model}", credential.len())
            }
        }
    }

    /// The model, for logs.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_ref().map(ModelId::as_str)
    }

    pub(super) fn shared_stack(&self) -> &Arc<str> {
        &self.stack
    }

    pub(super) fn place(&self, scope: BreakerScope) -> Place {
        match scope {
            BreakerScope::Vendor => Place::Vendor,
            BreakerScope::Credential => Place::Credential(self.credential.clone()),
            BreakerScope::Model => Place::Model(self.model.clone()),
            BreakerScope::CredentialAndModel => {
                Place::CredentialAndModel(self.credential.clone(), self.model.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_records_have_the_same_name() {
        let mut names = HashSet::new();
        for (credential, model) in [("a", "b:c"), ("a:b", "c"), ("", "a:b:c"), ("a:b:c", "")] {
            let keys = BreakerKeys::new("s".into(), credential.into(), ModelId::new(model).ok());
            for scope in BreakerScope::ALL {
                names.insert(keys.name(scope));
            }
        }
        assert_eq!(names.len(), 1 + 3 * 4);
    }
}
