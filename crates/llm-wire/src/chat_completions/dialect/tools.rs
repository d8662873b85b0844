//! What a host takes of tools and of forms of the answer, as plain data.

/// What a host wants of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolForm {
    /// Does it guarantee arguments that fit?
    pub strict: StrictTools,
    /// Must a tool's name begin with a letter or `_`? (Everywhere it is up to 64 letters, digits, `_` and `-`; a tool of
    /// another name is sent under one that fits.)
    pub names_begin_with_letters: bool,
    /// Must every tool have parameters? Then a tool without any gets an empty object.
    pub parameters_required: bool,
    /// Can tools and an answer in JSON be asked for together?
    pub with_json: bool,
}

impl ToolForm {
    /// As OpenAI takes them.
    pub const OPENAI: ToolForm = ToolForm {
        strict: StrictTools::Each,
        names_begin_with_letters: false,
        parameters_required: false,
        with_json: true,
    };
}

/// Does a host guarantee arguments that fit?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictTools {
    /// For each tool that asks for it.
    Each,
    /// Where all tools of the request ask for it.
    AllOrNone,
    /// Not at all: a tool that asks for it is refused.
    No,
}

/// What a host wants of answers in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonAnswers {
    /// Can they be streamed? Else the answer comes in one piece.
    pub streamed: bool,
    /// Which schemas it takes.
    pub schemas: Schemas,
    /// Must the word JSON stand in a message where an answer in JSON without a schema is asked for? Then it is added to
    /// the system text of a request that does not hold it.
    pub wants_word: bool,
}

impl JsonAnswers {
    /// As OpenAI takes them.
    pub const OPENAI: JsonAnswers = JsonAnswers {
        streamed: true,
        schemas: Schemas::AsGiven,
        wants_word: true,
    };

    /// As nearly all hosts take them.
    pub const COMPATIBLE: JsonAnswers = JsonAnswers {
        wants_word: false,
        ..JsonAnswers::OPENAI
    };
}

/// Which JSON schemas a host takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schemas {
    /// They are sent as they are given.
    AsGiven,
    /// Moonshot's own dialect of JSON schema: they are rewritten to it, and say the same.
    Moonshot,
}
