//! Which models a driver knows, and which of them serves a request: the shipped catalogue, what the caller added,
//! and what the host's live list named.

use super::nearest::nearest;
use super::{ModelEntry, ModelId, ResolvedModel};
use crate::capability::{Capabilities, Capability};
use crate::driver::CatalogModel;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What happens to a model that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownModels {
    /// It is refused, and the error names models that are known.
    Refuse,
    /// It is passed on as it is; of facts and price nothing is known but that its driver streams.
    Allow,
}

/// What one driver knows of models, and the rules by which a name finds one. Reads only memory.
///
/// ```
/// use llm_core::model::{ModelTable, UnknownModels};
/// use llm_core::{ModelId, ResolvedModel};
/// let mut small = ResolvedModel::unknown(ModelId::new("small")?);
/// small.known = true;
/// let table = ModelTable::new(UnknownModels::Refuse)
///     .with_prefixes(["acme"])
///     .with_model(small)
///     .with_refused(ModelId::new("ears")?, "transcribes speech and does not chat; name a chat model");
/// assert_eq!(table.resolve(Some(&ModelId::new("acme/small")?))?.id.as_str(), "small");
/// assert!(table.resolve(Some(&ModelId::new("ears")?)).is_err());
/// # Ok::<(), llm_core::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct ModelTable {
    entries: BTreeMap<ModelId, Entry>,
    /// The model of requests that name none.
    default: Option<ModelId>,
    unknown: UnknownModels,
    /// What may stand before a name.
    prefixes: Vec<String>,
    /// What the driver itself knows of a model that has no entry.
    unseen: fn(ResolvedModel) -> ResolvedModel,
    /// What the host listed at the last refresh.
    listed: RwLock<Arc<BTreeMap<ModelId, Arc<ResolvedModel>>>>,
}

#[derive(Debug, Clone)]
enum Entry {
    Usable(Arc<ResolvedModel>),
    /// Known, but not to be used here: why, and what to do.
    Refused(Cow<'static, str>),
}

impl ModelTable {
    /// Without any model yet.
    pub fn new(unknown: UnknownModels) -> Self {
        ModelTable {
            entries: BTreeMap::new(),
            default: None,
            unknown,
            prefixes: Vec::new(),
            unseen: |model| model,
            listed: RwLock::default(),
        }
    }

    /// What may stand before a name, with a slash after it: the driver's id and its vendor.
    pub fn with_prefixes(mut self, prefixes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.prefixes = prefixes.into_iter().map(Into::into).collect();
        self
    }

    /// The model of requests that name none. It is resolved like any other name.
    pub fn with_default(mut self, model: Option<ModelId>) -> Self {
        self.default = model;
        self
    }

    /// What the driver itself knows of a model that nobody stated facts of: one that is listed, a moving alias, or
    /// passed on as it is.
    pub fn with_unseen(mut self, facts: fn(ResolvedModel) -> ResolvedModel) -> Self {
        self.unseen = facts;
        self
    }

    /// One more model, in place of an earlier one of its name.
    pub fn with_model(mut self, model: ResolvedModel) -> Self {
        let (id, requested) = (model.id.clone(), Some(model.id.clone()));
        let model = Arc::new(model.with_requested(requested));
        self.entries.insert(id, Entry::Usable(model));
        self
    }

    /// One more model that is known but refused. `why` follows "the model NAME" and says what to do.
    pub fn with_refused(mut self, id: ModelId, why: impl Into<Cow<'static, str>>) -> Self {
        self.entries.insert(id, Entry::Refused(why.into()));
        self
    }

    /// Puts the caller's facts over those that are there, field by field. `new` says what the driver itself knows
    /// of a model that was not there before. Refused models stay refused.
    pub fn with_entries<'e>(
        mut self,
        entries: impl IntoIterator<Item = (&'e ModelId, &'e ModelEntry)>,
        new: impl Fn(ResolvedModel) -> ResolvedModel,
    ) -> Self {
        for (id, added) in entries {
            let known = match self.entries.get(id) {
                Some(Entry::Refused(_)) => continue,
                Some(Entry::Usable(known)) => ResolvedModel::clone(known),
                None => new(unseen(id.clone())),
            };
            self = self.with_model(added.overlay(known));
        }
        self
    }

    /// Which model will serve a request that asks for this one, in this order: the exact name; the name without a
    /// prefix of ours, where what is left is known; a moving alias (`…-latest`) of a known model; what was said
    /// of unknown ones.
    ///
    /// # Errors
    /// `Config`, when no model is named and there is no default; `Unsupported` for a refused one; `UnknownModel`,
    /// naming models that are known. The last two name the model.
    pub fn resolve(&self, asked: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let Some(name) = asked else {
            let Some(default) = &self.default else {
                let message = "the request names no model and no default is configured; name one, or set `default_model`";
                return Err(Error::new(ErrorKind::Config, message));
            };
            let model = ResolvedModel::clone(&*self.resolve_name(default)?);
            return Ok(Arc::new(model.with_requested(None)));
        };
        self.resolve_name(name)
    }

    fn resolve_name(&self, name: &ModelId) -> Result<Arc<ResolvedModel>> {
        if let Some(found) = self.find(name)? {
            return Ok(found);
        }
        // Only a name that is then known: hosts that route to several vendors have ids such as `openai/gpt-4o`.
        if let Some(rest) = self.without_prefix(name)
            && let Some(found) = self.find(&rest)?
        {
            let model = ResolvedModel::clone(&*found);
            return Ok(Arc::new(model.with_requested(Some(name.clone()))));
        }
        if self.unknown == UnknownModels::Allow {
            return Ok(Arc::new(self.unseen(name)));
        }
        Err(self.unknown_model(name))
    }

    fn find(&self, name: &ModelId) -> Result<Option<Arc<ResolvedModel>>> {
        let entry = self.entries.get(name);
        if let Some(Entry::Refused(why)) = entry {
            let error = Error::new(ErrorKind::Unsupported, format!("the model {name} {why}"));
            return Err(about(error, name));
        }
        if let Some(listed) = self.listed().get(name) {
            return Ok(Some(listed.clone()));
        }
        if let Some(Entry::Usable(model)) = entry {
            return Ok(Some(model.clone()));
        }
        Ok(self.is_moving_alias(name).then(|| Arc::new(self.unseen(name))))
    }

    /// `gpt-5-latest` and the like: what it stands for changes, so nothing is known of it but that it is one.
    fn is_moving_alias(&self, name: &ModelId) -> bool {
        let stem = name.as_str().strip_suffix("-latest");
        let stem = stem.and_then(|stem| ModelId::new(stem).ok());
        stem.is_some_and(|stem| matches!(self.entries.get(&stem), Some(Entry::Usable(_))))
    }

    fn without_prefix(&self, name: &ModelId) -> Option<ModelId> {
        let (prefix, rest) = name.as_str().split_once('/')?;
        let ours = self.prefixes.iter().any(|ours| ours == prefix);
        ModelId::new(rest).ok().filter(|_| ours)
    }

    fn unknown_model(&self, name: &ModelId) -> Error {
        // Nobody should move to a model whose end is announced.
        let usable = self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Usable(model) if model.deprecated_on.is_none() => Some(id.as_str()),
            Entry::Usable(_) | Entry::Refused(_) => None,
        });
        let bare = self.without_prefix(name);
        let nearest = nearest(bare.as_ref().unwrap_or(name).as_str(), usable);
        let known = if nearest.is_empty() {
            "no model is known".to_owned()
        } else {
            format!("known are for example {}", nearest.join(", "))
        };
        let message =
            format!("the model {name} is not known; {known}; `unknown_models: allow` passes any name on");
        about(Error::new(ErrorKind::UnknownModel, message), name)
    }

    /// The models that can be asked without asking the host which there are.
    pub fn known(&self) -> Vec<Arc<ResolvedModel>> {
        let entries = self.entries.values().filter_map(|entry| match entry {
            Entry::Usable(model) => Some(model.clone()),
            Entry::Refused(_) => None,
        });
        entries.collect()
    }

    /// Keeps the host's own list, in place of an earlier one. What it says of a model fills in what the shipped catalogue
    /// and the caller leave open; refused models stay refused.
    pub fn remember(&self, listed: impl IntoIterator<Item = CatalogModel>) {
        let resolved = listed.into_iter().map(|listed| {
            let model = match self.entries.get(&listed.id) {
                Some(Entry::Usable(known)) => listed.facts.underlay(ResolvedModel::clone(known)),
                _ => listed.facts.overlay(self.unseen(&listed.id)),
            };
            (listed.id, Arc::new(model))
        });
        let listed = Arc::new(resolved.collect());
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = listed;
    }

    fn listed(&self) -> Arc<BTreeMap<ModelId, Arc<ResolvedModel>>> {
        self.listed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A model that is passed on unseen: nothing is known of it but that its driver streams, and what else the driver
    /// knows of any.
    fn unseen(&self, name: &ModelId) -> ResolvedModel {
        (self.unseen)(unseen(name.clone())).with_requested(Some(name.clone()))
    }
}

fn about(mut error: Error, name: &ModelId) -> Error {
    error.vendor_mut().model = Some(name.clone());
    error
}

fn unseen(id: ModelId) -> ResolvedModel {
    let capabilities = Capabilities::unknown().with(Capability::Streaming, true);
    ResolvedModel::unknown(id).with_capabilities(capabilities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_a_model_whose_end_is_announced() {
        let model = |name: &str, end: Option<&str>| {
            let mut model = ResolvedModel::unknown(ModelId::new(name).unwrap());
            model.deprecated_on = end.map(str::to_owned);
            model
        };
        let table = ModelTable::new(UnknownModels::Refuse)
            .with_model(model("chat-1", Some("2026-07-01")))
            .with_model(model("chat-2", None));
        let error = table.resolve(Some(&ModelId::new("chat-3").unwrap())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownModel);
        assert!(error.message().contains("for example chat-2;"), "{error}");
    }
}
