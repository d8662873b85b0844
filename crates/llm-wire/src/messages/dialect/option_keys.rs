//! The keys of the options bag.

use crate::option_key::{JsonForm, OptionKey};

impl OptionKey {
    /// Anthropic's own (wire notes, `anthropic.md`, state of 2026-11-29). Four are no fields of the body: `betas` are
    /// names for the `anthropic-beta` header, `builtin_tools` holds tools of other kinds than the caller's own
    /// (web search, code execution, a computer) and is added to `tools`, `task_budget` goes into `output_config`.
    /// Like every key of the bag `thinking` and `output_config` win over the neutral field.
    pub const ANTHROPIC: &[OptionKey] = &[
        OptionKey::new("betas", JsonForm::List),
        OptionKey::new("builtin_tools", JsonForm::List),
        OptionKey::new("task_budget", JsonForm::Object),
        OptionKey::new("thinking", JsonForm::Object),
        OptionKey::new("output_config", JsonForm::Object),
        OptionKey::new("cache_control", JsonForm::Object),
        OptionKey::new("context_management", JsonForm::Object),
        OptionKey::new("mcp_servers", JsonForm::List),
        OptionKey::new("container", JsonForm::Any),
        OptionKey::new("speed", JsonForm::Text),
        OptionKey::new("inference_geo", JsonForm::Text),
        OptionKey::new("diagnostics", JsonForm::Object),
        OptionKey::new("compaction", JsonForm::Any),
        OptionKey::new("fallbacks", JsonForm::Any),
        OptionKey::new("thread", JsonForm::Any),
        OptionKey::new("safeguards", JsonForm::Any),
    ];
}
