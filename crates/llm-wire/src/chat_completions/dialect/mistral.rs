//! Mistral's dialect.
//!
//! Source: `mistral.md` of the project's wire notes (client package 3.7), state of 2026-11-29.

use super::*;
use llm_core::ReasoningEffort::{High, Low, Max, Medium, None as Off, XHigh};

impl Dialect {
    /// Mistral.
    ///
    /// ```
    /// use llm_core::{ChatRequest, Message, ModelId, ResolvedModel};
    /// use llm_wire::chat_completions::{Dialect, encode_request};
    /// let request = ChatRequest::new([Message::user("A poem about the sea."), Message::assistant("Grey")]);
    /// let model = ResolvedModel::unknown(ModelId::new("mistral-small-latest")?);
    /// let encoded = encode_request(&Dialect::mistral(), &model, &request, false)?;
    /// let last = r#"{"role":"assistant","content":"Grey","prefix":true}]}"#;
    /// assert!(String::from_utf8_lossy(&encoded.body).ends_with(last));
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    pub fn mistral() -> Self {
        Dialect {
            vendor: VendorId::from_static("mistral"),
            // The field is not in the type of the client, and unknown fields are answered with 422.
            stream_usage: false,
            messages: MessageForm {
                names: false,
                result_names: true,
                null_content: false,
                system_anywhere: false,
                between_results_and_user: Some("OK."),
                prefill: Prefill::Marked(PrefillMark::new("prefix").repeated()),
                call_ids: CallIds::NineAlphanumeric,
                ..MessageForm::COMPATIBLE
            },
            parts: PartSupport {
                audio_form: AudioForm::Plain,
                file_form: FileForm::DocumentUrl,
                ..PartSupport::OPENAI
            },
            tools: ToolForm {
                parameters_required: true,
                ..ToolForm::OPENAI
            },
            json: JsonAnswers::OPENAI,
            replay_reasoning_parts: true,
            raised_efforts: &[(Low, High), (Medium, High), (XHigh, Max)],
            max_stop_sequences: usize::MAX,
            options: OptionSupport {
                seed: Some("random_seed"),
                penalties: true,
                top_k: true,
                user: None,
                user_is_word: false,
                service_tiers: ServiceTiers::Only(&["auto", "standard_only"]),
            },
            option_keys: KEYS,
            failures: &[("error", ErrorKind::Server)],
            model_rules: RULES,
            ..Dialect::compatible()
        }
    }
}

/// Models whose levels the catalogue does not have. Magistral is an alias of Mistral Medium and Small.
const RULES: &[(&str, ModelRule)] = &[
    ("magistral", ModelRule::REASONING.with_efforts(&[Off, High])),
    ("zai-glm", ModelRule::REASONING.with_efforts(&[Low, High, Max])),
    (
        "deepseek",
        ModelRule::REASONING.with_efforts(&[Off, Low, High, Max]),
    ),
];

const KEYS: &[OptionKey] = &[
    // `minimal`, which the neutral vocabulary does not have
    OptionKey::new("reasoning_effort", JsonForm::Text),
    // for Magistral of 2025 alone
    OptionKey::new("prompt_mode", JsonForm::Text),
    OptionKey::new("safe_prompt", JsonForm::Bool),
    OptionKey::new("guardrails", JsonForm::List),
    OptionKey::new("prompt_cache_key", JsonForm::Text),
    OptionKey::new("prediction", JsonForm::Object),
    OptionKey::new("document_image_limit", JsonForm::Integer),
    OptionKey::new("document_page_limit", JsonForm::Integer),
    OptionKey::new("metadata", JsonForm::Object),
    OptionKey::new("min_tokens", JsonForm::Integer),
    OptionKey::new("repetition_penalty", JsonForm::Number),
    OptionKey::new("logprobs", JsonForm::Bool),
    OptionKey::new("top_logprobs", JsonForm::Integer),
];
