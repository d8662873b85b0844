//! Texts into vectors: what is asked and what is answered.

use crate::chat::{ResponseMeta, Usage, VendorOptions, Warning};
use crate::model::ModelId;
use serde::{Deserialize, Serialize};

/// Texts to embed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EmbeddingRequest {
    /// The model; absent: the driver's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelId>,
    /// The texts.
    pub inputs: Vec<String>,
    /// How long the vectors should be, where the model can choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<u32>,
    /// What the vectors are for, where the model can choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<EmbeddingTask>,
    /// Options that only one vendor knows.
    #[serde(skip_serializing_if = "VendorOptions::is_empty")]
    pub vendor: VendorOptions,
}

impl EmbeddingRequest {
    /// These texts.
    pub fn new(inputs: impl IntoIterator<Item = String>) -> Self {
        EmbeddingRequest {
            inputs: inputs.into_iter().collect(),
            ..EmbeddingRequest::default()
        }
    }

    /// The model.
    #[must_use]
    pub fn with_model(mut self, model: ModelId) -> Self {
        self.model = Some(model);
        self
    }
}

/// What vectors are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EmbeddingTask {
    /// To search with.
    Query,
    /// To be found.
    Document,
    /// To compare with each other.
    Similarity,
    /// To sort into classes.
    Classification,
    /// To group.
    Clustering,
}

/// Vectors, in the order of the texts.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EmbeddingResponse {
    /// Which call it was and who served it.
    pub meta: ResponseMeta,
    /// One vector a text, in order.
    pub vectors: Vec<Vec<f32>>,
    /// What it used.
    pub usage: Usage,
    /// What could not be honoured.
    pub warnings: Vec<Warning>,
}

impl EmbeddingResponse {
    /// These vectors.
    pub fn new(meta: ResponseMeta, vectors: Vec<Vec<f32>>) -> Self {
        EmbeddingResponse {
            meta,
            vectors,
            ..EmbeddingResponse::default()
        }
    }
}
