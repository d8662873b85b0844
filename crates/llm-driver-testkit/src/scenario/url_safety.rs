//! Addresses: no model id, and no URL in a request, can choose where the driver sends.

use super::{Finding, Outcome, ensure};
use crate::answer::Answer;
use crate::subject::{Bench, SCRIPTED_URL, Subject, percent_encoded};
use llm_core::{ChatRequest, ContentPart, ImagePart, MediaSource, Message, ModelId, Role};

/// Names that want to be somewhere else. Those that are no model ids at all are refused before a driver sees them.
const HOSTILE: [&str; 16] = [
    "a/../b?x=1",
    "../../admin",
    "a?x=1",
    "a#fragment",
    "a&key=1",
    "a/b/c",
    "//evil.test/a",
    "@evil.test/a",
    ":80@evil.test",
    "a\\..\\b",
    "%2e%2e/%2e%2e/admin",
    "%2e%2e",
    "..%2f..%2fadmin",
    "..;/admin",
    "a%00b",
    "http://evil.test/a",
];

/// A hostile model id changes neither host nor path: it stands encoded in its one step, in the body, or nowhere.
pub(crate) async fn model_id(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let answer = || Answer::json(404, "{}");
    for stream in [false, true] {
        let Some(benign) = sent_to(&bench, "kit-model", stream, answer()).await? else {
            // This driver knows its models and sends no other name.
            continue;
        };
        for name in HOSTILE {
            if let Some(url) = sent_to(&bench, name, stream, answer()).await? {
                check(name, &benign, &url)?;
            }
        }
    }
    Ok(Outcome::Proved)
}

/// A URL in a request is the vendor's to fetch: the driver sends to the vendor and nowhere else.
pub(crate) async fn url_in_request(subject: &Subject) -> Finding {
    let bench = subject.bench()?;
    let image = ImagePart::new(MediaSource::url("http://127.0.0.1:1/picture.png"));
    let parts = vec![ContentPart::text("What is this?"), ContentPart::Image(image)];
    let request = ChatRequest::new([Message::new(Role::User, parts)]);
    for model in subject.models()? {
        let request = request.clone().with_model(model);
        // Whether it serves or refuses is another scenario's business.
        let _ = bench.chat(&request, Answer::json(404, "{}")).await?;
        let _ = bench.stream(&request, Answer::json(404, "{}")).await?;
    }
    for sent in bench.transport.requests() {
        ensure!(
            sent.url.starts_with(SCRIPTED_URL),
            "the driver fetches a URL of the request: {}",
            sent.url
        );
    }
    Ok(Outcome::Proved)
}

async fn sent_to(bench: &Bench, name: &str, stream: bool, answer: Answer) -> Result<Option<String>, String> {
    let Ok(model) = ModelId::new(name) else {
        return Ok(None);
    };
    let before = bench.transport.request_count();
    let request = ChatRequest::user("Say hello.").with_model(model);
    if stream {
        bench.stream(&request, answer).await?;
    } else {
        // Only where it is sent matters.
        let _ = bench.chat(&request, answer).await?;
    }
    let sent = bench.transport.requests().split_off(before);
    ensure!(sent.len() < 2, "{} requests were sent for one call", sent.len());
    Ok(sent.into_iter().next().map(|request| request.url))
}

/// The two addresses may differ in the encoded name and in nothing else.
fn check(name: &str, benign: &str, url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix(SCRIPTED_URL)
        .filter(|rest| rest.starts_with('/'));
    let Some(rest) = rest else {
        return Err(format!("the model id {name:?} changes the host: {url}"));
    };
    let plain = url
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\\\"<>^`{|}".contains(&byte));
    ensure!(plain, "the model id {name:?} stands unencoded in {url}");
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    for step in path.split('/') {
        let step = step.to_ascii_lowercase().replace("%2e", ".");
        ensure!(
            step != "." && step != "..",
            "the model id {name:?} climbs out of the path: {url}"
        );
    }
    let encoded: Vec<String> = allowed_encodings(name);
    let expected = encoded.iter().map(|name| benign.replace("kit-model", name));
    ensure!(
        expected.into_iter().any(|expected| expected == url),
        "the model id {name:?} changes the address: {url}; with another name it is {benign}"
    );
    Ok(())
}

/// Encoders differ in what they leave as it is; none may leave what divides an address. A colon and an at sign are
/// harmless behind the host.
fn allowed_encodings(name: &str) -> Vec<String> {
    let strict = percent_encoded(name);
    let with = |from: &str, to: &str, text: &str| text.replace(from, to);
    let mut all = vec![strict.clone()];
    for (from, to) in [
        ("%3A", ":"),
        ("%40", "@"),
        ("%3B", ";"),
        ("%26", "&"),
        ("%3D", "="),
    ] {
        let more: Vec<_> = all.iter().map(|text| with(from, to, text)).collect();
        all.extend(more);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_encoded_name_may_differ() {
        let benign = format!("{SCRIPTED_URL}/v1/models/kit-model:run?alt=sse");
        let url = |step: &str| format!("{SCRIPTED_URL}/v1/models/{step}:run?alt=sse");
        assert!(check("a/b", &benign, &url("a%2Fb")).is_ok());
        assert!(check(":80@evil.test", &benign, &url(":80@evil.test")).is_ok());
        assert!(check("a/b", &benign, &url("a/b")).is_err());
        assert!(check("%2e%2e", &benign, &url("%2e%2e")).is_err());
        assert!(check("%2e%2e", &benign, &url("%252e%252e")).is_ok());
        assert!(check("a?x=1", &benign, &url("a?x=1")).is_err());
        assert!(check("a", &benign, "http://evil.test/v1/models/a:run?alt=sse").is_err());
        let fixed = format!("{SCRIPTED_URL}/v1/chat");
        assert!(check("a/b", &fixed, &fixed).is_ok());
        assert!(check("a/b", &fixed, &format!("{SCRIPTED_URL}/v1/chat/a%2Fb")).is_err());
    }
}
