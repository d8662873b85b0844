//! What a caller's model name means: chains, tiers, backends, models of a driver.

use crate::backend::Backend;
use crate::config::Config;
use llm_suite::core::{Error, ErrorKind, ModelId, Result};
use llm_suite::routing::Candidate;
use std::collections::BTreeMap;

/// Where the names of a configuration lead.
#[derive(Debug)]
pub(crate) struct Routes {
    backends: BTreeMap<String, Backend>,
    tiers: BTreeMap<String, Vec<String>>,
    chains: BTreeMap<String, Vec<String>>,
}

/// The candidates for one request, in order, and the chain's entries they belong to.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) candidates: Vec<Candidate>,
    /// The chain's entries; a candidate's group is the place of its entry.
    pub(crate) entries: Vec<String>,
}

impl Route {
    /// The place in the chain and the entry's name of a candidate.
    pub(crate) fn entry_of(&self, candidate: &str) -> (u32, Option<&str>) {
        let found = self.candidates.iter().find(|one| one.id() == candidate);
        let position = found.map_or(0, Candidate::group);
        (position, self.entries.get(position as usize).map(String::as_str))
    }
}

impl Routes {
    pub(crate) fn new(config: &Config, backends: Vec<Backend>) -> Self {
        Routes {
            backends: backends
                .into_iter()
                .map(|backend| (backend.id.to_string(), backend))
                .collect(),
            tiers: config.tiers.clone(),
            chains: config.chains.clone(),
        }
    }

    pub(crate) fn backends(&self) -> impl Iterator<Item = &Backend> {
        self.backends.values()
    }

    pub(crate) fn tiers(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.tiers.iter()
    }

    pub(crate) fn chains(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.chains.iter()
    }

    /// Reads a model name, in this order: `chain:a,b`, `role:NAME`, `backend:ID`, a tier, a backend,
    /// `driver/model`.
    ///
    /// # Errors
    /// `UnknownModel`, saying which names there are.
    pub(crate) fn resolve(&self, name: &str) -> Result<Route> {
        if let Some(list) = name.strip_prefix("chain:") {
            let entries = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
            return self.chain(name, entries.map(str::to_owned).collect());
        }
        if let Some(role) = name.strip_prefix("role:") {
            let entries = self.chains.get(role).ok_or_else(|| self.unknown(name))?;
            return self.chain(name, entries.clone());
        }
        if let Some(id) = name.strip_prefix("backend:") {
            let backend = self.backends.get(id).ok_or_else(|| self.unknown(name))?;
            return Ok(Route {
                candidates: vec![candidate(backend, 0)],
                entries: vec![id.to_owned()],
            });
        }
        if self.tiers.contains_key(name) || self.backends.contains_key(name) {
            return self.chain(name, vec![name.to_owned()]);
        }
        self.model_of_driver(name)
    }

    /// Nothing is asked twice in one call: a backend that stands in two entries belongs to the first.
    fn chain(&self, name: &str, entries: Vec<String>) -> Result<Route> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for (position, entry) in entries.iter().enumerate() {
            let members = match self.tiers.get(entry) {
                Some(members) => members.as_slice(),
                None => std::slice::from_ref(entry),
            };
            for member in members {
                let backend = self.backends.get(member).ok_or_else(|| self.unknown(member))?;
                if candidates.iter().all(|earlier| earlier.id() != &*backend.id) {
                    candidates.push(candidate(backend, position));
                }
            }
        }
        if candidates.is_empty() {
            Err(self.unknown(name))
        } else {
            Ok(Route { candidates, entries })
        }
    }

    /// `driver/model`: every backend of that driver, asked for exactly this model.
    fn model_of_driver(&self, name: &str) -> Result<Route> {
        let (driver, model) = name.split_once('/').ok_or_else(|| self.unknown(name))?;
        let model = ModelId::new(model)?;
        let of_driver = self.backends.values().filter(|backend| backend.driver == driver);
        let candidates: Vec<_> = of_driver
            .map(|backend| candidate(backend, 0).with_model(model.clone()))
            .collect();
        if candidates.is_empty() {
            Err(self.unknown(name))
        } else {
            Ok(Route {
                candidates,
                entries: vec![name.to_owned()],
            })
        }
    }

    fn unknown(&self, name: &str) -> Error {
        let listed = |names: Vec<String>| {
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        };
        let roles = listed(self.chains.keys().map(|role| format!("role:{role}")).collect());
        let message = format!(
            "no such model here: {:?}; backends: {}; tiers: {}; chains: {roles}",
            name.chars().take(100).collect::<String>(),
            listed(self.backends.keys().cloned().collect()),
            listed(self.tiers.keys().cloned().collect()),
        );
        Error::new(ErrorKind::UnknownModel, message)
    }
}

fn candidate(backend: &Backend, position: usize) -> Candidate {
    Candidate::new(backend.id.clone(), backend.stack.clone())
        .with_model(backend.model.clone())
        .with_group(u32::try_from(position).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_driver_testkit::ScriptedDriver;
    use std::sync::Arc;

    fn routes() -> Routes {
        let backend = |id: &str| Backend {
            id: id.into(),
            driver: "openai",
            stack: Arc::new(ScriptedDriver::new("openai", [])),
            model: Some(ModelId::new(format!("model-of-{id}")).unwrap()),
        };
        let mut config = Config::default();
        config.tiers.insert("fast".into(), vec!["a".into(), "b".into()]);
        config
            .chains
            .insert("main".into(), vec!["fast".into(), "c".into(), "a".into()]);
        Routes::new(&config, ["a", "b", "c"].into_iter().map(backend).collect())
    }

    fn plan(name: &str) -> Vec<(String, u32, String)> {
        let route = routes().resolve(name).unwrap();
        let of = |one: &Candidate| (one.id().to_owned(), one.group(), one.model().unwrap().to_string());
        route.candidates.iter().map(of).collect()
    }

    fn row(id: &str, group: u32, model: &str) -> (String, u32, String) {
        (id.to_owned(), group, model.to_owned())
    }

    #[test]
    fn every_form_of_a_name_leads_where_it_says() {
        assert_eq!(plan("b"), [row("b", 0, "model-of-b")]);
        assert_eq!(plan("backend:b"), [row("b", 0, "model-of-b")]);
        assert_eq!(
            plan("fast"),
            [row("a", 0, "model-of-a"), row("b", 0, "model-of-b")]
        );
        assert_eq!(
            plan("chain: c, ,b"),
            [row("c", 0, "model-of-c"), row("b", 1, "model-of-b")]
        );
        let main = [
            row("a", 0, "model-of-a"),
            row("b", 0, "model-of-b"),
            row("c", 1, "model-of-c"),
        ];
        assert_eq!(
            plan("role:main"),
            main,
            "a stands in two entries and is asked once"
        );
        assert_eq!(plan("openai/x/y:z")[0], row("a", 0, "x/y:z"));
    }

    #[test]
    fn what_leads_nowhere_says_what_there_is() {
        for name in [
            "nope",
            "role:nope",
            "backend:nope",
            "chain:",
            "chain:a,nope",
            "mistral/x",
            "backend:fast",
        ] {
            let error = routes().resolve(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownModel, "{name}");
            assert!(error.message().contains("role:main"), "{}", error.message());
        }
        let error = routes().resolve("chain:a,nope,b").unwrap_err();
        assert!(error.message().contains("\"nope\""), "{}", error.message());
        if let Ok(route) = routes().resolve("chain:a,b") {
            assert_eq!(route.candidates.len(), 2);
        }
    }
}
