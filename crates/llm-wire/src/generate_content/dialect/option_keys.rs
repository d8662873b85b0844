//! The keys of Gemini's options bag.

use crate::option_key::{JsonForm, OptionKey};

/// Keys whose fields stand in `generationConfig`.
const GENERATION: [&str; 13] = [
    "thinkingConfig",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "responseFormat",
    "responseModalities",
    "mediaResolution",
    "speechConfig",
    "imageConfig",
    "audioTimestamp",
    "responseLogprobs",
    "logprobs",
    "candidateCount",
];

impl OptionKey {
    /// Gemini's own (wire notes, `gemini.md`, state of 2026-11-29). Fields of `generationConfig` are given without
    /// it. `serverTools` holds tools that the vendor runs itself, in its own form (`{"googleSearch": {}}`), and
    /// `thinkingConfig`, `toolConfig` and the `response…` keys are here for what the neutral request has no words
    /// for; like every key of the bag they win over the neutral field.
    pub const GEMINI: &[OptionKey] = &[
        OptionKey::new("safetySettings", JsonForm::List),
        OptionKey::new("cachedContent", JsonForm::Text),
        OptionKey::new("serverTools", JsonForm::List),
        OptionKey::new("toolConfig", JsonForm::Object),
        OptionKey::new("store", JsonForm::Bool),
        OptionKey::new("continuationToken", JsonForm::Text),
        OptionKey::new("labels", JsonForm::Object),
        OptionKey::new("thinkingConfig", JsonForm::Object),
        OptionKey::new("responseMimeType", JsonForm::Text),
        OptionKey::new("responseSchema", JsonForm::Object),
        OptionKey::new("responseJsonSchema", JsonForm::Object),
        OptionKey::new("responseFormat", JsonForm::Object),
        OptionKey::new("responseModalities", JsonForm::List),
        OptionKey::new("mediaResolution", JsonForm::Text),
        OptionKey::new("speechConfig", JsonForm::Object),
        OptionKey::new("imageConfig", JsonForm::Object),
        OptionKey::new("audioTimestamp", JsonForm::Bool),
        OptionKey::new("responseLogprobs", JsonForm::Bool),
        OptionKey::new("logprobs", JsonForm::Integer),
        OptionKey::new("candidateCount", JsonForm::Integer),
    ];
}

/// Does the field of this key stand in `generationConfig`?
pub(in crate::generate_content) fn is_generation_key(name: &str) -> bool {
    GENERATION.contains(&name)
}
