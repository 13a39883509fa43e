//! Keys that sign with ES256, on this machine.
use crate::sign_in::ProofSigner;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::DpopKey;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use std::{fmt, io};

/// A key pair on the curve P-256, which signs with ES256.
///
/// Spec: [RFC 7518, section 3.4](https://www.rfc-editor.org/rfc/rfc7518.html#section-3.4)
///
/// ```no_run
/// use mcp_bridge::client::auth::AuthOptions;
/// use mcp_bridge_http::{Es256Key, Loopback, SignIn, reqwest};
/// use std::sync::Arc;
///
/// # async fn sign_in(http: reqwest::Client) -> Result<SignIn, Box<dyn std::error::Error>> {
/// // Stored with the credentials, readable by this program only.
/// let stored = Es256Key::generate_pkcs8()?;
/// let key = Arc::new(Es256Key::from_pkcs8(&stored)?);
/// let browser = Loopback::bind(|url| eprintln!("Open {url} to sign in.")).await?;
/// let mut options = AuthOptions::new("My program", browser.redirect_uri());
/// options.dpop_key = Some(key.dpop_key());
/// let url = "https://mcp.example/mcp";
/// let sign_in = SignIn::new(http, url, options, None, Arc::new(browser))?.with_signer(key);
/// # Ok(sign_in)
/// # }
/// ```
pub struct Es256Key {
    pair: EcdsaKeyPair,
    public: DpopKey,
}

impl fmt::Debug for Es256Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Es256Key")
    }
}

impl Es256Key {
    /// Generates a key pair. Returns its PKCS#8 document, in DER, which is a secret.
    ///
    /// # Errors
    /// Returns an error if the operating system provides no random bytes.
    pub fn generate_pkcs8() -> io::Result<Vec<u8>> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random);
        let document = document.map_err(|_| io::Error::other("no key could be generated"))?;
        Ok(document.as_ref().to_vec())
    }

    /// Reads a key pair from a PKCS#8 document, in DER.
    ///
    /// # Errors
    /// Returns an error if the document does not contain a key pair on the curve P-256.
    pub fn from_pkcs8(document: &[u8]) -> io::Result<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let random = SystemRandom::new();
        let invalid = |error: String| io::Error::new(io::ErrorKind::InvalidData, error);
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document, &random);
        let pair = pair.map_err(|error| invalid(error.to_string()))?;
        // An uncompressed point: the byte 4, and two coordinates of 32 bytes.
        let point = pair.public_key().as_ref().get(1..).unwrap_or_default();
        let (x, y) = point.split_at(point.len() / 2);
        let x = URL_SAFE_NO_PAD.encode(x);
        let y = URL_SAFE_NO_PAD.encode(y);
        let jwk = Raw::from_text(format!(r#"{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#));
        let jwk = jwk.map_err(|error| invalid(error.to_string()))?;
        Ok(Self { pair, public: DpopKey::new("ES256", jwk) })
    }

    /// Returns the public key, for
    /// [`AuthOptions::dpop_key`](mcp_bridge::client::auth::AuthOptions::dpop_key).
    pub fn dpop_key(&self) -> DpopKey {
        self.public.clone()
    }
}

#[async_trait]
impl ProofSigner for Es256Key {
    async fn sign(&self, input: &[u8]) -> io::Result<Vec<u8>> {
        let signature = self.pair.sign(&SystemRandom::new(), input);
        let signature = signature.map_err(|_| io::Error::other("no signature"))?;
        Ok(signature.as_ref().to_vec())
    }
}
