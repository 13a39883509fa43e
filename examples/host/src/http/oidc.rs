//! Users of an OpenID Connect provider: tokens that it signed, and its keys.
use crate::hexadecimal::hexadecimal;
use crate::http::AccessError;
use crate::http::grant::Grant;
use keys::{Header, Keys};
use sha2::{Digest, Sha256};
use source::Source;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

mod keys;
mod ring;
mod settings;
mod source;
mod source_error;
mod token;

pub use keys::KeysError;
pub use settings::{OidcSettings, SignatureAlgorithm};
pub use source_error::SourceError;
pub(crate) use token::TokenError;

/// Minimum time between two attempts to read the keys, also if tokens name unknown keys.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30);

/// Age of keys after which they are read again, so that withdrawn keys are forgotten.
const REFRESH_AGE: Duration = Duration::from_secs(60 * 60);

/// Age of keys after which they are not used any more, if the provider cannot be reached.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The provider, and its keys as far as they are known.
#[derive(Debug)]
pub(crate) struct Oidc {
    settings: OidcSettings,
    issuer: String,
    audience: String,
    source: Source,
    /// Digest of the settings that decide which tokens name a user.
    credential: String,
    cache: Mutex<Cache>,
    /// Held while the keys are read, so that one request at a time does so.
    reading: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug, Default)]
struct Cache {
    keys: Option<(Arc<Keys>, Instant)>,
    /// Time of the last attempt to read them.
    attempt: Option<Instant>,
}

impl Oidc {
    /// Returns the provider of the settings; `None` without an issuer. Keys in a file are read.
    pub(crate) fn new(settings: &OidcSettings) -> Result<Option<Arc<Self>>, AccessError> {
        let Some(issuer) = settings.issuer.clone() else {
            let is_empty = *settings == OidcSettings::default();
            return if is_empty { Ok(None) } else { Err(AccessError::OidcIssuer) };
        };
        let audience = settings.audience.clone().filter(|audience| !audience.is_empty());
        let audience = audience.ok_or(AccessError::OidcAudience)?;
        if settings.algorithms.is_empty() {
            return Err(AccessError::OidcAlgorithms);
        }
        if settings.user_claim.is_empty() {
            return Err(AccessError::OidcUserClaim);
        }
        ring::install();
        let source = Source::new(&issuer, settings)?;
        let mut cache = Cache::default();
        if let Some(keys) = source.read_file() {
            let now = Instant::now();
            cache = Cache { keys: Some((Arc::new(keys?), now)), attempt: Some(now) };
        }
        let cache = Mutex::new(cache);
        let reading = Arc::default();
        let deciding = serde_json::to_vec(settings).unwrap_or_default();
        let credential = hexadecimal(&Sha256::digest(&deciding));
        let settings = settings.clone();
        Ok(Some(Arc::new(Self { settings, issuer, audience, source, credential, cache, reading })))
    }

    /// Takes over the keys of an earlier provider with the same settings, unless they are from a
    /// file.
    pub(crate) fn inherit(&self, earlier: &Self) {
        if self.settings == earlier.settings && self.settings.jwks_file.is_none() {
            let Cache { keys, .. } = earlier.cache().clone();
            self.cache().keys = keys;
        }
    }

    /// Returns the user of a token.
    pub(crate) fn user(&self, token: &[u8]) -> Result<Grant, TokenError> {
        let header = token::header(token, &self.settings.algorithms).ok_or(TokenError::Header)?;
        let keys = self.cache().current(Instant::now());
        let keys = keys.ok_or(TokenError::NoKeys(REFRESH_INTERVAL))?;
        let (user, until) =
            token::user(token, &header, &keys, &self.settings, &self.issuer, &self.audience)?;
        Ok(Grant { user, credential: self.credential.clone(), until: Some(until) })
    }

    /// Returns the digest that sessions of its users depend on.
    pub(crate) fn credential(&self) -> &str {
        &self.credential
    }

    /// Reads the keys, if none are known.
    pub(crate) async fn load(self: &Arc<Self>) {
        self.refresh(None).await;
    }

    /// Reads the keys, if the token may need newer ones. All requests that need them wait for the
    /// same attempt.
    pub(crate) async fn prepare(self: &Arc<Self>, token: &[u8]) {
        if let Some(header) = token::header(token, &self.settings.algorithms) {
            self.refresh(Some(&header)).await;
        }
    }

    async fn refresh(self: &Arc<Self>, header: Option<&Header>) {
        let is_needed = !self.cache().has_key(header, Instant::now());
        let reading = self.reading.clone();
        let reading = if is_needed {
            reading.lock_owned().await
        } else {
            let Ok(reading) = reading.try_lock_owned() else { return };
            reading
        };
        {
            let mut cache = self.cache();
            let now = Instant::now();
            if !cache.is_refresh_due(header, now) {
                return;
            }
            cache.attempt = Some(now);
        }
        // A task of its own, so that a request that is dropped does not end the attempt.
        let oidc = self.clone();
        let attempt = tokio::spawn(async move {
            let _reading = reading;
            match oidc.source.read().await {
                Ok(keys) => oidc.cache().keys = Some((Arc::new(keys), Instant::now())),
                Err(error) => {
                    tracing::error!(%error, "the keys of the OpenID provider cannot be read");
                }
            }
        });
        if is_needed && let Err(error) = attempt.await {
            tracing::error!(%error, "reading the keys of the OpenID provider has failed");
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cache {
    /// Returns the keys, unless they are too old.
    fn current(&self, now: Instant) -> Option<Arc<Keys>> {
        let (keys, read) = self.keys.as_ref()?;
        (now.saturating_duration_since(*read) < MAX_AGE).then(|| keys.clone())
    }

    fn has_key(&self, header: Option<&Header>, now: Instant) -> bool {
        let Some(keys) = self.current(now) else { return false };
        header.is_none_or(|header| keys.of(header).next().is_some())
    }

    /// Returns whether the keys are to be read: the one of the token is unknown, or they are old.
    fn is_refresh_due(&self, header: Option<&Header>, now: Instant) -> bool {
        let age = |at: Instant| now.saturating_duration_since(at);
        let is_old = self.keys.as_ref().is_none_or(|(_, read)| age(*read) >= REFRESH_AGE);
        let may_try = self.attempt.is_none_or(|attempt| age(attempt) >= REFRESH_INTERVAL);
        may_try && (is_old || !self.has_key(header, now))
    }
}
