//! Which differences of the wire format hold for the configured host.

use crate::config::{DialectChoice, OpenAiConfig};
use llm_wire::chat_completions::Dialect;
use llm_wire::responses;

/// The dialect of a configuration: OpenAI's own where OpenAI's models are served, else the one that nearly all
/// hosts understand.
pub(crate) fn dialect_of(config: &OpenAiConfig) -> Dialect {
    let mut dialect = if is_openais(config) {
        Dialect::openai()
    } else {
        Dialect::compatible()
    };
    dialect.vendor = config.vendor.clone();
    dialect.stream_usage = config.stream_usage;
    dialect.extract_think_tags = config.extract_think_tags;
    dialect
}

/// The same for Responses.
pub(crate) fn responses_dialect_of(config: &OpenAiConfig) -> responses::Dialect {
    let mut dialect = if is_openais(config) {
        responses::Dialect::openai()
    } else {
        responses::Dialect::compatible()
    };
    dialect.vendor = config.vendor.clone();
    dialect
}

fn is_openais(config: &OpenAiConfig) -> bool {
    match config.dialect {
        Some(choice) => choice == DialectChoice::OpenAi,
        None => config.is_openai() || config.is_azure(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use llm_wire::chat_completions::dialect::MaxTokensField;

    #[test]
    fn the_host_decides_and_the_configuration_wins() {
        let field = |config: &OpenAiConfig| dialect_of(config).max_tokens_field;
        let openai = OpenAiConfig::new("k");
        let azure = OpenAiConfig::compatible("https://unit.openai.azure.com/openai/v1");
        let local = OpenAiConfig::compatible("http://127.0.0.1:8080/v1");
        assert_eq!(field(&openai), MaxTokensField::MaxCompletionTokens);
        assert_eq!(field(&azure), MaxTokensField::MaxCompletionTokens);
        assert_eq!(field(&local), MaxTokensField::MaxTokens);
        let gateway = local.with_dialect(DialectChoice::OpenAi);
        assert_eq!(field(&gateway), MaxTokensField::MaxCompletionTokens);
        assert_eq!(
            field(&openai.with_dialect(DialectChoice::Compatible)),
            MaxTokensField::MaxTokens
        );
    }

    #[test]
    fn switches_reach_the_dialect() {
        let mut config = OpenAiConfig::compatible("http://127.0.0.1:8080/v1");
        config.stream_usage = false;
        config.extract_think_tags = true;
        let dialect = dialect_of(&config);
        assert!(!dialect.stream_usage && dialect.extract_think_tags);
    }
}
