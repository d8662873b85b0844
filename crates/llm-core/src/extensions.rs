//! A map from a type to one value of that type.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Typed values that travel beside a call (inwards only) or into a driver factory.
///
/// ```
/// #[derive(Debug, PartialEq)]
/// struct Tenant(&'static str);
/// let mut extensions = llm_core::Extensions::default();
/// extensions.insert(Tenant("blue"));
/// assert_eq!(extensions.find::<Tenant>(), Some(&Tenant("blue")));
/// ```
#[derive(Clone, Default)]
pub struct Extensions {
    values: HashMap<TypeId, (&'static str, Arc<dyn Any + Send + Sync>)>,
}

impl Extensions {
    /// Puts a value in, in place of an earlier one of the same type.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.values
            .insert(TypeId::of::<T>(), (type_name::<T>(), Arc::new(value)));
    }

    /// The value of this type, if one was put in.
    pub fn find<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.values
            .get(&TypeId::of::<T>())
            .and_then(|(_, value)| value.downcast_ref())
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.values.values().map(|(name, _)| *name).collect();
        names.sort_unstable();
        f.debug_list().entries(names).finish()
    }
}
