//! Every enabled driver, registered.

use llm_core::{Registry, Result};

/// A registry that knows every driver whose feature is on.
///
/// # Errors
/// `Config`, when two drivers claim one id: a defect of this workspace.
pub fn builtin_registry() -> Result<Registry> {
    #[cfg_attr(
        not(any(feature = "claude", feature = "openai")),
        expect(unused_mut, reason = "without drivers nothing is added")
    )]
    let mut registry = Registry::new();
    #[cfg(feature = "claude")]
    llm_driver_claude::register(&mut registry)?;
    #[cfg(feature = "openai")]
    llm_driver_openai::register(&mut registry)?;
    Ok(registry)
}
