//! States sealed with AES-256-GCM. The holder of a sealed state can neither read nor modify it, nor
//! use it for another purpose or after its expiry.
//!
//! ```
//! use core::time::Duration;
//! use mcp_bridge::server::StateCodec;
//! use mcp_bridge::seal::{SealedStates, StateKey};
//!
//! // The clock and the source of randomness are for the example only.
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
use crate::server::StateCodec;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::fmt;
use core::time::Duration;

/// A key with its number. The keys in use must have distinct numbers.
#[derive(Clone)]
pub struct StateKey {
    number: u8,
    cipher: Aes256Gcm,
}

impl StateKey {
    /// Creates a key from 32 random bytes.
    pub fn new(number: u8, key: [u8; 32]) -> Self {
        Self { number, cipher: Aes256Gcm::new(&key.into()) }
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("number", &self.number).finish_non_exhaustive()
    }
}

/// An error opening a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is not a sealed state.
    #[error("not a sealed state")]
    Malformed,
    /// The key is not available.
    #[error("sealed with the unknown key {0}")]
    UnknownKey(u8),
    /// The state was modified, or is bound to something else.
    #[error("the state was modified or is bound to something else")]
    Forged,
    /// The state has expired.
    #[error("the state has expired")]
    Expired,
}

/// Seals states with AES-256-GCM.
///
/// The format (version 1) is the URL-safe base64 encoding of the version, the number of the key,
/// the expiry in seconds (8 bytes, big-endian), a 12-byte nonce, and the ciphertext. The first
/// three and the value that the state is bound to are authenticated.
///
/// A state can be opened any number of times until it expires. Random nonces limit a key to 2³²
/// states; rotate it before.
///
/// The [module](self) has an example.
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

/// Version of the format.
const VERSION: u8 = 1;
/// Length of the version, the number of the key and the expiry.
const HEADER: usize = 10;
/// Length of the nonce.
const NONCE: usize = 12;

impl<C: Fn() -> Duration, R: Fn(&mut [u8; 12])> SealedStates<C, R> {
    /// Creates a codec that seals with `key`, for `lifetime`.
    ///
    /// `clock` returns the time since an epoch shared by all holders of the key. `random` fills its
    /// argument with bytes from a cryptographically secure source.
    pub fn new(key: StateKey, lifetime: Duration, clock: C, random: R) -> Self {
        Self { key, earlier: Vec::new(), lifetime, clock, random }
    }

    /// Also opens states that were sealed with these keys.
    #[must_use]
    pub fn with_earlier(mut self, keys: impl IntoIterator<Item = StateKey>) -> Self {
        self.earlier.extend(keys);
        self
    }

    /// Opens a state.
    ///
    /// # Errors
    /// Returns an error if the text is not a sealed state, its key is unknown, or it was modified,
    /// bound to something else, or has expired.
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
    /// Seals a state. A state that exceeds the limit of the cipher (64 GiB) results in a text that
    /// cannot be opened.
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
