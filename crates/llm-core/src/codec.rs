//! What a wire format offers to whoever carries its bytes: writing a request ([`ChatFormat`]), turning an answer into
//! events or a response ([`ChatCodec`]), and an error's body into an [`Error`]. Pure: neutral data in, bytes out, and
//! the way back.
//!
//! The formats themselves are elsewhere. The traits stand here so that a format need not know who carries its
//! bytes, and a transport need not know whose bytes it carries.

mod format;
mod model_list;
mod path;

pub use format::{ChatFormat, EncodedCall, EncodedPost};
pub use model_list::parse_model_list;
pub use path::{path_segment, percent_encode};

use crate::chat::{ChatResponse, ResponseMeta};
use crate::error::{Error, Phase, Result};
use crate::stream::ChatEvent;
use std::fmt::Debug;

/// How a streamed answer is cut into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// Lines of JSON.
    Lines,
    /// One JSON array whose elements come as they are ready.
    Array,
}

/// The answers of one call in one wire format: what is needed to read them, whichever form they come in.
///
/// A value belongs to one call: it knows what the request asked for (whether thoughts are wanted, for example).
pub trait ChatCodec: Debug + Send + Sync + 'static {
    /// The forms a streamed answer may have. The first is the one that is asked for.
    fn framings(&self) -> &'static [Framing] {
        &[Framing::Events]
    }

    /// A decoder for a streamed answer of this form. `meta` is what is known of the call already;
    /// `max_frame_bytes` caps one event, line or element.
    fn decoder(&self, framing: Framing, meta: ResponseMeta, max_frame_bytes: usize)
    -> Box<dyn AnswerDecoder>;

    /// Reads a whole answer. `meta` is what is known of the call already.
    ///
    /// # Errors
    /// The failure that the vendor put into its answer; `Protocol`, when it cannot be understood.
    fn decode_response(&self, meta: ResponseMeta, body: &[u8]) -> Result<ChatResponse>;

    /// What an answer with this status, which is no 2xx, says.
    fn decode_error(&self, status: u16, body: &[u8]) -> Error;
}

/// Turns the bytes of one streamed answer into events, in whatever pieces they come.
///
/// The order of calls: [`push`](AnswerDecoder::push) for each piece until
/// [`is_done`](AnswerDecoder::is_done) or the body's end; at the body's end [`end`](AnswerDecoder::end); then
/// [`finish`](AnswerDecoder::finish). After any error, and when the body breaks,
/// [`interrupt`](AnswerDecoder::interrupt) and nothing more.
pub trait AnswerDecoder: Debug + Send + 'static {
    /// Takes the next piece of the body.
    ///
    /// # Errors
    /// The failure that the vendor put into the stream; `Protocol` for what cannot be understood and for frames
    /// over the cap.
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()>;

    /// The body ended: takes what its last bytes hold, if they are whole.
    ///
    /// # Errors
    /// As [`push`](AnswerDecoder::push).
    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()>;

    /// Was the format's end mark seen? Then nothing that follows matters.
    fn is_done(&self) -> bool;

    /// Is the answer complete, though its end mark may be missing: was a finish reason seen?
    fn is_complete(&self) -> bool;

    /// Closes what is open and says why the answer ended.
    ///
    /// # Errors
    /// `Interrupted`, when the answer is not complete.
    fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()>;

    /// The answer broke off: closes what is open as incomplete. Does nothing the second time.
    fn interrupt(&mut self, out: &mut Vec<ChatEvent>);

    /// How far the call has come.
    fn phase(&self) -> Phase;
}
