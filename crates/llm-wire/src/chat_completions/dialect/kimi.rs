//! Moonshot's dialect, for its Kimi models.
//!
//! Source: `kimi.md` of the project's wire notes, state of 2026-11-29.

use super::*;
use llm_core::ReasoningEffort::{High, Low, Max, Medium, None as Off, XHigh};

impl Dialect {
    /// Kimi.
    ///
    /// ```
    /// use llm_core::{ChatRequest, ModelId, Reasoning, ReasoningEffort, ResolvedModel};
    /// use llm_wire::chat_completions::{Dialect, encode_request};
    /// let request = ChatRequest::user("hi").with_reasoning(Reasoning::effort(ReasoningEffort::Max));
    /// let body = |name| {
    ///     let model = ResolvedModel::unknown(ModelId::new(name)?);
    ///     let encoded = encode_request(&Dialect::kimi(), &model, &request, false)?;
    ///     Ok::<_, llm_core::Error>(String::from_utf8_lossy(&encoded.body).into_owned())
    /// };
    /// assert!(body("kimi-k3")?.ends_with(r#""reasoning_effort":"max"}"#));
    /// assert!(body("kimi-k2.6")?.ends_with(r#""thinking":{"type":"enabled"}}"#));
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    pub fn kimi() -> Self {
        Dialect {
            vendor: VendorId::from_static("moonshot"),
            max_tokens_field: MaxTokensField::MaxCompletionTokens,
            reasoning_max_tokens_field: MaxTokensField::MaxCompletionTokens,
            messages: MessageForm {
                null_content: false,
                empty: false,
                one_text: true,
                prefill: Prefill::Marked(PrefillMark::new("partial").without_json()),
                ..MessageForm::COMPATIBLE
            },
            parts: PartSupport {
                image_url: false,
                image_file: Some("ms://"),
                image_detail: false,
                ..PartSupport::IMAGES
            },
            tools: ToolForm {
                names_begin_with_letters: true,
                ..ToolForm::OPENAI
            },
            parallel_tool_calls: false,
            token_count_path: Some("/tokenizers/estimate-token-count"),
            json: JsonAnswers {
                schemas: Schemas::Moonshot,
                ..JsonAnswers::OPENAI
            },
            replay_reasoning_field: Some("reasoning_content"),
            missing_reasoning: MissingReasoning::InTurnsWithCalls(" "),
            raised_efforts: &[(Low, High), (Medium, High), (XHigh, Max)],
            max_stop_sequences: 5,
            max_stop_bytes: 32,
            options: OptionSupport {
                seed: None,
                penalties: true,
                top_k: false,
                user: Some("safety_identifier"),
                user_is_word: false,
                service_tiers: ServiceTiers::NONE,
            },
            option_keys: KEYS,
            model_rules: RULES,
            ..Dialect::compatible()
        }
    }
}

/// Kimi models: how answers are drawn is fixed.
const KIMI: ModelRule = ModelRule {
    sampling: false,
    penalties: false,
    ..ModelRule::REASONING.with_efforts(&[Low, High, Max])
};

/// Before K3 there was a switch for thought, and no word that makes a model call any tool.
const K2: ModelRule = ModelRule {
    effort_form: EffortForm::Thinking,
    required_choice: false,
    ..KIMI
};

const RULES: &[(&str, ModelRule)] = &[
    ("kimi", KIMI),
    ("kimi-k2.7", K2.with_efforts(&[High])),
    ("kimi-k2.6", K2.with_efforts(&[Off, High])),
    ("kimi-k2.5", K2.with_efforts(&[Off, High])),
];

const KEYS: &[OptionKey] = &[
    // K2.6: `keep`
    OptionKey::new("thinking", JsonForm::Object),
    OptionKey::new("reasoning_effort", JsonForm::Text),
    OptionKey::new("logprobs", JsonForm::Bool),
    OptionKey::new("top_logprobs", JsonForm::Integer),
    OptionKey::new("prompt_cache_key", JsonForm::Text),
    OptionKey::new("prediction", JsonForm::Object),
    // `builtin_function`
    OptionKey::new("custom_tools", JsonForm::List),
];
