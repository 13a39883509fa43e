//! Gateways that share a Redis server.
use super::store::{Appended, Heard, Lease, Part, RunRecord, Store, StoreError};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, Client, RedisError, Script, ScriptInvocation};
use std::fmt;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::sleep;

/// How long Redis may take to answer.
const RESPONSE_TIME: Duration = Duration::from_secs(2);

/// How long a lease is remembered whose gateway has not given it back.
const LEASE_TIME: Duration = Duration::from_secs(48 * 60 * 60);

/// How long the session of a thread is remembered that nobody uses.
const REMEMBER_TIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long messages are kept for a gateway that does not take them.
const INBOX_TIME: Duration = Duration::from_secs(60 * 60);

/// The most messages that wait for a gateway.
const MAX_INBOX: usize = 10_000;

/// The most events of a run that are read at once.
const MAX_READ: usize = 512;

/// How long a read waits for messages, in milliseconds.
const READ_TIME: usize = 1000;

/// The time before another attempt to reach Redis.
const RETRY_TIME: Duration = Duration::from_millis(200);

/// Whether a gateway lives. A store that was found empty is young: its gateways have had no time to say so.
///
/// `ARGV`: the beginning of all keys, how long a store is young.
const LIVES: &str = r"
local function lives(gateway)
    if redis.call('SETNX', ARGV[1] .. ':known', 1) == 1 then
        redis.call('SET', ARGV[1] .. ':young', 1, 'PX', ARGV[2])
    end
    return redis.call('EXISTS', ARGV[1] .. ':alive:' .. gateway, ARGV[1] .. ':young') > 0
end
";

const IS_ALIVE: &str = "return lives(ARGV[3])";

/// `KEYS`: the thread, the last lease's number. `ARGV`: as above; the gateway, how long the lease is remembered.
const TAKE: &str = r"
local held = redis.call('GET', KEYS[1])
if held then
    local owner = string.match(held, '^%d+ (.*)$')
    if owner == ARGV[3] or lives(owner) then
        redis.call('PEXPIRE', KEYS[1], ARGV[4])
        return held
    end
end
local mine = redis.call('INCR', KEYS[2]) .. ' ' .. ARGV[3]
redis.call('SET', KEYS[1], mine, 'PX', ARGV[4])
return mine
";

/// `KEYS`: the thread, the last lease's number. `ARGV`: the lease, its number, how long it is remembered.
const RESTORE: &str = r"
local held = redis.call('GET', KEYS[1])
if held then return held == ARGV[1] end
if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2]) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return true
";

/// `KEYS`: the thread. `ARGV`: the lease.
const RELEASE: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
";

/// `KEYS`: the run, its events, the oldest of them compacted. `ARGV`: the record, how long it is kept.
const BEGIN: &str = r"
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'record', ARGV[1], 'last', 0, 'folded', 0)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
";

/// `KEYS`: the run, its events, the oldest of them compacted; where gateways hear of it. `ARGV`: the run, how long it is
/// kept, whether it has ended, how many events are compacted and into how many, these; the number before the others, these.
/// Gives -1 for a run that is not known, 0 for one that has ended, else 1.
const APPEND: &str = r"
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local last = tonumber(redis.call('HGET', KEYS[1], 'last'))
local next = 6 + tonumber(ARGV[5])
local folded = tonumber(ARGV[4])
if folded > tonumber(redis.call('HGET', KEYS[1], 'folded')) then
    redis.call('DEL', KEYS[3])
    for i = 6, next - 1 do redis.call('RPUSH', KEYS[3], ARGV[i]) end
    redis.call('HSET', KEYS[1], 'folded', folded)
    redis.call('XTRIM', KEYS[2], 'MINID', (folded + 1) .. '-0')
    if last < folded then last = folded end
end
local number = tonumber(ARGV[next])
for i = next + 1, #ARGV do
    number = number + 1
    if number > last then
        redis.call('XADD', KEYS[2], number .. '-0', 'f', ARGV[i])
        last = number
    end
end
redis.call('HSET', KEYS[1], 'last', last)
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'ended', 1) end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
redis.call('PUBLISH', KEYS[4], ARGV[1])
return 1
";

/// `KEYS`: the run, its events, the oldest of them compacted. `ARGV`: the number of the event before, how many at most.
/// Gives the number of compacted events, these, the number before the others, these, and whether that was all.
const READ: &str = r"
local run = redis.call('HMGET', KEYS[1], 'last', 'folded', 'ended')
if not run[1] then return false end
local after, folded, old = tonumber(ARGV[1]), tonumber(run[2]), {}
if after < folded then
    old = redis.call('LRANGE', KEYS[3], 0, -1)
    after = folded
else
    folded = 0
end
local entries = redis.call('XRANGE', KEYS[2], (after + 1) .. '-0', '+', 'COUNT', ARGV[2])
local frames = {}
for i, entry in ipairs(entries) do frames[i] = entry[2][2] end
local has_ended = 0
if run[3] and after + #frames == tonumber(run[1]) then has_ended = 1 end
return {folded, old, after, frames, has_ended}
";

/// `KEYS`: as of an append. `ARGV`: the run, the number that has to be the last one, the event.
const END: &str = r"
if redis.call('HGET', KEYS[1], 'last') ~= ARGV[2] or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return end
local number = tonumber(ARGV[2]) + 1
redis.call('XADD', KEYS[2], number .. '-0', 'f', ARGV[3])
redis.call('HSET', KEYS[1], 'last', number, 'ended', 1)
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
redis.call('PUBLISH', KEYS[4], ARGV[1])
";

/// A Redis server. What it has lost when it is started again, the gateways bring anew.
pub(crate) struct RedisStore {
    client: Client,
    connection: ConnectionManager,
    prefix: String,
    /// How long a store that was found empty is young.
    young: Duration,
    scripts: Scripts,
}

struct Scripts {
    lives: Script,
    take: Script,
    restore: Script,
    release: Script,
    begin: Script,
    append: Script,
    read: Script,
    end: Script,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its address may have a password.
        f.debug_struct("RedisStore").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl From<RedisError> for StoreError {
    fn from(error: RedisError) -> Self {
        Self(error.to_string())
    }
}

impl RedisStore {
    /// A server's keys that begin with `prefix`. Braces around it, as in `{gateway}`, keep them on one node of a cluster.
    pub(crate) async fn connect(
        url: &str,
        prefix: &str,
        lifetime: Duration,
    ) -> Result<Self, StoreError> {
        let client = Client::open(url)?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(RESPONSE_TIME))
            .set_response_timeout(Some(RESPONSE_TIME))
            .set_number_of_retries(1);
        let connection = ConnectionManager::new_with_config(client.clone(), config).await?;
        let scripts = Scripts {
            lives: Script::new(&[LIVES, IS_ALIVE].concat()),
            take: Script::new(&[LIVES, TAKE].concat()),
            restore: Script::new(RESTORE),
            release: Script::new(RELEASE),
            begin: Script::new(BEGIN),
            append: Script::new(APPEND),
            read: Script::new(READ),
            end: Script::new(END),
        };
        Ok(Self { client, connection, prefix: prefix.to_owned(), young: lifetime, scripts })
    }

    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    fn leases(&self) -> String {
        format!("{}:leases", self.prefix)
    }

    /// Where gateways hear that there is more of a run.
    fn channel(&self) -> String {
        format!("{}:more", self.prefix)
    }

    /// A script over a run.
    fn over<'a>(&self, script: &'a Script, run: &str) -> ScriptInvocation<'a> {
        let mut script = script.prepare_invoke();
        script.key(self.key("run", run)).key(self.key("log", run)).key(self.key("old", run));
        script.key(self.channel());
        script
    }

    #[cfg(test)]
    /// As one that has been there for a while.
    pub(super) async fn grown(self) -> Self {
        let known = format!("{}:known", self.prefix);
        let _: () = self.connection().set(known, 1).await.expect("a server");
        self
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
impl Store for RedisStore {
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

    async fn begin_run(&self, run: &str, record: &RunRecord) -> Result<bool, StoreError> {
        let record =
            serde_json::to_string(record).map_err(|error| StoreError(error.to_string()))?;
        let mut script = self.over(&self.scripts.begin, run);
        script.arg(record).arg(millis(LEASE_TIME));
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        let record: Option<String> = self.connection().hget(self.key("run", run), "record").await?;
        let record = record.map(|record| serde_json::from_str(&record)).transpose();
        record.map_err(|error| StoreError(format!("the record of a run: {error}")))
    }

    async fn append(&self, run: &str, part: &Part, keep: Duration) -> Result<Appended, StoreError> {
        let mut script = self.over(&self.scripts.append, run);
        script.arg(run).arg(millis(keep)).arg(u8::from(part.has_ended));
        let (folded, old) = part.base.as_ref().map_or((0, &[][..]), |(n, old)| (*n, old));
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
            -1 => Appended::Unknown,
            0 => Appended::Ended,
            _ => Appended::Taken,
        })
    }

    async fn read(&self, run: &str, after: u64) -> Result<Option<Part>, StoreError> {
        type Read = (u64, Vec<Vec<u8>>, u64, Vec<Vec<u8>>, bool);
        let mut script = self.over(&self.scripts.read, run);
        script.arg(after).arg(MAX_READ);
        let read: Option<Read> = script.invoke_async(&mut self.connection()).await?;
        let bytes = |frames: Vec<Vec<u8>>| frames.into_iter().map(Bytes::from).collect();
        Ok(read.map(|(folded, old, after, frames, has_ended)| Part {
            base: (folded > 0).then(|| (folded, bytes(old))),
            after,
            frames: bytes(frames),
            has_ended,
        }))
    }

    async fn end_run(&self, run: &str, after: u64, frame: &Bytes) -> Result<(), StoreError> {
        let mut script = self.over(&self.scripts.end, run);
        script.arg(run).arg(after).arg(&frame[..]);
        Ok(script.invoke_async(&mut self.connection()).await?)
    }

    async fn forget_run(&self, run: &str) -> Result<(), StoreError> {
        let keys = ["run", "log", "old", "watched"].map(|kind| self.key(kind, run));
        Ok(self.connection().del(&keys).await?)
    }

    async fn watch_run(&self, run: &str, time: Duration) -> Result<(), StoreError> {
        Ok(self.connection().pset_ex(self.key("watched", run), 1, millis(time)).await?)
    }

    async fn is_watched(&self, run: &str) -> Result<bool, StoreError> {
        Ok(self.connection().exists(self.key("watched", run)).await?)
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

    async fn send(&self, to: &str, message: String) -> Result<(), StoreError> {
        let inbox = self.key("to", to);
        let length = redis::streams::StreamMaxlen::Approx(MAX_INBOX);
        let seconds = i64::try_from(INBOX_TIME.as_secs()).unwrap_or(i64::MAX);
        let mut both = redis::pipe();
        both.xadd_maxlen(&inbox, length, "*", &[("m", message)]).ignore();
        both.expire(&inbox, seconds).ignore();
        Ok(both.exec_async(&mut self.connection()).await?)
    }

    fn hear(&self, gateway: &str) -> mpsc::Receiver<Heard> {
        let (sender, inbox) = mpsc::channel(MAX_INBOX);
        let messages = self.key("to", gateway);
        tokio::spawn(messages_of(self.client.clone(), messages, sender.clone()));
        tokio::spawn(more_of(self.client.clone(), self.channel(), sender));
        inbox
    }
}

/// Hands on the messages of a stream while somebody listens. Whoever waits for a stream waits on a connection of its own.
async fn messages_of(client: Client, stream: String, sender: mpsc::Sender<Heard>) {
    let mut last = "0".to_owned();
    while !sender.is_closed() {
        let connection = client.get_multiplexed_async_connection().await;
        let read = async { messages_from(connection?, &stream, &mut last, &sender).await };
        if let Err(error) = read.await {
            tracing::warn!(%error, "cannot read what other gateways send");
            sleep(RETRY_TIME).await;
        }
    }
}

async fn messages_from(
    mut connection: MultiplexedConnection,
    stream: &str,
    last: &mut String,
    sender: &mpsc::Sender<Heard>,
) -> Result<(), RedisError> {
    // Longer than the read itself may wait.
    connection.set_response_timeout(RESPONSE_TIME + Duration::from_millis(READ_TIME as u64));
    let options = StreamReadOptions::default().block(READ_TIME).count(64);
    while !sender.is_closed() {
        let read: Option<StreamReadReply> =
            connection.xread_options(&[stream], &[&*last], &options).await?;
        let entries = read.into_iter().flat_map(|read| read.keys).flat_map(|key| key.ids);
        for entry in entries {
            last.clone_from(&entry.id);
            let message = entry.get::<String>("m").unwrap_or_default();
            if sender.send(Heard::Message(message)).await.is_err() {
                return Ok(());
            }
            // It may be large.
            let _removed: i64 = connection.xdel(stream, &[&*last]).await?;
        }
    }
    Ok(())
}

/// Hands on which runs there is more of.
async fn more_of(client: Client, channel: String, sender: mpsc::Sender<Heard>) {
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
                    // Who misses it looks after a while.
                    if let Err(mpsc::error::TrySendError::Closed(_)) =
                        sender.try_send(Heard::More(run))
                    {
                        return;
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot hear of runs elsewhere"),
        }
        sleep(RETRY_TIME).await;
    }
}
