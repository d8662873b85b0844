//! The neutral, vendor-free data of a chat: what is asked and what is answered.

mod content;
mod message;
mod options;
mod output;
mod request;
mod response;
mod sampling;
mod tool;
mod usage;
mod vendor;

pub use content::{
    AudioPart, Block, CachePoint, CacheTtl, ContentPart, DocumentPart, ImageDetail, ImagePart, MediaSource,
    OpaquePart, Origin, ReasoningPart, RefusalPart, Replay, TextPart,
};
pub use message::{Message, Role};
pub use options::RequestOption;
pub use output::OutputFormat;
pub use request::ChatRequest;
pub use response::{
    ChatResponse, FinishKind, FinishReason, IncompleteToolCall, ResponseMeta, Warning, WarningKind,
};
pub use sampling::{Reasoning, ReasoningEffort, Sampling};
pub use tool::{ToolCall, ToolChoice, ToolResult, ToolSpec};
pub use usage::Usage;
pub use vendor::{VendorBag, VendorMetadata, VendorOptions};
