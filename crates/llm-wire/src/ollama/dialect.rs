//! What servers of this format do differently, as plain data.

use llm_core::VendorId;

pub use crate::option_key::{JsonForm, OptionKey};

/// One server's differences. Start from [`Dialect::ollama`] and change fields.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Dialect {
    /// Whose options bag is read, and whose thoughts are sent back.
    pub vendor: VendorId,
    /// May the server cut a prompt that is longer than the window? It cuts in silence, at the front; where it may not,
    /// the answer is an error.
    pub cuts_long_prompts: bool,
    /// Split `<think>` tags at the very start of the text off as reasoning? Older servers and templates leave them in.
    pub extract_think_tags: bool,
    /// The keys of the vendor's options bag.
    pub option_keys: &'static [OptionKey],
}

impl Dialect {
    /// Ollama, here or in its cloud.
    pub fn ollama() -> Self {
        Dialect {
            vendor: VendorId::from_static("ollama"),
            cuts_long_prompts: false,
            extract_think_tags: false,
            option_keys: OptionKey::OLLAMA,
        }
    }
}

/// Keys whose fields stand beside `options`, not in it.
const BODY: [&str; 6] = [
    "keep_alive",
    "think",
    "truncate",
    "shift",
    "logprobs",
    "top_logprobs",
];

impl OptionKey {
    /// Ollama's own (wire notes, `ollama.md`, state of 2026-11-29). Fields of `options` are given without it; those
    /// that are not listed can stand in `options`. `think` is here for what the neutral request has no words for; like
    /// every key of the bag it wins over the neutral field.
    pub const OLLAMA: &[OptionKey] = &[
        OptionKey::new("keep_alive", JsonForm::Any),
        OptionKey::new("think", JsonForm::Any),
        OptionKey::new("truncate", JsonForm::Bool),
        OptionKey::new("shift", JsonForm::Bool),
        OptionKey::new("logprobs", JsonForm::Bool),
        OptionKey::new("top_logprobs", JsonForm::Integer),
        OptionKey::new("options", JsonForm::Object),
        OptionKey::new("num_ctx", JsonForm::Integer),
        OptionKey::new("num_predict", JsonForm::Integer),
        OptionKey::new("min_p", JsonForm::Number),
        OptionKey::new("typical_p", JsonForm::Number),
        OptionKey::new("repeat_penalty", JsonForm::Number),
        OptionKey::new("repeat_last_n", JsonForm::Integer),
        OptionKey::new("num_keep", JsonForm::Integer),
        OptionKey::new("num_gpu", JsonForm::Integer),
        OptionKey::new("num_thread", JsonForm::Integer),
        OptionKey::new("num_batch", JsonForm::Integer),
        OptionKey::new("main_gpu", JsonForm::Integer),
        OptionKey::new("use_mmap", JsonForm::Bool),
    ];
}

/// Does the field of this key stand beside `options`?
pub(super) fn is_body_key(name: &str) -> bool {
    BODY.contains(&name)
}
