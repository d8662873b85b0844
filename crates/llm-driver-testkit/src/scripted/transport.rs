//! A transport that plays scripted answers without sockets, on tokio's time.

use super::{Exhausted, Script};
use crate::answer::{Answer, End, Head, Piece};
use crate::log::{Entry, Log};
use crate::recorded::RecordedRequest;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, HeaderName, HeaderValue};
use llm_core::{CallContext, Error, ErrorKind, Phase, Result, async_trait};
use llm_http::{Body, HttpRequest, HttpResponse, Transport, within_deadline};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Mutex, PoisonError};

/// Plays scripted answers, in order, and records what was sent.
///
/// Pauses are waits on tokio's time: in a test with paused time they take none. As with a real transport, waiting
/// for the head and for each piece ends with the call's deadline, and dropping the future or the body ends the
/// exchange.
///
/// ```
/// use llm_driver_testkit::{Answer, Progress, ScriptedTransport, TestClock};
/// use llm_http::{HttpRequest, Transport};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let transport = ScriptedTransport::new([Answer::json(200, "{}")]);
/// let request = HttpRequest::post_json("http://vendor.test/v1/chat", "[1]");
/// let response = transport.send(&TestClock::context(), request).await.unwrap();
/// assert_eq!(response.body.read_all(10).await.unwrap(), "{}");
///
/// let sent = &transport.requests()[0];
/// assert_eq!((sent.path(), &sent.body[..]), ("/v1/chat", &b"[1]"[..]));
/// assert_eq!(sent.progress, Progress::Ended);
/// # });
/// ```
#[derive(Debug)]
pub struct ScriptedTransport {
    script: Mutex<Script<Answer>>,
    log: Log<RecordedRequest>,
    bytewise: bool,
}

impl ScriptedTransport {
    /// Plays these answers, one for each request.
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        ScriptedTransport {
            script: Mutex::new(Script::new(answers)),
            log: Log::default(),
            bytewise: false,
        }
    }

    /// Plays this answer for every request.
    pub fn always(answer: Answer) -> Self {
        ScriptedTransport::new([answer]).with_exhausted(Exhausted::RepeatLast)
    }

    /// What happens after the last answer.
    #[must_use]
    pub fn with_exhausted(self, exhausted: Exhausted) -> Self {
        self.script().exhausted = exhausted;
        self
    }

    /// Hands every body over byte by byte.
    #[must_use]
    pub fn bytewise(mut self) -> Self {
        self.bytewise = true;
        self
    }

    /// Adds an answer to the end of the script.
    pub fn push(&self, answer: Answer) {
        self.script().push(answer);
    }

    /// Puts these answers in the place of all that were not played yet.
    pub fn set_answers(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut script = self.script();
        let exhausted = script.exhausted;
        *script = Script::new(answers);
        script.exhausted = exhausted;
    }

    /// What was sent so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.log.lines()
    }

    /// How many requests were sent so far.
    pub fn request_count(&self) -> usize {
        self.log.len()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script<Answer>> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Transport for ScriptedTransport {
    async fn send(&self, cx: &CallContext, request: HttpRequest) -> Result<HttpResponse> {
        cx.check_deadline()?;
        let record = RecordedRequest::new(request.method, request.url, request.headers, request.body);
        let entry = self.log.begin(record);
        let Some(mut answer) = self.script().next() else {
            entry.end();
            let message = "the scripted transport has no answer left; script one for each request";
            return Err(Error::new(ErrorKind::Internal, message));
        };
        if self.bytewise {
            answer = answer.bytewise();
        }
        let head = within_deadline(cx, Phase::Sent, head(&answer)).await;
        match head {
            Ok((status, headers)) => Ok(HttpResponse::new(status, headers, body(cx, entry, answer))),
            Err(error) => {
                entry.end();
                Err(error)
            }
        }
    }
}

async fn head(answer: &Answer) -> Result<(u16, HeaderMap)> {
    if !answer.pause.is_zero() {
        tokio::time::sleep(answer.pause).await;
    }
    let connection = |message: &str, phase| Err(Error::new(ErrorKind::Connection, message).with_phase(phase));
    match answer.head {
        Head::Status(status) => Ok((status, header_map(&answer.headers)?)),
        Head::Refused => connection("nobody listens at the address (scripted)", Phase::NotSent),
        Head::ConnectTimeout => connection("no connection within the time for it (scripted)", Phase::NotSent),
        Head::Closed => connection(
            "the connection was closed without an answer (scripted)",
            Phase::Sent,
        ),
        Head::Silent => pending().await,
    }
}

fn header_map(headers: &[(String, String)]) -> Result<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .zip(HeaderValue::from_str(value).ok());
        let Some((name, value)) = parsed else {
            let message = format!("the scripted header {name:?} cannot be a header; correct the script");
            return Err(Error::new(ErrorKind::Internal, message));
        };
        map.append(name, value);
    }
    Ok(map)
}

struct Playing {
    cx: CallContext,
    entry: Entry<RecordedRequest>,
    pieces: VecDeque<Piece>,
    end: End,
}

fn body(cx: &CallContext, entry: Entry<RecordedRequest>, answer: Answer) -> Body {
    let playing = Playing {
        cx: cx.clone(),
        entry,
        end: answer.true_end(),
        pieces: answer.pieces.into(),
    };
    Body::new(unfold(Some(playing), |playing| async {
        let mut playing = playing?;
        let cx = playing.cx.clone();
        match within_deadline(&cx, Phase::Sent, next(&mut playing)).await {
            Ok(Some(bytes)) => {
                playing.entry.change(|line| line.bytes_taken += bytes.len());
                Some((Ok(bytes), Some(playing)))
            }
            Ok(None) => {
                playing.entry.end();
                None
            }
            Err(error) => {
                playing.entry.end();
                Some((Err(error), None))
            }
        }
    }))
}

async fn next(playing: &mut Playing) -> Result<Option<Bytes>> {
    let broken = |message: &str| Err(Error::new(ErrorKind::Connection, message).with_phase(Phase::Sent));
    loop {
        match playing.pieces.pop_front() {
            Some(Piece::Bytes(bytes)) if bytes.is_empty() => {}
            Some(Piece::Bytes(bytes)) => return Ok(Some(bytes)),
            Some(Piece::Delay(delay)) => tokio::time::sleep(delay).await,
            Some(Piece::Hang) => return pending().await,
            Some(Piece::Repeat(_, 0)) => {}
            Some(Piece::Repeat(bytes, times)) => {
                playing.pieces.push_front(Piece::Repeat(bytes.clone(), times - 1));
                return Ok(Some(bytes));
            }
            None => {
                return match playing.end {
                    End::Eof => Ok(None),
                    End::Cut => broken("the connection was closed in the middle of the body (scripted)"),
                    End::Reset => broken("the connection was reset (scripted)"),
                    End::Hang => pending().await,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests;
