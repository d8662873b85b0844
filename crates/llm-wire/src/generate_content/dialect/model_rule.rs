//! What families of models do differently inside this format.
//!
//! Source: `gemini.md` of the project's wire notes (Models now, Contents and parts, Structured output, Thinking),
//! state of 2026-11-29.

use super::Dialect;
use llm_core::ReasoningEffort::{self, High, Low, Medium, XHigh};
use llm_core::ResolvedModel;

/// What one family of models does differently. What a catalogue says of a model (abilities, effort levels,
/// rejected features) stands in its [`ResolvedModel`]; here stands what its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelRule {
    /// Is it of Gemini 3 or later? Those want a call's id and its thought signature back, take media inside of
    /// function results and a resolution for each part, take JSON output and the vendor's own tools beside
    /// functions, and take no penalties. An unknown name counts as one of these.
    pub recent: bool,
    /// How it is told how much to think.
    pub thinking: Thinking,
    /// Does it take `systemInstruction`? Else instructions stand before the first text of the user's.
    pub system_instruction: bool,
    /// Does the service fetch public addresses for it?
    pub fetches_addresses: bool,
    /// Does it take penalties? Those of the 2.5 family do at one of the hosts only.
    pub penalties: Penalties,
    /// Does it take temperature and its like without effect?
    pub ignores_sampling: bool,
}

/// How a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// Not at all: it does not think, and the field is an error.
    Never,
    /// Not known.
    Unknown,
    /// By a word.
    Level {
        /// The word for as little as it can.
        lowest: &'static str,
        /// The levels it takes.
        efforts: &'static [ReasoningEffort],
    },
    /// By a number of tokens.
    Budget {
        /// The smallest.
        least: u32,
        /// The largest.
        most: u32,
        /// Can it stop thinking? Then 0 says so.
        off: bool,
    },
}

/// Which hosts take penalties for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Penalties {
    /// All.
    Taken,
    /// Those that say so ([`Dialect::penalties_for_2_5`]).
    ByHost,
    /// None.
    NotTaken,
}

impl ModelRule {
    /// Gemini 3 and later, and every name that says nothing.
    pub const RECENT: ModelRule = ModelRule {
        recent: true,
        thinking: Thinking::Level {
            lowest: "low",
            efforts: &[Low, Medium, High],
        },
        system_instruction: true,
        fetches_addresses: true,
        penalties: Penalties::NotTaken,
        ignores_sampling: false,
    };

    /// The 2.5 family.
    const BUDGETED: ModelRule = ModelRule {
        recent: false,
        thinking: PRO_BUDGET,
        penalties: Penalties::ByHost,
        ..ModelRule::RECENT
    };

    /// Gemini 2.0 and older.
    const OLD: ModelRule = ModelRule {
        recent: false,
        thinking: Thinking::Never,
        fetches_addresses: false,
        penalties: Penalties::Taken,
        ..ModelRule::RECENT
    };

    /// Gemma. How those from Gemma 4 on are told to think is not known.
    const GEMMA: ModelRule = ModelRule {
        recent: false,
        thinking: Thinking::Unknown,
        system_instruction: false,
        ..ModelRule::RECENT
    };

    /// The rule for a model's name. Paths in front of it (`models/…`) do not matter.
    fn of_name(name: &str) -> ModelRule {
        let name = name.rsplit('/').next().unwrap_or_default();
        if name.starts_with("gemma-3") {
            return ModelRule {
                thinking: Thinking::Never,
                ..ModelRule::GEMMA
            };
        }
        if name.starts_with("gemma") {
            return ModelRule::GEMMA;
        }
        match version_of(name) {
            Some(version) if version < (2, 5) => ModelRule::OLD,
            Some(version) if version < (3, 0) => ModelRule {
                thinking: budget_of(name),
                ..ModelRule::BUDGETED
            },
            version => ModelRule::recent(name, version),
        }
    }

    fn recent(name: &str, version: Option<(u32, u32)>) -> ModelRule {
        let lite = name.contains("flash-lite");
        let flash = name.contains("flash");
        // The aliases of the newest models: the lite one is of 3.5, the other one of 3.8.
        let version = version.unwrap_or(if lite { (3, 5) } else { (3, 8) });
        let thinking = if name.starts_with("gemini-3-pro-image") {
            PRO_BUDGET
        } else if name.contains("hydrogen") {
            Thinking::Level {
                lowest: "low",
                efforts: &[Low, Medium, High, XHigh],
            }
        } else if flash && version < (3, 7) {
            Thinking::Level {
                lowest: "minimal",
                efforts: &[Low, Medium, High],
            }
        } else {
            ModelRule::RECENT.thinking
        };
        ModelRule {
            thinking,
            ignores_sampling: flash && (version >= (3, 6) || lite && version >= (3, 5)),
            ..ModelRule::RECENT
        }
    }
}

/// The budgets of 2.5-pro, and of the one later model that is told by a budget.
const PRO_BUDGET: Thinking = Thinking::Budget {
    least: 128,
    most: 32_768,
    off: false,
};

fn budget_of(name: &str) -> Thinking {
    if !name.contains("flash") {
        return PRO_BUDGET;
    }
    Thinking::Budget {
        least: if name.contains("lite") { 512 } else { 1 },
        most: 24_576,
        off: true,
    }
}

/// `gemini-3.5-flash` is of (3, 5).
fn version_of(name: &str) -> Option<(u32, u32)> {
    let version = name.strip_prefix("gemini-")?.split('-').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl Dialect {
    /// The rule for a model, by its name.
    ///
    /// ```
    /// use llm_core::{ModelId, ResolvedModel};
    /// use llm_wire::generate_content::Dialect;
    /// let rule = |name| Dialect::gemini().rule_of(&ResolvedModel::unknown(ModelId::new(name).unwrap()));
    /// assert!(rule("gemini-4-argon").recent && rule("models/gemini-3.8-flash").recent);
    /// assert!(!rule("gemini-2.5-pro").recent);
    /// assert!(!rule("gemma-3-27b-it").system_instruction);
    /// ```
    pub fn rule_of(&self, model: &ResolvedModel) -> ModelRule {
        ModelRule::of_name(model.id.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(lowest: &'static str, efforts: &'static [ReasoningEffort]) -> Thinking {
        Thinking::Level { lowest, efforts }
    }

    #[test]
    fn every_model_of_the_notes_has_its_own_control() {
        let usual: &[ReasoningEffort] = &[Low, Medium, High];
        for (name, thinking) in [
            ("gemini-4-argon", level("low", usual)),
            ("gemini-4-hydrogen", level("low", &[Low, Medium, High, XHigh])),
            ("gemini-4-carbon", level("low", usual)),
            ("gemini-3.8-flash", level("low", usual)),
            ("gemini-3.7-flash", level("low", usual)),
            ("gemini-3.6-flash", level("minimal", usual)),
            ("gemini-3.5-flash-lite", level("minimal", usual)),
            ("gemini-3-flash-preview", level("minimal", usual)),
            ("gemini-3.1-pro-preview-customtools", level("low", usual)),
            ("gemini-flash-latest", level("low", usual)),
            ("gemini-flash-lite-latest", level("minimal", usual)),
            ("gemini-pro-latest", level("low", usual)),
            ("gemini-3-pro-image-preview", PRO_BUDGET),
            ("gemini-2.5-pro", PRO_BUDGET),
            ("gemini-2.0-flash", Thinking::Never),
            ("gemma-3-27b-it", Thinking::Never),
            ("gemma-4-31b-it", Thinking::Unknown),
            ("tunedModels/mine", level("low", usual)),
        ] {
            assert_eq!(ModelRule::of_name(name).thinking, thinking, "{name}");
        }
        let least = |name| match ModelRule::of_name(name).thinking {
            Thinking::Budget { least, off: true, .. } => least,
            other => panic!("{other:?}"),
        };
        assert_eq!(least("gemini-2.5-flash"), 1);
        assert_eq!(least("gemini-2.5-flash-lite"), 512);
    }

    #[test]
    fn sampling_is_ignored_where_the_notes_say_so() {
        let ignores = |name| ModelRule::of_name(name).ignores_sampling;
        for name in [
            "gemini-3.5-flash-lite",
            "gemini-3.6-flash",
            "gemini-3.8-flash",
            "gemini-flash-latest",
            "gemini-flash-lite-latest",
        ] {
            assert!(ignores(name), "{name}");
        }
        for name in [
            "gemini-3.5-flash",
            "gemini-3.1-flash-lite",
            "gemini-3.1-pro-preview",
            "gemini-4-argon",
            "gemini-2.5-flash",
            "gemini-pro-latest",
        ] {
            assert!(!ignores(name), "{name}");
        }
    }
}
