//! Steps of a sign-in: responses of the server and of its authorization server.
use super::credentials::{RegistrationRequest, RegistrationResponse};
use super::metadata::ProtectedResourceMetadata;
use super::response::{authorization_server, check_status, invalid, is_success};
use super::sign_in::{self, AuthorizationTarget, SignIn};
use super::step::{SignInStart, Step};
use super::{
    AuthError, AuthEvent, AuthRequest, Authorizer, ClientRegistration, Credentials, Grant,
    discovery,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use jsonrpc_core::is_public_url;
use jsonrpc_core::wire;
use url::Url;

impl Authorizer {
    /// Enters the next step, or ends the sign-in.
    pub(super) fn settle(&mut self, next: Result<Step, AuthError>) {
        self.step = next.unwrap_or_else(|error| {
            self.request = None;
            self.events.push_back(AuthEvent::Failed(error));
            Step::Idle
        });
    }

    /// Parses a URL that the server or its authorization server names. A public server cannot name
    /// one in the network of this program, which it cannot reach itself.
    pub(super) fn remote_url(&self, what: &'static str, text: &str) -> Result<Url, AuthError> {
        let url = discovery::secure_url(what, text)?;
        if is_public_url(self.server.as_str()) && !is_public_url(url.as_str()) {
            return Err(AuthError::Private { what, url: discovery::shown(text) });
        }
        Ok(url)
    }

    /// Requests the first of the remaining places. Returns `missing` if none is left.
    pub(super) fn fetch(
        &mut self,
        places: &mut VecDeque<String>,
        missing: AuthError,
    ) -> Result<(), AuthError> {
        let url = places.pop_front().ok_or(missing)?;
        self.remote_url("metadata", &url)?;
        self.request = Some(AuthRequest { url, body: None, authorization: None, proof: None });
        Ok(())
    }

    pub(super) fn handle_resource(
        &mut self,
        begun: SignInStart,
        mut places: VecDeque<String>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        if !is_success(status) {
            self.fetch(&mut places, AuthError::NoResourceMetadata)?;
            return Ok(Step::Resource { begun, places });
        }
        let resource = wire::decode::<ProtectedResourceMetadata>(body);
        let resource = resource.map_err(|error| invalid("metadata of the server", error))?;
        discovery::check_resource(&self.server, &resource.resource)?;
        let issuer = self.issuer(&resource).ok_or(AuthError::NoAuthorizationServer)?;
        let url = self.remote_url("authorization server", &issuer)?;
        let mut places = discovery::server_metadata(&url);
        self.fetch(&mut places, AuthError::NoServerMetadata(issuer.clone()))?;
        Ok(Step::Server { begun, resource, issuer, places })
    }

    /// Selects an authorization server: one at which the client is registered, otherwise the first.
    fn issuer(&self, resource: &ProtectedResourceMetadata) -> Option<String> {
        let listed = resource.authorization_servers.as_deref().unwrap_or_default();
        let known = self.options.registration.as_ref().map(|known| &known.issuer);
        listed.iter().find(|issuer| Some(*issuer) == known).or(listed.first()).cloned()
    }

    pub(super) fn handle_server(
        &mut self,
        begun: SignInStart,
        resource: ProtectedResourceMetadata,
        issuer: String,
        mut places: VecDeque<String>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        if !is_success(status) {
            self.fetch(&mut places, AuthError::NoServerMetadata(issuer.clone()))?;
            return Ok(Step::Server { begun, resource, issuer, places });
        }
        let server = authorization_server(&issuer, body)?;
        let has_page = self.options.grant == Grant::AuthorizationCode;
        if has_page {
            sign_in::check_page(&server)?;
        }
        self.remote_url("token endpoint", &server.token_endpoint)?;
        let previous = self.credentials.as_ref();
        let previous = previous
            .filter(|it| it.registration.issuer == issuer && it.resource == resource.resource);
        // Only tokens of a user are refreshed.
        let offered = server.scopes_supported.as_deref().filter(|_| has_page).unwrap_or_default();
        let scopes = sign_in::scopes(&begun.challenge, &resource, offered, previous);
        if let Some(previous) = previous.filter(|_| begun.needs_scopes)
            && scopes.iter().all(|scope| previous.scopes.contains(scope))
        {
            return Err(AuthError::Scope(scopes.join(" ")));
        }
        let can_refresh = has_page && !begun.needs_scopes;
        let binding = self.binding(&begun.challenge, &resource, &server, previous)?;
        let refreshed = previous.filter(|_| can_refresh).cloned();
        let resource = resource.resource;
        let secrets = begun.secrets;
        let found = AuthorizationTarget { resource, server, scopes, binding, secrets };
        if let Some(previous) = refreshed {
            let sign_in = Box::new(SignIn::new(found, previous.registration.clone()));
            return match sign_in.refresh(&previous) {
                Some(request) => Ok(self.send(sign_in, Some(previous), request)),
                None => self.identify(sign_in.found),
            };
        }
        match has_page {
            true => self.identify(found),
            false => self.request_token(found),
        }
    }

    /// Sends a token request, with a proof if the token is to be bound to the key of the client.
    pub(super) fn send(
        &mut self,
        mut sign_in: Box<SignIn>,
        previous: Option<Credentials>,
        mut request: AuthRequest,
    ) -> Step {
        request.proof = self.token_proof(&sign_in);
        sign_in.sent = request.proof.is_some().then(|| request.clone());
        self.request = Some(request);
        Step::Token(sign_in, previous)
    }

    /// Determines the identity of the client at the authorization server.
    fn identify(&mut self, found: AuthorizationTarget) -> Result<Step, AuthError> {
        let issuer = &found.server.issuer;
        let redirect_uri = &self.options.redirect_uri;
        let stored = self.credentials.as_ref().map(|credentials| &credentials.registration);
        let known = self.options.registration.iter().chain(stored);
        if let Some(known) = known.into_iter().find(|known| known.fits(issuer, redirect_uri)) {
            let known = known.clone();
            return self.open(found, known);
        }
        let takes_urls = found.server.client_id_metadata_document_supported == Some(true);
        if let Some(url) = self.options.metadata_url.as_ref().filter(|_| takes_urls) {
            let known = ClientRegistration::new(issuer, url, None);
            return self.open(found, known);
        }
        let Some(endpoint) = found.server.registration_endpoint.clone() else {
            return Err(AuthError::NoRegistration(issuer.clone()));
        };
        self.remote_url("registration endpoint", &endpoint)?;
        let request = RegistrationRequest::new(
            &self.options.client_name,
            redirect_uri,
            &found.server,
            &found.scopes,
            self.options.dpop_key.as_ref().is_some_and(|key| key.is_required),
        );
        // Serialization of strings does not fail.
        let body = serde_json::to_string(&request).unwrap_or_default();
        let body = Some(("application/json", body));
        self.request = Some(AuthRequest { url: endpoint, body, authorization: None, proof: None });
        Ok(Step::Registration(Box::new(found)))
    }

    pub(super) fn handle_registration(
        &mut self,
        found: Box<AuthorizationTarget>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        let what = "registration endpoint";
        check_status(what, status, body)?;
        let response: RegistrationResponse =
            wire::decode_serde(body).map_err(|error| invalid(what, error))?;
        let issuer = &found.server.issuer;
        let redirect_uri = &self.options.redirect_uri;
        let known = ClientRegistration::registered(issuer, response, redirect_uri);
        self.open(*found, known)
    }

    fn open(
        &mut self,
        found: AuthorizationTarget,
        client: ClientRegistration,
    ) -> Result<Step, AuthError> {
        let sign_in = SignIn::new(found, client);
        let url = sign_in.page(&self.options.redirect_uri)?;
        self.events.push_back(AuthEvent::Open { url });
        Ok(Step::Opened(Box::new(sign_in)))
    }

    pub(super) fn handle_token(
        &mut self,
        mut sign_in: Box<SignIn>,
        previous: Option<Credentials>,
        status: u16,
        body: &str,
    ) -> Result<Step, AuthError> {
        if let Some(request) = self.repeated(&mut sign_in, status, body) {
            return Ok(match self.options.grant {
                // A JWT may be valid once.
                Grant::ClientAssertion | Grant::JwtBearer => self.request_assertion(sign_in),
                Grant::AuthorizationCode | Grant::ClientSecret => {
                    self.send(sign_in, previous, request)
                }
            });
        }
        if previous.is_some() && matches!(status, 400 | 401) {
            // The refresh token was revoked or has expired.
            return self.identify(sign_in.found);
        }
        check_status("token endpoint", status, body)?;
        self.credentials = Some(sign_in.credentials(previous, body)?);
        self.events.push_back(AuthEvent::SignedIn);
        Ok(Step::Idle)
    }
}
