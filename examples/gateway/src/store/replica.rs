//! One server among those that share a store: leases, runs, and requests to other servers.
//!
//! A thread belongs to one living owner, which has its agent's session. The events of its runs are
//! in the store, where the others read them. When an owner dies, the others end its runs, and its
//! threads become free.
use crate::store::{Delivery, Lease, RunRecord, RunStore, StoreError};
use agui_types::event::Event;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

mod runs;

/// Time limit of a response of another owner that is alive.
const REQUEST_TIME: Duration = Duration::from_secs(180);

/// Options of a [`Replica`].
#[derive(Clone, Debug)]
pub struct ReplicaOptions {
    /// Name of this owner; empty for a single one.
    pub id: String,
    /// Time that an owner counts as alive after its last beat.
    pub lifetime: Duration,
    /// Time that a run is kept after its end.
    pub keep: Duration,
    /// Returns the last event of a run with a dead owner.
    pub lost: fn(&RunRecord) -> Event,
}

/// One server among those that share a store.
#[derive(Debug)]
pub struct Replica {
    store: Arc<dyn RunStore>,
    options: ReplicaOptions,
    /// The leases of this owner.
    held: Mutex<HashMap<String, Lease>>,
    /// Requests to other owners.
    waiting: Mutex<HashMap<u64, oneshot::Sender<String>>>,
    requests: AtomicU64,
    /// Followed runs of other owners.
    mirrors: Mutex<HashMap<String, Arc<Notify>>>,
    is_reached: AtomicBool,
}

/// A message between owners.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum Message {
    Request { id: u64, from: String, body: String },
    Response { id: u64, body: String },
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Replica {
    /// Creates an owner in a store. It counts as alive from its first [`beat`](Self::beat) on.
    pub fn new(store: Arc<dyn RunStore>, options: ReplicaOptions) -> Self {
        Self {
            store,
            options,
            held: Mutex::default(),
            waiting: Mutex::default(),
            requests: AtomicU64::new(0),
            mirrors: Mutex::default(),
            is_reached: AtomicBool::new(true),
        }
    }

    /// Returns a name that is unique among all owners, from a locally unique number.
    pub fn name(&self, number: u64) -> String {
        let id = &self.options.id;
        if id.is_empty() { number.to_string() } else { format!("{id}.{number}") }
    }

    /// Returns the owner that assigned a name, if it is another one.
    pub fn namer<'a>(&self, name: &'a str) -> Option<&'a str> {
        let (id, _) = name.split_once('.')?;
        (id != self.options.id).then_some(id)
    }

    /// Returns whether this owner has that name.
    pub fn is_mine(&self, owner: &str) -> bool {
        owner == self.options.id
    }

    /// Returns the last event of a run with a dead owner.
    pub fn lost(&self, record: &RunRecord) -> Event {
        (self.options.lost)(record)
    }

    /// Returns whether the last beat reached the store, and the store can be written.
    pub fn is_reached(&self) -> bool {
        self.is_reached.load(Ordering::Relaxed)
    }

    /// Takes the lease of a thread, unless a live owner holds it. Returns the valid lease.
    ///
    /// # Errors
    /// The store cannot be reached; likewise for all methods below.
    pub async fn take(&self, thread: &str) -> Result<Lease, StoreError> {
        let lease = self.store.owners().take(thread, &self.options.id).await?;
        if self.is_mine(&lease.owner) {
            lock(&self.held).insert(thread.to_owned(), lease.clone());
        }
        Ok(lease)
    }

    /// Releases a lease.
    pub async fn release(&self, thread: &str, lease: &Lease) {
        {
            let mut held = lock(&self.held);
            if held.get(thread) == Some(lease) {
                held.remove(thread);
            }
        }
        if let Err(error) = self.store.owners().release(thread, lease).await {
            tracing::debug!(%error, "a lease is kept until this program ends");
        }
    }

    /// Returns the owner of a thread, if it is another one.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn owner(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let holders = self.store.owners().holders(&[thread.to_owned()]).await?;
        let holder = holders.into_iter().flatten().next();
        Ok(holder.map(|lease| lease.owner).filter(|owner| !self.is_mine(owner)))
    }

    /// Reports that this owner is alive. Returns the threads that other owners have taken in the
    /// meantime.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub async fn beat(&self) -> Result<Vec<String>, StoreError> {
        let lost = self.live().await;
        let is_written = match self.store.check().await {
            Ok(()) => true,
            Err(error) => {
                if self.is_reached() {
                    tracing::error!(%error, "runs are refused until the store can be written");
                }
                false
            }
        };
        self.is_reached.store(lost.is_ok() && is_written, Ordering::Relaxed);
        lost
    }

    async fn live(&self) -> Result<Vec<String>, StoreError> {
        self.store.owners().live(&self.options.id, self.options.lifetime).await?;
        let held: Vec<_> = lock(&self.held).clone().into_iter().collect();
        let names: Vec<_> = held.iter().map(|(thread, _)| thread.clone()).collect();
        let holders = self.store.owners().holders(&names).await?;
        let mut lost = Vec::new();
        for ((thread, lease), holder) in held.into_iter().zip(holders) {
            let is_held = match holder {
                Some(holder) => holder == lease,
                None => {
                    // The store has lost the lease, or it is being released.
                    let is_held = lock(&self.held).contains_key(&thread);
                    !is_held || self.store.owners().restore(&thread, &lease).await?
                }
            };
            if !is_held {
                lock(&self.held).remove(&thread);
                lost.push(thread);
            }
        }
        Ok(lost)
    }

    /// Returns the interval of beats.
    pub fn beat_time(&self) -> Duration {
        self.options.lifetime / 3
    }

    /// Ends this owner and frees its leases.
    pub async fn leave(&self) {
        if let Err(error) = self.store.owners().leave(&self.options.id).await {
            tracing::warn!(%error, "other gateways treat this one as alive for a while");
        }
    }

    /// Beats, and answers the requests of other owners with `answer`, until `ending`. `lost`
    /// receives the names of threads that other owners have taken.
    pub async fn serve(
        self: &Arc<Self>,
        answer: impl Fn(String) -> BoxFuture<'static, String>,
        lost: impl Fn(&str),
        ending: CancellationToken,
    ) {
        let mut deliveries = self.store.owners().deliveries(&self.options.id);
        let answering = async {
            while let Some(delivery) = deliveries.recv().await {
                match delivery {
                    Delivery::More(run) => self.announce(&run),
                    Delivery::Message(text) => self.receive(&text, &answer),
                }
            }
        };
        let living = async {
            let mut beats = interval(self.beat_time());
            beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                beats.tick().await;
                match self.beat().await {
                    Ok(threads) => threads.iter().for_each(|thread| lost(thread)),
                    Err(error) => {
                        tracing::warn!(%error, "other gateways may treat this one as dead");
                    }
                }
            }
        };
        tokio::select! {
            () = ending.cancelled() => {}
            () = async { tokio::join!(answering, living); } => {}
        }
    }

    fn receive(
        self: &Arc<Self>,
        text: &str,
        answer: &impl Fn(String) -> BoxFuture<'static, String>,
    ) {
        match serde_json::from_str(text) {
            Ok(Message::Response { id, body }) => {
                if let Some(reply) = lock(&self.waiting).remove(&id) {
                    let _gone = reply.send(body);
                }
            }
            Ok(Message::Request { id, from, body }) => {
                let replica = self.clone();
                let answering = answer(body);
                tokio::spawn(async move {
                    let message = Message::Response { id, body: answering.await };
                    if let Err(error) = replica.send(&from, &message).await {
                        tracing::warn!(%error, "the response to another owner is lost");
                    }
                });
            }
            Err(error) => tracing::warn!(%error, "a message of another owner is invalid"),
        }
    }

    /// Sends a request to another owner. Returns its response, or `None` if it is dead.
    ///
    /// # Errors
    /// The store cannot be reached, or the owner does not respond.
    pub async fn request(&self, to: &str, body: String) -> Result<Option<String>, StoreError> {
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let (reply, mut response) = oneshot::channel();
        lock(&self.waiting).insert(id, reply);
        let _forgotten = PendingRequest { replica: self, id };
        let message = Message::Request { id, from: self.options.id.clone(), body };
        if !self.store.owners().lives(to).await? {
            return Ok(None);
        }
        self.send(to, &message).await?;
        let sent = Instant::now();
        while sent.elapsed() < REQUEST_TIME {
            if let Ok(Ok(response)) = timeout(self.beat_time(), &mut response).await {
                return Ok(Some(response));
            }
            if !self.store.owners().lives(to).await? {
                return Ok(None);
            }
        }
        Err(StoreError("the gateway that owns the thread does not respond".to_owned()))
    }

    async fn send(&self, to: &str, message: &Message) -> Result<(), StoreError> {
        let text = serde_json::to_string(message).map_err(|error| StoreError(error.to_string()))?;
        self.store.owners().send(to, text).await
    }

    /// Stores a text about a thread; `None` removes it.
    pub async fn remember(&self, thread: &str, what: Option<&str>) {
        if let Err(error) = self.store.remember(thread, what).await {
            tracing::warn!(%error, "a session cannot be continued by another owner");
        }
    }

    /// Returns the text about a thread.
    pub async fn recall(&self, thread: &str) -> Option<String> {
        self.store.recall(thread).await.ok().flatten()
    }

    fn announce(&self, run: &str) {
        if let Some(mirror) = lock(&self.mirrors).get(run) {
            mirror.notify_one();
        }
    }
}

/// Removes a request when dropped.
struct PendingRequest<'a> {
    replica: &'a Replica,
    id: u64,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        lock(&self.replica.waiting).remove(&self.id);
    }
}
