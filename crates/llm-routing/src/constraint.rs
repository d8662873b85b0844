//! Constraints reject candidates. Every rejection is kept, not only the first.

mod candidate_model;
mod capability;
mod context_window;
mod model;
mod quota;

use crate::facts::Facts;
use crate::pairing::Pairing;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

pub use candidate_model::CandidateModelConstraint;
pub use capability::CapabilityConstraint;
pub use context_window::ContextWindowConstraint;
pub use model::ModelConstraint;
pub use quota::QuotaConstraint;

/// Rejects candidates that cannot serve a request.
///
/// A constraint passes by saying nothing. What is *unknown* passes too, with a note: only what is known to
/// be missing rejects.
///
/// ```
/// use llm_routing::{Constraint, Facts, Findings, Pairing};
///
/// /// Only candidates tagged `eu`.
/// #[derive(Debug)]
/// struct InEurope;
///
/// impl Constraint for InEurope {
///     fn name(&self) -> &str {
///         "in_europe"
///     }
///     fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
///         if !pairing.candidate.has_tag("eu") {
///             findings.reject("outside_europe", "it is not tagged eu", Facts::default());
///         }
///     }
/// }
/// ```
pub trait Constraint: Debug + Send + Sync + 'static {
    /// What decisions call it.
    fn name(&self) -> &str;

    /// Judges one pairing. It reads only memory.
    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>);

    /// How many tokens of input the candidate takes, where this constraint goes by another figure than the model's own. The
    /// executor goes by it too, when an input was too long for somebody. Nothing by default.
    fn input_limit(&self, pairing: &Pairing<'_>) -> Option<u64> {
        let _ = pairing;
        None
    }
}

impl<C: Constraint + ?Sized> Constraint for Arc<C> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn check(&self, pairing: &Pairing<'_>, findings: &mut Findings<'_>) {
        (**self).check(pairing, findings);
    }
    fn input_limit(&self, pairing: &Pairing<'_>) -> Option<u64> {
        (**self).input_limit(pairing)
    }
}

/// Where one constraint writes what it found.
#[derive(Debug)]
pub struct Findings<'a> {
    constraint: &'a str,
    rejections: Vec<CandidateRejection>,
    notes: Vec<Note>,
}

impl<'a> Findings<'a> {
    /// Nothing found yet by the constraint of this name.
    pub fn new(constraint: &'a str) -> Self {
        Findings {
            constraint,
            rejections: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The candidate cannot serve. The code is for programs, the description for people.
    pub fn reject(
        &mut self,
        code: impl Into<Cow<'static, str>>,
        description: impl Into<String>,
        facts: Facts,
    ) {
        self.rejections.push(CandidateRejection {
            constraint: self.constraint.to_owned(),
            code: code.into(),
            description: description.into(),
            facts,
        });
    }

    /// The candidate passes, but something should be known about it.
    pub fn note(&mut self, code: impl Into<Cow<'static, str>>, description: impl Into<String>) {
        self.notes.push(Note::new(self.constraint, code, description));
    }

    /// Why the candidate cannot serve; none: it passes.
    pub fn rejections(&self) -> &[CandidateRejection] {
        &self.rejections
    }

    /// What should be known.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rejections.is_empty() && self.notes.is_empty()
    }

    pub(crate) fn into_parts(self) -> (Vec<CandidateRejection>, Vec<Note>) {
        (self.rejections, self.notes)
    }
}

/// One reason why a candidate cannot serve a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CandidateRejection {
    /// Which constraint said so; a ranker's name where a score failed.
    pub constraint: String,
    /// The reason, for programs: `model_mismatch`, `missing_tools`, …
    pub code: Cow<'static, str>,
    /// The reason, for people.
    pub description: String,
    /// The figures behind it.
    pub facts: Facts,
}

impl CandidateRejection {
    /// A reason.
    pub fn new(
        constraint: impl Into<String>,
        code: impl Into<Cow<'static, str>>,
        description: impl Into<String>,
        facts: Facts,
    ) -> Self {
        CandidateRejection {
            constraint: constraint.into(),
            code: code.into(),
            description: description.into(),
            facts,
        }
    }
}

/// Something to know about a candidate that was not rejected for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Note {
    /// Who says so: a constraint, a ranker or the selector.
    pub source: String,
    /// What, for programs.
    pub code: Cow<'static, str>,
    /// What, for people.
    pub description: String,
    /// The figures behind it.
    #[serde(default)]
    pub facts: Facts,
}

impl Note {
    /// A note.
    pub fn new(
        source: impl Into<String>,
        code: impl Into<Cow<'static, str>>,
        description: impl Into<String>,
    ) -> Self {
        Note {
            source: source.into(),
            code: code.into(),
            description: description.into(),
            facts: Facts::default(),
        }
    }

    /// What a soft constraint would have rejected for.
    pub(crate) fn soft(rejection: CandidateRejection) -> Self {
        Note {
            source: rejection.constraint,
            code: rejection.code,
            description: rejection.description,
            facts: rejection.facts,
        }
    }
}
