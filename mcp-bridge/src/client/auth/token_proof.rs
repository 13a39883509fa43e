//! Proofs of token requests, and the nonces in them.
use super::credentials::ErrorResponse;
use super::dpop::{DpopProof, TokenBinding, valid_nonce};
use super::response::is_success;
use super::sign_in::SignIn;
use super::step::Step;
use super::{AuthRequest, Authorizer};
use jsonrpc_core::wire;

impl Authorizer {
    /// Handles the `DPoP-Nonce` header of a response to the last request of
    /// [`poll_request`](Self::poll_request), before [`handle_response`](Self::handle_response).
    pub fn handle_nonce(&mut self, nonce: &str) {
        if let Step::Token(sign_in, _) = &self.step
            && let Some(nonce) = valid_nonce(nonce)
        {
            self.issuer_nonce = Some((sign_in.found.server.issuer.clone(), nonce));
        }
    }

    /// Returns the proof for a token request, if the token is to be bound.
    pub(super) fn token_proof(&self, sign_in: &SignIn) -> Option<DpopProof> {
        let key = self.options.dpop_key.as_ref();
        let key = key.filter(|_| sign_in.found.binding != TokenBinding::Bearer)?;
        let server = &sign_in.found.server;
        Some(DpopProof::new(key, "POST", &server.token_endpoint, None, self.issuer_nonce(server)))
    }

    /// Returns the token request to repeat, if it was rejected only because its proof lacks the
    /// nonce of the response. A sign-in repeats one request.
    ///
    /// Spec: [RFC 9449, section 8](https://www.rfc-editor.org/rfc/rfc9449.html#section-8)
    pub(super) fn repeated(
        &self,
        sign_in: &mut SignIn,
        status: u16,
        body: &str,
    ) -> Option<AuthRequest> {
        let sent = sign_in.sent.take().filter(|_| !sign_in.is_repeated && !is_success(status))?;
        let error = wire::decode_serde::<ErrorResponse>(body).ok()?.error;
        let nonce = sent.proof.as_ref()?.nonce.as_deref();
        let is_new = nonce != self.issuer_nonce(&sign_in.found.server);
        sign_in.is_repeated = is_new && error == "use_dpop_nonce";
        sign_in.is_repeated.then_some(sent)
    }
}
