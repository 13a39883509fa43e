//! An open transport: lines out and in, what the agent does on this machine, telemetry, and the
//! end.
use crate::hub::strays::Strays;
use crate::hub::variables::Variables;
use crate::hub::waste::Waste;
use crate::telemetry::Watch;
use acp_types::client::RequestKey;
use acp_types::v1::session_setup::SessionId;
use bytes::Bytes;
use futures::StreamExt;
use host::permissions::Watcher;
use host::transport::{AgentProcess, ByteStream, LineSender, Transport, Writer};
use host::workspace::{Host, HostEvent};
use jsonrpc_core::framing::Lines;
use jsonrpc_core::peek;
use jsonrpc_core::transcript::Direction;
use semconv_map::trace_context::TraceContext;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the output of an agent that has exited is read: a process that it started may hold the
/// pipe open.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// An open transport to an agent.
pub(crate) struct Link {
    incoming: ByteStream,
    outgoing: LineSender,
    writer: Writer,
    process: Option<AgentProcess>,
    pub(crate) lines: Lines,
    pub(crate) host: Host<RequestKey>,
    /// Threads of the sessions that have used the host.
    pub(crate) sessions: BTreeMap<SessionId, String>,
    pub(crate) watch: Option<Watch>,
    pub(crate) rules: Watcher,
    pub(crate) strays: Strays,
    pub(crate) waste: Waste,
}

/// An input of the transport.
pub(crate) enum Input {
    Bytes(Bytes),
    Host(HostEvent<RequestKey>),
    /// The connection is over, for this reason.
    Closed(String),
    /// The agent has exited.
    Exited,
}

impl Link {
    pub(crate) fn new(
        transport: Transport,
        host: Host<RequestKey>,
        watch: Option<Watch>,
        rules: Watcher,
    ) -> Self {
        let Transport { incoming, outgoing, writer, process } = transport;
        let lines = Lines::default();
        let sessions = BTreeMap::new();
        let strays = Strays::default();
        let waste = Waste::default();
        Self {
            incoming,
            outgoing,
            writer,
            process,
            lines,
            host,
            sessions,
            watch,
            rules,
            strays,
            waste,
        }
    }

    /// Waits for the next input.
    pub(crate) async fn next(&mut self) -> Input {
        let process = async {
            match &mut self.process {
                Some(process) => process.exited().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            bytes = self.incoming.next() => read(bytes),
            event = self.host.next() => Input::Host(event),
            () = process => Input::Exited,
        }
    }

    /// Waits for more bytes of an agent that has exited.
    pub(crate) async fn last_words(&mut self, since: Instant) -> Input {
        let deadline = since + LAST_WORDS;
        match timeout_at(deadline, self.incoming.next()).await {
            Ok(bytes) => read(bytes),
            Err(_) => Input::Closed(closed()),
        }
    }

    /// Queues a line; a request of a run carries the context of its span.
    pub(crate) fn send(
        &mut self,
        line: Vec<u8>,
        span: Option<&TraceContext>,
    ) -> Result<(), String> {
        if let (false, Ok(peeked)) = (self.rules.is_idle(), peek(&line)) {
            self.rules.handle_line(Direction::Sent, &peeked);
        }
        let line = match &mut self.watch {
            Some(watch) => watch.send(line, span),
            None => line,
        };
        self.outgoing.send(line).map_err(|error| error.to_string())
    }

    /// Ends the connection: sends what is queued, ends files and terminals, then the process.
    /// Returns the reason with the exit status. With the `variables` of an agent that has not
    /// started, its standard error is quoted without them; later it may have texts of other users.
    pub(crate) async fn end(self, why: String, variables: Option<Variables>) -> String {
        let Self { incoming, outgoing, writer, process, host, mut strays, .. } = self;
        drop((incoming, outgoing));
        writer.end().await;
        host.end().await;
        let why = match process {
            None => why,
            Some(process) => {
                let (status, errors) = process.end().await;
                if let Some(variables) = variables {
                    strays.handle_errors(&errors, &variables);
                }
                match status {
                    Ok(status) => format!("{why} ({status})"),
                    Err(error) => format!("{why}; its exit status is unknown: {error}"),
                }
            }
        };
        let why = strays.explain(why);
        tracing::info!(why, "agent gone");
        why
    }
}

fn read(bytes: Option<io::Result<Bytes>>) -> Input {
    match bytes {
        Some(Ok(bytes)) => Input::Bytes(bytes),
        Some(Err(error)) => Input::Closed(format!("the connection to the agent failed: {error}")),
        None => Input::Closed(closed()),
    }
}

fn closed() -> String {
    "the agent closed the connection".to_owned()
}
