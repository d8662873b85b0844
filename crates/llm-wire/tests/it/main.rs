//! Properties that hold for every input: any cut of the bytes gives the same frames, no input makes a decoder
//! panic, and what was encoded is decoded to what it was.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails a test")]

mod answers;
mod frames;
mod gemini;
mod hostile;
mod matrix;
mod messages_answers;
mod messages_cases;
mod messages_hostile;
mod messages_neutral;
mod messages_requests;
mod neutral;
mod ollama;
mod requests;
mod responses;
mod vendor_cases;
