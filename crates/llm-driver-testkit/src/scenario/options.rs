//! Options: each one is sent, refused before sending, or warned of. There is no fourth way.

use super::{Finding, InContext, Outcome, ensure};
use crate::answer::Answer;
use crate::options::{Sample, own_state, rule, samples};
use crate::recorded::RecordedRequest;
use crate::subject::{Bench, Subject};
use llm_core::chat::RequestOption;
use llm_core::{Capabilities, Capability, ChatRequest, ErrorKind, ModelId, Support, Warning};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What became of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answered {
    /// It stands in what is sent.
    Sent,
    /// Nothing is sent.
    Refused,
    /// It is not sent, or changed, and the answer says so.
    Warned,
    /// It asks for what holds anyway, by a rule of the kit's or as the harness says.
    Holds,
}

impl Answered {
    fn as_str(self) -> &'static str {
        match self {
            Answered::Sent => "sent",
            Answered::Refused => "refused",
            Answered::Warned => "warned",
            Answered::Holds => "holds",
        }
    }
}

/// What became of every option, by model.
#[derive(Default)]
struct Table {
    rows: BTreeMap<(String, RequestOption), BTreeSet<Answered>>,
    faults: Vec<String>,
    /// The options that the harness names as inherent, as far as they were not needed.
    needless: Vec<RequestOption>,
}

/// Every option, for every model of the harness, plain and as a stream.
pub(crate) async fn none_dropped(subject: &Subject) -> Finding {
    let text = subject.fixture("text")?;
    let answers = [subject.answer_of(&text)?, subject.stream_of(&text)?];
    let inherent = subject.harness.inherent().iter();
    let mut table = Table {
        needless: inherent.map(|(option, _)| *option).collect(),
        ..Table::default()
    };
    for model in subject.models()? {
        for option in RequestOption::ALL {
            let bench = subject.bench()?;
            let samples = samples(*option, &bench.driver.info().vendor, &model);
            for sample in &samples {
                weigh(subject, &bench, &model, *option, sample, &answers, &mut table).await?;
            }
        }
    }
    for fixture in subject.fixtures()? {
        let Some(answer) = fixture.answer().filter(|_| fixture.expect.error.is_none()) else {
            continue;
        };
        let bench = subject.bench()?;
        let request = subject.request_of(&fixture)?;
        let model = request.model.clone().ok_or("no model")?;
        // That the answer is read is another scenario's question.
        let Ok(response) = bench.chat(&request, answer).await? else {
            continue;
        };
        for (option, sample) in own_state(&request, &response) {
            weigh(subject, &bench, &model, option, &sample, &answers, &mut table)
                .await
                .context(|| format!("after the answer of the fixture {}", fixture.name))?;
        }
    }
    table.finding(subject)
}

async fn weigh(
    subject: &Subject,
    bench: &Bench,
    model: &ModelId,
    option: RequestOption,
    sample: &Sample,
    answers: &[Answer; 2],
    table: &mut Table,
) -> Result<(), String> {
    let capabilities = subject.capabilities(&*bench.driver, model)?;
    let found = match answered(bench, &capabilities, sample, answers).await {
        Ok(Some(answered)) => answered,
        Ok(None) if rule(option, &capabilities).is_some() => Answered::Holds,
        Ok(None)
            if subject
                .harness
                .inherent()
                .iter()
                .any(|(named, _)| *named == option) =>
        {
            table.needless.retain(|named| *named != option);
            Answered::Holds
        }
        Ok(None) => {
            let marks = sample.marks.join(", ");
            table
                .faults
                .push(format!("{model}: {option} is dropped in silence ({marks})"));
            return Ok(());
        }
        Err(what) => {
            table.faults.push(format!("{model}: {option}: {what}"));
            return Ok(());
        }
    };
    table
        .rows
        .entry((model.to_string(), option))
        .or_default()
        .insert(found);
    Ok(())
}

impl Table {
    fn finding(mut self, subject: &Subject) -> Finding {
        let needless = self.needless.iter();
        let needless = needless
            .map(|option| format!("{option} is answered everywhere; take its Harness::with_inherent away"));
        self.faults.extend(needless);
        ensure!(
            self.faults.is_empty(),
            "send it, refuse it with unsupported before sending, or warn of it:\n{}",
            self.faults.join("\n")
        );
        let mut models = Map::new();
        for ((model, option), answers) in self.rows {
            let words: Vec<_> = answers.into_iter().map(Answered::as_str).collect();
            if let Value::Object(row) = models.entry(model).or_insert_with(|| json!({})) {
                row.insert(option.as_str().to_owned(), json!(words));
            }
        }
        subject.note("options", Value::Object(models));
        let reasons = subject.harness.inherent().iter();
        let reasons: Map<_, _> = reasons
            .map(|(option, reason)| (option.as_str().to_owned(), Value::from(reason.as_str())))
            .collect();
        subject.note("inherent", Value::Object(reasons));
        Ok(Outcome::Proved)
    }
}

/// What became of an option, plain and as a stream; `None`: it was dropped.
async fn answered(
    bench: &Bench,
    capabilities: &Capabilities,
    sample: &Sample,
    answers: &[Answer; 2],
) -> Result<Option<Answered>, String> {
    let plain = one_way(bench, sample, false, &answers[0])
        .await
        .context(|| "plain".to_owned())?;
    if capabilities.support(Capability::Streaming) == Support::No {
        return Ok(plain);
    }
    let stream = one_way(bench, sample, true, &answers[1])
        .await
        .context(|| "stream".to_owned())?;
    ensure!(
        plain == stream,
        "a plain call and a stream answer it otherwise: {plain:?} and {stream:?}"
    );
    Ok(plain)
}

async fn one_way(
    bench: &Bench,
    sample: &Sample,
    stream: bool,
    answer: &Answer,
) -> Result<Option<Answered>, String> {
    let without = match &sample.without {
        // Where it fails, nothing is sent, and there is nothing to compare with.
        Some(without) => ask(bench, without, stream, answer).await.unwrap_or_default(),
        None => Asked::default(),
    };
    let with = match ask(bench, &sample.with, stream, answer).await {
        Ok(with) => with,
        Err(Refusal {
            sent: 0,
            kind: ErrorKind::Unsupported,
            ..
        }) => return Ok(Some(Answered::Refused)),
        Err(Refusal { sent, kind, words }) => {
            return Err(format!("it fails with {kind} after {sent} requests: {words}"));
        }
    };
    let carried = if sample.marks.is_empty() {
        with.wire != without.wire
    } else {
        let count = |wire: &str, mark: &String| wire.matches(mark.as_str()).count();
        let mut marks = sample.marks.iter();
        marks.all(|mark| count(&with.wire, mark) > count(&without.wire, mark))
    };
    if carried {
        return Ok(Some(Answered::Sent));
    }
    let news = with
        .warnings
        .iter()
        .any(|warning| !without.warnings.contains(warning));
    Ok(news.then_some(Answered::Warned))
}

/// What came of a request.
#[derive(Debug, Default)]
struct Asked {
    /// What was sent: path, headers and body.
    wire: String,
    warnings: Vec<Warning>,
}

struct Refusal {
    sent: usize,
    kind: ErrorKind,
    words: String,
}

async fn ask(bench: &Bench, request: &ChatRequest, stream: bool, answer: &Answer) -> Result<Asked, Refusal> {
    let before = bench.transport.request_count();
    let outcome = if stream {
        bench
            .stream(request, answer.clone())
            .await
            .map(|streamed| streamed.outcome)
    } else {
        bench.chat(request, answer.clone()).await
    };
    let sent = bench.transport.requests().split_off(before);
    match outcome {
        Ok(Ok(response)) => Ok(Asked {
            wire: sent.iter().map(wire).collect(),
            warnings: response.warnings,
        }),
        Ok(Err(error)) => Err(Refusal {
            sent: sent.len(),
            kind: error.kind(),
            words: error.message().to_owned(),
        }),
        Err(words) => Err(Refusal {
            sent: sent.len(),
            kind: ErrorKind::Internal,
            words,
        }),
    }
}

fn wire(sent: &RecordedRequest) -> String {
    format!(
        "{} {:?} {}\n",
        sent.path(),
        sent.headers,
        String::from_utf8_lossy(&sent.body)
    )
}
