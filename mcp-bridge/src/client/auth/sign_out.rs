//! Sign-out: the tokens are revoked at the authorization server.
use super::credentials::ErrorResponse;
use super::discovery;
use super::response::{authorization_server, check_status, is_success};
use super::step::{Revocation, Step};
use super::{AuthError, AuthEvent, AuthRequest, Authorizer, Credentials};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use jsonrpc_core::wire;
use url::form_urlencoded::Serializer;

impl Authorizer {
    /// Signs out: forgets the credentials at once, and revokes the tokens if the authorization
    /// server supports it. The last event is [`AuthEvent::SignedOut`], or [`AuthEvent::Failed`] if
    /// the tokens may still be valid.
    ///
    /// Spec: [RFC 7009](https://www.rfc-editor.org/rfc/rfc7009.html)
    pub fn handle_sign_out(&mut self) {
        self.request = None;
        self.events.clear();
        let next = match self.credentials.take() {
            Some(credentials) => self.find_revocation(credentials),
            None => Ok(self.signed_out(false)),
        };
        self.settle(next);
    }

    fn signed_out(&mut self, is_revoked: bool) -> Step {
        self.events.push_back(AuthEvent::SignedOut { is_revoked });
        Step::Idle
    }

    fn find_revocation(&mut self, credentials: Credentials) -> Result<Step, AuthError> {
        let url = self.remote_url("authorization server", &credentials.registration.issuer)?;
        self.continue_search(credentials, discovery::server_metadata(&url))
    }

    fn continue_search(
        &mut self,
        credentials: Credentials,
        mut places: VecDeque<String>,
    ) -> Result<Step, AuthError> {
        let missing = AuthError::NoServerMetadata(credentials.registration.issuer.clone());
        self.fetch(&mut places, missing)?;
        Ok(Step::Leaving(credentials, places))
    }

    pub(super) fn handle_leaving(
        &mut self,
        credentials: Credentials,
        places: VecDeque<String>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        if !is_success(status) {
            return self.continue_search(credentials, places);
        }
        let Credentials { registration: client, access_token, refresh_token, .. } = credentials;
        let server = authorization_server(&client.issuer, body)?;
        let Some(endpoint) = server.revocation_endpoint.clone() else {
            return Ok(self.signed_out(false));
        };
        self.remote_url("revocation endpoint", &endpoint)?;
        // The refresh token first: it is valid for longer, and its end may be that of the access
        // token.
        let refresh = refresh_token.map(|token| ("refresh_token", token));
        let tokens = refresh.into_iter().chain([("access_token", access_token)]).collect();
        Ok(self.revoke(Box::new(Revocation { server, endpoint, client, tokens })))
    }

    /// Requests the end of the next token.
    fn revoke(&mut self, mut revoking: Box<Revocation>) -> Step {
        let Some((kind, token)) = revoking.tokens.pop_front() else { return self.signed_out(true) };
        let mut body = Serializer::new(String::new());
        body.append_pair("token", &token).append_pair("token_type_hint", kind);
        let authorization = revoking.client.authenticate(&revoking.server, &mut body);
        let body = Some(("application/x-www-form-urlencoded", body.finish()));
        let url = revoking.endpoint.clone();
        self.request = Some(AuthRequest { url, body, authorization, proof: None });
        Step::Revoking(revoking)
    }

    pub(super) fn handle_revoked(
        &mut self,
        revoking: Box<Revocation>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        // Some authorization servers revoke refresh tokens only.
        let error = wire::decode_serde::<ErrorResponse>(body);
        if !error.is_ok_and(|response| response.error == "unsupported_token_type") {
            check_status("revocation endpoint", status, body)?;
        }
        Ok(self.revoke(revoking))
    }
}
