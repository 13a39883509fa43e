//! The requests of an agent for this machine: files and terminals, as far as it has access.
use crate::files::Root;
use crate::terminals::{TerminalEvent, Terminals};
use acp_types::v1::file_system::{ReadTextFileRequest, WriteTextFileRequest};
use acp_types::v1::initialization::{ClientCapabilities, FileSystemCapabilities};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus, TerminalOutputRequest,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// Maximum number of pending requests for files.
const MAX_FILE_REQUESTS: usize = 64;

/// Maximum number of answers, and of pieces of output, that wait for the connection.
const MAX_EVENTS: usize = 64;

/// How long a write may take when the connection ends.
const WRITE_TIME: Duration = Duration::from_secs(2);

/// What an agent may do with the files below its root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FsAccess {
    /// No access.
    Off,
    /// Read.
    #[default]
    Read,
    /// Read and write.
    ReadWrite,
}

/// What an agent may do on this machine.
#[derive(Clone, Debug)]
pub struct Access {
    /// The directory for files and working directories.
    pub root: Arc<Root>,
    /// The access to files.
    pub fs: FsAccess,
    /// Whether the agent may run commands.
    pub terminal: bool,
}

/// The result of a request.
pub type Answer = Result<Raw, ErrorObject>;

/// An event for the connection.
#[derive(Debug)]
pub enum HostEvent<K> {
    /// The answer to a request of the agent.
    Answer(K, Answer),
    /// A change of a terminal of a session.
    Terminal(SessionId, TerminalEvent),
}

/// A request for a file. They are served one after the other.
#[derive(Debug)]
enum FileRequest {
    Read(ReadTextFileRequest),
    Write(WriteTextFileRequest),
}

/// The files and terminals of one agent.
#[derive(Debug)]
pub struct Host<K> {
    access: Option<Access>,
    terminals: Terminals,
    files: mpsc::Sender<(K, FileRequest)>,
    answers: mpsc::Sender<(K, Answer)>,
    shows: mpsc::Sender<(SessionId, TerminalEvent)>,
    answered: mpsc::Receiver<(K, Answer)>,
    shown: mpsc::Receiver<(SessionId, TerminalEvent)>,
    /// Requests that are answered when a command ends.
    waiting: HashMap<K, AbortHandle>,
    reader: JoinHandle<()>,
}

impl Access {
    /// Declares the access in the capabilities of the client.
    pub fn declare(&self, capabilities: &mut ClientCapabilities) {
        let mut fs = FileSystemCapabilities::new();
        fs.read_text_file = Some(self.fs != FsAccess::Off);
        fs.write_text_file = Some(self.fs == FsAccess::ReadWrite);
        capabilities.fs = Some(fs);
        capabilities.terminal = Some(self.terminal);
    }

    fn serve(&self, request: &FileRequest) -> Answer {
        match request {
            FileRequest::Read(request) => answer(self.root.read(request)),
            FileRequest::Write(request) => answer(self.root.write(request)),
        }
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Host<K> {
    /// Serves an agent with this access; without one, it has none of the methods.
    pub fn new(access: Option<Access>) -> Self {
        let (files, mut asked) = mpsc::channel(MAX_FILE_REQUESTS);
        let (answers, answered) = mpsc::channel(MAX_EVENTS);
        let (shows, shown) = mpsc::channel(MAX_EVENTS);
        let allowed = access.clone();
        let results = answers.clone();
        let reader = tokio::spawn(async move {
            while let (Some((id, request)), Some(access)) = (asked.recv().await, allowed.clone()) {
                let served = spawn_blocking(move || access.serve(&request)).await;
                let answer = served.unwrap_or_else(|error| Err(broken(&error)));
                if results.send((id, answer)).await.is_err() {
                    return;
                }
            }
        });
        let terminals = Terminals::default();
        let waiting = HashMap::new();
        Self { access, terminals, files, answers, shows, answered, shown, waiting, reader }
    }

    /// Handles a request that `id` identifies. Returns `None` if the agent has no such method here,
    /// and `Some(None)` if the answer follows as an event.
    pub fn request(&mut self, id: &K, method: &str, params: &RawValue) -> Option<Option<Answer>> {
        let access = self.access.clone()?;
        let served = match method {
            "fs/read_text_file" if access.fs != FsAccess::Off => {
                self.file(id, decode(params).map(FileRequest::Read))
            }
            "fs/write_text_file" if access.fs == FsAccess::ReadWrite => {
                self.file(id, decode(params).map(FileRequest::Write))
            }
            "terminal/create" if access.terminal => self.create(&access, params).map(Some),
            "terminal/output" if access.terminal => {
                decode(params).and_then(|it: TerminalOutputRequest| {
                    answer(self.terminals.output(&it.session_id, &it.terminal_id)).map(Some)
                })
            }
            "terminal/wait_for_exit" if access.terminal => {
                decode(params).and_then(|it: WaitForTerminalExitRequest| {
                    self.wait(id, &it.session_id, &it.terminal_id, |exit| {
                        let mut ended = WaitForTerminalExitResponse::new();
                        ended.exit_code = exit.exit_code;
                        ended.signal = exit.signal;
                        ended
                    })
                })
            }
            "terminal/kill" if access.terminal => {
                decode(params).and_then(|it: KillTerminalRequest| {
                    self.terminals.kill(&it.session_id, &it.terminal_id)?;
                    let killed = |_| KillTerminalResponse::new();
                    self.wait(id, &it.session_id, &it.terminal_id, killed)
                })
            }
            "terminal/release" if access.terminal => {
                decode(params).and_then(|it: ReleaseTerminalRequest| {
                    self.terminals.release(&it.session_id, &it.terminal_id)?;
                    answer(Ok::<_, ErrorObject>(ReleaseTerminalResponse::new())).map(Some)
                })
            }
            _ => return None,
        };
        Some(served.map_or_else(|error| Some(Err(error)), |answer| answer.map(Ok)))
    }

    fn file(
        &self,
        id: &K,
        request: Result<FileRequest, ErrorObject>,
    ) -> Result<Option<Raw>, ErrorObject> {
        self.files.try_send((id.clone(), request?)).map(|()| None).map_err(|_| {
            let message = "too many requests about files wait";
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
        })
    }

    fn create(&mut self, access: &Access, params: &RawValue) -> Answer {
        let request: CreateTerminalRequest = decode(params)?;
        let created = self.terminals.create(&access.root, &request, self.shows.clone());
        answer(created.map(CreateTerminalResponse::new))
    }

    fn wait<T: Serialize>(
        &mut self,
        id: &K,
        session: &SessionId,
        terminal: &acp_types::v1::terminals::TerminalId,
        respond: impl FnOnce(TerminalExitStatus) -> T + Send + 'static,
    ) -> Result<Option<Raw>, ErrorObject> {
        let exit = self.terminals.exit(session, terminal)?;
        let key = id.clone();
        let answers = self.answers.clone();
        let waiting = tokio::spawn(async move {
            let ended = answer(Ok::<_, ErrorObject>(respond(exit.await)));
            let _ = answers.send((key, ended)).await;
        });
        self.waiting.insert(id.clone(), waiting.abort_handle());
        Ok(None)
    }

    /// Cancels a request. Returns whether its answer was pending.
    pub fn withdraw(&mut self, id: &K) -> bool {
        self.waiting.remove(id).inspect(AbortHandle::abort).is_some()
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> HostEvent<K> {
        let Self { answered, shown, waiting, .. } = self;
        tokio::select! {
            Some((id, answer)) = answered.recv() => {
                waiting.remove(&id);
                HostEvent::Answer(id, answer)
            }
            Some((session, shown)) = shown.recv() => HostEvent::Terminal(session, shown),
            else => std::future::pending().await,
        }
    }

    /// Ends the terminals of a session.
    pub fn end_session(&mut self, session: &SessionId) {
        self.terminals.end_session(session);
    }

    /// Ends everything, and waits for that.
    pub async fn end(self) {
        let Self { terminals, answered, shown, files, reader, waiting, .. } = self;
        drop((answered, shown, files));
        waiting.values().for_each(AbortHandle::abort);
        terminals.end().await;
        // A write in progress is finished, unless the disk does not respond.
        if timeout(WRITE_TIME, reader).await.is_err() {
            tracing::warn!("a file is still being written");
        }
    }
}

fn decode<T: wire::Wire>(params: &RawValue) -> Result<T, ErrorObject> {
    wire::decode(params.get())
        .map_err(|error| ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string()))
}

fn answer<T: Serialize, E: Into<ErrorObject>>(result: Result<T, E>) -> Answer {
    let result = result.map_err(Into::into)?;
    Raw::from_value(&result).map_err(|error| broken(&error))
}

fn broken(error: &dyn std::fmt::Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())
}
