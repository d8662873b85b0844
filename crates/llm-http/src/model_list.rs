//! The vendor's own list of models.

use crate::api::VendorApi;
use crate::exchange::Exchange;
use bytes::Bytes;
use llm_core::driver::CatalogModel;
use llm_core::{CallContext, Error, Result};

impl VendorApi {
    /// Asks for the list of models at this path, and reads it. For
    /// [`ModelCatalog::list`](llm_core::ModelCatalog::list).
    ///
    /// # Errors
    /// What `decode_error` makes of a status that is no 2xx, what the transport and `read` fail with.
    ///
    /// # Cancellation
    /// Dropping the future closes the exchange.
    pub async fn list_models(
        &self,
        cx: &CallContext,
        path: &str,
        decode_error: impl FnOnce(u16, &[u8]) -> Error,
        read: impl FnOnce(&[u8]) -> Result<Vec<CatalogModel>>,
    ) -> Result<Vec<CatalogModel>> {
        let (facts, body): (_, Bytes) = self
            .ask(cx, path)
            .await?
            .success([], decode_error)
            .await?
            .read()
            .await?;
        read(&body).map_err(|error| facts.annotate(error, &body, []))
    }

    /// A GET that is about no model, up to the head of its answer.
    pub(crate) async fn ask(&self, cx: &CallContext, path: &str) -> Result<Exchange> {
        let request = self.get(path)?.with_header("accept", "application/json")?;
        self.send(cx, None, request).await
    }
}
