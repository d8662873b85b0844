//! `llm-routerd serve`

use super::{ServeArgs, say_error};
use crate::app::App;
use crate::auth::Tokens;
use crate::backend;
use crate::config::{self, Loaded, environment};
use crate::discover;
use crate::face;
use crate::route::Routes;
use crate::server::{self, Limits, StopSignals};
use crate::store::{Recorder, Store};
use crate::telemetry;
use llm_suite::core::{BuildContext, CallContext, Error, ErrorKind, Registry, Result};
use llm_suite::http::{ReqwestTransport, shared_clock};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) async fn run(args: &ServeArgs, registry: &Registry) -> Result<()> {
    let mut loaded = load(args).await?;
    let _telemetry = telemetry::start(&loaded.config.log, args.log_level.as_deref())?;
    if let Some(port) = args.port {
        loaded.config.proxy.port = port;
    }
    let config = loaded.config;
    let mut signals = StopSignals::listen(args.stop_with_stdin)?;
    let local = is_loopback(&config.proxy.host);
    if args.unsafe_no_auth && !local {
        let message = "--unsafe-no-auth is for loopback addresses only; change proxy.host or drop the flag";
        return Err(Error::new(ErrorKind::Config, message));
    }
    let tokens = if args.unsafe_no_auth {
        None
    } else {
        Some(Tokens::of(&config.proxy)?)
    };
    let backends = backend::build_all(&config, registry, &build_context()?)?;
    let store = Store::open(&db_path(&config.storage.db_path)?)?;
    let (recorder, writer) = Recorder::start(store.reopen()?)?;
    let routes = Routes::new(&config, backends);
    let limits = Limits::of(&config.proxy);
    let listener = server::listen(&config.proxy.host, config.proxy.port).await?;
    let address = listener.local_addr().map_err(|error| {
        Error::new(ErrorKind::Internal, "the address listened on is not known").with_source(error)
    })?;
    if let Some(path) = tokens.as_ref().and_then(|tokens| tokens.made_in.as_ref()) {
        say_error(&format!(
            "token: none is configured, the one in {} is used",
            path.display()
        ));
    }
    if !local {
        tracing::warn!(
            host = config.proxy.host,
            "listening beyond this machine, without TLS: put a TLS proxy in front"
        );
    }
    let app = Arc::new(App::new(
        config,
        routes,
        tokens,
        &store,
        recorder.clone(),
        shared_clock(),
    ));
    drop(recorder);
    say_error(&format!("listening on http://{address}"));
    let router = face::router(app.clone());
    let cut = server::serve(listener, router, &app.running, limits, &mut signals).await;
    if cut > 0 {
        tracing::warn!(connections = cut, "stopped: what still ran was cut");
    }
    drop(app);
    // the writer ends once the last recorder is gone, and everything recorded is on disk then
    tokio::task::spawn_blocking(move || writer.join()).await.ok();
    Ok(())
}

/// The configuration file, or what is reachable here.
async fn load(args: &ServeArgs) -> Result<Loaded> {
    if let Some(path) = config::find(args.config.as_deref()) {
        say_error(&format!("configuration: {}", path.display()));
        return Ok(Loaded::new(config::load(&path)?, Some(path)));
    }
    say_error("configuration: none found, looking for what is reachable here");
    let cx = CallContext::new(shared_clock());
    let found = discover::discover(&cx, &ReqwestTransport::shared()?).await;
    for line in &found.report {
        say_error(&format!("  {line}"));
    }
    if found.config.backends.is_empty() {
        return Err(Error::new(ErrorKind::Config, "nothing to route to").with_source(Advice));
    }
    say_error("  all of them as role:default");
    Ok(Loaded::new(found.config, None))
}

/// Several lines of advice, where an error's message has one.
#[derive(Debug)]
struct Advice;

impl std::fmt::Display for Advice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(discover::ADVICE)
    }
}

impl std::error::Error for Advice {}

/// What the drivers share: one pool of connections, one clock.
pub(super) fn build_context() -> Result<BuildContext> {
    let mut context = BuildContext::default();
    context.insert(ReqwestTransport::shared()?);
    context.insert(shared_clock());
    Ok(context)
}

fn db_path(configured: &Option<PathBuf>) -> Result<PathBuf> {
    let place = configured
        .clone()
        .or_else(|| environment::state_dir().map(|dir| dir.join("state.db")));
    place.ok_or_else(|| {
        let message = "there is no home folder for the store; set storage.db_path or LLM_ROUTERD_STATE_DIR";
        Error::new(ErrorKind::Config, message)
    })
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
