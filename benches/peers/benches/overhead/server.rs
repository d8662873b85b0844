//! A server whose answers are written before anybody asks, so that it costs as little as it can.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// How many pieces of text a stream brings; two more chunks say why it ended and what was used.
pub const CHUNKS: usize = 200;

/// How a stream is put on the wire.
#[derive(Clone, Copy)]
pub enum Writes {
    /// As one: a gateway that sends what has gathered.
    Once,
    /// A write for each chunk: a vendor whose tokens come one by one.
    Each,
}

/// It lives as long as the process.
pub struct Server {
    /// With `/v1`.
    pub base_url: String,
}

struct Answers {
    plain: Vec<u8>,
    /// One element for each write.
    stream: Vec<Vec<u8>>,
}

impl Server {
    pub fn start(writes: Writes) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base_url = format!("http://{}/v1", listener.local_addr()?);
        let answers = Arc::new(Answers::new(writes));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let answers = answers.clone();
                std::thread::spawn(move || serve(&connection, &answers));
            }
        });
        Ok(Server { base_url })
    }
}

fn serve(connection: &TcpStream, answers: &Answers) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut reader = BufReader::new(connection);
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        let mut length = 0;
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line == "\r\n" {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        let wanted: &[u8] = br#""stream":true"#;
        let mut connection = connection;
        if body.windows(wanted.len()).any(|window| window == wanted) {
            for write in &answers.stream {
                connection.write_all(write)?;
            }
        } else {
            connection.write_all(&answers.plain)?;
        }
    }
}

/// The whole text of an answer.
pub fn text() -> String {
    pieces().collect()
}

fn pieces() -> impl Iterator<Item = &'static str> {
    let words = [
        "The",
        " \"quoted\"",
        " sky",
        " is",
        " blue,",
        "\n",
        " scattering",
        " größer",
    ];
    (0..CHUNKS).map(move |at| words[at % words.len()])
}

impl Answers {
    fn new(writes: Writes) -> Self {
        let usage = json!({"prompt_tokens": 21, "completion_tokens": 200, "total_tokens": 221,
            "prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 4}});
        let plain = json!({"id": "chatcmpl-x1", "object": "chat.completion", "created": 1_795_900_000,
            "model": "gpt-6-luna", "choices": [{"index": 0, "finish_reason": "stop", "logprobs": null,
                "message": {"role": "assistant", "content": text(), "refusal": null, "annotations": []}}],
            "usage": usage, "service_tier": "default", "system_fingerprint": "fp_44a1"})
        .to_string();
        let head = "HTTP/1.1 200 OK\r\nx-request-id: req_1\r\nx-ratelimit-limit-requests: 500\r\n\
                    x-ratelimit-remaining-requests: 499\r\nx-ratelimit-reset-requests: 120ms\r\n\
                    x-ratelimit-limit-tokens: 200000\r\nx-ratelimit-remaining-tokens: 199968\r\n\
                    x-ratelimit-reset-tokens: 9ms\r\n";
        let length = plain.len();
        let plain =
            format!("{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{plain}");
        let begin = format!("{head}content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
        let events = chunks(&usage)
            .into_iter()
            .map(|chunk| format!("data: {chunk}\n\n"));
        let events = events.chain(["data: [DONE]\n\n".to_owned()]);
        let mut stream: Vec<String> = events
            .map(|event| format!("{:x}\r\n{event}\r\n", event.len()))
            .collect();
        stream.insert(0, begin);
        stream.push("0\r\n\r\n".to_owned());
        let stream = match writes {
            Writes::Once => vec![stream.concat().into_bytes()],
            Writes::Each => stream.into_iter().map(String::into_bytes).collect(),
        };
        Answers {
            plain: plain.into_bytes(),
            stream,
        }
    }
}

fn chunks(usage: &Value) -> Vec<Value> {
    let chunk = |choices: Value, usage: &Value| {
        json!({"id": "chatcmpl-x1", "object": "chat.completion.chunk", "created": 1_795_900_000,
            "model": "gpt-6-luna", "service_tier": "default", "system_fingerprint": "fp_44a1",
            "choices": choices, "usage": usage})
    };
    let choice = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        chunk(choices, &Value::Null)
    };
    let mut chunks: Vec<Value> = pieces()
        .map(|text| choice(json!({"content": text}), Value::Null))
        .collect();
    chunks.push(choice(json!({}), json!("stop")));
    chunks.push(chunk(json!([]), usage));
    chunks
}
