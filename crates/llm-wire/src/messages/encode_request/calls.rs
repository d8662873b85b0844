//! Calls of one turn and their results: which belong together, and under which ids they are sent.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Ids that were sent. The format takes letters, digits, `_` and `-`, and each id once in a conversation; others'
/// histories hold other characters, and the same id again in each turn.
#[derive(Default)]
pub(super) struct CallIds<'a> {
    /// With the last number that was put behind each.
    sent: HashMap<Cow<'a, str>, u32>,
}

impl<'a> CallIds<'a> {
    fn assign(&mut self, id: &'a str) -> Cow<'a, str> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fitting: Cow<'a, str> = if id.chars().all(fits) {
            Cow::Borrowed(id)
        } else {
            id.chars().map(|c| if fits(c) { c } else { '_' }).collect()
        };
        let mut unused = fitting.clone();
        while let Some(last) = self.sent.get(&unused) {
            let number = self.sent.get(&fitting).unwrap_or(last) + 1;
            self.sent.insert(fitting.clone(), number);
            unused = Cow::Owned(format!("{fitting}_{number}"));
        }
        self.sent.insert(unused.clone(), 1);
        unused
    }
}

/// The calls of one turn.
#[derive(Default)]
pub(super) struct TurnCalls<'a> {
    /// The ids as they are sent, in order.
    sent: Vec<Cow<'a, str>>,
    /// By the caller's id: the calls that wait for a result, as places in `sent`.
    waiting: HashMap<&'a str, VecDeque<usize>>,
    answered: Vec<bool>,
}

/// Whether a result has a call.
pub(super) enum Answered<'a> {
    First(Cow<'a, str>),
    Again,
    NoCall,
}

impl<'a> TurnCalls<'a> {
    pub(super) fn add(&mut self, id: &'a str, ids: &mut CallIds<'a>) -> Cow<'a, str> {
        let sent = ids.assign(id);
        self.waiting.entry(id).or_default().push_back(self.sent.len());
        self.sent.push(sent.clone());
        self.answered.push(false);
        sent
    }

    pub(super) fn answer(&mut self, id: &str) -> Answered<'a> {
        match self.waiting.get_mut(id).map(VecDeque::pop_front) {
            None => Answered::NoCall,
            Some(None) => Answered::Again,
            Some(Some(at)) => {
                self.answered[at] = true;
                Answered::First(self.sent[at].clone())
            }
        }
    }

    /// The calls that nobody answered, in order, as they were sent.
    pub(super) fn into_unanswered(self) -> impl Iterator<Item = Cow<'a, str>> {
        let calls = self.sent.into_iter().zip(self.answered);
        calls.filter_map(|(id, answered)| (!answered).then_some(id))
    }
}
