//! How messages are written, as plain data.

use std::borrow::Cow;

/// What a host wants of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageForm {
    /// May system, user and assistant messages have a name?
    pub names: bool,
    /// Is the tool's name sent beside the id of its call?
    pub result_names: bool,
    /// May the content of an assistant message be null? Else it is the empty string.
    pub null_content: bool,
    /// May system and user messages be empty? Else they are left out.
    pub empty: bool,
    /// Has an assistant message a field for a refusal? Else the refusal is its text: a field that a host does not know is
    /// an error, or lost.
    pub refusals: bool,
    /// Are several texts of one message sent as one string? (Some models take no lists.)
    pub one_text: bool,
    /// May system messages stand anywhere? Else they are moved to the beginning.
    pub system_anywhere: bool,
    /// What an assistant says between the results of tools and a user message, where one may not follow the other.
    pub between_results_and_user: Option<&'static str>,
    /// May tool results hold pictures? Else they follow in a user message.
    pub results_hold_images: bool,
    /// What becomes of an assistant message at the end.
    pub prefill: Prefill,
    /// Which ids calls may have.
    pub call_ids: CallIds,
}

impl MessageForm {
    /// As OpenAI takes them.
    pub const OPENAI: MessageForm = MessageForm {
        names: true,
        result_names: false,
        null_content: true,
        empty: true,
        refusals: true,
        one_text: false,
        system_anywhere: true,
        between_results_and_user: None,
        results_hold_images: false,
        prefill: Prefill::AsIs,
        call_ids: CallIds::Any,
    };

    /// As nearly all hosts take them.
    pub const COMPATIBLE: MessageForm = MessageForm {
        refusals: false,
        ..MessageForm::OPENAI
    };
}

/// What becomes of an assistant message at the end, which the model is to continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefill {
    /// It is sent as it is.
    AsIs,
    /// It is marked as a beginning.
    Marked(PrefillMark),
    /// It is refused: why, and what to do.
    Refused(&'static str),
}

/// The mark of an assistant message that is to be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrefillMark {
    /// The field that is set to true.
    pub field: &'static str,
    /// Does the answer repeat the beginning? Then the decoder cuts it off.
    pub repeated: bool,
    /// Can it be had together with an answer in JSON?
    pub with_json: bool,
}

impl PrefillMark {
    /// A mark of this name; the answer goes on where the beginning ends.
    pub const fn new(field: &'static str) -> Self {
        PrefillMark {
            field,
            repeated: false,
            with_json: true,
        }
    }

    /// The answer repeats the beginning.
    pub const fn repeated(self) -> Self {
        PrefillMark {
            repeated: true,
            ..self
        }
    }

    /// It cannot be had together with an answer in JSON.
    pub const fn without_json(self) -> Self {
        PrefillMark {
            with_json: false,
            ..self
        }
    }
}

/// What stands in the place of reasoning that an assistant turn does not have, where a thinking model refuses turns
/// without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingReasoning {
    /// Nothing: such turns are taken.
    Nothing,
    /// This text, in turns that call tools.
    InTurnsWithCalls(&'static str),
    /// This text, in every turn of a conversation that calls tools.
    OnceThereWereCalls(&'static str),
}

/// Which ids calls may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallIds {
    /// Any.
    Any,
    /// Nine letters or digits. Any other id becomes a hash of that form, the same wherever it stands.
    NineAlphanumeric,
}

impl CallIds {
    /// The id as it is sent.
    pub(crate) fn fit(self, id: &str) -> Cow<'_, str> {
        const LENGTH: usize = 9;
        const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let fits = id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self == CallIds::Any || fits {
            return Cow::Borrowed(id);
        }
        let mut rest = crate::call_ids::hash(id);
        let letters = (0..LENGTH).map(|_| {
            let letter = LETTERS[(rest % 62) as usize];
            rest /= 62;
            char::from(letter)
        });
        Cow::Owned(letters.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_become_legal_and_stay_apart() {
        let fit = |id| CallIds::NineAlphanumeric.fit(id);
        assert_eq!(fit("a1B2c3D4e"), "a1B2c3D4e");
        assert_eq!(CallIds::Any.fit("find:0"), "find:0");
        let ids: Vec<_> = (0..1_000)
            .flat_map(|n| {
                [
                    format!("call_{n}"),
                    format!("toolu_01{n}xyz"),
                    format!("find:{n}"),
                ]
            })
            .collect();
        let fitted: HashSet<_> = ids.iter().map(|id| fit(id)).collect();
        assert_eq!(fitted.len(), ids.len());
        for id in &fitted {
            assert!(
                id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{id}"
            );
            assert_eq!(fit(id), *id);
        }
    }
}
