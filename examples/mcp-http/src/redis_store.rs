//! Sessions in Redis, which several programs share.
use async_trait::async_trait;
use mcp_bridge::plugin::{SessionRecord, SessionStore, StoreError};
use redis::aio::ConnectionManager;
use redis::{AsyncCommands, Client, RedisError, Script};
use std::fmt;
use std::time::Duration;

/// How long a session is kept after its deadline if nobody forgets it, as when all programs have ended.
const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps a session that is new: 1, 0 if there is one, -1 if there are too many.
const CREATE: &str = r"
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[5]) then return -1 end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('SADD', KEYS[2], ARGV[1])
return 1
";

/// Keeps a session in place of the revision before: 1, or 0 if there is another one.
const SAVE: &str = r"
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
";

/// Sessions in Redis. Comparing and keeping is one script, which Redis runs by itself.
///
/// What an acknowledged write is worth is up to the server: a replica that takes over may lack the last ones, and a session
/// then goes on from before them.
#[derive(Clone)]
pub struct RedisStore {
    connection: ConnectionManager,
    prefix: String,
    limit: usize,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl RedisStore {
    /// The most sessions unless told otherwise.
    pub const DEFAULT_LIMIT: usize = 100_000;

    /// Sessions under keys that begin with `prefix`. Braces around it, as in `{mcp}`, keep them on one node of a cluster.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub async fn connect(url: &str, prefix: impl Into<String>) -> Result<Self, RedisError> {
        let connection = ConnectionManager::new(Client::open(url)?).await?;
        Ok(Self { connection, prefix: prefix.into(), limit: Self::DEFAULT_LIMIT })
    }

    /// With another limit.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    fn session(&self, id: &str) -> String {
        format!("{}:session:{id}", self.prefix)
    }

    fn index(&self) -> String {
        format!("{}:sessions", self.prefix)
    }
}

fn failed(error: impl fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX >> 1).max(1)
}

/// How long a record is kept, in milliseconds.
fn kept(record: &SessionRecord) -> u64 {
    millis(record.deadline.saturating_sub(record.since).min(KEEP) + KEEP)
}

fn read(text: &str) -> Result<SessionRecord, StoreError> {
    serde_json::from_str(text).map_err(failed)
}

#[async_trait]
impl SessionStore for RedisStore {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        let text = serde_json::to_string(record).map_err(failed)?;
        let mut connection = self.connection.clone();
        let made: i64 = Script::new(CREATE)
            .key(self.session(&record.id))
            .key(self.index())
            .arg(&record.id)
            .arg(record.revision)
            .arg(text)
            .arg(kept(record))
            .arg(self.limit)
            .invoke_async(&mut connection)
            .await
            .map_err(failed)?;
        match made {
            1 => Ok(()),
            0 => Err(StoreError::Exists),
            _ => Err(StoreError::Full),
        }
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let mut connection = self.connection.clone();
        let text: Option<String> =
            connection.hget(self.session(id), "record").await.map_err(failed)?;
        text.as_deref().map(read).transpose()
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        let Some(before) = record.revision.checked_sub(1) else { return Ok(false) };
        let text = serde_json::to_string(record).map_err(failed)?;
        let mut connection = self.connection.clone();
        let saved: i64 = Script::new(SAVE)
            .key(self.session(&record.id))
            .arg(before)
            .arg(record.revision)
            .arg(text)
            .arg(kept(record))
            .invoke_async(&mut connection)
            .await
            .map_err(failed)?;
        Ok(saved == 1)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let mut connection = self.connection.clone();
        let mut both = redis::pipe();
        both.atomic().del(self.session(id)).ignore().srem(self.index(), id).ignore();
        both.exec_async(&mut connection).await.map_err(failed)
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        let mut connection = self.connection.clone();
        let mut ids: Vec<String> = connection.smembers(self.index()).await.map_err(failed)?;
        ids.sort_unstable();
        let mut records = Vec::new();
        for id in ids {
            match self.load(&id).await? {
                Some(record) => records.push(record),
                // It was forgotten by Redis.
                None => connection.srem::<_, _, ()>(self.index(), &id).await.map_err(failed)?,
            }
        }
        Ok(records)
    }

    async fn use_once(
        &self,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        let mut connection = self.connection.clone();
        let set: Option<String> = redis::cmd("SET")
            .arg(format!("{}:used:{name}", self.prefix))
            .arg(1)
            .arg("NX")
            .arg("PX")
            .arg(millis(until.saturating_sub(now)))
            .query_async(&mut connection)
            .await
            .map_err(failed)?;
        Ok(set.is_some())
    }
}
