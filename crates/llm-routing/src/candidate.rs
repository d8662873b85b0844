//! What a plan may use: one stack with one model.

use foldhash::{HashSet, HashSetExt};
use llm_core::error::{Error, ErrorKind, Result};
use llm_core::{Availability, ChatDriver, ModelId, Price, ResolvedModel};
use std::fmt;
use std::sync::Arc;

/// One (stack, model) that a plan may use. Cheap to clone.
///
/// A candidate with a model of its own is always asked for that one; a candidate without one is asked for
/// whatever the request names, else for its stack's default.
#[derive(Clone)]
pub struct Candidate(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    id: Arc<str>,
    name: Option<Arc<str>>,
    stack: Arc<dyn ChatDriver>,
    model: Option<ModelId>,
    group: u32,
    tags: Vec<Arc<str>>,
    context_window: Option<u64>,
    price: Option<Price>,
}

impl Candidate {
    /// A stack under this id, in group 0, without a model of its own.
    ///
    /// Ids are what decisions, logs and metrics speak of: they are unique among the candidates of one
    /// decision, not empty, at most 128 characters, without control characters. The engine checks that.
    pub fn new(id: impl Into<Arc<str>>, stack: Arc<dyn ChatDriver>) -> Self {
        Candidate(Arc::new(Inner {
            id: id.into(),
            name: None,
            stack,
            model: None,
            group: 0,
            tags: Vec::new(),
            context_window: None,
            price: None,
        }))
    }

    /// A name for people, where the id is not one.
    #[must_use]
    pub fn with_name(self, name: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.name = Some(name.into()))
    }

    /// The one model it serves, in place of whatever the request names.
    #[must_use]
    pub fn with_model(self, model: impl Into<Option<ModelId>>) -> Self {
        self.change(|inner| inner.model = model.into())
    }

    /// Its place in the plan: all of a lower group come before all of a higher one, whatever their scores.
    #[must_use]
    pub fn with_group(self, group: u32) -> Self {
        self.change(|inner| inner.group = group)
    }

    /// One more word that constraints and rankers may look for.
    #[must_use]
    pub fn with_tag(self, tag: impl Into<Arc<str>>) -> Self {
        self.change(|inner| inner.tags.push(tag.into()))
    }

    /// The context window in tokens, in place of what its stack says.
    #[must_use]
    pub fn with_context_window(self, tokens: u64) -> Self {
        self.change(|inner| inner.context_window = Some(tokens))
    }

    /// The price, in place of what its stack says.
    #[must_use]
    pub fn with_price(self, price: Price) -> Self {
        self.change(|inner| inner.price = Some(price))
    }

    /// What decisions, logs and metrics call it.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The id, shared.
    pub(crate) fn shared_id(&self) -> &Arc<str> {
        &self.0.id
    }

    /// The name, else the id, shared.
    pub(crate) fn shared_name(&self) -> &Arc<str> {
        self.0.name.as_ref().unwrap_or(&self.0.id)
    }

    /// The name, where it was given one.
    pub(crate) fn given_name(&self) -> Option<&Arc<str>> {
        self.0.name.as_ref()
    }

    /// What people call it: its name, else its id.
    pub fn name(&self) -> &str {
        self.shared_name()
    }

    /// What is called.
    pub fn stack(&self) -> &Arc<dyn ChatDriver> {
        &self.0.stack
    }

    /// The model of its own, if it has one.
    pub fn model(&self) -> Option<&ModelId> {
        self.0.model.as_ref()
    }

    /// Its place in the plan.
    pub fn group(&self) -> u32 {
        self.0.group
    }

    /// The words it was tagged with.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.0.tags.iter().map(|tag| &**tag)
    }

    /// Does it carry this word?
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags().any(|mine| mine == tag)
    }

    /// Which model it would serve such a request with: its own, else the named one, else its stack's
    /// default. Reads only memory.
    ///
    /// # Errors
    /// What the stack says: `UnknownModel`, or `Config` when there is no default.
    pub fn resolve(&self, named: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let mut resolved = self.0.stack.resolve(self.model().or(named))?;
        if self.0.context_window.is_some() || self.0.price.is_some() {
            let facts = Arc::make_mut(&mut resolved);
            if self.0.context_window.is_some() {
                facts.limits.context_window = self.0.context_window;
            }
            if self.0.price.is_some() {
                facts.price = self.0.price.clone();
            }
        }
        Ok(resolved)
    }

    /// Is the model it would serve with, `resolved`, the one that the request names?
    ///
    /// Names are compared as they stand and then as the stack resolves them, so that a vendor's prefix or
    /// an alias that the stack understands still matches.
    pub(crate) fn serves(&self, named: &ModelId, resolved: &ResolvedModel) -> bool {
        self.model().is_none_or(|own| {
            own == named
                || self
                    .0
                    .stack
                    .resolve(Some(named))
                    .is_ok_and(|of_name| of_name.id == resolved.id)
        })
    }

    /// May it be called now? Reads only memory.
    pub(crate) fn availability(
        &self,
        asked: Option<&ModelId>,
        resolved: Option<&ResolvedModel>,
    ) -> Availability {
        match resolved.map(|resolved| &resolved.id).or(asked) {
            Some(model) => self.0.stack.availability(model),
            // nothing to ask about: the call itself will say
            None => Availability::Available,
        }
    }

    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("id", &self.0.id)
            .field("model", &self.0.model)
            .field("group", &self.0.group)
            .field("stack", &format_args!("{}", self.0.stack.info()))
            .finish_non_exhaustive()
    }
}

/// Checks what a decision is made over.
///
/// # Errors
/// `Config`, when there are no candidates, when an id is not one, or when two are alike.
pub(crate) fn check_candidates(candidates: &[Candidate]) -> Result<()> {
    if candidates.is_empty() {
        let message = "there are no candidates to route over; give at least one";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let mut seen = HashSet::with_capacity(candidates.len());
    for candidate in candidates {
        let id = candidate.id();
        if id.trim().is_empty() || id.chars().count() > 128 || id.chars().any(char::is_control) {
            let start: String = id.chars().take(40).collect();
            let message = format!(
                "a candidate's id is 1 to 128 characters without control characters; {start:?} begins one that is not"
            );
            return Err(Error::new(ErrorKind::Config, message));
        }
        if !seen.insert(id) {
            let message = format!("two candidates have the id {id:?}; ids must be unique");
            return Err(Error::new(ErrorKind::Config, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_driver::{TestDriver, model};

    fn candidate(id: &str) -> Candidate {
        Candidate::new(id, TestDriver::new("test").serving("m").shared())
    }

    #[test]
    fn none_and_doubles_and_empty_ids_are_refused() {
        for (candidates, word) in [
            (vec![], "no candidates"),
            (vec![candidate("a"), candidate("a")], "unique"),
            (vec![candidate(" ")], "1 to 128"),
            (vec![candidate("a\nb")], "1 to 128"),
        ] {
            let error = check_candidates(&candidates).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.message().contains(word), "{error}");
        }
        check_candidates(&[candidate("a"), candidate("b")]).unwrap();
    }

    #[test]
    fn overrides_replace_what_the_stack_says() {
        let price = Price::default();
        let candidate = candidate("a").with_context_window(8).with_price(price.clone());
        let resolved = candidate.resolve(Some(&model("m"))).unwrap();
        assert_eq!(resolved.limits.context_window, Some(8));
        assert_eq!(resolved.price, Some(price));
        // the stack's own answer is untouched
        assert_eq!(
            candidate.stack().resolve(None).unwrap().limits.context_window,
            None
        );
    }

    #[test]
    fn own_model_is_served_whatever_is_named() {
        let driver = TestDriver::new("test").serving("m").serving("other").shared();
        let candidate = Candidate::new("a", driver).with_model(model("m"));
        assert_eq!(candidate.resolve(Some(&model("other"))).unwrap().id, model("m"));
    }

    #[test]
    fn names_are_compared_as_the_stack_resolves_them() {
        let candidate = candidate("a").with_model(model("m"));
        let resolved = candidate.resolve(None).unwrap();
        assert!(candidate.serves(&model("m"), &resolved));
        assert!(
            candidate.serves(&model("test/m"), &resolved),
            "a prefix that the driver strips"
        );
        assert!(!candidate.serves(&model("foreign/m"), &resolved));
    }

    #[test]
    fn debug_shows_the_stack_by_its_layers() {
        let printed = format!("{:?}", candidate("a").with_tag("eu").with_name("A"));
        assert!(printed.contains("stack: test"), "{printed}");
    }
}
