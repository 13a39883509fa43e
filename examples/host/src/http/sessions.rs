//! Sessions of browsers: each begins with a token, has limits of time, and can be ended alone.
use crate::hexadecimal::hexadecimal;
use crate::http::Principal;
use crate::http::grant::Grant;
use crate::http::users::Users;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use subtle::ConstantTimeEq;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Maximum number of sessions of a user. One more ends the one that was not used for the longest
/// time.
const MAX_OF_USER: usize = 16;

/// Maximum number of sessions of all users.
const MAX_SESSIONS: usize = 4096;

/// Bytes of each secret of a session.
const SECRET: usize = 16;

/// Characters of the digest that name a session to its user.
const ID_LENGTH: usize = 16;

/// Maximum number of kept characters of a `User-Agent`.
const MAX_AGENT: usize = 200;

/// Interval at which sessions that are over are ended, and changes of other servers are read.
const INTERVAL: Duration = Duration::from_secs(5);

/// Minimum time between two readings of the store for sessions that are not known yet.
const READ_INTERVAL: Duration = Duration::from_millis(250);

/// Precision of the time of the last use in the store, in seconds.
const USE_STEP: u64 = 60;

/// Time for which an ended session is removed again, if another server has stored it at the same
/// time.
const MEMORY_OF_END: Duration = Duration::from_secs(60);

/// Limits of the time of a session.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// Time without a request after which a session ends.
    pub idle: Duration,
    /// Time after which a session ends in any case.
    pub age: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
        Self { idle: days(7), age: days(30) }
    }
}

/// A place where sessions survive the program.
#[async_trait]
pub trait SessionStore: Debug + Send + Sync {
    /// Returns the text that was stored last, if there is one.
    async fn load(&self) -> Result<Option<String>, Box<dyn Error + Send + Sync>>;

    /// Replaces the text.
    async fn save(&self, text: &str) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Returns whether other servers use the same text.
    fn is_shared(&self) -> bool;
}

/// The secrets of a new session.
///
/// A browser sends the cookies of a host to all ports of that host, also to a server that an agent
/// has started. The cookie is therefore valid only with its key, which the page keeps: storage of
/// pages is separate for each port.
///
/// Spec: [RFC 6265, section 8.5](https://www.rfc-editor.org/rfc/rfc6265#section-8.5)
#[derive(Debug)]
pub(crate) struct SessionSecrets {
    pub(crate) cookie: String,
    pub(crate) key: String,
}

/// A session as it is stored. Its secrets are digests.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
struct SessionRecord {
    cookie: String,
    key: String,
    user: String,
    /// Digest of the token or the settings with which the session began.
    credential: String,
    /// Times in seconds since 1970.
    began: u64,
    used: u64,
    until: u64,
    address: String,
    agent: String,
}

/// A session as its user sees it.
#[derive(Debug, Serialize)]
pub(crate) struct SessionInfo {
    id: String,
    /// Times in milliseconds since 1970.
    began: u64,
    used: u64,
    until: u64,
    address: String,
    agent: String,
}

/// The session of a request.
#[derive(Clone, Debug)]
pub(crate) struct CurrentSession {
    pub(crate) id: String,
    pub(crate) user: Principal,
    /// Cancelled when the session ends.
    pub(crate) end: CancellationToken,
}

#[derive(Debug)]
struct Session {
    record: SessionRecord,
    end: CancellationToken,
    is_stored: bool,
}

#[derive(Debug, Default)]
struct OpenSessions {
    /// By digest of the cookie.
    sessions: HashMap<String, Session>,
    ended: HashMap<String, Instant>,
    is_changed: bool,
}

/// The sessions of all users.
#[derive(Debug)]
pub(crate) struct Sessions {
    limits: SessionLimits,
    open: Mutex<OpenSessions>,
    store: OnceLock<Arc<dyn SessionStore>>,
    /// When the store was read last. Held while it is read or written.
    read: tokio::sync::Mutex<Option<Instant>>,
}

impl Sessions {
    pub(crate) fn new(limits: SessionLimits) -> Self {
        let open = Mutex::default();
        let store = OnceLock::new();
        Self { limits, open, store, read: tokio::sync::Mutex::default() }
    }

    /// Sets the place of the sessions. A second one is ignored.
    pub(crate) fn set_store(&self, store: Arc<dyn SessionStore>) {
        let _ = self.store.set(store);
    }

    /// Begins a session. The one of the user that was not used for the longest time makes room for
    /// it.
    pub(crate) async fn begin(
        &self,
        grant: &Grant,
        address: String,
        agent: &str,
    ) -> Result<SessionSecrets, getrandom::Error> {
        let secrets = SessionSecrets { cookie: random()?, key: random()? };
        let now = since_1970();
        let until = now.saturating_add(self.limits.age.as_secs());
        let record = SessionRecord {
            cookie: digest(secrets.cookie.as_bytes()),
            key: digest(secrets.key.as_bytes()),
            user: grant.user.as_str().to_owned(),
            credential: grant.credential.clone(),
            began: now,
            used: now,
            until: grant.until.map_or(until, |end| end.min(until)),
            address,
            agent: agent.chars().filter(|c| !c.is_control()).take(MAX_AGENT).collect(),
        };
        {
            let mut open = self.open();
            open.make_room(&record.user);
            let end = CancellationToken::new();
            let session = Session { end, is_stored: false, record };
            open.sessions.insert(session.record.cookie.clone(), session);
            open.is_changed = true;
        }
        self.sync().await;
        Ok(secrets)
    }

    /// Returns the session of a cookie and its key, and counts its use. Without a key, the cookie
    /// is enough.
    pub(crate) fn find(
        &self,
        cookie: &str,
        key: Option<&[u8]>,
        users: &Users,
    ) -> Option<CurrentSession> {
        let now = since_1970();
        let mut open = self.open();
        let OpenSessions { sessions, is_changed, .. } = &mut *open;
        let session = sessions.get_mut(&digest(cookie.as_bytes()))?;
        let record = &mut session.record;
        let is_key =
            key.is_none_or(|key| record.key.as_bytes().ct_eq(digest(key).as_bytes()).into());
        if !is_key || self.is_over(record, now) || !users.has_granted(record.grant()) {
            return None;
        }
        if now >= record.used.saturating_add(USE_STEP) {
            record.used = now;
            *is_changed = true;
        }
        Some(CurrentSession {
            id: record.id().to_owned(),
            user: record.user.as_str().into(),
            end: session.end.clone(),
        })
    }

    /// Reads the store for a session that is not known, if one may be there. Returns whether it was
    /// read.
    pub(crate) async fn refresh(&self) -> bool {
        let Some(store) = self.store.get() else { return false };
        let arrival = Instant::now();
        let mut read = self.read.lock().await;
        match *read {
            Some(_) if !store.is_shared() => return true,
            Some(last) if last >= arrival => return true,
            Some(last) => sleep_until(last + READ_INTERVAL).await,
            None => {}
        }
        self.sync_with(&**store, &mut read).await;
        true
    }

    /// Returns the sessions of a user, the last used one first.
    pub(crate) fn list(&self, user: &Principal) -> Vec<SessionInfo> {
        let now = since_1970();
        let open = self.open();
        let own = open.sessions.values().map(|session| &session.record);
        let own = own.filter(|record| record.user == user.as_str() && !self.is_over(record, now));
        let mut list = own.map(SessionRecord::info).collect::<Vec<_>>();
        list.sort_by(|one, other| (other.used, &one.id).cmp(&(one.used, &other.id)));
        list
    }

    /// Ends a session of a user: it is not valid from now on, and its streams end. Returns whether
    /// there is one.
    pub(crate) async fn end(&self, user: &Principal, id: &str) -> bool {
        let ended = self.open().remove(|record| record.user == user.as_str() && record.id() == id);
        let is_known = !ended.is_empty();
        if is_known {
            self.sync().await;
        }
        // Last, because the request may be part of the session.
        ended.iter().for_each(CancellationToken::cancel);
        is_known
    }

    /// Ends the sessions that began with a token that is no longer valid.
    pub(crate) fn keep_those_of(&self, users: &Users) {
        let ended = self.open().remove(|record| !users.has_granted(record.grant()));
        ended.iter().for_each(CancellationToken::cancel);
    }

    /// Ends sessions when they are over, and exchanges changes with the store.
    pub(crate) async fn watch(&self) {
        let mut interval = tokio::time::interval(INTERVAL);
        loop {
            interval.tick().await;
            let now = since_1970();
            let ended = self.open().remove(|record| self.is_over(record, now));
            ended.iter().for_each(CancellationToken::cancel);
            self.sync().await;
        }
    }

    fn is_over(&self, record: &SessionRecord, now: u64) -> bool {
        let idle = now.saturating_sub(record.used);
        now >= record.until || idle >= self.limits.idle.as_secs()
    }

    /// Exchanges changes with the store, if there are any.
    async fn sync(&self) {
        let Some(store) = self.store.get() else { return };
        let mut read = self.read.lock().await;
        if read.is_none() || store.is_shared() || self.open().is_changed {
            self.sync_with(&**store, &mut read).await;
        }
    }

    async fn sync_with(&self, store: &dyn SessionStore, read: &mut Option<Instant>) {
        let began = Instant::now();
        let is_needed = read.is_none() || store.is_shared();
        let stored = if is_needed { store.load().await.map(Some) } else { Ok(None) };
        let stored = match stored {
            Ok(stored) => stored,
            Err(error) => return tracing::error!(error, "the sessions cannot be read"),
        };
        *read = Some(began);
        let stored = stored.map(|text| parse(text.as_deref()));
        let Some(records) = self.open().merge(stored) else { return };
        let text = serde_json::to_string(&records).unwrap_or_default();
        if let Err(error) = store.save(&text).await {
            self.open().is_changed = true;
            return tracing::error!(error, "the sessions cannot be stored");
        }
        let mut open = self.open();
        for record in &records {
            if let Some(session) = open.sessions.get_mut(&record.cookie) {
                session.is_stored = true;
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, OpenSessions> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenSessions {
    /// Removes sessions, and returns their ends, which have to be cancelled.
    fn remove(&mut self, is_over: impl Fn(&SessionRecord) -> bool) -> Vec<CancellationToken> {
        let now = Instant::now();
        self.ended.retain(|_, end| now.saturating_duration_since(*end) < MEMORY_OF_END);
        let over = self.sessions.extract_if(|_, session| is_over(&session.record));
        let over = over.collect::<Vec<_>>();
        self.is_changed |= !over.is_empty();
        let ends = over.into_iter().map(|(cookie, session)| {
            self.ended.insert(cookie, now);
            session.end
        });
        ends.collect()
    }

    /// Ends sessions that were not used for the longest time, until there is room for one more.
    fn make_room(&mut self, user: &str) {
        let of_user = |record: &SessionRecord| record.user == user;
        for (limit, counts) in [(MAX_OF_USER, true), (MAX_SESSIONS, false)] {
            let is_counted = |record: &SessionRecord| !counts || of_user(record);
            let records = self.sessions.values().map(|session| &session.record);
            let mut counted = records.filter(|record| is_counted(record)).collect::<Vec<_>>();
            if counted.len() < limit {
                continue;
            }
            counted.sort_by_key(|record| record.used);
            let excess = counted.len() + 1 - limit;
            let oldest = counted.iter().take(excess).map(|record| record.cookie.clone());
            let oldest = oldest.collect::<Vec<_>>();
            let ended = self.remove(|record| oldest.contains(&record.cookie));
            ended.iter().for_each(CancellationToken::cancel);
        }
    }

    /// Takes over what other servers have stored, and returns what is to be stored, if it differs.
    /// A session that was stored and is missing now was ended by another server.
    fn merge(&mut self, stored: Option<Vec<SessionRecord>>) -> Option<Vec<SessionRecord>> {
        let mut is_changed = std::mem::take(&mut self.is_changed);
        if let Some(stored) = stored {
            let mut stored: HashMap<_, _> =
                stored.into_iter().map(|record| (record.cookie.clone(), record)).collect();
            self.sessions.retain(|cookie, session| {
                let own = &mut session.record;
                let is_kept = match stored.remove(cookie) {
                    Some(other) => {
                        is_changed |= own.used > other.used;
                        own.used = own.used.max(other.used);
                        session.is_stored = true;
                        true
                    }
                    None => !session.is_stored,
                };
                is_changed |= !session.is_stored;
                if !is_kept {
                    session.end.cancel();
                }
                is_kept
            });
            for (cookie, record) in stored {
                if self.ended.contains_key(&cookie) || self.sessions.len() >= MAX_SESSIONS {
                    is_changed = true;
                    continue;
                }
                let end = CancellationToken::new();
                self.sessions.insert(cookie, Session { record, end, is_stored: true });
            }
        }
        let records = || self.sessions.values().map(|session| session.record.clone()).collect();
        is_changed.then(records)
    }
}

impl SessionRecord {
    /// Returns the name of the session for its user.
    fn id(&self) -> &str {
        self.cookie.get(..ID_LENGTH).unwrap_or(&self.cookie)
    }

    /// Returns the user, and the digest of what the session began with.
    fn grant(&self) -> (&str, &str) {
        (&self.user, &self.credential)
    }

    fn info(&self) -> SessionInfo {
        let milliseconds = |seconds: u64| seconds.saturating_mul(1000);
        SessionInfo {
            id: self.id().to_owned(),
            began: milliseconds(self.began),
            used: milliseconds(self.used),
            until: milliseconds(self.until),
            address: self.address.clone(),
            agent: self.agent.clone(),
        }
    }
}

/// Returns the sessions of a stored text. Those of a text that cannot be read have ended.
fn parse(text: Option<&str>) -> Vec<SessionRecord> {
    let parsed = text.map_or(Ok(Vec::new()), serde_json::from_str);
    parsed.unwrap_or_else(|error| {
        tracing::error!(%error, "the stored sessions cannot be read; users have to sign in again");
        Vec::new()
    })
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; SECRET];
    getrandom::fill(&mut bytes)?;
    Ok(hexadecimal(&bytes))
}

fn digest(secret: &[u8]) -> String {
    hexadecimal(&Sha256::digest(secret))
}

/// Returns the time in seconds since 1970.
fn since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::AuthSettings;
    use std::collections::BTreeMap;
    use tokio::time::timeout;

    /// A store in memory.
    #[derive(Debug, Default)]
    struct SharedStore {
        text: Mutex<Option<String>>,
        is_shared: bool,
    }

    #[async_trait]
    impl SessionStore for SharedStore {
        async fn load(&self) -> Result<Option<String>, Box<dyn Error + Send + Sync>> {
            Ok(self.text.lock().unwrap().clone())
        }

        async fn save(&self, text: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
            *self.text.lock().unwrap() = Some(text.to_owned());
            Ok(())
        }

        fn is_shared(&self) -> bool {
            self.is_shared
        }
    }

    const ALICE: &str = "a-token-of-alice";

    fn users() -> Users {
        users_with(ALICE)
    }

    fn users_with(token: &str) -> Users {
        let tokens = [("alice", token), ("bob", "a-token-of-bob")];
        let tokens = tokens.map(|(user, token)| (user.to_owned(), token.to_owned().into()));
        let auth = AuthSettings { tokens: BTreeMap::from(tokens), ..AuthSettings::default() };
        Users::new(&auth, ([127, 0, 0, 1], 1).into()).unwrap().0
    }

    fn grant(token: &str) -> Grant {
        match users().with_token(token.as_bytes()) {
            crate::http::users::Credentials::Valid(grant) => grant,
            other => panic!("{other:?}"),
        }
    }

    fn server(store: &Arc<SharedStore>) -> Sessions {
        let sessions = Sessions::new(SessionLimits::default());
        sessions.set_store(store.clone());
        sessions
    }

    async fn begin(sessions: &Sessions) -> SessionSecrets {
        sessions.begin(&grant(ALICE), "127.0.0.1".to_owned(), "browser").await.unwrap()
    }

    fn found(sessions: &Sessions, secrets: &SessionSecrets) -> Option<CurrentSession> {
        sessions.find(&secrets.cookie, Some(secrets.key.as_bytes()), &users())
    }

    #[tokio::test]
    async fn session_ends_when_idle_and_with_its_age() {
        let limits =
            SessionLimits { idle: Duration::from_secs(100), age: Duration::from_secs(1000) };
        let sessions = Sessions::new(limits);
        let secrets = begin(&sessions).await;
        let passed = |idle: u64, age: u64| {
            let mut open = sessions.open();
            let record = &mut open.sessions.values_mut().next().unwrap().record;
            record.used = since_1970() - idle;
            record.until = since_1970() - age + 1000;
        };
        passed(99, 998);
        assert!(found(&sessions, &secrets).is_some());
        assert!(sessions.open().sessions.values().all(|it| it.record.used + 2 > since_1970()));
        passed(100, 0);
        assert!(found(&sessions, &secrets).is_none(), "idle");
        passed(0, 1000);
        assert!(found(&sessions, &secrets).is_none(), "old");
        assert!(sessions.list(&"alice".into()).is_empty());
    }

    #[tokio::test]
    async fn session_ends_with_its_credentials() {
        let sessions = Sessions::new(SessionLimits::default());
        let end = since_1970() + 10;
        let signed = Grant { until: Some(end), ..grant(ALICE) };
        sessions.begin(&signed, String::new(), "").await.unwrap();
        assert_eq!(sessions.open().sessions.values().next().unwrap().record.until, end);
    }

    #[tokio::test]
    async fn secrets_are_random_and_not_stored() {
        let store = Arc::new(SharedStore::default());
        let sessions = server(&store);
        let one = begin(&sessions).await;
        let other = begin(&sessions).await;
        assert_ne!(one.cookie, other.cookie);
        assert_ne!(one.key, other.key);
        assert!(sessions.find(&one.cookie, Some(other.key.as_bytes()), &users()).is_none());
        let stored = store.text.lock().unwrap().clone().unwrap();
        for secret in [&one.cookie, &one.key, &other.cookie, &other.key, ALICE] {
            assert!(!stored.contains(secret));
        }
    }

    #[tokio::test]
    async fn sessions_of_a_user_are_limited() {
        let sessions = Sessions::new(SessionLimits::default());
        let bob = sessions.begin(&grant("a-token-of-bob"), String::new(), "").await.unwrap();
        let first = begin(&sessions).await;
        let end = found(&sessions, &first).unwrap().end;
        sessions.open().sessions.values_mut().for_each(|session| session.record.used -= 1);
        for _ in 1..MAX_OF_USER {
            begin(&sessions).await;
        }
        assert!(found(&sessions, &first).is_some());
        begin(&sessions).await;
        assert!(found(&sessions, &first).is_none());
        assert!(end.is_cancelled());
        assert!(found(&sessions, &bob).is_some(), "that of another user");
    }

    #[tokio::test]
    async fn sessions_survive_the_program() {
        let store = Arc::new(SharedStore::default());
        let earlier = server(&store);
        let secrets = begin(&earlier).await;
        let ended = begin(&earlier).await;
        let id = found(&earlier, &ended).unwrap().id;
        assert!(earlier.end(&"alice".into(), &id).await);
        let later = server(&store);
        assert!(found(&later, &secrets).is_none(), "the store was not read yet");
        assert!(later.refresh().await);
        assert_eq!(found(&later, &secrets).unwrap().user.as_str(), "alice");
        assert!(found(&later, &ended).is_none());
    }

    #[tokio::test]
    async fn stored_session_has_ended_if_its_token_was_replaced_meanwhile() {
        let store = Arc::new(SharedStore::default());
        let secrets = begin(&server(&store)).await;
        let later = server(&store);
        assert!(later.refresh().await);
        let key = Some(secrets.key.as_bytes());
        assert!(later.find(&secrets.cookie, key, &users_with("another-token")).is_none());
        assert!(later.find(&secrets.cookie, key, &users()).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn streams_end_with_their_session() {
        let sessions = Sessions::new(SessionLimits::default());
        let old = begin(&sessions).await;
        let kept = begin(&sessions).await;
        let end = |secrets| found(&sessions, secrets).unwrap().end;
        let old_end = end(&old);
        let kept_end = end(&kept);
        sessions.open().sessions.get_mut(&digest(old.cookie.as_bytes())).unwrap().record.until = 0;
        let _watching = timeout(INTERVAL / 2, sessions.watch()).await;
        assert!(old_end.is_cancelled());
        assert!(!kept_end.is_cancelled());
    }

    /// A session that one server ends does not come back, also if another one stores its use at the
    /// same time.
    #[tokio::test(start_paused = true)]
    async fn servers_with_one_store_know_and_end_each_others_sessions() {
        let store = Arc::new(SharedStore { is_shared: true, ..SharedStore::default() });
        let one = server(&store);
        let other = server(&store);
        let secrets = begin(&one).await;
        other.refresh().await;
        let session = found(&other, &secrets).unwrap();
        let before = store.text.lock().unwrap().clone();
        assert!(!one.end(&"bob".into(), &session.id).await, "that of another user");
        assert!(one.end(&"alice".into(), &session.id).await);
        assert!(!session.end.is_cancelled());
        other.sync().await;
        assert!(session.end.is_cancelled());
        assert!(found(&other, &secrets).is_none());
        *store.text.lock().unwrap() = before;
        one.sync().await;
        assert!(found(&one, &secrets).is_none());
        assert_eq!(store.text.lock().unwrap().as_deref(), Some("[]"));
    }
}
