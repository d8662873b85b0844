//! Fuzz targets over everything that reads bytes from outside. Each is a plain function that panics when something that
//! must always hold does not; libFuzzer (`fuzz_targets/`) and the mutator for stable toolchains (`src/bin/mutate.rs`)
//! call the same ones.
//!
//! What must always hold: nothing panics; a body cut anywhere gives what the whole gives; events obey the grammar and
//! fold; what is read can be written and read again; what is handed out is no larger than what came in, but for a factor.

mod answers;
mod frames;
mod headers;
mod requests;
mod urls;

/// A target: its name, which is that of its corpus and its binary, and what it does with some bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// As on the command line.
    pub name: &'static str,
    /// Panics where something that must hold does not.
    pub run: fn(&[u8]),
}

/// Every target there is.
pub const TARGETS: [Target; 19] = [
    Target {
        name: "frame_sse",
        run: frames::sse,
    },
    Target {
        name: "frame_ndjson",
        run: frames::ndjson,
    },
    Target {
        name: "frame_json_array",
        run: frames::json_array,
    },
    Target {
        name: "frame_generate_content",
        run: frames::generate_content,
    },
    Target {
        name: "chat_completions_response",
        run: answers::chat_completions_response,
    },
    Target {
        name: "chat_completions_stream",
        run: answers::chat_completions_stream,
    },
    Target {
        name: "messages_response",
        run: answers::messages_response,
    },
    Target {
        name: "messages_stream",
        run: answers::messages_stream,
    },
    Target {
        name: "generate_content_response",
        run: answers::generate_content_response,
    },
    Target {
        name: "generate_content_stream",
        run: answers::generate_content_stream,
    },
    Target {
        name: "ollama_response",
        run: answers::ollama_response,
    },
    Target {
        name: "ollama_stream",
        run: answers::ollama_stream,
    },
    Target {
        name: "responses_response",
        run: answers::responses_response,
    },
    Target {
        name: "responses_stream",
        run: answers::responses_stream,
    },
    Target {
        name: "errors",
        run: answers::errors,
    },
    Target {
        name: "chat_completions_request",
        run: requests::chat_completions,
    },
    Target {
        name: "messages_request",
        run: requests::messages,
    },
    Target {
        name: "headers",
        run: headers::headers,
    },
    Target {
        name: "urls",
        run: urls::urls,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Runs the target of this name.
///
/// # Panics
/// When something that must hold does not, and when there is no such target.
pub fn run(name: &str, data: &[u8]) {
    match target(name) {
        Some(target) => (target.run)(data),
        None => panic!("no target `{name}`"),
    }
}

/// One of several, by the length of the input: every choice is a byte away, and the same input takes the same one.
fn pick<'c, C>(choices: &'c [C], data: &[u8]) -> &'c C {
    &choices[data.len() % choices.len()]
}

/// Ways to cut a body: whole, byte by byte, and at places the body itself says.
fn cuts(data: &[u8]) -> [Vec<&[u8]>; 3] {
    let mut pieces = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let length = (usize::from(rest[0] % 41) + 1).min(rest.len());
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    [vec![data], data.chunks(1).collect(), pieces]
}
