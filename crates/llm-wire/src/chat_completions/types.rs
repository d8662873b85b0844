//! The JSON of answers, minimal. A whole answer and a chunk of a stream are read as one type: they differ only
//! in `message` against `delta`.

use crate::lenient::{Content, Count, Document, Index, Presence, Rare, Text, TextOr};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A whole answer, or one chunk of a stream. Every field may be missing or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Answer<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) object: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) model: Option<Text<'a>>,
    pub(crate) created: Option<Count>,
    #[serde(borrow)]
    pub(crate) choices: Option<Vec<Choice<'a>>>,
    pub(crate) usage: Rare<WireUsage>,
    pub(crate) error: Option<Presence>,
    #[serde(borrow)]
    pub(crate) service_tier: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) system_fingerprint: Option<Text<'a>>,
    pub(crate) prompt_filter_results: Rare<Value>,
    pub(crate) moderation: Rare<Value>,
    pub(crate) citations: Rare<Value>,
    pub(crate) x_groq: Rare<GroqExtra>,
    /// With `choices` missing, these mark an error object that stands alone.
    pub(crate) message: Option<Presence>,
    pub(crate) detail: Option<Presence>,
    pub(crate) errors: Option<Presence>,
}

impl<'a> Answer<'a> {
    /// The content, when this is a chunk that says nothing else: what it names besides is named in every chunk.
    pub(crate) fn text_alone(&self) -> Option<&Content<'a, WirePart<'a>>> {
        let Answer {
            id: _,
            object: _,
            model: _,
            created: _,
            choices,
            usage: None,
            error,
            service_tier: _,
            system_fingerprint: _,
            prompt_filter_results: None,
            moderation: None,
            citations: None,
            x_groq: None,
            message: None,
            detail: None,
            errors: None,
        } = self
        else {
            return None;
        };
        let [choice] = choices.as_deref()? else {
            return None;
        };
        let Choice {
            index: _,
            delta: Some(delta),
            message: None,
            finish_reason: None,
            finish_reason_camel: None,
            usage: None,
            logprobs: None,
            content_filter_results: None,
            error: choice_error,
        } = choice
        else {
            return None;
        };
        let failed = Presence::of(error) || Presence::of(choice_error);
        let alone = choice.is_first() && !failed && delta.says_nothing_but_content();
        alone.then_some(&delta.content)
    }
}

pub(crate) struct AnswerDocument;

impl Document for AnswerDocument {
    type Of<'a> = Answer<'a>;
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice<'a> {
    pub(crate) index: Option<Index>,
    #[serde(borrow)]
    pub(crate) delta: Option<WireMessage<'a>>,
    #[serde(borrow)]
    pub(crate) message: Rare<WireMessage<'a>>,
    #[serde(borrow)]
    pub(crate) finish_reason: Option<Text<'a>>,
    /// One compatible host writes the reason in camel case beside a null.
    #[serde(borrow, rename = "finishReason")]
    pub(crate) finish_reason_camel: Option<Text<'a>>,
    pub(crate) usage: Rare<WireUsage>,
    pub(crate) logprobs: Rare<Value>,
    pub(crate) content_filter_results: Rare<Value>,
    pub(crate) error: Option<Presence>,
}

impl Choice<'_> {
    /// The one that is read.
    pub(crate) fn is_first(&self) -> bool {
        self.index.is_none_or(|index| index.0 == 0)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireMessage<'a> {
    #[serde(borrow)]
    pub(crate) content: Content<'a, WirePart<'a>>,
    #[serde(borrow)]
    pub(crate) refusal: Refusal<'a>,
    #[serde(borrow)]
    pub(crate) reasoning_content: Content<'a, WirePart<'a>>,
    #[serde(borrow)]
    pub(crate) reasoning: Content<'a, WirePart<'a>>,
    pub(crate) reasoning_details: Option<Vec<Value>>,
    #[serde(borrow)]
    pub(crate) tool_calls: Option<Vec<WireToolCall<'a>>>,
    #[serde(borrow)]
    pub(crate) function_call: Rare<WireFunction<'a>>,
    #[serde(borrow)]
    pub(crate) audio: Rare<WireAudio<'a>>,
    pub(crate) annotations: Rare<Value>,
}

impl WireMessage<'_> {
    /// Is there nothing in it? An empty list or text counts as nothing.
    pub(crate) fn says_nothing(&self) -> bool {
        silent(&self.content) && self.says_nothing_but_content()
    }

    fn says_nothing_but_content(&self) -> bool {
        let WireMessage {
            content: _,
            refusal,
            reasoning_content,
            reasoning,
            reasoning_details,
            tool_calls,
            function_call,
            audio,
            annotations,
        } = self;
        refusal.0.as_ref().is_none_or(|refusal| refusal.is_empty())
            && silent(reasoning_content)
            && silent(reasoning)
            && reasoning_details.as_ref().is_none_or(Vec::is_empty)
            && tool_calls.as_ref().is_none_or(Vec::is_empty)
            && function_call.is_none()
            && audio.is_none()
            && annotations.is_none()
    }
}

fn silent(content: &Content<'_, WirePart<'_>>) -> bool {
    match content {
        Content::Absent => true,
        Content::Text(text) => text.is_empty(),
        Content::Parts(parts) => parts.is_empty(),
    }
}

/// A refusal; some compatible hosts write `false` for none.
#[derive(Debug, Default)]
pub(crate) struct Refusal<'a>(pub(crate) Option<Text<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Refusal<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match TextOr::<IgnoredAny>::deserialize(deserializer)? {
            TextOr::Text(text) => Refusal(Some(text)),
            TextOr::Other(_) => Refusal(None),
        })
    }
}

/// A part of answer content, where a host sends a list: text, or thinking that holds text parts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WirePart<'a> {
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) text: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) refusal: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) thinking: Content<'a, WireTextPart<'a>>,
    /// Of thinking: nothing more of it will come.
    pub(crate) closed: Option<bool>,
    #[serde(borrow)]
    pub(crate) signature: Option<Text<'a>>,
    pub(crate) reference_ids: Rare<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireTextPart<'a> {
    #[serde(borrow)]
    pub(crate) text: Option<Text<'a>>,
    pub(crate) reference_ids: Rare<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireToolCall<'a> {
    pub(crate) index: Option<Index>,
    #[serde(borrow)]
    pub(crate) id: Option<Text<'a>>,
    #[serde(borrow, rename = "type")]
    pub(crate) kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) function: Option<WireFunction<'a>>,
    #[serde(borrow)]
    pub(crate) custom: Option<WireCustom<'a>>,
}

/// A call of a tool of another kind than functions: its input is text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireCustom<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) input: Arguments<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireFunction<'a> {
    #[serde(borrow)]
    pub(crate) name: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) arguments: Arguments<'a>,
}

/// Arguments of a call: JSON text, or (some hosts) the object itself.
#[derive(Debug, Default)]
pub(crate) enum Arguments<'a> {
    #[default]
    Absent,
    Text(Text<'a>),
    Value(Value),
}

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match TextOr::deserialize(deserializer)? {
            TextOr::Text(text) => Arguments::Text(text),
            TextOr::Other(Value::Null) => Arguments::Absent,
            TextOr::Other(value) => Arguments::Value(value),
        })
    }
}

/// A spoken answer: its words are the answer's text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireAudio<'a> {
    #[serde(borrow)]
    pub(crate) transcript: Option<Text<'a>>,
    pub(crate) id: Rare<Value>,
    pub(crate) data: Rare<Value>,
    pub(crate) expires_at: Rare<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GroqExtra {
    pub(crate) usage: Rare<WireUsage>,
    /// Generation stopped early.
    pub(crate) error: Option<Presence>,
}

/// What was used, in every spelling of the hosts of this format.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct WireUsage {
    pub(crate) prompt_tokens: Option<Count>,
    pub(crate) completion_tokens: Option<Count>,
    pub(crate) total_tokens: Option<Count>,
    /// Gateways that keep the names of other formats.
    pub(crate) input_tokens: Option<Count>,
    pub(crate) output_tokens: Option<Count>,
    pub(crate) reasoning_tokens: Option<Count>,
    pub(crate) prompt_tokens_details: Option<PromptDetails>,
    /// Mistral's older spelling.
    pub(crate) prompt_token_details: Option<PromptDetails>,
    pub(crate) completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek.
    pub(crate) prompt_cache_hit_tokens: Option<Count>,
    /// Kimi.
    pub(crate) cached_tokens: Option<Count>,
    /// Mistral.
    pub(crate) num_cached_tokens: Option<Count>,
    /// Gateways that bill by themselves, in dollars.
    pub(crate) cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PromptDetails {
    pub(crate) cached_tokens: Option<Count>,
    pub(crate) cache_write_tokens: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CompletionDetails {
    pub(crate) reasoning_tokens: Option<Count>,
}
