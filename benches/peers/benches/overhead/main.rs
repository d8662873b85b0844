//! What a library costs: one plain call and one stream of 200 chunks, over raw reqwest and serde_json on the same
//! loopback server, with our OpenAI driver, async-openai and genai beside each other.
//!
//! Raw means: reqwest sends a body that is there already, a plain answer is parsed to `serde_json::Value`, and of a
//! stream each `data:` line is. That is the least anybody writes without a library. All use one client for all calls,
//! and read a stream to its end.

mod server;

use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestUserMessageArgs, ChatCompletionStreamOptions, CreateChatCompletionRequest,
    CreateChatCompletionRequestArgs,
};
use futures_util::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::ChatStreamEvent;
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{ModelIden, ServiceTarget};
use llm_bench_ratio::Contest;
use llm_core::{CallContext, ChatDriver, ChatEvent, ChatRequest, Delta, ModelId};
use llm_driver_openai::{OpenAiConfig, OpenAiDriver};
use serde_json::{Value, json};
use server::{Server, Writes};
use std::error::Error;
use tokio::runtime::Runtime;

type Outcome<T = usize> = Result<T, Box<dyn Error>>;

const MODEL: &str = "gpt-6-luna";
const QUESTION: &str = "Why is the sky blue? Answer in one sentence, with no \"quotes\" in it.";

fn main() -> Outcome<()> {
    // Client and server take turns anyway. Left alone they are on one core in this round and on two in the next, and
    // waking another core costs more than a whole call does.
    let core = core_affinity::get_core_ids().and_then(|cores| cores.last().copied());
    if !core.is_some_and(core_affinity::set_for_current) {
        println!("cannot stay on one core here: the figures of plain calls will vary");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for (title, writes) in [
        ("all of a stream in one write", Writes::Once),
        ("each chunk of a stream in a write of its own", Writes::Each),
    ] {
        let server = Server::start(writes)?;
        compare(
            &runtime,
            &Callers::new(&server.base_url)?,
            title,
            matches!(writes, Writes::Once),
        )?;
    }
    Ok(())
}

fn compare(runtime: &Runtime, callers: &Callers, title: &str, plain: bool) -> Outcome<()> {
    let run = |outcome: Outcome| outcome.unwrap_or_default();
    // Each must read the whole answer: what is measured is checked first.
    let length = server::text().len();
    runtime.block_on(async {
        for (name, read) in [
            ("raw", callers.raw().await?),
            ("ours", callers.ours().await?),
            ("async-openai", callers.async_openai().await?),
            ("genai", callers.genai().await?),
            ("raw, stream", callers.raw_stream().await?),
            ("ours, stream", callers.ours_stream().await?),
            ("async-openai, stream", callers.async_openai_stream().await?),
            ("genai, stream", callers.genai_stream().await?),
        ] {
            if read != length {
                return Err(format!("{name} read {read} bytes of {length}").into());
            }
        }
        Outcome::Ok(())
    })?;
    if plain {
        Contest::new("one plain call over loopback")
            .peer("raw reqwest and serde_json", || {
                run(runtime.block_on(callers.raw()))
            })
            .entry("llm-driver-openai", || run(runtime.block_on(callers.ours())))
            .entry("async-openai", || run(runtime.block_on(callers.async_openai())))
            .entry("genai", || run(runtime.block_on(callers.genai())))
            .run();
    }
    Contest::new(format!(
        "one stream of {} chunks over loopback, {title}",
        server::CHUNKS
    ))
    .peer("raw reqwest and serde_json", || {
        run(runtime.block_on(callers.raw_stream()))
    })
    .entry("llm-driver-openai", || {
        run(runtime.block_on(callers.ours_stream()))
    })
    .entry("async-openai", || {
        run(runtime.block_on(callers.async_openai_stream()))
    })
    .entry("genai", || run(runtime.block_on(callers.genai_stream())))
    .run();
    Ok(())
}

/// One client of each kind, used for all calls. Every call gives the length of the text it read.
struct Callers {
    url: String,
    raw: reqwest::Client,
    ours: OpenAiDriver,
    request: ChatRequest,
    async_openai: async_openai::Client<OpenAIConfig>,
    genai: genai::Client,
}

impl Callers {
    fn new(base_url: &str) -> Outcome<Self> {
        let config = OpenAiConfig::compatible(base_url).with_api_key("key");
        let peer = OpenAIConfig::new().with_api_base(base_url).with_api_key("key");
        let endpoint = format!("{base_url}/");
        let resolver = ServiceTargetResolver::from_resolver_fn(
            move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
                Ok(ServiceTarget {
                    endpoint: Endpoint::from_owned(endpoint.clone()),
                    auth: AuthData::from_single("key"),
                    model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
                })
            },
        );
        Ok(Callers {
            url: format!("{base_url}/chat/completions"),
            raw: reqwest::Client::builder().build()?,
            ours: OpenAiDriver::new(config)?,
            request: ChatRequest::user(QUESTION).with_model(ModelId::new(MODEL)?),
            async_openai: async_openai::Client::with_config(peer),
            genai: genai::Client::builder()
                .with_service_target_resolver(resolver)
                .build()?,
        })
    }

    fn raw_request(&self, stream: bool) -> Outcome<reqwest::RequestBuilder> {
        let mut body = json!({"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]});
        if stream {
            body["stream"] = json!(true);
            body["stream_options"] = json!({"include_usage": true});
        }
        let request = self.raw.post(&self.url).bearer_auth("key");
        Ok(request
            .header("content-type", "application/json")
            .body(serde_json::to_vec(&body)?))
    }

    async fn raw(&self) -> Outcome {
        let body = self
            .raw_request(false)?
            .send()
            .await?
            .error_for_status()?
            .bytes()
            .await?;
        let answer: Value = serde_json::from_slice(&body)?;
        Ok(answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap_or_default()
            .len())
    }

    async fn raw_stream(&self) -> Outcome {
        let response = self.raw_request(true)?.send().await?.error_for_status()?;
        let (mut pieces, mut buffer, mut length) = (response.bytes_stream(), Vec::new(), 0);
        while let Some(piece) = pieces.next().await {
            buffer.extend_from_slice(&piece?);
            let mut start = 0;
            while let Some(end) = memchr::memchr(b'\n', &buffer[start..]) {
                let line = &buffer[start..start + end];
                start += end + 1;
                if let Some(data) = line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]") {
                    let chunk: Value = serde_json::from_slice(data)?;
                    length += chunk["choices"][0]["delta"]["content"]
                        .as_str()
                        .unwrap_or_default()
                        .len();
                }
            }
            buffer.drain(..start);
        }
        Ok(length)
    }

    fn context() -> CallContext {
        CallContext::new(llm_http::shared_clock())
    }

    async fn ours(&self) -> Outcome {
        Ok(self
            .ours
            .chat(&Self::context(), &self.request)
            .await?
            .text()
            .len())
    }

    async fn ours_stream(&self) -> Outcome {
        let mut stream = self.ours.chat_stream(&Self::context(), &self.request).await?;
        let mut length = 0;
        while let Some(event) = stream.next_event().await {
            if let ChatEvent::BlockDelta {
                delta: Delta::Text(text),
                ..
            } = event?
            {
                length += text.len();
            }
        }
        Ok(length)
    }

    fn async_openai_request(&self, stream: bool) -> Outcome<CreateChatCompletionRequest> {
        let message = ChatCompletionRequestUserMessageArgs::default()
            .content(QUESTION)
            .build()?;
        let mut request = CreateChatCompletionRequestArgs::default();
        request.model(MODEL).messages([message.into()]);
        if stream {
            request.stream_options(ChatCompletionStreamOptions {
                include_usage: Some(true),
                include_obfuscation: None,
            });
        }
        Ok(request.build()?)
    }

    async fn async_openai(&self) -> Outcome {
        let answer = self
            .async_openai
            .chat()
            .create(self.async_openai_request(false)?)
            .await?;
        let text = answer
            .choices
            .first()
            .and_then(|choice| choice.message.content.as_deref());
        Ok(text.unwrap_or_default().len())
    }

    async fn async_openai_stream(&self) -> Outcome {
        let mut stream = self
            .async_openai
            .chat()
            .create_stream(self.async_openai_request(true)?)
            .await?;
        let mut length = 0;
        while let Some(chunk) = stream.next().await {
            let chunk = chunk?;
            let text = chunk
                .choices
                .first()
                .and_then(|choice| choice.delta.content.as_deref());
            length += text.unwrap_or_default().len();
        }
        Ok(length)
    }

    fn genai_request() -> genai::chat::ChatRequest {
        genai::chat::ChatRequest::from_user(QUESTION)
    }

    async fn genai(&self) -> Outcome {
        let answer = self.genai.exec_chat(MODEL, Self::genai_request(), None).await?;
        Ok(answer.first_text().unwrap_or_default().len())
    }

    async fn genai_stream(&self) -> Outcome {
        let options = genai::chat::ChatOptions::default().with_capture_usage(true);
        let answer = self
            .genai
            .exec_chat_stream(MODEL, Self::genai_request(), Some(&options))
            .await?;
        let (mut stream, mut length) = (answer.stream, 0);
        while let Some(event) = stream.next().await {
            if let ChatStreamEvent::Chunk(chunk) = event? {
                length += chunk.content.len();
            }
        }
        Ok(length)
    }
}
