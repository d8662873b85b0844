//! How the answer is drawn, and how much thought goes into it.

use serde::{Deserialize, Serialize};

/// How the answer is drawn. Absent fields are not sent: the vendor's default holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sampling {
    /// 0 is the most likely word each time; vendors take 0 to 1 or 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Only from the most likely words that make up this share, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Only from this many most likely words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Against words by how often they stood already, −2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Against words that stood already at all, −2 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    /// The same seed asks for the same answer; best effort everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
}

impl Sampling {
    /// Is anything set?
    pub fn is_empty(&self) -> bool {
        *self == Sampling::default()
    }
}

/// How much the model thinks, and whether its thoughts are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Reasoning {
    /// How much; absent: the model's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<ReasoningEffort>,
    /// Should the answer show the thoughts? Vendor state for the next turn is kept either way.
    pub include: bool,
}

impl Reasoning {
    /// This much thought, not shown.
    pub fn effort(effort: ReasoningEffort) -> Self {
        Reasoning {
            effort: Some(effort),
            include: false,
        }
    }

    /// With the thoughts shown.
    #[must_use]
    pub fn with_include(mut self, include: bool) -> Self {
        self.include = include;
        self
    }
}

/// How much thought goes into the answer: one vocabulary for all vendors, clamped to what a model offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// None at all.
    None,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    XHigh,
    /// As much as the model can.
    Max,
}

impl ReasoningEffort {
    /// All levels, from none to max.
    pub const ALL: [ReasoningEffort; 6] = [
        ReasoningEffort::None,
        ReasoningEffort::Low,
        ReasoningEffort::Medium,
        ReasoningEffort::High,
        ReasoningEffort::XHigh,
        ReasoningEffort::Max,
    ];

    /// The level to use where only some are offered: itself; else the highest offered one below it; else
    /// the lowest offered one. `None` where nothing is offered.
    ///
    /// ```
    /// use llm_core::ReasoningEffort as Effort;
    /// let offered = [Effort::Low, Effort::Medium, Effort::High];
    /// assert_eq!(Effort::Max.clamp_to(&offered), Some(Effort::High));
    /// assert_eq!(Effort::None.clamp_to(&offered), Some(Effort::Low));
    /// assert_eq!(Effort::Low.clamp_to(&[]), None);
    /// ```
    pub fn clamp_to(self, offered: &[ReasoningEffort]) -> Option<ReasoningEffort> {
        let below = offered.iter().copied().filter(|level| *level <= self).max();
        below.or_else(|| offered.iter().copied().min())
    }

    /// The word: `none`, `low`, `medium`, `high`, `xhigh`, `max`.
    pub fn as_str(self) -> &'static str {
        match self {
            ReasoningEffort::None => "none",
            ReasoningEffort::Low => "low",
            ReasoningEffort::Medium => "medium",
            ReasoningEffort::High => "high",
            ReasoningEffort::XHigh => "xhigh",
            ReasoningEffort::Max => "max",
        }
    }

    /// The level of a word; `None` where it is not one of ours.
    pub fn parse(word: &str) -> Option<ReasoningEffort> {
        ReasoningEffort::ALL
            .into_iter()
            .find(|level| level.as_str() == word)
    }
}
