//! DeepSeek's dialect.
//!
//! Source: `deepseek.md` of the project's wire notes, state of 2026-11-29.

use super::*;
use llm_core::ReasoningEffort::{High, Low, Max, Medium, None as Off};

impl Dialect {
    /// DeepSeek, at its usual endpoint. See [`Dialect::with_deepseek_beta`] for the other one.
    ///
    /// ```
    /// use llm_core::{ChatRequest, ModelId, Reasoning, ReasoningEffort, ResolvedModel};
    /// use llm_wire::chat_completions::{Dialect, encode_request};
    /// let request = ChatRequest::user("hi").with_reasoning(Reasoning::effort(ReasoningEffort::None));
    /// let model = ResolvedModel::unknown(ModelId::new("deepseek-flash")?);
    /// let encoded = encode_request(&Dialect::deepseek(), &model, &request, false)?;
    /// assert!(String::from_utf8_lossy(&encoded.body).ends_with(r#""thinking":{"type":"disabled"}}"#));
    /// # Ok::<(), llm_core::Error>(())
    /// ```
    pub fn deepseek() -> Self {
        Dialect {
            vendor: VendorId::from_static("deepseek"),
            messages: MessageForm {
                null_content: false,
                one_text: true,
                results_hold_images: true,
                prefill: Prefill::Refused(
                    "ends with an assistant message, which is continued at the beta endpoint alone; \
                     set `base_url` to https://api.deepseek.com/beta",
                ),
                ..MessageForm::COMPATIBLE
            },
            parts: PartSupport {
                audio: false,
                ..PartSupport::OPENAI
            },
            tools: ToolForm {
                strict: StrictTools::No,
                ..ToolForm::OPENAI
            },
            parallel_tool_calls: false,
            json_schema: false,
            json: JsonAnswers::OPENAI,
            replay_reasoning_field: Some("reasoning_content"),
            // Of two libraries one sends the empty string and one a space; a space is never taken for nothing.
            missing_reasoning: MissingReasoning::OnceThereWereCalls(" "),
            raised_efforts: &[(Medium, High)],
            max_stop_sequences: usize::MAX,
            options: OptionSupport {
                seed: None,
                penalties: true,
                top_k: false,
                user: Some("user_id"),
                user_is_word: true,
                service_tiers: ServiceTiers::NONE,
            },
            option_keys: KEYS,
            failures: &[("insufficient_system_resource", ErrorKind::Overloaded)],
            model_rules: RULES,
            ..Dialect::compatible()
        }
    }

    /// DeepSeek's beta endpoint, which also continues an assistant message and guarantees the arguments of tools.
    #[must_use]
    pub fn with_deepseek_beta(mut self) -> Self {
        self.messages.prefill = Prefill::Marked(PrefillMark::new("prefix"));
        self.tools.strict = StrictTools::AllOrNone;
        self
    }
}

/// Every model thinks unless it is told not to.
const RULES: &[(&str, ModelRule)] = &[(
    "",
    ModelRule {
        effort_form: EffortForm::ThinkingAndWord,
        sampling_with_reasoning: false,
        ..ModelRule::REASONING.with_efforts(&[Off, Low, High, Max])
    },
)];

const KEYS: &[OptionKey] = &[
    OptionKey::new("thinking", JsonForm::Object),
    OptionKey::new("reasoning_effort", JsonForm::Text),
    OptionKey::new("logprobs", JsonForm::Bool),
    OptionKey::new("top_logprobs", JsonForm::Integer),
];
