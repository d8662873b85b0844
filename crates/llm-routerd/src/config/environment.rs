//! The one place of the daemon that reads the environment.

use std::path::PathBuf;

/// A variable, if it is set to something.
pub(crate) fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place of the daemon that reads the environment"
    )]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The folder for what the daemon keeps between runs: `LLM_ROUTERD_STATE_DIR`, else `llm-routerd` in
/// `XDG_STATE_HOME`, else in `~/.local/state`. `None` without a home.
pub(crate) fn state_dir() -> Option<PathBuf> {
    if let Some(dir) = variable("LLM_ROUTERD_STATE_DIR") {
        return Some(PathBuf::from(dir));
    }
    let state_home = variable("XDG_STATE_HOME").map(PathBuf::from);
    let state_home = state_home.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".local/state")));
    state_home.map(|dir| dir.join("llm-routerd"))
}

/// Where a configuration file is looked for, in order.
pub(crate) fn config_places() -> Vec<PathBuf> {
    let mut places = vec![PathBuf::from("llm-routerd.yaml")];
    let config_home = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let config_home = config_home.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".config")));
    places.extend(config_home.map(|dir| dir.join("llm-routerd/llm-routerd.yaml")));
    places.push(PathBuf::from("/etc/llm-routerd/llm-routerd.yaml"));
    places
}
