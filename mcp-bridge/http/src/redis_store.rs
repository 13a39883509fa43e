//! Sessions in Redis, shared by several programs.
use async_trait::async_trait;
use mcp_bridge::plugin::{SessionRecord, SessionStore, StoreError, StoreLimits};
use redis::aio::ConnectionManager;
use redis::{AsyncCommands, Client, RedisError, Script, ScriptInvocation};
use std::fmt;
use std::time::Duration;

/// Retention of a session after its deadline, for the case that all programs have ended.
const KEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Distance between the classes of sessions in the order of eviction: more than any time in
/// milliseconds.
const CLASS: u64 = 100_000_000_000_000;

/// Functions of all scripts. Keys are names after the prefix KEYS[1]:
///
/// | name | type | contents |
/// |---|---|---|
/// | `:session:ID` | hash | the session: `revision`, `record` |
/// | `:held` | hash | size and principal by id |
/// | `:order`, `:order:PRINCIPAL` | sorted set | ids in the order of eviction |
/// | `:bytes` | hash | total size by principal, and of all under `*` |
const LIBRARY: &str = r"
local prefix, id = KEYS[1], ARGV[1]
local session, held, bytes = prefix .. ':session:' .. id, prefix .. ':held', prefix .. ':bytes'
local function forget(id)
  local entry = redis.call('HGET', held, id)
  if entry then
    local at = string.find(entry, ' ', 1, true)
    local size, who = string.sub(entry, 1, at - 1), string.sub(entry, at + 1)
    redis.call('HINCRBY', bytes, '*', '-' .. size)
    if redis.call('HINCRBY', bytes, 'p' .. who, '-' .. size) <= 0 then redis.call('HDEL', bytes, 'p' .. who) end
    redis.call('HDEL', held, id)
    redis.call('ZREM', prefix .. ':order:' .. who, id)
  end
  redis.call('ZREM', prefix .. ':order', id)
end
local function full(order, field, sessions, limit, size)
  return redis.call('ZCARD', order) >= sessions or tonumber(redis.call('HGET', bytes, field) or 0) + size > limit
end
local function store()
  local revision, record, expiry, rank, now = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
  local size, who, class = tonumber(ARGV[7]), ARGV[8], tonumber(ARGV[9])
  local own = prefix .. ':order:' .. who
  if size > tonumber(ARGV[13]) then return -1 end
  while true do
    local order = nil
    if full(own, 'p' .. who, tonumber(ARGV[12]), tonumber(ARGV[13]), size) then order = own
    elseif full(prefix .. ':order', '*', tonumber(ARGV[10]), tonumber(ARGV[11]), size) then order = prefix .. ':order'
    else break end
    local first = redis.call('ZRANGE', order, 0, 0, 'WITHSCORES')
    if not first[1] or tonumber(first[2]) > 2 * class + now then return -1 end
    forget(first[1])
    redis.call('DEL', prefix .. ':session:' .. first[1])
  end
  redis.call('HSET', session, 'revision', revision, 'record', record)
  redis.call('PEXPIRE', session, expiry)
  redis.call('HSET', held, id, ARGV[7] .. ' ' .. who)
  redis.call('HINCRBY', bytes, '*', ARGV[7])
  redis.call('HINCRBY', bytes, 'p' .. who, ARGV[7])
  redis.call('ZADD', own, rank, id)
  redis.call('ZADD', prefix .. ':order', rank, id)
  return 1
end
";

/// Stores a new session: 1, 0 if the id exists, -1 if there is no room.
const CREATE: &str = r"
if redis.call('EXISTS', session) == 1 then return 0 end
forget(id)
return store()
";

/// Replaces the previous revision of a session: 1, 0 if the revision differs, -1 if there is no
/// room.
const SAVE: &str = r"
if redis.call('HGET', session, 'revision') ~= ARGV[14] then return 0 end
local entry = redis.call('HGET', held, id)
local rank = redis.call('ZSCORE', prefix .. ':order', id)
forget(id)
local stored = store()
if stored == -1 and entry and rank then
  local at = string.find(entry, ' ', 1, true)
  local size, who = string.sub(entry, 1, at - 1), string.sub(entry, at + 1)
  redis.call('HSET', held, id, entry)
  redis.call('HINCRBY', bytes, '*', size)
  redis.call('HINCRBY', bytes, 'p' .. who, size)
  redis.call('ZADD', prefix .. ':order:' .. who, rank, id)
  redis.call('ZADD', prefix .. ':order', rank, id)
end
return stored
";

/// Removes a session.
const REMOVE: &str = r"
forget(id)
redis.call('DEL', session)
return 1
";

/// Sessions in Redis. Each operation is one script, which Redis runs atomically.
///
/// The durability of an acknowledged write depends on the server. After a failover to a replica,
/// the last writes may be missing, and a session then continues from an earlier state.
#[derive(Clone)]
pub struct RedisStore {
    connection: ConnectionManager,
    prefix: String,
    limits: StoreLimits,
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl RedisStore {
    /// Connects to a server. Keys start with `prefix`; braces around it, as in `{mcp}`, keep them
    /// on one node of a cluster. The limit of [used names](StoreLimits::used_names) is not
    /// enforced, because Redis expires each name.
    ///
    /// # Errors
    /// Returns an error if the server is unreachable.
    pub async fn connect(url: &str, prefix: impl Into<String>) -> Result<Self, RedisError> {
        let connection = ConnectionManager::new(Client::open(url)?).await?;
        Ok(Self { connection, prefix: prefix.into(), limits: StoreLimits::default() })
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: StoreLimits) -> Self {
        self.limits = limits;
        self
    }

    fn session(&self, id: &str) -> String {
        format!("{}:session:{id}", self.prefix)
    }

    /// Runs a script that stores a record.
    async fn store(&self, script: &str, record: &SessionRecord) -> Result<i64, StoreError> {
        let text = serde_json::to_string(record).map_err(failed)?;
        let script = script_of(script);
        let mut call = self.invocation(&script, &record.id);
        let (class, time) = match (record.status.is_over(), record.is_task) {
            (true, false) => (0, record.since),
            (true, true) => (1, record.since),
            (false, _) => (2, record.deadline),
        };
        let limits = &self.limits;
        call.arg(record.revision)
            .arg(text)
            .arg(kept(record))
            .arg(class * CLASS + millis(time).min(CLASS - 1))
            .arg(millis(record.since))
            .arg(record.size())
            .arg(&record.principal)
            .arg(CLASS)
            .arg(limits.sessions)
            .arg(limits.bytes)
            .arg(limits.share(limits.sessions))
            .arg(limits.share(limits.bytes))
            .arg(record.revision.saturating_sub(1));
        let stored = call.invoke_async(&mut self.connection.clone()).await.map_err(failed)?;
        if stored == -1 { Err(StoreError::Full) } else { Ok(stored) }
    }

    fn invocation<'a>(&self, script: &'a Script, id: &str) -> ScriptInvocation<'a> {
        let mut call = script.key(self.prefix.as_str());
        call.arg(id);
        call
    }
}

fn script_of(text: &str) -> Script {
    Script::new(&[LIBRARY, text].concat())
}

fn failed(error: impl fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX >> 1).max(1)
}

/// Returns the retention of a record, in milliseconds.
fn kept(record: &SessionRecord) -> u64 {
    millis(record.deadline.saturating_sub(record.since).min(KEEP) + KEEP)
}

fn read(text: &str) -> Result<SessionRecord, StoreError> {
    serde_json::from_str(text).map_err(failed)
}

#[async_trait]
impl SessionStore for RedisStore {
    async fn create(&self, record: &SessionRecord) -> Result<(), StoreError> {
        match self.store(CREATE, record).await? {
            0 => Err(StoreError::Exists),
            _ => Ok(()),
        }
    }

    async fn load(&self, id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let mut connection = self.connection.clone();
        let text: Option<String> =
            connection.hget(self.session(id), "record").await.map_err(failed)?;
        text.as_deref().map(read).transpose()
    }

    async fn save(&self, record: &SessionRecord) -> Result<bool, StoreError> {
        if record.revision == 0 {
            return Ok(false);
        }
        Ok(self.store(SAVE, record).await? == 1)
    }

    async fn remove(&self, id: &str) -> Result<(), StoreError> {
        let script = script_of(REMOVE);
        let call = self.invocation(&script, id);
        call.invoke_async::<()>(&mut self.connection.clone()).await.map_err(failed)
    }

    async fn list(&self) -> Result<Vec<SessionRecord>, StoreError> {
        let mut connection = self.connection.clone();
        let order = format!("{}:order", self.prefix);
        let mut ids: Vec<String> = connection.zrange(order, 0, -1).await.map_err(failed)?;
        ids.sort_unstable();
        let mut records = Vec::new();
        for id in ids {
            match self.load(&id).await? {
                Some(record) => records.push(record),
                // The session has expired in Redis.
                None => self.remove(&id).await?,
            }
        }
        Ok(records)
    }

    async fn use_once(
        &self,
        principal: &str,
        name: &str,
        until: Duration,
        now: Duration,
    ) -> Result<bool, StoreError> {
        let mut connection = self.connection.clone();
        let set: Option<String> = redis::cmd("SET")
            .arg(format!("{}:used:{principal}:{name}", self.prefix))
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
