//! Groq's dialect.
//!
//! Source: `groq.md` of the project's wire notes (client package 1.7), state of 2026-11-29.

use super::*;
use llm_core::ReasoningEffort::{High, Low, Medium, None as Off};

impl Dialect {
    /// Groq.
    ///
    /// ```
    /// use llm_core::{ChatRequest, ModelId, Reasoning, ReasoningEffort, ResolvedModel};
    /// use llm_wire::chat_completions::{Dialect, encode_request};
    /// let request = ChatRequest::user("hi").with_reasoning(Reasoning::effort(ReasoningEffort::Low));
    /// let model = ResolvedModel::unknown(ModelId::new("qwen/qwen3.8-27b")?);
    /// let encoded = encode_request(&Dialect::groq(), &model, &request, false)?;
    /// let fields = r#""reasoning_effort":"low","reasoning_format":"parsed"}"#;
    /// assert!(String::from_utf8_lossy(&encoded.body).ends_with(fields));
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    pub fn groq() -> Self {
        Dialect {
            vendor: VendorId::from_static("groq"),
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            reasoning_max_tokens_field: MaxTokensField::MaxCompletionTokens,
            messages: MessageForm {
                names: false,
                ..MessageForm::COMPATIBLE
            },
            parts: PartSupport::IMAGES,
            tools: ToolForm {
                with_json: false,
                ..ToolForm::OPENAI
            },
            json: JsonAnswers {
                streamed: false,
                ..JsonAnswers::OPENAI
            },
            replay_reasoning_field: Some("reasoning"),
            options: OptionSupport {
                seed: Some("seed"),
                penalties: false,
                top_k: false,
                user: Some("user"),
                user_is_word: false,
                service_tiers: ServiceTiers::Only(&["auto", "on_demand", "flex", "performance"]),
            },
            option_keys: KEYS,
            model_rules: RULES,
            ..Dialect::compatible()
        }
    }
}

/// Without a format, Qwen's thoughts stand in the text; gpt-oss takes none and has a field for them anyway.
const QWEN: ModelRule = ModelRule {
    reasoning_format: Some("parsed"),
    ..ModelRule::REASONING
};

/// Before 3.8 it thinks or does not.
const QWEN_UNGRADED: ModelRule = ModelRule {
    effort_form: EffortForm::NoneOrDefault,
    ..QWEN.with_efforts(&[Off, High])
};

const RULES: &[(&str, ModelRule)] = &[
    (
        "openai/gpt-oss",
        ModelRule::REASONING.with_efforts(&[Low, Medium, High]),
    ),
    ("qwen/qwen3.8", QWEN.with_efforts(&[Off, Low, Medium, High])),
    ("qwen/qwen3", QWEN_UNGRADED),
];

const KEYS: &[OptionKey] = &[
    // `default`, which the neutral vocabulary does not have
    OptionKey::new("reasoning_effort", JsonForm::Text),
    // only one of the two
    OptionKey::new("reasoning_format", JsonForm::Text),
    OptionKey::new("include_reasoning", JsonForm::Bool),
    OptionKey::new("disable_tool_validation", JsonForm::Bool),
    OptionKey::new("documents", JsonForm::List),
    OptionKey::new("citation_options", JsonForm::Text),
    OptionKey::new("search_settings", JsonForm::Object),
    OptionKey::new("compound_custom", JsonForm::Object),
    // `browser_search`, `code_interpreter` and `mcp`, for gpt-oss
    OptionKey::new("custom_tools", JsonForm::List),
];
