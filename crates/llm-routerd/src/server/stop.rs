//! Being told to stop: SIGTERM, SIGINT (Ctrl-C), or the end of standard input where that was asked for.

use llm_suite::core::{Error, ErrorKind, Result};
use tokio::sync::oneshot;

/// What asks a daemon to stop.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    /// Absent: standard input does not matter, or has ended already.
    stdin: Option<oneshot::Receiver<()>>,
}

impl StopSignals {
    /// From here on the signals no longer end the process by themselves.
    ///
    /// # Errors
    /// `Internal`, when the system does not give them.
    pub(crate) fn listen(with_stdin: bool) -> Result<Self> {
        #[cfg(unix)]
        let take = |kind| {
            tokio::signal::unix::signal(kind).map_err(|error| {
                let message = "the signals to stop cannot be listened to";
                Error::new(ErrorKind::Internal, message).with_source(error)
            })
        };
        Ok(StopSignals {
            #[cfg(unix)]
            terminate: take(tokio::signal::unix::SignalKind::terminate())?,
            #[cfg(unix)]
            interrupt: take(tokio::signal::unix::SignalKind::interrupt())?,
            stdin: with_stdin.then(end_of_stdin),
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        let stdin_ended = async {
            match &mut self.stdin {
                // nothing is ever sent: an error is the end
                Some(stdin) => stdin.await.ok(),
                None => std::future::pending().await,
            }
        };
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = stdin_ended => self.stdin = None,
        }
        #[cfg(not(unix))]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = stdin_ended => self.stdin = None,
        }
    }
}

/// Gives an error once standard input has ended.
fn end_of_stdin() -> oneshot::Receiver<()> {
    let (open, ended) = oneshot::channel();
    // a plain thread: the runtime would wait for a read that never ends
    std::thread::spawn(move || {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).ok();
        drop(open);
    });
    ended
}
