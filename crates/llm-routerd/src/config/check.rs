//! Checks across sections: every name that is used exists, and no two things share one.

use super::schema::Config;
use llm_suite::core::{Error, ErrorKind, Result};

/// Checks that a configuration fits together.
///
/// # Errors
/// `Config`, naming the key at fault and what to do.
pub(crate) fn check(config: &Config) -> Result<()> {
    if config.backends.is_empty() {
        return fault(
            "backends: there is none; add at least one, for example with adapter: openai_api and a url",
        );
    }
    for (id, backend) in &config.backends {
        check_name("backends", id)?;
        let limits = [
            ("timeout_seconds", backend.timeout_seconds),
            ("idle_timeout_seconds", backend.idle_timeout_seconds),
        ];
        for (key, value) in limits {
            if value == 0 {
                return fault(format!(
                    "backends.{id}.{key}: 0 would leave no call through; give at least 1 or leave it out"
                ));
            }
        }
        if !(1..=10).contains(&backend.max_attempts) {
            return fault(format!(
                "backends.{id}.max_attempts: is {}, give 1 to 10",
                backend.max_attempts
            ));
        }
        if backend.url.is_empty() && backend.api_key.is_empty() {
            let advice =
                "without a url it calls the vendor, who asks for a key; set api_key (env:NAME) or url";
            return fault(format!("backends.{id}: {advice}"));
        }
    }
    for (alias, members) in &config.tiers {
        check_name("tiers", alias)?;
        if config.backends.contains_key(alias) {
            return fault(format!(
                "tiers.{alias}: a backend has the same name; a model name must mean one thing"
            ));
        }
        check_members(
            &format!("tiers.{alias}"),
            members,
            |member| config.backends.contains_key(member),
            "a backend",
        )?;
    }
    for (name, entries) in &config.chains {
        check_name("chains", name)?;
        let known = |entry: &str| config.tiers.contains_key(entry) || config.backends.contains_key(entry);
        check_members(&format!("chains.{name}"), entries, known, "a tier or a backend")?;
    }
    let proxy = &config.proxy;
    let limits = [
        ("max_request_seconds", proxy.max_request_seconds),
        ("keep_alive_seconds", proxy.keep_alive_seconds),
        ("body_seconds", proxy.body_seconds),
        ("write_stall_seconds", proxy.write_stall_seconds),
        ("max_body_bytes", proxy.max_body_bytes as u64),
        ("max_connections", proxy.max_connections as u64),
    ];
    for (key, value) in limits {
        if value == 0 {
            return fault(format!(
                "proxy.{key}: 0 would leave no call through; give at least 1 or leave it out"
            ));
        }
    }
    if let Some(level) = &config.log.level
        && level.parse::<tracing::Level>().is_err()
    {
        return fault(format!(
            "log.level: {level:?} is none; give error, warn, info, debug or trace"
        ));
    }
    Ok(())
}

/// A name stands in headers, in URLs and in lists separated by commas.
fn check_name(section: &str, name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return fault(format!(
            "{section}.{name}: a name is 1 to 64 letters, digits, '-', '_' and '.'"
        ));
    }
    Ok(())
}

fn check_members(key: &str, members: &[String], known: impl Fn(&str) -> bool, what: &str) -> Result<()> {
    if members.is_empty() {
        return fault(format!(
            "{key}: is empty; list at least one entry or leave it out"
        ));
    }
    for (at, member) in members.iter().enumerate() {
        if !known(member) {
            return fault(format!("{key}: {member:?} is not {what} of this file"));
        }
        if members[..at].contains(member) {
            return fault(format!(
                "{key}: {member:?} stands in it twice; nothing is asked twice in one call"
            ));
        }
    }
    Ok(())
}

fn fault<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::Config, message))
}

#[cfg(test)]
mod tests {
    use super::super::file::parse;
    use super::*;

    fn message(yaml: &str) -> String {
        check(&parse(yaml).unwrap()).unwrap_err().message().to_owned()
    }

    const BACKENDS: &str = "backends:\n  a: {adapter: openai_api, url: 'http://x/v1'}\n  b: {adapter: openai_api, url: 'http://y/v1'}\n";

    #[test]
    fn what_fits_passes() {
        let yaml = format!("{BACKENDS}tiers: {{fast: [a, b]}}\nchains: {{main: [fast, b]}}\n");
        assert!(check(&parse(&yaml).unwrap()).is_ok());
    }

    #[test]
    fn what_does_not_fit_names_its_key() {
        assert!(message(&format!("{BACKENDS}tiers: {{fast: [c]}}\n")).starts_with("tiers.fast:"));
        assert!(message(&format!("{BACKENDS}tiers: {{a: [b]}}\n")).contains("same name"));
        assert!(message(&format!("{BACKENDS}chains: {{main: [nope]}}\n")).starts_with("chains.main:"));
        assert!(message(&format!("{BACKENDS}chains: {{main: [a, a]}}\n")).contains("twice"));
        assert!(message(&format!("{BACKENDS}log: {{level: loud}}\n")).starts_with("log.level:"));
        assert!(message("backends:\n  a: {adapter: openai_api}\n").starts_with("backends.a:"));
        assert!(message("log: {level: info}\n").starts_with("backends:"));
    }
}
