//! Several gateways that serve the same threads.
//!
//! A thread belongs to one of them as long as that one lives: its agent's session is there, and what is asked of the
//! thread, its runs and its questions is forwarded to it. What runs say is in the store, where the others read it. When
//! a gateway has died, the others say so where it cannot, and its threads are free.
use crate::run_log::RunLog;
use crate::settings::{ReplicaSettings, SettingsError};
use crate::thread::Remembered;
use agui_types::event::{Event, RunErrorEvent};
use axum::http::Method;
use mcp_bridge::plugin::{Clock, SessionStore};
use mcp_http::{random_id, since_1970};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

mod forwarding;

pub(crate) use forwarding::{Forwarded, serve, to_its_owner};
use run_store::{Appended, Delivery, Lease, MemoryStore, RunRecord, RunStore, StoreError};

/// The code of a run that the gateway has left that had it.
const GATEWAY_LOST: &str = "GATEWAY_LOST";

/// How long a reader of a run elsewhere waits at most before it looks whether there is more.
const LOOK_TIME: Duration = Duration::from_secs(1);

/// How long another gateway may take to answer while it lives.
const FORWARD_TIME: Duration = Duration::from_secs(180);

/// The time before another attempt to reach the store.
const RETRY_TIME: Duration = Duration::from_millis(500);

/// How long a gateway that is ending tries to bring to the store what its runs have said.
const LAST_TIME: Duration = Duration::from_secs(3);

/// This gateway among those that share a store.
#[derive(Debug)]
pub(crate) struct Replicas {
    store: Arc<dyn RunStore>,
    /// This gateway's name; none for one alone.
    id: String,
    lifetime: Duration,
    /// How long a run is kept after its end.
    keep: Duration,
    /// The threads that this gateway has.
    held: Mutex<HashMap<String, Lease>>,
    waiting: Mutex<HashMap<String, oneshot::Sender<Told>>>,
    /// Who waits for more of a run.
    mirrors: Mutex<HashMap<String, Arc<Notify>>>,
    is_reached: AtomicBool,
}

/// What is asked of another gateway: a request of HTTP, and whose it is.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Ask {
    pub(crate) principal: String,
    #[serde(with = "method")]
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: String,
    /// The span of whoever asked, as `traceparent` and `tracestate`.
    #[serde(default)]
    pub(crate) trace: Option<(String, Option<String>)>,
}

/// What it answers.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) body: String,
}

/// What gateways send each other.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum Message {
    Ask { id: String, from: String, ask: Ask },
    Told { id: String, told: Told },
}

/// A method of HTTP as text.
mod method {
    use super::Method;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(method: &Method, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(method.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Method, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Replicas {
    /// The gateway of these settings; one alone where none are.
    pub(crate) async fn new(
        settings: &ReplicaSettings,
        keep: Duration,
    ) -> Result<Self, SettingsError> {
        let lifetime = settings.lease.0.max(Duration::from_millis(100));
        let Some(url) = &settings.store else {
            return Ok(Self::sharing(
                Arc::new(MemoryStore::default()),
                String::new(),
                lifetime,
                keep,
            ));
        };
        let store = shared(url.reveal(), &settings.prefix, lifetime).await?;
        Ok(Self::sharing(store, random_id()?, lifetime, keep))
    }

    fn sharing(store: Arc<dyn RunStore>, id: String, lifetime: Duration, keep: Duration) -> Self {
        Self {
            store,
            id,
            lifetime,
            keep,
            held: Mutex::default(),
            waiting: Mutex::default(),
            mirrors: Mutex::default(),
            is_reached: AtomicBool::new(true),
        }
    }

    /// A name that nothing has at any gateway, of a number that nothing has here.
    pub(crate) fn name(&self, number: u64) -> String {
        if self.id.is_empty() { number.to_string() } else { format!("{}.{number}", self.id) }
    }

    /// The gateway that has given a name, if that is another one.
    pub(crate) fn namer<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (id, _) = name.split_once('.')?;
        (id != self.id).then_some(id)
    }

    pub(crate) fn is_mine(&self, owner: &str) -> bool {
        owner == self.id
    }

    /// Whether the store could be reached lately.
    pub(crate) fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// Takes a thread, unless a gateway has it that lives.
    pub(crate) async fn take(&self, thread: &str) -> Result<Lease, StoreError> {
        let lease = self.store.take(thread, &self.id).await?;
        if self.is_mine(&lease.owner) {
            lock(&self.held).insert(thread.to_owned(), lease.clone());
        }
        Ok(lease)
    }

    /// Gives a thread back.
    pub(crate) async fn release(&self, thread: &str, lease: &Lease) {
        {
            let mut held = lock(&self.held);
            if held.get(thread) == Some(lease) {
                held.remove(thread);
            }
        }
        if let Err(error) = self.store.release(thread, lease).await {
            tracing::debug!(%error, "a thread that stays until this gateway ends");
        }
    }

    /// The gateway that has a thread, if that is another one.
    pub(crate) async fn owner(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let holders = self.store.holders(&[thread.to_owned()]).await?;
        let holder = holders.into_iter().flatten().next();
        Ok(holder.map(|lease| lease.owner).filter(|owner| !self.is_mine(owner)))
    }

    /// Says that this gateway lives; gives the threads that others have taken meanwhile.
    pub(crate) async fn beat(&self) -> Result<Vec<String>, StoreError> {
        let lost = self.live().await;
        self.is_reached.store(lost.is_ok(), Ordering::Relaxed);
        lost
    }

    async fn live(&self) -> Result<Vec<String>, StoreError> {
        self.store.live(&self.id, self.lifetime).await?;
        let held: Vec<_> = lock(&self.held).clone().into_iter().collect();
        let names: Vec<_> = held.iter().map(|(thread, _)| thread.clone()).collect();
        let holders = self.store.holders(&names).await?;
        let mut lost = Vec::new();
        for ((thread, lease), holder) in held.into_iter().zip(holders) {
            let is_held = match holder {
                Some(holder) => holder == lease,
                None => {
                    // The store has forgotten it, or this gateway gives it back just now.
                    let is_held = lock(&self.held).contains_key(&thread);
                    !is_held || self.store.restore(&thread, &lease).await?
                }
            };
            if !is_held {
                lock(&self.held).remove(&thread);
                lost.push(thread);
            }
        }
        Ok(lost)
    }

    /// How often to do that.
    pub(crate) fn beat_time(&self) -> Duration {
        self.lifetime / 3
    }

    /// This gateway ends: what it has is free.
    pub(crate) async fn leave(&self) {
        if let Err(error) = self.store.leave(&self.id).await {
            tracing::warn!(%error, "others take this gateway for alive for a while");
        }
    }

    /// What others send to this gateway.
    pub(crate) fn hear(&self) -> mpsc::Receiver<Delivery> {
        self.store.deliveries(&self.id)
    }

    /// A run begins here; `false` if there is one of this name.
    pub(crate) async fn begin_run(
        &self,
        run: &str,
        record: &RunRecord,
    ) -> Result<bool, StoreError> {
        self.store.begin_run(run, record).await
    }

    pub(crate) async fn run(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        self.store.run(run).await
    }

    pub(crate) async fn forget_run(&self, run: &str) {
        if let Err(error) = self.store.forget_run(run).await {
            tracing::debug!(%error, "a run that the store forgets by itself");
        }
    }

    /// Keeps the session of a thread for when it has to be loaded.
    pub(crate) async fn remember(&self, thread: &str, session: Option<&Remembered>) {
        let session = session.and_then(|session| serde_json::to_string(session).ok());
        if let Err(error) = self.store.remember(thread, session.as_deref()).await {
            tracing::warn!(%error, "a session that cannot be gone on with elsewhere");
        }
    }

    pub(crate) async fn recall(&self, thread: &str) -> Option<Remembered> {
        let session = self.store.recall(thread).await.ok().flatten()?;
        serde_json::from_str(&session).ok()
    }

    /// Somebody at another gateway is about to read a run.
    pub(crate) async fn watch_run(&self, run: &str) -> Result<(), StoreError> {
        self.store.watch_run(run, self.lifetime).await
    }

    /// Whether somebody reads a run at another gateway; who cannot be asked may.
    pub(crate) async fn is_watched(&self, run: &str) -> bool {
        self.store.is_watched(run).await.unwrap_or(true)
    }

    /// The record of a run that this gateway begins.
    pub(crate) fn record(
        &self,
        thread: &str,
        fingerprint: u64,
        input: agui_types::input::RunAgentInput,
    ) -> RunRecord {
        RunRecord { thread: thread.to_owned(), owner: self.id.clone(), fingerprint, input }
    }

    /// Brings what a run says to the store, to its end; `false` if another gateway has ended it.
    pub(crate) async fn share(
        &self,
        run: &str,
        record: &RunRecord,
        log: &RunLog,
        ending: &CancellationToken,
    ) -> bool {
        let (mut changed, mut after) = (log.changed(), 0);
        loop {
            changed.mark_unchanged();
            let part = log.part(after);
            if part.is_empty() && timeout(self.lifetime, changed.changed()).await.is_ok() {
                continue;
            }
            // An empty one says that the run goes on.
            match self.store.append(run, &part, self.keep + self.lifetime).await {
                Ok(Appended::Taken) if part.has_ended => return true,
                Ok(Appended::Taken) => after = part.last(),
                Ok(Appended::Ended) => {
                    log.lose(&lost());
                    return false;
                }
                Ok(Appended::Unknown) => {
                    // The store has lost what it knew.
                    if self.store.begin_run(run, record).await.is_ok() {
                        after = 0;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "what a run says is kept here until the store is back");
                    tokio::select! {
                        () = sleep(RETRY_TIME) => {}
                        () = async { ending.cancelled().await; sleep(LAST_TIME).await } => return true,
                    }
                }
            }
        }
    }

    /// Follows a run of another gateway, to its end or until nobody reads it here for a while.
    pub(crate) async fn mirror(&self, run: &str, owner: &str, log: &RunLog, unread: Duration) {
        let more = lock(&self.mirrors).entry(run.to_owned()).or_default().clone();
        let follow = async {
            let mut unknown_since = None;
            while !log.has_ended() {
                let read = self.look(run, owner, log, &mut unknown_since).await;
                match read {
                    Ok(true) => {}
                    Ok(false) => {
                        let _nothing = timeout(LOOK_TIME, more.notified()).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a run elsewhere cannot be read");
                        sleep(RETRY_TIME).await;
                    }
                }
            }
        };
        tokio::select! {
            () = follow => {}
            () = log.abandoned(unread) => {}
        }
        lock(&self.mirrors).remove(run);
    }

    /// Takes what there is of a run elsewhere; `false` if there is nothing.
    async fn look(
        &self,
        run: &str,
        owner: &str,
        log: &RunLog,
        unknown_since: &mut Option<Instant>,
    ) -> Result<bool, StoreError> {
        if log.is_being_read() {
            self.watch_run(run).await?;
        }
        let Some(part) = self.store.read(run, log.last()).await? else {
            // Its gateway brings it back when the store has lost it.
            if unknown_since.get_or_insert_with(Instant::now).elapsed() > self.lifetime * 2 {
                log.lose(&lost());
            }
            return Ok(false);
        };
        *unknown_since = None;
        if part.is_empty() {
            if !self.is_mine(owner) && !self.store.lives(owner).await? {
                let (last, frame) = log.next_frame(&lost());
                self.store.end_run(run, last, &frame).await?;
                return Ok(true);
            }
            return Ok(false);
        }
        log.apply(part);
        Ok(true)
    }

    /// There is more of a run elsewhere.
    fn more(&self, run: &str) {
        if let Some(mirror) = lock(&self.mirrors).get(run) {
            mirror.notify_one();
        }
    }

    /// Asks another gateway; nothing if it is dead.
    pub(crate) async fn forward(&self, to: &str, ask: Ask) -> Result<Option<Told>, StoreError> {
        let id = random_id().map_err(|error| StoreError(error.to_string()))?;
        let (reply, mut told) = oneshot::channel();
        lock(&self.waiting).insert(id.clone(), reply);
        let _forgotten = Forgotten { replicas: self, id: &id };
        let message = Message::Ask { id: id.clone(), from: self.id.clone(), ask };
        if !self.store.lives(to).await? {
            return Ok(None);
        }
        self.send(to, &message).await?;
        let asked = Instant::now();
        while asked.elapsed() < FORWARD_TIME {
            if let Ok(Ok(told)) = timeout(self.lifetime / 3, &mut told).await {
                return Ok(Some(told));
            }
            if !self.store.lives(to).await? {
                return Ok(None);
            }
        }
        Err(StoreError("the gateway that has the thread does not answer".to_owned()))
    }

    async fn send(&self, to: &str, message: &Message) -> Result<(), StoreError> {
        let text = serde_json::to_string(message).map_err(|error| StoreError(error.to_string()))?;
        self.store.send(to, text).await
    }

    fn told(&self, id: &str, told: Told) {
        if let Some(reply) = lock(&self.waiting).remove(id) {
            let _gone = reply.send(told);
        }
    }
}

/// Has nobody wait any more when it is dropped.
struct Forgotten<'a> {
    replicas: &'a Replicas,
    id: &'a str,
}

impl Drop for Forgotten<'_> {
    fn drop(&mut self) {
        lock(&self.replicas.waiting).remove(self.id);
    }
}

/// The end of a run whose gateway is dead, or is taken for dead.
fn lost() -> Event {
    let mut error = RunErrorEvent::new("The gateway that had the run is gone.");
    error.code = Some(GATEWAY_LOST.to_owned());
    error.into()
}

/// Where the calls of tools are kept that ask, and the time that they wait by: with what the gateways share, and by the
/// clock of the day, where they do. One alone goes by a clock that nobody can set.
pub(crate) async fn tool_sessions(
    settings: &ReplicaSettings,
) -> Result<(Arc<dyn SessionStore>, Clock), SettingsError> {
    match &settings.store {
        None => {
            let (start, began) = (since_1970(), std::time::Instant::now());
            let clock = Arc::new(move || start + began.elapsed());
            Ok((Arc::new(mcp_bridge::plugin::MemoryStore::default()), clock))
        }
        Some(url) => {
            let prefix = format!("{}:tools", settings.prefix);
            Ok((shared_sessions(url.reveal(), &prefix).await?, Arc::new(since_1970)))
        }
    }
}

#[cfg(feature = "redis")]
async fn shared(
    url: &str,
    prefix: &str,
    lifetime: Duration,
) -> Result<Arc<dyn RunStore>, SettingsError> {
    let store = run_store::RedisStore::connect(url, prefix, lifetime).await;
    Ok(Arc::new(store.map_err(|error| SettingsError::Store(error.to_string()))?))
}

#[cfg(feature = "redis")]
async fn shared_sessions(url: &str, prefix: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    let store = mcp_http::RedisStore::connect(url, prefix).await;
    Ok(Arc::new(store.map_err(|error| SettingsError::Store(error.to_string()))?))
}

/// What a gateway says that cannot share anything.
#[cfg(not(feature = "redis"))]
const NOT_BUILT: &str = "this gateway was built without its feature `redis`";

#[cfg(not(feature = "redis"))]
async fn shared(_: &str, _: &str, _: Duration) -> Result<Arc<dyn RunStore>, SettingsError> {
    Err(SettingsError::Store(NOT_BUILT.to_owned()))
}

#[cfg(not(feature = "redis"))]
async fn shared_sessions(_: &str, _: &str) -> Result<Arc<dyn SessionStore>, SettingsError> {
    Err(SettingsError::Store(NOT_BUILT.to_owned()))
}
