use super::*;
use crate::chat::{
    AudioPart, Message, OpaquePart, Origin, ReasoningPart, Replay, Role, ToolCall, ToolResult, ToolSpec,
};
use crate::driver::VendorId;
use serde_json::json;

fn estimate(request: &ChatRequest) -> u64 {
    TokenEstimator::default().total(&TokenDemand::of_chat(request), 0)
}

fn part(part: ContentPart) -> u64 {
    let none = estimate(&ChatRequest::new([Message::new(Role::User, vec![])]));
    estimate(&ChatRequest::new([Message::new(Role::User, vec![part])])) - none
}

fn replay() -> Replay {
    let origin = Origin::new(VendorId::from_static("v"));
    Replay::new(origin, json!({"encrypted": "x".repeat(4000)}))
}

#[test]
fn words_count_by_their_script() {
    assert_eq!(part(ContentPart::text("x".repeat(4000))), 1000);
    assert_eq!(part(ContentPart::text("ж".repeat(4000))), 2000);
    assert_eq!(part(ContentPart::text("字".repeat(4000))), 4000);
}

#[test]
fn everything_that_is_sent_counts() {
    let long = "x".repeat(4000);
    let about_a_thousand = |tokens: u64| assert!((1000..1020).contains(&tokens), "{tokens}");
    about_a_thousand(part(ContentPart::ToolCall(ToolCall::new("id", "look", &*long))));
    about_a_thousand(part(ContentPart::ToolResult(ToolResult::new("id", &*long))));
    about_a_thousand(part(ContentPart::Reasoning(ReasoningPart::new(&*long))));
    about_a_thousand(part(ContentPart::Reasoning(
        ReasoningPart::new("").with_replay(replay()),
    )));
    // a summary beside it does not make it shorter
    about_a_thousand(part(ContentPart::Reasoning(
        ReasoningPart::new("ok").with_replay(replay()),
    )));
    about_a_thousand(part(ContentPart::Opaque(OpaquePart::new("thought", replay()))));

    let request = ChatRequest::user("hi");
    let tool = ToolSpec::new("look").with_description(&*long);
    about_a_thousand(estimate(&request.clone().with_tools([tool])) - estimate(&request));
    let tool = ToolSpec::new("look").with_parameters(json!({"properties": {"a": {"description": long}}}));
    about_a_thousand(estimate(&request.clone().with_tools([tool])) - estimate(&request) - 10);
    let output = OutputFormat::json_schema("a", json!({"description": long}));
    about_a_thousand(estimate(&request.clone().with_output(output)) - estimate(&request));
    about_a_thousand(estimate(&request.clone().with_max_output_tokens(1000)) - estimate(&request));
}

#[test]
fn pictures_count_by_their_size() {
    let png = |width: u16, height: u16| {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(height.to_be_bytes());
        bytes.resize(4096, 0);
        ImagePart::new(MediaSource::bytes("image/png", bytes))
    };
    assert_eq!(part(ContentPart::Image(png(750, 1000))), 1000);
    assert_eq!(part(ContentPart::Image(png(8000, 8000))), LARGEST_IMAGE);
    assert_eq!(part(ContentPart::Image(png(10, 10))), LOW_DETAIL);
    let low = png(750, 1000).with_detail(ImageDetail::Low);
    assert_eq!(part(ContentPart::Image(low)), LOW_DETAIL);
    let elsewhere = ImagePart::new(MediaSource::url("https://example.com/a.png"));
    assert_eq!(part(ContentPart::Image(elsewhere)), UNKNOWN_IMAGE);
}

#[test]
fn sounds_and_files_count_by_their_length() {
    let bytes = |media_type: &str| MediaSource::bytes(media_type, [b'x'; 48_000]);
    assert_eq!(part(ContentPart::Audio(AudioPart::new(bytes("audio/mp3")))), 30);
    assert_eq!(
        part(ContentPart::Document(DocumentPart::new(bytes("text/plain")))),
        12_000
    );
    assert_eq!(
        part(ContentPart::Document(DocumentPart::new(bytes("application/pdf")))),
        1600
    );
    let elsewhere = DocumentPart::new(MediaSource::url("https://example.com/a.pdf"));
    assert_eq!(part(ContentPart::Document(elsewhere)), UNKNOWN_FILE);
}

#[test]
fn reports_correct_the_guess() {
    let demand = TokenDemand::of_chat(&ChatRequest::user("x".repeat(3984)));
    let mut estimator = TokenEstimator::default();
    assert_eq!(estimator.total(&demand, 500), 1000 + 500);
    for _ in 0..40 {
        estimator.learn(&demand, &Usage::new(1500, 80));
    }
    let learnt = estimator.total(&demand, 500);
    assert!(
        (1595..=1602).contains(&learnt),
        "{learnt}: 1500 in, and a quarter more than 80 out"
    );

    for _ in 0..200 {
        estimator.learn(&demand, &Usage::new(u64::MAX, 0));
    }
    assert!(
        estimator.total(&demand, 500) <= 4000,
        "an odd report has its bounds"
    );
    estimator.learn(&demand, &Usage::default());
    estimator.learn(&TokenDemand::default(), &Usage::new(10, 10));
}

#[test]
fn a_budget_for_the_output_is_reserved_whole_and_teaches_nothing() {
    let demand = TokenDemand::of_chat(&ChatRequest::new([]).with_max_output_tokens(4096));
    let mut estimator = TokenEstimator::default();
    estimator.learn(&demand, &Usage::new(0, 10));
    assert_eq!(estimator.total(&demand, 500), 4096);
    assert_eq!(estimator.total(&TokenDemand::default(), 500), 500);
}
