//! States sealed with AES-256-GCM: whoever carries one can neither read nor change it, nor use it elsewhere or later.
//!
//! ```
//! use core::time::Duration;
//! use mcp_bridge::relay::StateCodec;
//! use mcp_bridge::seal::{SealedStates, StateKey};
//!
//! // A clock and a source of randomness; these are for the example only.
//! let states = SealedStates::new(
//!     StateKey::new(1, [7; 32]),
//!     Duration::from_secs(60),
//!     || Duration::from_secs(1_800_000_000),
//!     |nonce: &mut [u8; 12]| nonce.fill(9),
//! );
//! let sealed = states.seal("seat 12A", "ada");
//! assert_eq!(states.open(&sealed, "ada").as_deref(), Some("seat 12A"));
//! assert_eq!(states.open(&sealed, "eve"), None);
//! ```
use crate::relay::StateCodec;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::fmt;
use core::time::Duration;

/// A key with its number. Two keys with one number must not be in use.
#[derive(Clone)]
pub struct StateKey {
    number: u8,
    cipher: Aes256Gcm,
}

impl StateKey {
    /// A key: 32 random bytes.
    pub fn new(number: u8, key: [u8; 32]) -> Self {
        Self { number, cipher: Aes256Gcm::new(&key.into()) }
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Why a state does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// It is not one.
    #[error("not a sealed state")]
    Malformed,
    /// Its key is not there, any more or yet.
    #[error("sealed with the key {0}, which is not known")]
    UnknownKey(u8),
    /// It was changed, or is for something else.
    #[error("the state was changed, or is for something else")]
    Forged,
    /// It is too old.
    #[error("the state has expired")]
    Expired,
}

/// Seals states with AES-256-GCM, as version 1: the version, the number of the key, the second at which the state ends (8
/// bytes, the first one highest), 12 bytes that no other state has, and what is sealed; all in base64 for URLs. The first
/// three and what the state is for are authenticated with it.
///
/// States are not used up: the same one opens as often as it is brought, until it ends. Random nonces allow for 2³² states
/// with one key; change it before.
pub struct SealedStates<C, R> {
    key: StateKey,
    earlier: Vec<StateKey>,
    lifetime: Duration,
    clock: C,
    random: R,
}

impl<C, R> fmt::Debug for SealedStates<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedStates")
            .field("key", &self.key)
            .field("earlier", &self.earlier)
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

/// The version of what is sealed.
const VERSION: u8 = 1;
/// Bytes of the version, the number of the key and the end.
const HEADER: usize = 10;
/// Bytes of what no other state has.
const NONCE: usize = 12;

impl<C: Fn() -> Duration, R: Fn(&mut [u8; 12])> SealedStates<C, R> {
    /// Seals with `key`, for `lifetime`. `clock` counts from one moment that all who have the key agree on; `random` fills in
    /// bytes that nobody can guess.
    pub fn new(key: StateKey, lifetime: Duration, clock: C, random: R) -> Self {
        Self { key, earlier: Vec::new(), lifetime, clock, random }
    }

    /// Opens what was sealed with earlier keys too.
    #[must_use]
    pub fn with_earlier(mut self, keys: impl IntoIterator<Item = StateKey>) -> Self {
        self.earlier.extend(keys);
        self
    }

    /// Opens a state.
    ///
    /// # Errors
    /// It is none, its key is not known, it was changed, is for something else, or has expired.
    pub fn try_open(&self, sealed: &str, bound_to: &str) -> Result<String, OpenError> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| OpenError::Malformed)?;
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(OpenError::Malformed)?;
        let (nonce, sealed) = rest.split_first_chunk::<NONCE>().ok_or(OpenError::Malformed)?;
        let [version, number, ends @ ..] = *header;
        if version != VERSION {
            return Err(OpenError::Malformed);
        }
        let mut keys = core::iter::once(&self.key).chain(&self.earlier);
        let key = keys.find(|key| key.number == number).ok_or(OpenError::UnknownKey(number))?;
        let aad = [header, bound_to.as_bytes()].concat();
        let payload = Payload { msg: sealed, aad: &aad };
        let state = key.cipher.decrypt(Nonce::from_slice(nonce), payload);
        let state = state.map_err(|_| OpenError::Forged)?;
        if (self.clock)().as_secs() >= u64::from_be_bytes(ends) {
            return Err(OpenError::Expired);
        }
        String::from_utf8(state).map_err(|_| OpenError::Malformed)
    }
}

impl<C: Fn() -> Duration, R: Fn(&mut [u8; 12])> StateCodec for SealedStates<C, R> {
    /// Seals a state. One that is too large for the cipher, 64 GiB, gives a text that does not open.
    fn seal(&self, state: &str, bound_to: &str) -> String {
        let ends = (self.clock)().saturating_add(self.lifetime).as_secs().to_be_bytes();
        let header = [&[VERSION, self.key.number][..], &ends].concat();
        let mut nonce = [0; NONCE];
        (self.random)(&mut nonce);
        let aad = [&header, bound_to.as_bytes()].concat();
        let payload = Payload { msg: state.as_bytes(), aad: &aad };
        let sealed = self.key.cipher.encrypt(Nonce::from_slice(&nonce), payload);
        let sealed = sealed.unwrap_or_default();
        URL_SAFE_NO_PAD.encode([header.as_slice(), &nonce, &sealed].concat())
    }

    fn open(&self, sealed: &str, bound_to: &str) -> Option<String> {
        self.try_open(sealed, bound_to).ok()
    }
}
