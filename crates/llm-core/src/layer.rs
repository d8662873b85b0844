//! Layers: values that wrap a driver in a driver.

use crate::driver::ChatDriver;
use std::fmt::{self, Debug};
use std::sync::Arc;

/// A policy that wraps a driver in a driver.
///
/// State lives in the layer value; what it makes is a cheap projection of it: two drivers wrapped by one
/// layer share one budget. A layer treats `chat` and `chat_stream` alike, to the end of the stream, and
/// never asks what it wraps.
pub trait ChatLayer: Debug + Send + Sync + 'static {
    /// Wraps a driver.
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver>;
}

impl<L: ChatLayer + ?Sized> ChatLayer for Arc<L> {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        (**self).layer(inner)
    }
}

impl<L: ChatLayer + ?Sized> ChatLayer for Box<L> {
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        (**self).layer(inner)
    }
}

/// A layer from a function, for one-off wrappers.
pub fn layer_fn<F>(name: &'static str, wrap: F) -> impl ChatLayer
where
    F: Fn(Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> + Send + Sync + 'static,
{
    LayerFn { name, wrap }
}

struct LayerFn<F> {
    name: &'static str,
    wrap: F,
}

impl<F> Debug for LayerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LayerFn").field(&self.name).finish()
    }
}

impl<F> ChatLayer for LayerFn<F>
where
    F: Fn(Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> + Send + Sync + 'static,
{
    fn layer(&self, inner: Arc<dyn ChatDriver>) -> Arc<dyn ChatDriver> {
        (self.wrap)(inner)
    }
}
