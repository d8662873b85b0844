//! The input of a case.

use super::WHAT;
use crate::case::{Fault, Fields, list, text};
use crate::form::Form;
use crate::outcome::CLASSES;
use crate::run::request;
use crate::script::{self, Scripted};
use crate::subject::{self, Host, broken, model};
use llm_core::{ChatRequest, Error, ModelId};
use llm_resilience::BreakerPolicy;
use llm_routing::{CallMode, Needs, RoundRobin, RoutingPolicy};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// More calls in a step than a case can mean.
const MOST_CALLS: u64 = 10_000;
/// A longer prompt than any model takes.
const MOST_TOKENS: u64 = 20_000_000;
/// As long as a run, and longer.
const WHOLE_RUN: Duration = Duration::from_secs(365 * 24 * 3600);

/// The input of a case.
pub(super) struct Script {
    pub(super) form: Form,
    pub(super) deployments: Vec<Deployment>,
    strategy: Strategy,
    /// Places in `deployments`: who is asked, in this order.
    pub(super) order: Vec<usize>,
    /// Requests to one deployment in one call.
    pub(super) attempts: u32,
    /// Classes that move a call to the next deployment; absent: those that the format names.
    pub(super) fallback_on: Option<Vec<String>>,
    pub(super) cooldown: Option<BreakerPolicy>,
    pub(super) steps: Vec<Step>,
    /// Does every call ask for a stream?
    pub(super) stream: bool,
}

pub(super) struct Deployment {
    pub(super) id: String,
    pub(super) model: ModelId,
    pub(super) host: Host,
    weight: u32,
    pub(super) context: Option<u64>,
    pub(super) answers: Vec<Scripted>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Fallback,
    RoundRobin,
    Weighted,
}

pub(super) struct Step {
    pub(super) at: Option<Duration>,
    pub(super) calls: u64,
    pub(super) at_once: bool,
    pub(super) deadline: Option<Duration>,
    /// The place of the one deployment that is asked.
    pub(super) pin: Option<usize>,
    pub(super) no_fallback: bool,
    pub(super) cancel_after_events: Option<u64>,
    pub(super) request: ChatRequest,
    pub(super) stream: bool,
}

impl Script {
    pub(super) fn read(input: &Value) -> Result<Script, Fault> {
        let mut fields = Fields::of(input, "input")?;
        let form = Form::of(fields.optional_text("dialect")?.unwrap_or("openai"), WHAT)?;
        let at = fields.at("deployments");
        let mut deployments = each(fields.required("deployments")?, &at, Deployment::read)?;
        let mut seen = HashSet::new();
        if let Some(twice) = deployments.iter().find(|one| !seen.insert(one.id.clone())) {
            return Err(Fault::malformed(format!("two deployments are {}", twice.id)));
        }
        let at = fields.at("upstream");
        for (id, answers) in Fields::of(fields.required("upstream")?, &at)?.entries() {
            let place = place_of(&deployments, id)?;
            deployments[place].answers = script::read(answers, &format!("{at}.{id}"))?;
        }
        let mut config = Fields::of(fields.required("config")?, fields.at("config"))?;
        let (strategy, order) = strategy(&mut config, &deployments)?;
        let attempts = config.optional_count("attempts_per_deployment")?.unwrap_or(1);
        let at = config.at("fallback_on");
        let fallback_on = config.optional("fallback_on");
        let fallback_on = fallback_on.map(|classes| classes_of(classes, &at)).transpose()?;
        let at = config.at("cooldown");
        let cooldown = config.optional("cooldown").filter(|cooldown| !cooldown.is_null());
        let cooldown = cooldown.map(|cooldown| cool_down(cooldown, &at)).transpose()?;
        config.end()?;
        let steps = each(fields.required("steps")?, &fields.at("steps"), |step, at| {
            Step::read(step, at, form, &deployments)
        })?;
        fields.end()?;
        let mut answers = deployments.iter().flat_map(|one| &one.answers);
        let stream = answers.any(Scripted::is_stream);
        if steps
            .iter()
            .any(|step| step.cancel_after_events.is_some() && !stream && !step.stream)
        {
            let wrong = "cancel_after_events is of a stream, and no answer is one";
            return Err(Fault::malformed(wrong.to_owned()));
        }
        Ok(Script {
            form,
            deployments,
            strategy,
            order,
            attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
            fallback_on,
            cooldown,
            steps,
            stream,
        })
    }

    /// Does any call ask for a stream?
    pub(super) fn streams(&self) -> bool {
        self.stream || self.steps.iter().any(|step| step.stream)
    }

    /// How calls are routed that may go anywhere.
    pub(super) fn policy(&self) -> Result<RoutingPolicy, Error> {
        let policy = RoutingPolicy::default();
        Ok(match self.strategy {
            Strategy::Fallback => policy,
            Strategy::RoundRobin => policy.with_selector(RoundRobin::new()),
            Strategy::Weighted => {
                let weights = self.deployments.iter().map(|one| (one.id.as_str(), one.weight));
                policy.with_selector(RoundRobin::new().with_weights(weights)?)
            }
        })
    }
}

impl Deployment {
    fn read(deployment: &Value, at: &str) -> Result<Deployment, Fault> {
        let mut fields = Fields::of(deployment, at)?;
        let id = fields.text("id")?.to_owned();
        let model = match fields.optional_text("model")? {
            Some(name) => ModelId::new(name),
            None => model(),
        };
        let mut host = Host::default();
        if let Some(base_url) = fields.optional_text("base_url")? {
            host.base_url = base_url.to_owned();
        }
        host.key = fields.optional_text("key")?.map(str::to_owned);
        let weight = fields.optional_count("weight")?.unwrap_or(1);
        let deployment = Deployment {
            id,
            model: model.map_err(|error| broken(&error))?,
            host,
            weight: u32::try_from(weight).unwrap_or(u32::MAX),
            context: fields.optional_count("context")?,
            answers: Vec::new(),
        };
        fields.end()?;
        Ok(deployment)
    }
}

impl Step {
    fn read(step: &Value, at: &str, form: Form, deployments: &[Deployment]) -> Result<Step, Fault> {
        let mut fields = Fields::of(step, at)?;
        let (calls, at_once) = match fields.text("op")? {
            "call" => (1, false),
            "concurrent" => (fields.count("n")?, true),
            "repeat_call" => (fields.count("n")?, false),
            other => return Err(Fault::unknown("operation", other)),
        };
        if !(1..=MOST_CALLS).contains(&calls) {
            return Err(Fault::malformed(format!("{at}: {calls} calls cannot be run")));
        }
        let (mut request, stream) = match fields.optional("request") {
            Some(request) => request::read(form, request, &fields.at("request"))?,
            None => (subject::request().map_err(|error| broken(&error))?, false),
        };
        // deployments have models of their own
        request.model = None;
        if let Some(tokens) = fields.optional_count("input_tokens")? {
            if tokens > MOST_TOKENS {
                return Err(Fault::malformed(format!("{at}: {tokens} tokens are no prompt")));
            }
            request.messages = prompt(tokens).messages;
        }
        let pin = fields.optional_text("pin")?;
        let step = Step {
            at: fields.optional_millis("at_ms")?,
            calls,
            at_once,
            deadline: fields.optional_millis("deadline_ms")?,
            pin: pin.map(|id| place_of(deployments, id)).transpose()?,
            no_fallback: fields.flag("no_fallback")?,
            cancel_after_events: fields.optional_count("cancel_after_events")?,
            request,
            stream,
        };
        fields.end()?;
        Ok(step)
    }
}

/// A prompt that is estimated at this many tokens, or at as few as there can be.
fn prompt(tokens: u64) -> ChatRequest {
    let estimated = |text: &str| Needs::of(&ChatRequest::user(text), CallMode::Plain).input_tokens();
    let (frame, word) = (estimated(""), "four");
    let words = tokens.saturating_sub(frame) / (estimated(word) - frame).max(1);
    ChatRequest::user(word.repeat(usize::try_from(words).unwrap_or(usize::MAX)))
}

/// `strategy`, and who is asked in which order.
fn strategy(config: &mut Fields<'_>, deployments: &[Deployment]) -> Result<(Strategy, Vec<usize>), Fault> {
    let strategy = match config.optional_text("strategy")?.unwrap_or("fallback") {
        "fallback_graph" => return Ok((Strategy::Fallback, graph(config, deployments)?)),
        "fallback" => Strategy::Fallback,
        "round_robin" => Strategy::RoundRobin,
        "weighted" => Strategy::Weighted,
        other => return Err(Fault::unknown("strategy", other)),
    };
    let order = match config.optional("order") {
        Some(order) => places(order, &config.at("order"), deployments)?,
        None => (0..deployments.len()).collect(),
    };
    Ok((strategy, order))
}

/// `start`, then depth first the entries of its list, each once.
fn graph(config: &mut Fields<'_>, deployments: &[Deployment]) -> Result<Vec<usize>, Fault> {
    let start = place_of(deployments, config.text("start")?)?;
    let at = config.at("fallbacks");
    let mut next = BTreeMap::new();
    if let Some(fallbacks) = config.optional("fallbacks") {
        for (id, fallbacks) in Fields::of(fallbacks, &at)?.entries() {
            let fallbacks = places(fallbacks, &format!("{at}.{id}"), deployments)?;
            next.insert(place_of(deployments, id)?, fallbacks);
        }
    }
    let mut order = Vec::new();
    let mut ahead = vec![start];
    while let Some(place) = ahead.pop() {
        if !order.contains(&place) {
            order.push(place);
            ahead.extend(next.get(&place).into_iter().flatten().rev());
        }
    }
    Ok(order)
}

/// `cooldown`: that of the breaker, which then goes by a count and a time.
fn cool_down(cooldown: &Value, at: &str) -> Result<BreakerPolicy, Fault> {
    let mut fields = Fields::of(cooldown, at)?;
    let time = Duration::from_millis(fields.count("ms")?);
    let failures = fields.optional_count("after_failures")?.unwrap_or(u64::MAX);
    let policy = BreakerPolicy::cool_down(u32::try_from(failures).unwrap_or(u32::MAX), time);
    let percent = match fields.optional("failure_ratio") {
        None => u32::MAX,
        Some(ratio) => percent(ratio)?,
    };
    let least = fields.optional_count("min_requests")?.unwrap_or(1);
    let policy = policy.with_share(percent, u32::try_from(least).unwrap_or(u32::MAX), WHOLE_RUN);
    let honours = fields.flag("honour_retry_after")?;
    fields.end()?;
    Ok(if honours { policy } else { policy.without_hints() })
}

/// The breaker counts in whole ones.
fn percent(ratio: &Value) -> Result<u32, Fault> {
    let percent = ratio.as_f64().unwrap_or_default() * 100.0;
    let whole = percent.round();
    if !(1.0..=100.0).contains(&whole) || (percent - whole).abs() > 1e-6 {
        return Err(Fault::unsupported(format!(
            "the failure_ratio {ratio}: it is no whole percent"
        )));
    }
    Ok(whole as u32)
}

/// `fallback_on`. The verdict table never lets a request that is at fault go on.
fn classes_of(classes: &Value, at: &str) -> Result<Vec<String>, Fault> {
    let classes: Vec<String> = each(classes, at, |class, at| text(class, at).map(str::to_owned))?;
    match classes.iter().find(|class| !CLASSES.contains(&class.as_str())) {
        Some(unknown) => Err(Fault::unknown("error class", unknown)),
        None if classes.iter().any(|class| class == "invalid_request") => {
            Err(Fault::unsupported("a fallback on invalid_request".to_owned()))
        }
        None => Ok(classes),
    }
}

fn places(ids: &Value, at: &str, deployments: &[Deployment]) -> Result<Vec<usize>, Fault> {
    each(ids, at, |id, at| place_of(deployments, text(id, at)?))
}

fn place_of(deployments: &[Deployment], id: &str) -> Result<usize, Fault> {
    let place = deployments.iter().position(|one| one.id == id);
    place.ok_or_else(|| Fault::unknown("deployment", id))
}

fn each<T>(
    items: &Value,
    at: &str,
    read: impl Fn(&Value, &str) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let items = list(items, at)?.iter().enumerate();
    items
        .map(|(number, item)| read(item, &format!("{at}[{number}]")))
        .collect()
}
