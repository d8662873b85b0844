//! Every enabled driver, registered.

use llm_core::{Registry, Result};

/// What adds each enabled driver.
const DRIVERS: &[fn(&mut Registry) -> Result<()>] = &[
    #[cfg(feature = "claude")]
    llm_driver_claude::register,
    #[cfg(feature = "deepseek")]
    llm_driver_deepseek::register,
    #[cfg(feature = "gemini")]
    llm_driver_gemini::register,
    #[cfg(feature = "groq")]
    llm_driver_groq::register,
    #[cfg(feature = "kimi")]
    llm_driver_kimi::register,
    #[cfg(feature = "mistral")]
    llm_driver_mistral::register,
    #[cfg(feature = "ollama")]
    llm_driver_ollama::register,
    #[cfg(feature = "openai")]
    llm_driver_openai::register,
];

/// A registry that knows every driver whose feature is on.
///
/// # Errors
/// `Config`, when two drivers claim one id: a defect of this workspace.
pub fn builtin_registry() -> Result<Registry> {
    let mut registry = Registry::new();
    for register in DRIVERS {
        register(&mut registry)?;
    }
    Ok(registry)
}
