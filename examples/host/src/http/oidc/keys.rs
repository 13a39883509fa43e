//! The public keys of a provider.
use super::settings::SignatureAlgorithm;
use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use serde::Deserialize;

/// Maximum number of keys of a provider.
const MAX_KEYS: usize = 64;

/// Minimum size of an RSA key, in bits.
///
/// Spec: [RFC 7518, section 3.3](https://www.rfc-editor.org/rfc/rfc7518#section-3.3)
const MIN_RSA_BITS: usize = 2048;

/// The parts of the header of a token that select the key.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) key: Option<String>,
    pub(super) algorithm: SignatureAlgorithm,
}

/// The keys that can verify signatures.
#[derive(Debug)]
pub(super) struct Keys(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm of the key, if it names one.
    algorithm: Option<KeyAlgorithm>,
    public: DecodingKey,
}

/// A JWK set that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// Not a JWK set.
    #[error("expected a JWK set, {{\"keys\": […]}}: {0}")]
    Json(#[from] serde_json::Error),
    /// Too many keys.
    #[error("expected at most {MAX_KEYS} keys, got {0}")]
    Number(usize),
    /// No key can verify signatures.
    #[error(
        "expected a public key for signatures (RSA of at least {MIN_RSA_BITS} bits, P-256 or Ed25519), got none"
    )]
    Unusable,
}

/// Spec: [RFC 7517, section 5](https://www.rfc-editor.org/rfc/rfc7517#section-5)
#[derive(Deserialize)]
struct Set {
    keys: Vec<serde_json::Value>,
}

impl Keys {
    /// Reads a JWK set. Keys of other kinds, for other uses and of insufficient size are ignored.
    pub(super) fn parse(text: &[u8]) -> Result<Self, KeysError> {
        let Set { keys } = serde_json::from_slice(text)?;
        if keys.len() > MAX_KEYS {
            return Err(KeysError::Number(keys.len()));
        }
        let keys = keys.into_iter().filter_map(|key| Key::new(serde_json::from_value(key).ok()?));
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() { Err(KeysError::Unusable) } else { Ok(Self(keys)) }
    }

    /// Returns the keys that may have signed a token. A token without a key id needs a provider
    /// with one such key.
    ///
    /// Spec: [OpenID Connect Core, section
    /// 10.1](https://openid.net/specs/openid-connect-core-1_0.html#Signing)
    pub(super) fn of<'a>(&'a self, header: &'a Header) -> impl Iterator<Item = &'a DecodingKey> {
        let fitting = |key: &&Key| key.fits(header.algorithm);
        let is_only = header.key.is_some() || self.0.iter().filter(fitting).count() == 1;
        let named = move |key: &&Key| match &header.key {
            Some(id) => key.id.as_ref() == Some(id),
            None => is_only,
        };
        self.0.iter().filter(fitting).filter(named).map(|key| &key.public)
    }
}

impl Key {
    fn new(jwk: Jwk) -> Option<Self> {
        let common = &jwk.common;
        let is_for_signatures =
            common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
        let operations = common.key_operations.as_ref();
        if !is_for_signatures || operations.is_some_and(|it| !it.contains(&KeyOperations::Verify)) {
            return None;
        }
        // A secret of HMAC is never a key: its holders could sign.
        let is_public = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => true,
            AlgorithmParameters::EllipticCurve(key) => key.curve == EllipticCurve::P256,
            AlgorithmParameters::OctetKeyPair(key) => key.curve == EllipticCurve::Ed25519,
            _ => false,
        };
        let public = DecodingKey::from_jwk(&jwk).ok().filter(|_| is_public)?;
        if let DecodingKeyKind::RsaModulusExponent { n, .. } = public.kind() {
            let zeros = n.iter().take_while(|byte| **byte == 0).count();
            let first = n.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
            if (n.len() - zeros) * 8 - first < MIN_RSA_BITS {
                return None;
            }
        }
        Some(Self { id: common.key_id.clone(), algorithm: common.key_algorithm, public })
    }

    fn fits(&self, algorithm: SignatureAlgorithm) -> bool {
        let own = match algorithm {
            SignatureAlgorithm::Rs256 => KeyAlgorithm::RS256,
            SignatureAlgorithm::Ps256 => KeyAlgorithm::PS256,
            SignatureAlgorithm::Es256 => KeyAlgorithm::ES256,
            SignatureAlgorithm::EdDsa => KeyAlgorithm::EdDSA,
        };
        self.public.family() == Algorithm::from(algorithm).family()
            && self.algorithm.is_none_or(|only| only == own)
    }
}

impl From<SignatureAlgorithm> for Algorithm {
    fn from(algorithm: SignatureAlgorithm) -> Self {
        match algorithm {
            SignatureAlgorithm::Rs256 => Self::RS256,
            SignatureAlgorithm::Ps256 => Self::PS256,
            SignatureAlgorithm::Es256 => Self::ES256,
            SignatureAlgorithm::EdDsa => Self::EdDSA,
        }
    }
}
