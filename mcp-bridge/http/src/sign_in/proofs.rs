//! Proofs for tokens that are bound to a key of the client (DPoP).
use super::SignIn;
use crate::random::{random_id, since_1970};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_bridge::client::auth::DpopProof;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Request, Response};
use std::io;
use std::sync::Arc;

/// Header of a proof.
pub(super) const DPOP: HeaderName = HeaderName::from_static("dpop");

/// Header of a nonce for proofs.
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Signs the proofs of a client with tokens that are bound to a key (DPoP).
#[async_trait]
pub trait ProofSigner: Send + Sync + 'static {
    /// Returns the signature of `input` by the private key of
    /// [`AuthOptions::dpop_key`](mcp_bridge::client::auth::AuthOptions::dpop_key), as JWS defines
    /// it for the algorithm.
    ///
    /// # Errors
    /// Returns an error if there is no signature. The request fails.
    async fn sign(&self, input: &[u8]) -> io::Result<Vec<u8>>;
}

impl SignIn {
    /// Sets the signer with the private key of
    /// [`AuthOptions::dpop_key`](mcp_bridge::client::auth::AuthOptions::dpop_key).
    #[must_use]
    pub fn with_signer(mut self, signer: Arc<dyn ProofSigner>) -> Self {
        self.signer = Some(signer);
        self
    }

    /// Adds the token to a request, and the proof if the token is bound to a key. Returns the
    /// token, and whether it is bound.
    pub(super) async fn authorize(
        &self,
        request: &mut Request,
    ) -> Result<(Option<String>, bool), String> {
        let (authorization, proof) = {
            let authorizer = self.authorizer.lock().await;
            (authorizer.authorization(), authorizer.proof(request.method().as_str()))
        };
        if let Some(value) = &authorization {
            let value = secret_value(value).ok_or("the token is not a header value")?;
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        if let Some(proof) = &proof {
            let value = self.sign(proof).await.map_err(|error| error.to_string())?;
            request.headers_mut().insert(DPOP, value);
        }
        Ok((authorization, proof.is_some()))
    }

    /// Returns the header of a proof.
    pub(super) async fn sign(&self, proof: &DpopProof) -> io::Result<HeaderValue> {
        let signer = self.signer.as_ref();
        let signer = signer.ok_or_else(|| io::Error::other("the program signs no proofs"))?;
        let input = proof.signing_input(since_1970(), &random_id()?);
        let signature = URL_SAFE_NO_PAD.encode(signer.sign(input.as_bytes()).await?);
        let value = secret_value(&format!("{input}.{signature}"));
        value.ok_or_else(|| io::Error::other("the proof is not a header value"))
    }
}

/// Returns the nonce of a response for proofs.
pub(super) fn nonce(response: &Response) -> Option<&str> {
    response.headers().get(DPOP_NONCE)?.to_str().ok()
}

/// Returns the value of a header that is not logged.
fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
