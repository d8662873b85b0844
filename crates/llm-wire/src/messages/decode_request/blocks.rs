//! Content: a string or a list of blocks.

use super::media;
use crate::fault::{invalid, missing, wrong_type};
use crate::fields::{Fields, Notes};
use crate::messages::ANTHROPIC;
use crate::pieces::SEARCH_RESULT;
use llm_core::{
    CachePoint, CacheTtl, ContentPart, OpaquePart, Origin, ReasoningPart, Replay, Result, TextPart, ToolCall,
    ToolResult,
};
use serde_json::{Map, Value};

/// Who speaks, and so which blocks there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    /// Inside of a tool's result.
    Tool,
}

/// What a list of blocks holds.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Results of tools, with their cache points.
    pub(super) results: Vec<ContentPart>,
    /// Everything else.
    pub(super) parts: Vec<ContentPart>,
}

impl Blocks {
    pub(super) fn read(speaker: Speaker, path: &str, value: Value, notes: &mut Notes) -> Result<Self> {
        let mut blocks = Blocks::default();
        let list = match value {
            Value::String(text) => {
                blocks.add_text(TextPart::new(text));
                return Ok(blocks);
            }
            Value::Array(list) => list,
            _ => return Err(wrong_type(path, "a string or a list of blocks")),
        };
        for (position, value) in list.into_iter().enumerate() {
            let path = format!("{path}[{position}]");
            let kind = value
                .get("type")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            if speaker == Speaker::Assistant && is_piece(&kind) {
                blocks.piece(&path, kind, value, notes)?;
                continue;
            }
            let mut fields = Fields::of(path, value)?;
            fields.take("type");
            blocks.block(speaker, &kind, &mut fields, notes)?;
            fields.finish(notes);
        }
        Ok(blocks)
    }

    fn block(&mut self, speaker: Speaker, kind: &str, fields: &mut Fields, notes: &mut Notes) -> Result<()> {
        let point = cache_point(fields, notes)?;
        let mut of_result = false;
        match (kind, speaker) {
            ("text", _) => self.add_text(text(fields)?),
            ("image", Speaker::User | Speaker::Tool) => self.parts.push(media::image(fields, notes)?),
            ("document", Speaker::User | Speaker::Tool) => self.parts.extend(media::document(fields, notes)?),
            (SEARCH_RESULT, Speaker::User | Speaker::Tool) => {
                self.parts.push(search_result(whole(kind, fields)));
            }
            ("container_upload", Speaker::User) | ("tool_reference", Speaker::Tool) => {
                self.parts.push(opaque(kind, whole(kind, fields)));
            }
            ("tool_result", Speaker::User) => {
                of_result = true;
                self.results.push(result(fields, notes)?);
            }
            ("tool_use", Speaker::Assistant) => self.parts.push(call(fields)?),
            ("thinking", Speaker::Assistant) => self.parts.push(thought(fields)?),
            _ => return Err(invalid(fields.at("type"), in_words(speaker))),
        }
        if let Some(point) = point {
            let parts = if of_result {
                &mut self.results
            } else {
                &mut self.parts
            };
            parts.push(ContentPart::CachePoint(point));
        }
        Ok(())
    }

    /// A block of the vendor's own, kept as it came.
    fn piece(&mut self, path: &str, kind: String, value: Value, notes: &mut Notes) -> Result<()> {
        let Value::Object(mut block) = value else {
            return Err(wrong_type(path, "an object"));
        };
        let mark = block.shift_remove("cache_control").unwrap_or_default();
        self.parts.push(opaque(&kind, block));
        if !mark.is_null() {
            let mut of = Map::new();
            of.insert("cache_control".into(), mark);
            let point = cache_point(&mut Fields::of(path.to_owned(), Value::Object(of))?, notes)?;
            self.parts.extend(point.map(ContentPart::CachePoint));
        }
        Ok(())
    }

    /// Empty text is no part.
    fn add_text(&mut self, part: TextPart) {
        if !part.text.is_empty() {
            self.parts.push(ContentPart::Text(part));
        }
    }
}

/// Is it a kind of block that only the vendor can read?
fn is_piece(kind: &str) -> bool {
    let known = [
        "",
        "text",
        "thinking",
        "tool_use",
        "tool_result",
        "image",
        "document",
        "search_result",
    ];
    !known.contains(&kind)
}

fn in_words(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::System => "must be text: system messages hold nothing else",
        Speaker::User => {
            "must be one of text, image, document, search_result, container_upload and tool_result"
        }
        Speaker::Assistant => "must be text, thinking, tool_use or a block that an answer held",
        Speaker::Tool => "must be one of text, image, document, search_result and tool_reference",
    }
}

fn text(fields: &mut Fields) -> Result<TextPart> {
    let text = fields.text("text")?;
    let text = text.ok_or_else(|| missing(fields.at("text"), "a string"))?;
    let part = TextPart::new(text);
    match fields
        .list("citations")?
        .filter(|citations| !citations.is_empty())
    {
        Some(citations) => Ok(part.with_replay(own("citations", Value::Array(citations)))),
        None => Ok(part),
    }
}

/// A thought that its vendor signed goes back whole; another one is only text.
fn thought(fields: &mut Fields) -> Result<ContentPart> {
    let text = fields.text("thinking")?;
    let text = text.ok_or_else(|| missing(fields.at("thinking"), "a string"))?;
    let signature = fields
        .text("signature")?
        .filter(|signature| !signature.is_empty());
    let part = ReasoningPart::new(text.as_str());
    let Some(signature) = signature else {
        return Ok(ContentPart::Reasoning(part));
    };
    let mut block = Map::new();
    block.insert("type".into(), "thinking".into());
    block.insert("thinking".into(), text.into());
    block.insert("signature".into(), signature.into());
    block.append(&mut fields.take_all());
    let replay = Replay::new(Origin::new(ANTHROPIC), Value::Object(block));
    Ok(ContentPart::Reasoning(part.with_replay(replay)))
}

fn call(fields: &mut Fields) -> Result<ContentPart> {
    let id = fields.name("id")?;
    let name = fields.name("name")?;
    let input = fields.object("input")?;
    let input = input.ok_or_else(|| missing(fields.at("input"), "an object"))?;
    let call = ToolCall::new(id, name, input.to_string());
    Ok(ContentPart::ToolCall(match fields.object("caller")? {
        Some(caller) => call.with_replay(own("caller", caller)),
        None => call,
    }))
}

fn result(fields: &mut Fields, notes: &mut Notes) -> Result<ContentPart> {
    let id = fields.name("tool_use_id")?;
    let path = fields.at("content");
    let content = match fields.take("content") {
        None => Vec::new(),
        Some(value) => Blocks::read(Speaker::Tool, &path, value, notes)?.parts,
    };
    let mut result = ToolResult::new(id, "").with_content(content);
    result.is_error = fields.flag("is_error")?.unwrap_or(false);
    Ok(ContentPart::ToolResult(result))
}

/// All of a block that was not read yet.
fn whole(kind: &str, fields: &mut Fields) -> Map<String, Value> {
    let mut block = fields.take_all();
    block.shift_insert(0, "type".into(), kind.into());
    block
}

/// What others can read of a search result, with the block itself for its vendor.
fn search_result(block: Map<String, Value>) -> ContentPart {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let content = block.get("content").and_then(Value::as_array);
    let found = content.into_iter().flatten().map(|part| text(part.get("text")));
    let mut lines = vec![text(block.get("title")), text(block.get("source"))];
    lines.extend(found);
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() {
        return opaque(SEARCH_RESULT, block);
    }
    let replay = Replay::new(Origin::new(ANTHROPIC), Value::Object(block));
    ContentPart::Text(TextPart::new(lines.join("\n")).with_replay(replay))
}

pub(super) fn opaque(kind: &str, block: Map<String, Value>) -> ContentPart {
    let replay = Replay::new(Origin::new(ANTHROPIC), Value::Object(block));
    ContentPart::Opaque(OpaquePart::new(kind, replay))
}

fn own(name: &str, value: Value) -> Replay {
    let mut data = Map::new();
    data.insert(name.into(), value);
    Replay::new(Origin::new(ANTHROPIC), Value::Object(data))
}

/// A mark for the prompt cache on a block or a tool.
pub(super) fn cache_point(fields: &mut Fields, notes: &mut Notes) -> Result<Option<CachePoint>> {
    let Some(mut mark) = fields.inner("cache_control")? else {
        return Ok(None);
    };
    mark.text("type")?;
    let ttl = match mark.text("ttl")?.as_deref() {
        Some("1h") => CacheTtl::Long,
        Some("5m") | None => CacheTtl::Short,
        Some(_) => {
            notes.warn(&mark.at("ttl"), "is neither 5m nor 1h; 5m is taken");
            CacheTtl::Short
        }
    };
    mark.finish(notes);
    Ok(Some(CachePoint::new(ttl)))
}
