//! Finding and reading the configuration file.

use super::environment;
use super::schema::Config;
use llm_suite::core::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// A configuration and where it came from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// What it says.
    pub config: Config,
    /// The file it was read from; absent: it was put together from what is reachable here.
    pub path: Option<PathBuf>,
}

impl Loaded {
    /// A configuration from this file, or from none.
    pub fn new(config: Config, path: Option<PathBuf>) -> Self {
        Loaded { config, path }
    }
}

/// The file to read: the one that was named, else `LLM_ROUTERD_CONFIG`, else the first that exists of
/// `./llm-routerd.yaml`, `~/.config/llm-routerd/llm-routerd.yaml` and `/etc/llm-routerd/llm-routerd.yaml`.
pub fn find(named: Option<&Path>) -> Option<PathBuf> {
    let named = named
        .map(Path::to_path_buf)
        .or_else(|| environment::variable("LLM_ROUTERD_CONFIG").map(PathBuf::from));
    named.or_else(|| {
        environment::config_places()
            .into_iter()
            .find(|place| place.is_file())
    })
}

/// Reads a file and checks it.
///
/// # Errors
/// `Config`, naming the line and what to do: the file cannot be read, is not YAML, has unknown keys, or does not fit
/// together.
pub fn load(path: &Path) -> Result<Config> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("cannot read the configuration {}: {error}", path.display());
        Error::new(ErrorKind::Config, message)
    })?;
    let config = parse(&text).map_err(|error| {
        let message = format!("{}: {}", path.display(), error.message());
        error.with_message(message)
    })?;
    super::check(&config)?;
    Ok(config)
}

/// Reads YAML. An unknown key is an error with a suggestion.
pub(super) fn parse(text: &str) -> Result<Config> {
    if text.trim().is_empty() {
        return Err(Error::new(
            ErrorKind::Config,
            "the file is empty; it needs at least one backend",
        ));
    }
    serde_saphyr::from_str(text).map_err(|error| {
        let said = error.to_string();
        let hint = suggestion(&said)
            .map(|known| format!("; did you mean {known}?"))
            .unwrap_or_default();
        Error::new(ErrorKind::Config, format!("{}{hint}", first_lines(&said)))
    })
}

/// The message without the excerpt of the file that follows it: a line of the file may hold a secret.
fn first_lines(said: &str) -> &str {
    let line = said.split('\n').next().unwrap_or(said);
    line.strip_prefix("error: ").unwrap_or(line)
}

/// The known key that is nearest to an unknown one, from the parser's own words.
fn suggestion(said: &str) -> Option<String> {
    let unknown = said.split("unknown field `").nth(1)?.split('`').next()?;
    let known = said
        .split("expected one of ")
        .nth(1)
        .or_else(|| said.split("expected ").nth(1))?;
    let known = first_lines(known)
        .split(", ")
        .map(|key| key.trim_matches(['`', ' ']));
    let near = known
        .map(|key| (strsim::damerau_levenshtein(unknown, key), key))
        .min()?;
    (near.0 <= unknown.len() / 2 + 1).then(|| near.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "backends:\n  local:\n    adapter: openai_api\n    url: http://127.0.0.1:8080/v1\n";

    #[test]
    fn a_small_file_has_the_documented_defaults() {
        let config = parse(SMALL).unwrap();
        assert_eq!(config.proxy.host, "127.0.0.1");
        assert_eq!(config.proxy.port, 8765);
        assert_eq!(config.proxy.max_request_seconds, 1800);
        assert_eq!(config.proxy.head_wait_seconds, 10);
        assert_eq!(config.backends["local"].timeout_seconds, 180);
        assert_eq!(config.backends["local"].max_attempts, 1);
    }

    #[test]
    fn an_unknown_key_is_an_error_with_a_suggestion() {
        for (wrong, suggestion) in [
            (format!("{SMALL}proxy:\n  prot: 1\n"), "port"),
            (format!("{SMALL}prxoy:\n  port: 1\n"), "proxy"),
            (SMALL.replace("url:", "ulr:"), "url"),
        ] {
            let error = parse(&wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(
                error.message().contains(&format!("did you mean {suggestion}?")),
                "{}",
                error.message()
            );
        }
    }

    #[test]
    fn errors_show_no_line_of_the_file() {
        let error = parse(&format!(
            "{SMALL}    api_key: sk-sentinel\n    api_kee: sk-other\n"
        ))
        .unwrap_err();
        assert!(
            !error.message().contains("sentinel") && !error.message().contains("sk-other"),
            "{}",
            error.message()
        );
    }
}
