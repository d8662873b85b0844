//! Who may call: the inference token and the admin token.

use crate::config::{ProxyConfig, environment};
use axum::http::HeaderMap;
use llm_suite::core::{Error, ErrorKind, Result, Secret};
use std::io::Write;
use std::path::{Path, PathBuf};
use subtle::ConstantTimeEq;

/// The tokens of this daemon, and where the inference token came from.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    inference: Secret<String>,
    admin: Secret<String>,
    /// The file of a token that was made here.
    pub(crate) made_in: Option<PathBuf>,
}

impl Tokens {
    /// The configured tokens; where no token key is configured, one that is made on the first run and kept in the
    /// state folder.
    ///
    /// # Errors
    /// `Config`: a configured `env:NAME` is not set, a configured token is empty, or no place is to be had for one
    /// that must be made.
    pub(crate) fn of(config: &ProxyConfig) -> Result<Tokens> {
        let configured =
            |source: &Option<crate::config::SecretSource>, key: &str| -> Result<Option<Secret<String>>> {
                let Some(source) = source else { return Ok(None) };
                let token = source.resolve(key)?;
                // what callers present is read without the white space around it
                let token = token.expose().trim();
                if token.is_empty() {
                    return Err(Error::new(
                        ErrorKind::Config,
                        format!("{key} is empty; give a token or leave the key out"),
                    ));
                }
                Ok(Some(Secret::new(token.to_owned())))
            };
        let (token, admin) = (
            configured(&config.token, "proxy.token")?,
            configured(&config.admin_token, "proxy.admin_token")?,
        );
        let (inference, made_in) = match (token, &admin) {
            (Some(token), _) => (token, None),
            (None, Some(admin)) => (admin.clone(), None),
            (None, None) => {
                let path = token_file()?;
                (made_token(&path)?, Some(path))
            }
        };
        let admin = admin.unwrap_or_else(|| inference.clone());
        Ok(Tokens {
            inference,
            admin,
            made_in,
        })
    }

    /// Do these headers carry the inference token or the admin token?
    pub(crate) fn may_call(&self, headers: &HeaderMap) -> bool {
        presented(headers).is_some_and(|token| equal(token, &self.inference) | equal(token, &self.admin))
    }

    /// Do these headers carry the admin token?
    pub(crate) fn may_administer(&self, headers: &HeaderMap) -> bool {
        presented(headers).is_some_and(|token| equal(token, &self.admin))
    }
}

/// The token that was made on the first run, if there is one: for the client verbs on the same machine.
pub(crate) fn kept_token() -> Option<Secret<String>> {
    let text = std::fs::read_to_string(token_file().ok()?).ok()?;
    Some(Secret::new(text.trim().to_owned())).filter(|token| !token.expose().is_empty())
}

fn token_file() -> Result<PathBuf> {
    environment::state_dir()
        .map(|dir| dir.join("token"))
        .ok_or_else(|| {
            let advice = "set proxy.token, or LLM_ROUTERD_STATE_DIR to a folder where one can be kept";
            Error::new(
                ErrorKind::Config,
                format!("there is no home folder to keep a token in; {advice}"),
            )
        })
}

fn made_token(path: &Path) -> Result<Secret<String>> {
    if let Some(token) = kept_token() {
        return Ok(token);
    }
    let mut random = [0_u8; 24];
    getrandom::fill(&mut random).map_err(|error| {
        Error::new(
            ErrorKind::Internal,
            format!("no random bytes for a token: {error}"),
        )
    })?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let keep = || -> std::io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // an empty one that somebody left there may be open to others
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut options = std::fs::OpenOptions::new();
        options.create_new(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.write_all(token.as_bytes())
    };
    keep().map_err(|error| {
        let advice = "set proxy.token, or LLM_ROUTERD_STATE_DIR to a folder that can be written";
        Error::new(
            ErrorKind::Config,
            format!(
                "the token cannot be kept in {}: {error}; {advice}",
                path.display()
            ),
        )
    })?;
    Ok(Secret::new(token))
}

fn presented(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(axum::http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares without telling by its time how much was right.
fn equal(presented: &str, token: &Secret<String>) -> bool {
    presented.as_bytes().ct_eq(token.expose().as_bytes()).into()
}
