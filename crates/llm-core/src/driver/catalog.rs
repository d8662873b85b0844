//! The list of models behind a driver.

use crate::context::CallContext;
use crate::error::Result;
use crate::model::{ModelEntry, ModelId, ResolvedModel};
use async_trait::async_trait;
use std::fmt::Debug;
use std::sync::Arc;

/// What models there are: shipped, added by the caller, and as the vendor lists them now.
#[async_trait]
pub trait ModelCatalog: Debug + Send + Sync + 'static {
    /// The models that are known without asking anybody.
    fn known(&self) -> Vec<Arc<ResolvedModel>>;

    /// Asks the vendor for its list.
    ///
    /// # Errors
    /// Any kind; nothing that was known is lost.
    async fn list(&self, cx: &CallContext) -> Result<Vec<CatalogModel>>;

    /// Asks the vendor and remembers the answer for `resolve`.
    ///
    /// # Errors
    /// Any kind; nothing that was known is lost.
    async fn refresh(&self, cx: &CallContext) -> Result<()>;
}

/// A model as the vendor lists it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CatalogModel {
    /// Its name.
    pub id: ModelId,
    /// When it came to be, in seconds since 1970.
    pub created: Option<u64>,
    /// Who made it, in the vendor's word.
    pub owned_by: Option<String>,
    /// What the host says of it; empty where it only names it.
    pub facts: ModelEntry,
}

impl CatalogModel {
    /// A model of this name.
    pub fn new(id: ModelId) -> Self {
        CatalogModel {
            id,
            created: None,
            owned_by: None,
            facts: ModelEntry::default(),
        }
    }

    /// What the host says of it.
    #[must_use]
    pub fn with_facts(mut self, facts: ModelEntry) -> Self {
        self.facts = facts;
        self
    }
}
