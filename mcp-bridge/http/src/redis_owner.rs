//! Forwards answers to calls in the memory of other programs, through Redis streams.
use crate::plugins::Forwarder;
use crate::random::random_id;
use crate::replicas::Directory;
use async_trait::async_trait;
use mcp_bridge::plugin::{
    ForwardedResumption, ForwardedTurn, Notice, NoticeSink, PluginHost, Resumption, SessionError,
    StoreError, Turn,
};
use redis::aio::ConnectionManager;
use redis::streams::{StreamId, StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, Client, RedisError};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Maximum number of messages in a stream without a reader.
const MAX_STREAM: usize = 10_000;

/// Maximum number of notices that wait to be forwarded.
const MAX_NOTICES: usize = 1024;

/// Retention of a stream after its owner has ended.
const STREAM_TIME: Duration = Duration::from_secs(60 * 60);

/// Time limit of a blocking read, in milliseconds.
const READ_TIME: usize = 1000;

/// A program that has calls in memory, among others that share a Redis server.
///
/// It renews a key that shows that it is alive, reads its own stream, and writes to the streams of
/// others. Unlike a channel, a stream keeps messages while its reader is disconnected.
pub struct RedisOwner {
    shared: Arc<OwnerState>,
    tasks: [AbortHandle; 2],
}

struct OwnerState {
    host: Arc<PluginHost>,
    connection: ConnectionManager,
    prefix: String,
    owner: String,
    /// URL of the endpoint of this program.
    endpoint: String,
    /// Expiry of the key that shows that the program is alive.
    lifetime: Duration,
    waiting: Mutex<BTreeMap<String, LocalCaller>>,
}

/// A local caller that waits for the outcome of a forwarded answer.
struct LocalCaller {
    reply: oneshot::Sender<ForwardedTurn>,
    notices: Option<NoticeSink>,
}

impl fmt::Debug for RedisOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisOwner").field("owner", &self.shared.owner).finish_non_exhaustive()
    }
}

impl Drop for RedisOwner {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

impl RedisOwner {
    /// Default lifetime.
    pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(10);

    /// Registers this program as `owner` of `host` until the value is dropped. `endpoint` is the
    /// URL by which the other programs reach its endpoint.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable.
    pub async fn start(
        url: &str,
        prefix: impl Into<String>,
        owner: impl Into<String>,
        endpoint: impl Into<String>,
        host: Arc<PluginHost>,
        lifetime: Duration,
    ) -> Result<Self, RedisError> {
        let client = Client::open(url)?;
        let connection = ConnectionManager::new(client.clone()).await?;
        let prefix = prefix.into();
        let owner = owner.into();
        let endpoint = endpoint.into();
        let waiting = Mutex::default();
        let shared = OwnerState { host, connection, prefix, owner, endpoint, lifetime, waiting };
        let shared = Arc::new(shared);
        shared.live().await?;
        let living = Arc::clone(&shared);
        let alive = tokio::spawn(async move {
            loop {
                tokio::time::sleep(living.lifetime / 3).await;
                if let Err(error) = living.live().await {
                    tracing::warn!(%error, "failed to renew the owner key; other programs may consider this program ended");
                }
            }
        });
        let reader = tokio::spawn(Arc::clone(&shared).read(client));
        let tasks = [alive.abort_handle(), reader.abort_handle()];
        Ok(Self { shared, tasks })
    }
}

#[async_trait]
impl Forwarder for RedisOwner {
    async fn forward(
        &self,
        owner: &str,
        resumption: Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        self.shared.forward(owner, resumption, notices).await
    }
}

#[async_trait]
impl Directory for RedisOwner {
    async fn endpoint_of(&self, program: &str) -> io::Result<Option<String>> {
        let key = self.shared.alive(program);
        self.shared.connection.clone().get(key).await.map_err(io::Error::other)
    }
}

fn failed(error: impl fmt::Display) -> SessionError {
    SessionError::Store(StoreError::Failed(error.to_string()))
}

impl OwnerState {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, LocalCaller>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self, owner: &str) -> String {
        format!("{}:alive:{owner}", self.prefix)
    }

    /// Returns the name of the stream of a program.
    fn stream(&self, owner: &str) -> String {
        format!("{}:to:{owner}", self.prefix)
    }

    async fn live(&self) -> Result<(), RedisError> {
        let millis = u64::try_from(self.lifetime.as_millis()).unwrap_or(u64::MAX).max(1);
        self.connection.clone().pset_ex(self.alive(&self.owner), &self.endpoint, millis).await
    }

    async fn send(&self, to: &str, fields: &[(&str, &str)]) -> Result<(), RedisError> {
        let stream = self.stream(to);
        let seconds = i64::try_from(STREAM_TIME.as_secs()).unwrap_or(i64::MAX);
        let length = redis::streams::StreamMaxlen::Approx(MAX_STREAM);
        let mut both = redis::pipe();
        both.xadd_maxlen(&stream, length, "*", fields).ignore().expire(&stream, seconds).ignore();
        both.exec_async(&mut self.connection.clone()).await
    }

    async fn forward(
        &self,
        owner: &str,
        resumption: Resumption<'_>,
        notices: Option<NoticeSink>,
    ) -> Result<Turn, SessionError> {
        let body = serde_json::to_string(&ForwardedResumption::from(&resumption));
        let body = body.map_err(failed)?;
        let id = random_id().map_err(failed)?;
        let (reply, mut answer) = oneshot::channel();
        self.waiting().insert(id.clone(), LocalCaller { reply, notices });
        let _forgotten = CallerGuard { shared: self, id: &id };
        let mut is_sent = false;
        loop {
            let lives: bool =
                self.connection.clone().exists(self.alive(owner)).await.map_err(failed)?;
            if !lives {
                self.host.lose(resumption.state, resumption.principal).await?;
                return Err(SessionError::NotFound);
            }
            if !is_sent {
                let fields = [("id", &*id), ("from", &*self.owner), ("resumption", &*body)];
                self.send(owner, &fields).await.map_err(failed)?;
                is_sent = true;
            }
            // The acknowledgement has a time limit. The tool has none while its program is alive.
            if let Ok(answer) = timeout(self.lifetime, &mut answer).await {
                return answer.map_err(failed)?.into_turn();
            }
        }
    }

    /// Reads the messages for this program. Never returns.
    async fn read(self: Arc<Self>, client: Client) {
        let stream = self.stream(&self.owner);
        let mut last = String::from("0");
        loop {
            // Blocking reads use a separate connection.
            match client.get_multiplexed_async_connection().await {
                Ok(connection) => {
                    if let Err(error) = self.read_on(connection, &stream, &mut last).await {
                        tracing::warn!(%error, "failed to read the stream of this program");
                    }
                }
                Err(error) => tracing::warn!(%error, "failed to connect to Redis"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn read_on(
        self: &Arc<Self>,
        mut connection: redis::aio::MultiplexedConnection,
        stream: &str,
        last: &mut String,
    ) -> Result<(), RedisError> {
        // Longer than the time limit of a read.
        connection.set_response_timeout(Duration::from_secs(10));
        let options = StreamReadOptions::default().block(READ_TIME).count(64);
        loop {
            let read: Option<StreamReadReply> =
                connection.xread_options(&[stream], &[&*last], &options).await?;
            for entry in read.into_iter().flat_map(|read| read.keys).flat_map(|key| key.ids) {
                last.clone_from(&entry.id);
                self.take(&entry);
            }
        }
    }

    /// Resumes a session for another program. Forwards the notices of the tool, then the outcome.
    async fn resume(
        &self,
        id: &str,
        to: &str,
        resumption: &ForwardedResumption,
    ) -> Result<(), RedisError> {
        let (notices, mut receiver) = mpsc::channel(MAX_NOTICES);
        let sink: NoticeSink = Arc::new(move |notice: &Notice| {
            // Notices beyond the buffer are dropped, so that the tool is not delayed.
            let _full = notices.try_send(notice.clone());
        });
        let turn = self.host.resume(resumption.as_resumption(), Some(sink));
        let mut turn = pin!(turn);
        let turn = loop {
            tokio::select! {
                biased;
                Some(notice) = receiver.recv() => self.send_notice(id, to, &notice).await,
                turn = &mut turn => break turn,
            }
        };
        // A tool that stays in memory keeps its notice sink.
        receiver.close();
        while let Some(notice) = receiver.recv().await {
            self.send_notice(id, to, &notice).await;
        }
        let Ok(turn) = serde_json::to_string(&ForwardedTurn::of(&turn)) else { return Ok(()) };
        self.send(to, &[("id", id), ("turn", &*turn)]).await
    }

    async fn send_notice(&self, id: &str, to: &str, notice: &Notice) {
        let Ok(notice) = serde_json::to_string(notice) else { return };
        if let Err(error) = self.send(to, &[("id", id), ("notice", &*notice)]).await {
            tracing::warn!(%error, "failed to forward a notice");
        }
    }

    fn take(self: &Arc<Self>, entry: &StreamId) {
        let Some(id) = entry.get::<String>("id") else { return };
        if let Some(turn) = entry.get::<String>("turn") {
            let turn = serde_json::from_str(&turn);
            if let (Ok(turn), Some(waiting)) = (turn, self.waiting().remove(&id)) {
                let _gone = waiting.reply.send(turn);
            }
            return;
        }
        if let Some(notice) = entry.get::<String>("notice") {
            let notices = self.waiting().get(&id).and_then(|waiting| waiting.notices.clone());
            if let (Ok(notice), Some(notices)) = (serde_json::from_str(&notice), notices) {
                notices(&notice);
            }
            return;
        }
        let resumption = entry.get::<String>("resumption");
        let resumption: Option<ForwardedResumption> =
            resumption.and_then(|text| serde_json::from_str(&text).ok());
        let from = entry.get::<String>("from");
        let (Some(from), Some(resumption)) = (from, resumption) else {
            return tracing::warn!(id, "malformed message");
        };
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = shared.resume(&id, &from, &resumption).await {
                tracing::warn!(%error, "failed to send an outcome");
            }
        });
    }
}

/// Removes a waiting caller when it is dropped.
struct CallerGuard<'a> {
    shared: &'a OwnerState,
    id: &'a str,
}

impl Drop for CallerGuard<'_> {
    fn drop(&mut self) {
        self.shared.waiting().remove(self.id);
    }
}
