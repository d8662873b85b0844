//! Everything a request can ask, one by one: what a driver must send, refuse or warn of.

use super::{
    AudioPart, CachePoint, CacheTtl, ChatRequest, ContentPart, DocumentPart, ImagePart, MediaSource, Message,
    OpaquePart, OutputFormat, Reasoning, ReasoningEffort, ReasoningPart, RefusalPart, Role, Sampling,
    TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec,
};
use std::fmt;

macro_rules! options {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)+) => {
        /// One thing that a request can ask.
        ///
        /// A driver sends it, refuses the request before sending (`Unsupported`), or warns in the response. There is no
        /// fourth way; the conformance suite proves it for each of these.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum RequestOption {
            $($(#[$doc])* $name,)+
        }

        impl RequestOption {
            /// All of them.
            pub const ALL: &[RequestOption] = &[$(RequestOption::$name,)+];

            /// The stable word: the field of the request, and its value where that makes a difference.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(RequestOption::$name => $word,)+
                }
            }
        }
    };
}

options! {
    /// A named model.
    Model = "model",
    /// Instructions above the conversation.
    SystemMessage = "messages: system",
    /// What the user says.
    UserMessage = "messages: user",
    /// What the model said.
    AssistantMessage = "messages: assistant",
    /// What tools answered.
    ToolMessage = "messages: tool",
    /// A name that tells speakers apart.
    MessageName = "messages: name",
    /// A text part.
    Text = "text",
    /// Vendor state beside a text.
    TextReplay = "text: replay",
    /// A picture by its address.
    ImageUrl = "image: url",
    /// A picture's bytes.
    ImageBytes = "image: bytes",
    /// A picture that was uploaded to the vendor.
    ImageFile = "image: vendor file",
    /// How closely to look.
    ImageDetail = "image: detail",
    /// A sound by its address.
    AudioUrl = "audio: url",
    /// A sound's bytes.
    AudioBytes = "audio: bytes",
    /// A sound that was uploaded to the vendor.
    AudioFile = "audio: vendor file",
    /// A document by its address.
    DocumentUrl = "document: url",
    /// A document's bytes.
    DocumentBytes = "document: bytes",
    /// A document that was uploaded to the vendor.
    DocumentFile = "document: vendor file",
    /// A document's file name.
    DocumentName = "document: name",
    /// A call of a tool in the history.
    ToolCall = "tool call",
    /// Vendor state beside a call.
    ToolCallReplay = "tool call: replay",
    /// What a tool answered.
    ToolResult = "tool result",
    /// The name of the tool that answered.
    ToolResultName = "tool result: name",
    /// Other content than text in a tool's answer.
    ToolResultMedia = "tool result: picture",
    /// The tool failed.
    ToolResultError = "tool result: is_error",
    /// A thought in the history.
    ReasoningText = "reasoning in history",
    /// Vendor state of a thought.
    ReasoningReplay = "reasoning in history: replay",
    /// A refusal in the history.
    Refusal = "refusal in history",
    /// A vendor's own piece in the history.
    Opaque = "vendor piece in history",
    /// A prefix worth keeping for the usual time.
    CachePointShort = "cache point: short",
    /// A prefix worth keeping for long.
    CachePointLong = "cache point: long",
    /// Tools to call.
    Tools = "tools",
    /// What a tool does.
    ToolDescription = "tools: description",
    /// The schema of its arguments.
    ToolParameters = "tools: parameters",
    /// Arguments are guaranteed to fit.
    ToolStrict = "tools: strict true",
    /// Arguments need not be guaranteed to fit.
    ToolLoose = "tools: strict false",
    /// Tools may be called.
    ToolChoiceAuto = "tool_choice: auto",
    /// Tools must not be called.
    ToolChoiceNone = "tool_choice: none",
    /// Some tool must be called.
    ToolChoiceRequired = "tool_choice: required",
    /// This tool must be called.
    ToolChoiceTool = "tool_choice: a tool",
    /// Several calls at once.
    ParallelToolCalls = "parallel_tool_calls: true",
    /// One call at a time.
    SingleToolCalls = "parallel_tool_calls: false",
    /// Some JSON value.
    OutputJson = "output: json",
    /// JSON that fits a schema.
    OutputSchema = "output: json_schema",
    /// What the value is for.
    OutputDescription = "output: description",
    /// The fit is guaranteed.
    OutputStrict = "output: strict true",
    /// The fit need not be guaranteed.
    OutputLoose = "output: strict false",
    /// How bold the choice of words is.
    Temperature = "sampling.temperature",
    /// Only the most likely words of this share.
    TopP = "sampling.top_p",
    /// Only so many most likely words.
    TopK = "sampling.top_k",
    /// Against repetition, by count.
    FrequencyPenalty = "sampling.frequency_penalty",
    /// Against repetition at all.
    PresencePenalty = "sampling.presence_penalty",
    /// The same answer again.
    Seed = "sampling.seed",
    /// No thought.
    ReasoningOff = "reasoning.effort: none",
    /// So much thought.
    ReasoningEffort = "reasoning.effort",
    /// Thoughts are shown.
    ReasoningInclude = "reasoning.include",
    /// The most tokens that may come out.
    MaxOutputTokens = "max_output_tokens",
    /// Where the answer ends.
    Stop = "stop",
    /// Who the end user is.
    User = "user",
    /// The class of service.
    ServiceTier = "service_tier",
    /// An option that only one vendor knows.
    Vendor = "vendor",
}

impl fmt::Display for RequestOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl RequestOption {
    /// Everything that a request asks, in order of [`ALL`](Self::ALL).
    ///
    /// ```
    /// use llm_core::ChatRequest;
    /// use llm_core::chat::RequestOption;
    /// let request = ChatRequest::user("hi").with_temperature(0.2);
    /// let asked = [RequestOption::UserMessage, RequestOption::Text, RequestOption::Temperature];
    /// assert_eq!(RequestOption::of(&request), asked);
    /// ```
    pub fn of(request: &ChatRequest) -> Vec<RequestOption> {
        let mut asked = Asked::default();
        asked.request(request);
        let mut options = asked.0;
        options.sort_unstable();
        options.dedup();
        options
    }
}

/// What was found so far. Everything is taken apart whole: a field that is added to a request does not compile until
/// it is an option here, and then no suite passes until each driver has answered it.
#[derive(Default)]
struct Asked(Vec<RequestOption>);

impl Asked {
    fn add(&mut self, option: RequestOption) {
        self.0.push(option);
    }

    fn add_if(&mut self, asked: bool, option: RequestOption) {
        if asked {
            self.add(option);
        }
    }

    fn request(&mut self, request: &ChatRequest) {
        let ChatRequest {
            model,
            messages,
            tools,
            tool_choice,
            parallel_tool_calls,
            output,
            sampling,
            reasoning,
            max_output_tokens,
            stop,
            user,
            service_tier,
            vendor,
        } = request;
        self.add_if(model.is_some(), RequestOption::Model);
        messages.iter().for_each(|message| self.message(message));
        tools.iter().for_each(|tool| self.tool(tool));
        if let Some(choice) = tool_choice {
            self.add(match choice {
                ToolChoice::Auto => RequestOption::ToolChoiceAuto,
                ToolChoice::None => RequestOption::ToolChoiceNone,
                ToolChoice::Required => RequestOption::ToolChoiceRequired,
                ToolChoice::Tool(_) => RequestOption::ToolChoiceTool,
            });
        }
        match parallel_tool_calls {
            Some(true) => self.add(RequestOption::ParallelToolCalls),
            Some(false) => self.add(RequestOption::SingleToolCalls),
            None => {}
        }
        self.output(output);
        self.sampling(sampling);
        reasoning.iter().for_each(|reasoning| self.reasoning(*reasoning));
        self.add_if(max_output_tokens.is_some(), RequestOption::MaxOutputTokens);
        self.add_if(!stop.is_empty(), RequestOption::Stop);
        self.add_if(user.is_some(), RequestOption::User);
        self.add_if(service_tier.is_some(), RequestOption::ServiceTier);
        self.add_if(!vendor.is_empty(), RequestOption::Vendor);
    }

    fn message(&mut self, message: &Message) {
        let Message { role, content, name } = message;
        self.add(match role {
            Role::System => RequestOption::SystemMessage,
            Role::User => RequestOption::UserMessage,
            Role::Assistant => RequestOption::AssistantMessage,
            Role::Tool => RequestOption::ToolMessage,
        });
        self.add_if(name.is_some(), RequestOption::MessageName);
        content.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &ContentPart) {
        match part {
            ContentPart::Text(TextPart { text: _, replay }) => {
                self.add(RequestOption::Text);
                self.add_if(replay.is_some(), RequestOption::TextReplay);
            }
            ContentPart::Image(ImagePart { source, detail }) => {
                self.add(match source {
                    MediaSource::Url { url: _ } => RequestOption::ImageUrl,
                    MediaSource::Base64 {
                        media_type: _,
                        data: _,
                    } => RequestOption::ImageBytes,
                    MediaSource::VendorFile { vendor: _, id: _ } => RequestOption::ImageFile,
                });
                self.add_if(detail.is_some(), RequestOption::ImageDetail);
            }
            ContentPart::Audio(AudioPart { source }) => self.add(match source {
                MediaSource::Url { url: _ } => RequestOption::AudioUrl,
                MediaSource::Base64 {
                    media_type: _,
                    data: _,
                } => RequestOption::AudioBytes,
                MediaSource::VendorFile { vendor: _, id: _ } => RequestOption::AudioFile,
            }),
            ContentPart::Document(DocumentPart { source, name }) => {
                self.add(match source {
                    MediaSource::Url { url: _ } => RequestOption::DocumentUrl,
                    MediaSource::Base64 {
                        media_type: _,
                        data: _,
                    } => RequestOption::DocumentBytes,
                    MediaSource::VendorFile { vendor: _, id: _ } => RequestOption::DocumentFile,
                });
                self.add_if(name.is_some(), RequestOption::DocumentName);
            }
            ContentPart::ToolCall(ToolCall {
                id: _,
                name: _,
                arguments: _,
                replay,
            }) => {
                self.add(RequestOption::ToolCall);
                self.add_if(replay.is_some(), RequestOption::ToolCallReplay);
            }
            ContentPart::ToolResult(result) => self.tool_result(result),
            ContentPart::Reasoning(ReasoningPart { text, replay }) => {
                self.add_if(!text.is_empty(), RequestOption::ReasoningText);
                self.add_if(replay.is_some(), RequestOption::ReasoningReplay);
            }
            ContentPart::Refusal(RefusalPart { text: _ }) => self.add(RequestOption::Refusal),
            ContentPart::Opaque(OpaquePart { kind: _, replay: _ }) => self.add(RequestOption::Opaque),
            ContentPart::CachePoint(CachePoint { ttl }) => self.add(match ttl {
                CacheTtl::Short => RequestOption::CachePointShort,
                CacheTtl::Long => RequestOption::CachePointLong,
            }),
        }
    }

    fn tool_result(&mut self, result: &ToolResult) {
        let ToolResult {
            call_id: _,
            name,
            content,
            is_error,
        } = result;
        self.add(RequestOption::ToolResult);
        self.add_if(name.is_some(), RequestOption::ToolResultName);
        self.add_if(*is_error, RequestOption::ToolResultError);
        let media = content.iter().any(|part| part.as_text().is_none());
        self.add_if(media, RequestOption::ToolResultMedia);
    }

    fn tool(&mut self, tool: &ToolSpec) {
        let ToolSpec {
            name: _,
            description,
            parameters,
            strict,
        } = tool;
        self.add(RequestOption::Tools);
        self.add_if(description.is_some(), RequestOption::ToolDescription);
        self.add_if(parameters.is_some(), RequestOption::ToolParameters);
        self.add_if(*strict == Some(true), RequestOption::ToolStrict);
        self.add_if(*strict == Some(false), RequestOption::ToolLoose);
    }

    fn output(&mut self, output: &OutputFormat) {
        match output {
            OutputFormat::Text => {}
            OutputFormat::Json => self.add(RequestOption::OutputJson),
            OutputFormat::JsonSchema {
                name: _,
                description,
                schema: _,
                strict,
            } => {
                self.add(RequestOption::OutputSchema);
                self.add_if(description.is_some(), RequestOption::OutputDescription);
                self.add_if(*strict == Some(true), RequestOption::OutputStrict);
                self.add_if(*strict == Some(false), RequestOption::OutputLoose);
            }
        }
    }

    fn sampling(&mut self, sampling: &Sampling) {
        let Sampling {
            temperature,
            top_p,
            top_k,
            frequency_penalty,
            presence_penalty,
            seed,
        } = sampling;
        self.add_if(temperature.is_some(), RequestOption::Temperature);
        self.add_if(top_p.is_some(), RequestOption::TopP);
        self.add_if(top_k.is_some(), RequestOption::TopK);
        self.add_if(frequency_penalty.is_some(), RequestOption::FrequencyPenalty);
        self.add_if(presence_penalty.is_some(), RequestOption::PresencePenalty);
        self.add_if(seed.is_some(), RequestOption::Seed);
    }

    fn reasoning(&mut self, reasoning: Reasoning) {
        let Reasoning { effort, include } = reasoning;
        match effort {
            None => {}
            Some(ReasoningEffort::None) => self.add(RequestOption::ReasoningOff),
            Some(
                ReasoningEffort::Low
                | ReasoningEffort::Medium
                | ReasoningEffort::High
                | ReasoningEffort::XHigh
                | ReasoningEffort::Max,
            ) => self.add(RequestOption::ReasoningEffort),
        }
        self.add_if(include, RequestOption::ReasoningInclude);
    }
}
