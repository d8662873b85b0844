//! Fixture folders: one exchange with a vendor, in our words and in the vendor's.
//!
//! | file | holds |
//! |---|---|
//! | `meta.toml` | `provenance`, `date`, optional `source` and `status` |
//! | `request.json` | the neutral request; without `model` the harness's first model is asked |
//! | `wire_request.json` | the body that must be sent |
//! | `wire_stream_request.json` | the same for a stream, where the harness's patch does not say it |
//! | `wire_headers.json` | headers of the answer |
//! | `wire_response.json` (`.txt`, `.html`) | the plain answer |
//! | `wire_stream.sse` (`.ndjson`, `.json`, `.bin`) | the answer as a stream |
//! | `expect.json` | what must come of it: [`Expectation`] |
//!
//! A fixture without any answer is one that the driver must refuse before sending: `expect.json` says how.

mod meta;

use crate::answer::{Answer, Piece};
use crate::expect::Expectation;
use llm_core::ChatRequest;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub use crate::expect::{
    ExpectedCall, ExpectedError, ExpectedIncompleteCall, ExpectedUsage, ExpectedWarning,
};
pub use meta::{Meta, Provenance};

/// One exchange with a vendor.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fixture {
    /// The folder's name.
    pub name: String,
    /// Where it comes from.
    pub meta: Meta,
    /// The neutral request.
    pub request: ChatRequest,
    /// The body that must be sent; absent: nothing may be.
    pub wire_request: Option<Value>,
    /// The body that must be sent for a stream, where it is written out.
    pub wire_stream_request: Option<Value>,
    /// The headers of the answer.
    pub headers: BTreeMap<String, String>,
    /// The plain answer.
    pub response: Option<WireBody>,
    /// The answer as a stream.
    pub stream: Option<WireBody>,
    /// What must come of it.
    pub expect: Expectation,
}

/// The body of an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WireBody {
    /// Its media type.
    pub media_type: &'static str,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

const RESPONSES: [(&str, &str); 3] = [
    ("wire_response.json", "application/json"),
    ("wire_response.txt", "text/plain"),
    ("wire_response.html", "text/html"),
];

const STREAMS: [(&str, &str); 4] = [
    ("wire_stream.sse", "text/event-stream"),
    ("wire_stream.ndjson", "application/x-ndjson"),
    ("wire_stream.json", "application/json"),
    ("wire_stream.bin", "application/vnd.amazon.eventstream"),
];

const OTHERS: [&str; 6] = [
    "meta.toml",
    "request.json",
    "wire_request.json",
    "wire_stream_request.json",
    "wire_headers.json",
    "expect.json",
];

impl Fixture {
    /// Reads and checks a folder.
    ///
    /// # Errors
    /// Which file is wrong and what to do about it.
    pub fn load(folder: &Path) -> Result<Fixture, String> {
        known_files_only(folder)?;
        let meta = read(folder, "meta.toml")?.ok_or_else(|| {
            at(
                folder,
                "meta.toml",
                "is missing: write provenance = \"synthetic\" (or \"recorded\", \"vendor-doc\") and date = \"YYYY-MM-DD\"",
            )
        })?;
        let meta =
            Meta::parse(&String::from_utf8_lossy(&meta)).map_err(|what| at(folder, "meta.toml", &what))?;
        let fixture = Fixture {
            name: folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            meta,
            request: json(folder, "request.json")?
                .ok_or_else(|| at(folder, "request.json", "is missing: write the neutral request"))?,
            wire_request: json(folder, "wire_request.json")?,
            wire_stream_request: json(folder, "wire_stream_request.json")?,
            headers: json(folder, "wire_headers.json")?.unwrap_or_default(),
            response: body(folder, &RESPONSES)?,
            stream: body(folder, &STREAMS)?,
            expect: json(folder, "expect.json")?.ok_or_else(|| {
                at(
                    folder,
                    "expect.json",
                    "is missing: write what must come of the answer",
                )
            })?,
        };
        fixture.check(folder)?;
        Ok(fixture)
    }

    /// Reads every folder below this one, in order of their names.
    ///
    /// # Errors
    /// As [`Fixture::load`], for the first folder that is wrong.
    pub fn load_all(folder: &Path) -> Result<Vec<Fixture>, String> {
        let entries = fs::read_dir(folder).map_err(|error| {
            format!(
                "the fixtures folder {} cannot be read ({error}); create it, or name it with Harness::with_fixtures",
                folder.display()
            )
        })?;
        let mut folders: Vec<PathBuf> = entries
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.is_dir())
            .collect();
        folders.sort();
        folders.iter().map(|folder| Fixture::load(folder)).collect()
    }

    /// The plain answer, to be played.
    pub fn answer(&self) -> Option<Answer> {
        self.response.as_ref().map(|body| self.answer_of(body))
    }

    /// The stream, to be played.
    pub fn stream_answer(&self) -> Option<Answer> {
        self.stream.as_ref().map(|body| self.answer_of(body))
    }

    /// Must the driver refuse it before sending?
    pub fn is_refusal(&self) -> bool {
        self.response.is_none() && self.stream.is_none()
    }

    fn answer_of(&self, body: &WireBody) -> Answer {
        let named = self
            .headers
            .keys()
            .any(|name| name.eq_ignore_ascii_case("content-type"));
        let answer = Answer::status(self.meta.status)
            .with_headers(
                self.headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str())),
            )
            .with_piece(Piece::from(body.bytes.as_slice()));
        if named {
            answer
        } else {
            answer.with_header("content-type", body.media_type)
        }
    }

    /// The answer with other bytes in its body.
    pub(crate) fn answer_with(&self, body: &WireBody, bytes: Vec<u8>) -> Answer {
        let mut answer = self.answer_of(body);
        answer.pieces = vec![Piece::from(bytes)];
        answer
    }

    fn check(&self, folder: &Path) -> Result<(), String> {
        if self.is_refusal() {
            if self.wire_request.is_some() {
                let what = "has no answer beside it: add wire_response.json or wire_stream.sse, or remove it if the driver must refuse";
                return Err(at(folder, "wire_request.json", what));
            }
            if self.expect.error.is_none() {
                let what = "names no error: a fixture without an answer is a refusal, say how in \"error\"";
                return Err(at(folder, "expect.json", what));
            }
            return Ok(());
        }
        if self.wire_request.is_none() && self.wire_stream_request.is_none() {
            return Err(at(
                folder,
                "wire_request.json",
                "is missing: write the body that must be sent",
            ));
        }
        if self.meta.status >= 400 && self.expect.error.is_none() {
            return Err(at(
                folder,
                "expect.json",
                "names no error, but the status in meta.toml is one",
            ));
        }
        Ok(())
    }
}

fn at(folder: &Path, file: &str, what: &str) -> String {
    format!("{}: {what}", folder.join(file).display())
}

fn read(folder: &Path, file: &str) -> Result<Option<Vec<u8>>, String> {
    match fs::read(folder.join(file)) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(folder, file, &format!("cannot be read: {error}"))),
    }
}

fn json<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Option<T>, String> {
    let Some(bytes) = read(folder, file)? else {
        return Ok(None);
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| at(folder, file, &format!("cannot be understood: {error}")))
}

fn body(folder: &Path, names: &[(&'static str, &'static str)]) -> Result<Option<WireBody>, String> {
    let mut found = None;
    for (file, media_type) in names {
        if let Some(bytes) = read(folder, file)? {
            if found.is_some() {
                return Err(at(folder, file, "stands beside another of its kind: keep one"));
            }
            found = Some(WireBody { media_type, bytes });
        }
    }
    Ok(found)
}

fn known_files_only(folder: &Path) -> Result<(), String> {
    let entries = fs::read_dir(folder)
        .map_err(|error| format!("the fixture folder {} cannot be read: {error}", folder.display()))?;
    let known = || {
        RESPONSES
            .iter()
            .chain(&STREAMS)
            .map(|(file, _)| *file)
            .chain(OTHERS)
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !known().any(|file| file == name) {
            let list: Vec<_> = known().collect();
            let what = format!("is no file of a fixture; the known ones are {}", list.join(", "));
            return Err(at(folder, &name, &what));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
