//! Which models there are and what is known of them: the shipped catalogue, what the caller added, and what the
//! host's live list named.
//!
//! The catalogue is generated (`cargo xtask catalog`); its source and date stand in `models.json`. How the endpoint
//! itself treats families of models stands in the wire format's dialect.

mod catalogue;
mod nearest;
pub(crate) mod shutdown;
#[cfg(test)]
mod tests;

use crate::config::{OpenAiConfig, UnknownModels};
use catalogue::Shipped;
use llm_core::model::Knob;
use llm_core::{Capability, Error, ErrorKind, ModelId, ReasoningEffort, ResolvedModel, Result, Support};
use llm_wire::chat_completions::Dialect;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

/// The model of requests that name none, at OpenAI: the cheapest current one with a published price.
const DEFAULT_MODEL: &str = "gpt-6-luna";

/// What one driver knows of models. Reads only memory.
#[derive(Debug)]
pub(crate) struct Models {
    entries: BTreeMap<ModelId, Entry>,
    /// The resolved default of requests that name no model.
    default: Option<ModelId>,
    unknown: UnknownModels,
    /// What may stand before a name: the driver's id and its vendor.
    prefixes: [String; 2],
    /// The names that the host listed at the last refresh.
    listed: RwLock<Arc<BTreeSet<ModelId>>>,
}

#[derive(Debug, Clone)]
enum Entry {
    Chat(Arc<ResolvedModel>),
    /// Known, but not to be chatted with here: why, and what to do.
    Refused(&'static str),
}

impl Models {
    /// What a driver of this configuration knows.
    pub(crate) fn new(config: &OpenAiConfig, dialect: &Dialect) -> Result<Self> {
        let mut entries = BTreeMap::new();
        if config.has_catalog() {
            for (id, shipped) in catalogue::shipped()? {
                entries.insert(id.clone(), entry_of(shipped, dialect));
            }
        }
        for (id, added) in &config.models {
            let known = match entries.get(id) {
                Some(Entry::Refused(_)) => continue,
                Some(Entry::Chat(known)) => ResolvedModel::clone(known),
                None => with_endpoint(ResolvedModel::unknown(id.clone()), dialect),
            };
            entries.insert(id.clone(), chat(added.overlay(known)));
        }
        let default = match &config.default_model {
            Some(named) => Some(named.clone()),
            None if config.has_catalog() => Some(ModelId::new(DEFAULT_MODEL)?),
            None => None,
        };
        let by_default = if config.has_catalog() {
            UnknownModels::Refuse
        } else {
            UnknownModels::Allow
        };
        Ok(Models {
            entries,
            default,
            unknown: config.unknown_models.unwrap_or(by_default),
            prefixes: [config.id.to_string(), config.vendor.to_string()],
            listed: RwLock::default(),
        })
    }

    /// Which model will serve a request that asks for this one, in this order: the exact name; the name without
    /// the driver's or vendor's prefix; a moving alias of a known model; what the configuration says of unknown
    /// ones.
    pub(crate) fn resolve(&self, asked: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
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
            let model = ResolvedModel::unknown(name.clone());
            return Ok(Arc::new(model.with_requested(Some(name.clone()))));
        }
        Err(self.unknown_model(name))
    }

    fn find(&self, name: &ModelId) -> Result<Option<Arc<ResolvedModel>>> {
        match self.entries.get(name) {
            Some(Entry::Chat(model)) => return Ok(Some(model.clone())),
            Some(Entry::Refused(why)) => {
                let error = Error::new(ErrorKind::Unsupported, format!("the model {name} {why}"));
                return Err(about(error, name));
            }
            None => {}
        }
        let listed = self.listed().contains(name);
        if !listed && !self.is_moving_alias(name) {
            return Ok(None);
        }
        let mut model = ResolvedModel::unknown(name.clone()).with_requested(Some(name.clone()));
        model.known = listed;
        Ok(Some(Arc::new(model)))
    }

    /// `gpt-5-latest` and the like: what it stands for changes, so nothing is known of it but that it is one.
    fn is_moving_alias(&self, name: &ModelId) -> bool {
        let stem = name.as_str().strip_suffix("-latest");
        let stem = stem.and_then(|stem| ModelId::new(stem).ok());
        stem.is_some_and(|stem| matches!(self.entries.get(&stem), Some(Entry::Chat(_))))
    }

    fn without_prefix(&self, name: &ModelId) -> Option<ModelId> {
        let (prefix, rest) = name.as_str().split_once('/')?;
        let ours = self.prefixes.iter().any(|ours| ours == prefix);
        ModelId::new(rest).ok().filter(|_| ours)
    }

    fn unknown_model(&self, name: &ModelId) -> Error {
        let chats = self.entries.iter().filter_map(|(id, entry)| match entry {
            Entry::Chat(_) => Some(id.as_str()),
            Entry::Refused(_) => None,
        });
        let bare = self.without_prefix(name);
        let nearest = nearest::nearest(bare.as_ref().unwrap_or(name).as_str(), chats);
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
    pub(crate) fn known(&self) -> Vec<Arc<ResolvedModel>> {
        let entries = self.entries.values().filter_map(|entry| match entry {
            Entry::Chat(model) => Some(model.clone()),
            Entry::Refused(_) => None,
        });
        entries.collect()
    }

    /// Keeps the names of the host's own list, in place of those of an earlier one.
    pub(crate) fn remember(&self, names: impl IntoIterator<Item = ModelId>) {
        let names = Arc::new(names.into_iter().collect());
        *self.listed.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    fn listed(&self) -> Arc<BTreeSet<ModelId>> {
        self.listed.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn entry_of(shipped: &Shipped, dialect: &Dialect) -> Entry {
    match shipped {
        Shipped::Chat(model) => chat(with_endpoint(ResolvedModel::clone(model), dialect)),
        Shipped::ResponsesOnly => Entry::Refused(
            "is served by the Responses API alone, which this driver does not speak; name another model",
        ),
        Shipped::Embedding => Entry::Refused("makes embeddings and does not chat; name a chat model"),
        Shipped::Transcription => Entry::Refused("transcribes speech and does not chat; name a chat model"),
        Shipped::Other => Entry::Refused("does not chat; name a chat model"),
    }
}

fn chat(model: ResolvedModel) -> Entry {
    let requested = Some(model.id.clone());
    Entry::Chat(Arc::new(model.with_requested(requested)))
}

/// Adds what the endpoint takes of this model, so that a router sees it before a request is made.
fn with_endpoint(mut model: ResolvedModel, dialect: &Dialect) -> ResolvedModel {
    let rule = dialect.rule_of(&model);
    if let Some(efforts) = rule.efforts {
        model.efforts = Some(efforts.to_vec());
    }
    let efforts = model.efforts.as_deref();
    let always_thinks =
        rule.reasons && efforts.is_some_and(|efforts| !efforts.contains(&ReasoningEffort::None));
    if always_thinks {
        model.rejects.push(Knob::ThinkingOff);
        if !rule.sampling_with_reasoning {
            model.rejects.push(Knob::Sampling);
        }
        if !rule.tools_with_reasoning && model.capabilities.support(Capability::Tools) != Support::No {
            model.capabilities = without_tools(model.capabilities);
        }
    }
    model
}

/// A model that never stops thinking, at an endpoint that takes tools only without thought.
fn without_tools(capabilities: llm_core::Capabilities) -> llm_core::Capabilities {
    capabilities
        .with(Capability::Tools, false)
        .with(Capability::ParallelTools, false)
}

fn about(mut error: Error, name: &ModelId) -> Error {
    error.vendor_mut().model = Some(name.clone());
    error
}
