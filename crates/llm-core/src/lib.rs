#![doc = include_str!("../README.md")]
#![deny(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]

pub mod capability;
pub mod chat;
pub mod clock;
pub mod codec;
pub mod context;
mod day;
pub mod driver;
pub mod embedding;
pub mod error;
pub mod estimate;
pub mod extensions;
pub mod health;
pub mod layer;
pub mod model;
pub mod price;
pub mod rate_limit;
pub mod registry;
pub mod secret;
pub mod stream;
pub mod transcription;

pub use async_trait::async_trait;

pub use capability::{Capabilities, Capability, Support};
pub use chat::{
    Block, CachePoint, CacheTtl, ChatRequest, ChatResponse, ContentPart, DocumentPart, FinishKind,
    FinishReason, ImageDetail, ImagePart, IncompleteToolCall, MediaSource, Message, OpaquePart, Origin,
    OutputFormat, Reasoning, ReasoningEffort, ReasoningPart, RefusalPart, Replay, ResponseMeta, Role,
    Sampling, TextPart, ToolCall, ToolChoice, ToolResult, ToolSpec, Usage, VendorMetadata, VendorOptions,
    Warning, WarningKind,
};
pub use clock::Clock;
pub use codec::{AnswerDecoder, ChatCodec, ChatFormat, EncodedCall, EncodedPost, Framing};
pub use context::{CallContext, RawRequest, WireFormatId};
pub use driver::{
    ChatDriver, ChatDriverExt, Driver, DriverId, DriverInfo, ModelCatalog, Stack, TokenCounter, VendorId,
};
pub use error::{
    Attempt, AttemptFailure, Chain, Error, ErrorKind, Phase, Rejection, Result, Scope, Skip, VendorFacts,
    Verdict,
};
pub use extensions::Extensions;
pub use health::{Availability, HealthState, HealthStatus, UnavailableReason};
pub use layer::{ChatLayer, layer_fn};
pub use model::{ModelEntry, ModelId, ModelLimits, ModelRef, ModelTable, ResolvedModel, UnknownModels};
pub use price::{Cost, CostSource, Price};
pub use rate_limit::{QuotaView, RateLimitSnapshot};
pub use registry::{BuildContext, Factory, Registry};
pub use secret::Secret;
pub use stream::{BlockKind, ChatEvent, ChatStream, Collector, Delta, Grammar, RawFrame};
