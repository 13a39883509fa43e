//! A store on a Redis server, shared by several programs.
use crate::store::{
    AppendOutcome, Delivery, Lease, LogBase, LogPart, MAX_KEPT, Owners, RunRecord, RunStore,
    StoreError,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, Client, RedisError, Script, ScriptInvocation};
use scripts::Scripts;
use std::fmt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

mod messages;
mod scripts;

/// Time limit of a response of Redis.
const RESPONSE_TIME: Duration = Duration::from_secs(2);

/// Time after which an unreleased lease is dropped.
const LEASE_TIME: Duration = Duration::from_secs(48 * 60 * 60);

/// Time after which the session and the messages of an unused thread are dropped.
const REMEMBER_TIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time after which messages to an owner are dropped.
const INBOX_TIME: Duration = Duration::from_secs(60 * 60);

/// Largest number of messages that wait for an owner.
const MAX_INBOX: usize = 10_000;

/// Largest number of events in one read.
const MAX_READ: usize = 512;

/// Time that a read waits for messages, in milliseconds.
const READ_TIME: usize = 1000;

/// The time before another attempt to reach Redis.
const RETRY_TIME: Duration = Duration::from_millis(200);

/// A Redis server. If it loses its data, the programs that share it write theirs again.
pub struct RedisStore {
    client: Client,
    connection: ConnectionManager,
    prefix: String,
    /// Time during which a store that was found empty treats every owner as alive.
    young: Duration,
    scripts: Scripts,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain a password.
        f.debug_struct("RedisStore").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl From<RedisError> for StoreError {
    fn from(error: RedisError) -> Self {
        Self(error.to_string())
    }
}

impl RedisStore {
    /// Connects to a server. All keys begin with `prefix`; braces around it, as in `{gateway}`,
    /// keep them on one node of a cluster. `lifetime` is the time that an owner counts as alive
    /// after its last beat.
    ///
    /// # Errors
    /// The URL is invalid, or the server cannot be reached.
    pub async fn connect(url: &str, prefix: &str, lifetime: Duration) -> Result<Self, StoreError> {
        let client = Client::open(url)?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(RESPONSE_TIME))
            .set_response_timeout(Some(RESPONSE_TIME))
            .set_number_of_retries(1);
        let connection = ConnectionManager::new_with_config(client.clone(), config).await?;
        let prefix = prefix.to_owned();
        let scripts = Scripts::new();
        Ok(Self { client, connection, prefix, young: lifetime, scripts })
    }

    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    fn leases(&self) -> String {
        format!("{}:leases", self.prefix)
    }

    /// Returns the channel that announces new events of runs.
    fn channel(&self) -> String {
        format!("{}:more", self.prefix)
    }

    /// Prepares a script for a run.
    fn over<'a>(&self, script: &'a Script, run: &str) -> ScriptInvocation<'a> {
        let mut script = script.prepare_invoke();
        script.key(self.key("run", run)).key(self.key("log", run)).key(self.key("old", run));
        script.key(self.channel());
        script
    }

    fn connection(&self) -> ConnectionManager {
        self.connection.clone()
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX >> 1).max(1)
}

fn lease(text: &str) -> Option<Lease> {
    let (number, owner) = text.split_once(' ')?;
    Some(Lease { owner: owner.to_owned(), number: number.parse().ok()? })
}

impl Lease {
    fn text(&self) -> String {
        format!("{} {}", self.number, self.owner)
    }
}

#[async_trait]
impl Owners for RedisStore {
    async fn live(&self, gateway: &str, lifetime: Duration) -> Result<(), StoreError> {
        let alive = self.key("alive", gateway);
        Ok(self.connection().pset_ex(alive, 1, millis(lifetime)).await?)
    }

    async fn lives(&self, gateway: &str) -> Result<bool, StoreError> {
        let mut script = self.scripts.lives.prepare_invoke();
        script.arg(&self.prefix).arg(millis(self.young)).arg(gateway);
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn leave(&self, gateway: &str) -> Result<(), StoreError> {
        let keys = [self.key("alive", gateway), self.key("to", gateway)];
        Ok(self.connection().del(&keys).await?)
    }

    async fn take(&self, thread: &str, gateway: &str) -> Result<Lease, StoreError> {
        let mut script = self.scripts.take.key(self.key("thread", thread));
        script.key(self.leases()).arg(&self.prefix).arg(millis(self.young));
        script.arg(gateway).arg(millis(LEASE_TIME));
        let held: String = script.invoke_async(&mut self.connection()).await?;
        lease(&held).ok_or_else(|| StoreError(format!("expected a lease, got `{held}`")))
    }

    async fn holders(&self, threads: &[String]) -> Result<Vec<Option<Lease>>, StoreError> {
        if threads.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<_> = threads.iter().map(|thread| self.key("thread", thread)).collect();
        let held: Vec<Option<String>> = self.connection().mget(keys).await?;
        Ok(held.into_iter().map(|held| held.as_deref().and_then(lease)).collect())
    }

    async fn restore(&self, thread: &str, lease: &Lease) -> Result<bool, StoreError> {
        let mut script = self.scripts.restore.key(self.key("thread", thread));
        script.key(self.leases()).arg(lease.text()).arg(lease.number).arg(millis(LEASE_TIME));
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn release(&self, thread: &str, lease: &Lease) -> Result<(), StoreError> {
        let mut script = self.scripts.release.key(self.key("thread", thread));
        script.arg(lease.text());
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError> {
        Ok(self.connection().pset_ex(self.key("watched", run), 1, millis(time)).await?)
    }

    async fn is_watched(&self, run: &str) -> Result<bool, StoreError> {
        Ok(self.connection().exists(self.key("watched", run)).await?)
    }

    async fn send(&self, to: &str, message: String) -> Result<(), StoreError> {
        let inbox = self.key("to", to);
        let length = redis::streams::StreamMaxlen::Approx(MAX_INBOX);
        let seconds = i64::try_from(INBOX_TIME.as_secs()).unwrap_or(i64::MAX);
        let mut both = redis::pipe();
        both.xadd_maxlen(&inbox, length, "*", &[("m", message)]).ignore();
        both.expire(&inbox, seconds).ignore();
        Ok(both.exec_async(&mut self.connection()).await?)
    }

    fn deliveries(&self, gateway: &str) -> mpsc::Receiver<Delivery> {
        let (sender, inbox) = mpsc::channel(MAX_INBOX);
        let messages = self.key("to", gateway);
        tokio::spawn(messages_of(self.client.clone(), messages, sender.clone()));
        tokio::spawn(more_of(self.client.clone(), self.channel(), sender));
        inbox
    }
}

#[async_trait]
impl RunStore for RedisStore {
    fn owners(&self) -> &dyn Owners {
        self
    }

    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        let waits_for = self.open_run(&record.thread).await?;
        let last = self.key("last", &record.thread);
        let record = match &waits_for {
            Some(_) => serde_json::to_string(record),
            None => serde_json::to_string(&self.continued(record.clone()).await?),
        };
        let record = record.map_err(|error| StoreError(format!("invalid messages: {error}")))?;
        let waits_for = waits_for.unwrap_or_default();
        let mut script = self.over(&self.scripts.begin, run);
        script.key(last).key(self.key("run", &waits_for));
        script.arg(run).arg(record).arg(millis(LEASE_TIME)).arg(millis(REMEMBER_TIME));
        script.arg(waits_for);
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        self.whole(run).await
    }

    async fn append(
        &self,
        run: &str,
        part: &LogPart,
        keep: Duration,
    ) -> Result<AppendOutcome, StoreError> {
        let mut script = self.over(&self.scripts.append, run);
        script.arg(run).arg(millis(keep)).arg(u8::from(part.has_ended));
        let (folded, old) =
            part.base.as_ref().map_or((0, &[][..]), |base| (base.last, &base.frames));
        script.arg(folded).arg(old.len());
        for frame in old {
            script.arg(&frame[..]);
        }
        script.arg(part.after);
        for frame in &part.frames {
            script.arg(&frame[..]);
        }
        let appended: i64 = script.invoke_async(&mut self.connection()).await?;
        Ok(match appended {
            -1 => AppendOutcome::Unknown,
            0 => AppendOutcome::Ended,
            _ => {
                // Also at the beginning, for a run that never ends.
                if part.has_ended || part.after == 0 {
                    self.keep_messages(run, part.has_ended).await;
                }
                AppendOutcome::Taken
            }
        })
    }

    async fn read(&self, run: &str, after: u64) -> Result<Option<LogPart>, StoreError> {
        type Read = (u64, Vec<Vec<u8>>, u64, Vec<Vec<u8>>, bool);
        let mut script = self.over(&self.scripts.read, run);
        script.arg(after).arg(MAX_READ);
        let read: Option<Read> = script.invoke_async(&mut self.connection()).await?;
        let bytes = |frames: Vec<Vec<u8>>| frames.into_iter().map(Bytes::from).collect();
        Ok(read.map(|(last, old, after, frames, has_ended)| LogPart {
            base: (last > 0).then(|| LogBase { last, frames: bytes(old) }),
            after,
            frames: bytes(frames),
            has_ended,
        }))
    }

    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError> {
        let mut script = self.over(&self.scripts.end, run);
        script.arg(run).arg(after).arg(&frame[..]);
        if script.invoke_async(&mut self.connection()).await? {
            self.keep_messages(run, true).await;
        }
        Ok(())
    }

    async fn cancel_run(&self, run: &str, reason: &str) -> Result<(), StoreError> {
        let mut script = self.scripts.cancel.key(self.key("run", run));
        Ok(script.arg(reason).invoke_async(&mut self.connection()).await?)
    }

    async fn forget_run(&self, run: &str) -> Result<(), StoreError> {
        self.unlink(run).await?;
        let keys = ["run", "log", "old", "watched"].map(|kind| self.key(kind, run));
        Ok(self.connection().del(&keys).await?)
    }

    async fn remember(&self, thread: &str, what: Option<&str>) -> Result<(), StoreError> {
        let key = self.key("session", thread);
        match what {
            Some(what) => self.connection().pset_ex(key, what, millis(REMEMBER_TIME)).await?,
            None => self.connection().del::<_, ()>(key).await?,
        }
        Ok(())
    }

    async fn recall(&self, thread: &str) -> Result<Option<String>, StoreError> {
        Ok(self.connection().get(self.key("session", thread)).await?)
    }

    async fn keep(&self, name: &str, what: Option<&str>) -> Result<(), StoreError> {
        let all = self.key("kept", "");
        let mut connection = self.connection();
        let Some(what) = what else { return Ok(connection.hdel(all, name).await?) };
        let mut both = redis::pipe();
        both.hexists(&all, name).hlen(&all);
        // Owners that store at the same time may exceed the limit by their number.
        let (is_known, count): (bool, usize) = both.query_async(&mut connection).await?;
        if !is_known && count >= MAX_KEPT {
            return Err(StoreError::too_many_kept());
        }
        Ok(connection.hset(all, name, what).await?)
    }

    async fn kept(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(self.connection().hget(self.key("kept", ""), name).await?)
    }
}

/// Forwards the messages of a stream until the receiver is dropped. A blocking read needs a
/// connection of its own.
async fn messages_of(client: Client, stream: String, sender: mpsc::Sender<Delivery>) {
    let mut last = "0".to_owned();
    while !sender.is_closed() {
        let connection = client.get_multiplexed_async_connection().await;
        let read = async { messages_from(connection?, &stream, &mut last, &sender).await };
        if let Err(error) = read.await {
            tracing::warn!(%error, "cannot read the messages of other owners");
            sleep(RETRY_TIME).await;
        }
    }
}

async fn messages_from(
    mut connection: MultiplexedConnection,
    stream: &str,
    last: &mut String,
    sender: &mpsc::Sender<Delivery>,
) -> Result<(), RedisError> {
    // Longer than the wait of the read itself.
    connection.set_response_timeout(RESPONSE_TIME + Duration::from_millis(READ_TIME as u64));
    let options = StreamReadOptions::default().block(READ_TIME).count(64);
    while !sender.is_closed() {
        let read: Option<StreamReadReply> =
            connection.xread_options(&[stream], &[&*last], &options).await?;
        let entries = read.into_iter().flat_map(|read| read.keys).flat_map(|key| key.ids);
        for entry in entries {
            last.clone_from(&entry.id);
            let message = entry.get::<String>("m").unwrap_or_default();
            if sender.send(Delivery::Message(message)).await.is_err() {
                return Ok(());
            }
            // The message may be large.
            let _removed: i64 = connection.xdel(stream, &[&*last]).await?;
        }
    }
    Ok(())
}

/// Forwards the names of runs that have new events.
async fn more_of(client: Client, channel: String, sender: mpsc::Sender<Delivery>) {
    while !sender.is_closed() {
        let subscribed = async {
            let mut subscribed = client.get_async_pubsub().await?;
            subscribed.subscribe(&channel).await?;
            Ok::<_, RedisError>(subscribed.into_on_message())
        };
        match subscribed.await {
            Ok(mut messages) => {
                while let Some(message) = messages.next().await {
                    let Ok(run) = message.get_payload() else { continue };
                    // A reader polls again after a while, so a lost notification is harmless.
                    if let Err(mpsc::error::TrySendError::Closed(_)) =
                        sender.try_send(Delivery::More(run))
                    {
                        return;
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot subscribe to runs of other owners"),
        }
        sleep(RETRY_TIME).await;
    }
}
