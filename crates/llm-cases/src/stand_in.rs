//! Drivers of formats that have no driver crate yet: the codec of the format under the chat call that every driver
//! has. Once there is a crate, `driver` in `subject.rs` names its driver instead, and the format goes from here.

use llm_core::{
    AnswerDecoder, Availability, CallContext, ChatCodec, ChatDriver, ChatEvent, ChatRequest, ChatResponse,
    ChatStream, DriverId, DriverInfo, Error, Framing, HealthStatus, ModelId, Phase, Price, ResolvedModel,
    ResponseMeta, Result, VendorId, async_trait,
};
use llm_http::{ChatCall, EncodedChat, Transport, VendorApi};
use llm_wire::DecodeOptions;
use llm_wire::frame::{NdjsonDecoder, SseItem};
use llm_wire::{generate_content, ollama};
use std::sync::Arc;

/// The formats that are carried here.
#[derive(Debug, Clone)]
pub(crate) enum Format {
    GenerateContent(generate_content::Dialect),
    Ollama(ollama::Dialect),
}

/// A driver of one of the formats.
#[derive(Debug)]
pub(crate) struct StandIn {
    format: Format,
    info: DriverInfo,
    api: VendorApi,
    price: Option<Price>,
}

impl StandIn {
    /// Every model costs this.
    pub(crate) fn new(
        format: Format,
        base_url: &str,
        price: Option<Price>,
        transport: Arc<dyn Transport>,
    ) -> Result<StandIn> {
        let vendor = format.vendor().clone();
        let id = DriverId::new(vendor.as_str())?;
        Ok(StandIn {
            info: DriverInfo::new(id.clone(), vendor, "a stand-in"),
            api: VendorApi::new(id, base_url, transport)?,
            format,
            price,
        })
    }

    fn call<'c>(&'c self, cx: &'c CallContext, request: &'c ChatRequest) -> Result<ChatCall<'c>> {
        let model = self.resolve(request.model.as_ref())?;
        Ok(ChatCall::new(&self.api, cx, request, model))
    }

    fn encode(&self, request: &ChatRequest, model: &ResolvedModel, stream: bool) -> Result<EncodedChat> {
        let mut options = DecodeOptions::new(request, ResponseMeta::default());
        let (path, body, warnings) = match &self.format {
            Format::GenerateContent(dialect) => {
                let encoded = generate_content::encode_request(dialect, model, request)?;
                options = options.with_tool_names(encoded.tool_names);
                let method = if stream {
                    "streamGenerateContent?alt=sse"
                } else {
                    "generateContent"
                };
                let path = format!("/models/{}:{method}", model.id);
                (path, encoded.body, encoded.warnings)
            }
            Format::Ollama(dialect) => {
                let encoded = ollama::encode_request(dialect, model, request, stream)?;
                ("/api/chat".to_owned(), encoded.body, encoded.warnings)
            }
        };
        let codec = Codec {
            format: self.format.clone(),
            options,
        };
        Ok(EncodedChat::new(self.api.post_json(&path, body)?, codec).with_warnings(warnings))
    }
}

#[async_trait]
impl ChatDriver for StandIn {
    fn info(&self) -> &DriverInfo {
        &self.info
    }

    fn resolve(&self, model: Option<&ModelId>) -> Result<Arc<ResolvedModel>> {
        let model = model.cloned().map_or_else(|| ModelId::new("demo"), Ok)?;
        Ok(Arc::new(
            ResolvedModel::unknown(model).with_price(self.price.clone()),
        ))
    }

    fn availability(&self, _: &ModelId) -> Availability {
        Availability::Available
    }

    async fn health(&self, cx: &CallContext) -> HealthStatus {
        HealthStatus::unknown(cx.clock().wall(), "nobody asks a stand-in")
    }

    async fn chat(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatResponse> {
        let call = self.call(cx, request)?;
        call.plain(|model, stream| self.encode(request, model, stream))
            .await
    }

    async fn chat_stream(&self, cx: &CallContext, request: &ChatRequest) -> Result<ChatStream> {
        let call = self.call(cx, request)?;
        call.stream(|model, stream| self.encode(request, model, stream))
            .await
    }
}

impl Format {
    fn vendor(&self) -> &VendorId {
        match self {
            Format::GenerateContent(dialect) => &dialect.vendor,
            Format::Ollama(dialect) => &dialect.vendor,
        }
    }
}

/// The answers to one request.
#[derive(Debug)]
struct Codec {
    format: Format,
    options: DecodeOptions,
}

impl Codec {
    fn options(&self, meta: ResponseMeta) -> DecodeOptions {
        let mut options = self.options.clone();
        options.meta = meta;
        options
    }
}

impl ChatCodec for Codec {
    fn framings(&self) -> &'static [Framing] {
        match self.format {
            Format::GenerateContent(_) => &[Framing::Events, Framing::Array],
            Format::Ollama(_) => &[Framing::Lines],
        }
    }

    fn decoder(&self, _: Framing, meta: ResponseMeta, max_frame_bytes: usize) -> Box<dyn AnswerDecoder> {
        let options = self.options(meta);
        match &self.format {
            Format::GenerateContent(dialect) => Box::new(Contents {
                frames: generate_content::BodyDecoder::new(max_frame_bytes),
                decoder: generate_content::StreamDecoder::new(dialect, options),
            }),
            Format::Ollama(dialect) => Box::new(Lines {
                frames: NdjsonDecoder::new(max_frame_bytes),
                decoder: ollama::StreamDecoder::new(dialect, options),
            }),
        }
    }

    fn decode_response(&self, meta: ResponseMeta, body: &[u8]) -> Result<ChatResponse> {
        let options = self.options(meta);
        match &self.format {
            Format::GenerateContent(dialect) => generate_content::decode_response(dialect, options, body),
            Format::Ollama(dialect) => ollama::decode_response(dialect, options, body),
        }
    }

    fn decode_error(&self, status: u16, body: &[u8]) -> Error {
        match &self.format {
            Format::GenerateContent(dialect) => generate_content::decode_error(dialect, Some(status), body),
            Format::Ollama(dialect) => ollama::decode_error(dialect, Some(status), body),
        }
    }
}

#[derive(Debug)]
struct Contents {
    frames: generate_content::BodyDecoder,
    decoder: generate_content::StreamDecoder,
}

#[derive(Debug)]
struct Lines {
    frames: NdjsonDecoder,
    decoder: ollama::StreamDecoder,
}

/// What the decoder of a format answers by itself.
macro_rules! told_by_the_decoder {
    () => {
        fn is_done(&self) -> bool {
            self.decoder.is_done()
        }

        fn is_complete(&self) -> bool {
            self.decoder.is_complete()
        }

        fn finish(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
            self.decoder.finish(out)
        }

        fn interrupt(&mut self, out: &mut Vec<ChatEvent>) {
            self.decoder.interrupt(out);
        }

        fn phase(&self) -> Phase {
            self.decoder.phase()
        }
    };
}

impl AnswerDecoder for Contents {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.feed(piece, |item| {
            match item {
                SseItem::Event(event) => decoder.feed(event.event, event.data, out)?,
                _ => decoder.keep_alive(out),
            }
            Ok(())
        })
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.finish(|item| match item {
            SseItem::Event(event) => decoder.feed_unterminated(event.event, event.data, out),
            _ => Ok(()),
        })
    }

    told_by_the_decoder!();
}

impl AnswerDecoder for Lines {
    fn push(&mut self, piece: &[u8], out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.feed(piece, |line| decoder.feed(line, out))
    }

    fn end(&mut self, out: &mut Vec<ChatEvent>) -> Result<()> {
        let decoder = &mut self.decoder;
        self.frames.finish(|line| decoder.feed_unterminated(line, out))
    }

    told_by_the_decoder!();
}
