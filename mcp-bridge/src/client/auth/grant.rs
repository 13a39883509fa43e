//! Ways of a client to obtain tokens, and those without a page.
use super::sign_in::{AuthorizationTarget, SignIn};
use super::step::Step;
use super::{AuthError, AuthEvent, Authorizer};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// The way of a client to obtain tokens.
///
/// Except for [`AuthorizationCode`](Self::AuthorizationCode), no user takes part, and tokens are
/// not refreshed but requested again. The client has to be registered in advance
/// ([`AuthOptions::registration`](super::AuthOptions::registration)), so that its secret or its JWT
/// reaches no authorization server that only the MCP server names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The user signs in at the page of [`AuthEvent::Open`].
    #[default]
    AuthorizationCode,
    /// The client acts for itself, and authenticates with the secret of its registration.
    ///
    /// Spec: [OAuth Client
    /// Credentials](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/oauth-client-credentials.mdx)
    ClientSecret,
    /// The client acts for itself, and authenticates with a JWT that it signs for
    /// [`AuthEvent::Assert`] (`private_key_jwt`). Its claims are `iss` and `sub`, the client id;
    /// `aud`, the issuer; `jti`; `iat` and `exp`.
    ///
    /// Spec: [OAuth Client
    /// Credentials](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/oauth-client-credentials.mdx),
    /// [RFC 7523, section 2.2](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.2)
    ClientAssertion,
    /// The client presents a JWT for [`AuthEvent::Assert`] from a third party that the
    /// authorization server trusts: the identity of a workload, or a grant of an identity provider
    /// (ID-JAG). The client id is sent unless it is empty, together with the secret, if there is
    /// one.
    ///
    /// Spec: [Workload Identity
    /// Federation](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/workload-identity-federation.mdx),
    /// [Enterprise-Managed
    /// Authorization](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/stable/enterprise-managed-authorization.mdx),
    /// [RFC 7523, section 2.1](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.1)
    JwtBearer,
}

/// A JWT that the client has to provide.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssertionRequest {
    /// Issuer of the authorization server, the audience of the JWT.
    pub issuer: String,
    /// URL of the token endpoint, which some authorization servers expect as the audience.
    pub token_endpoint: String,
    /// Identifier of the MCP server.
    pub resource: String,
    /// Scopes that the token will be requested with. May be empty.
    pub scopes: Vec<String>,
    /// Unpredictable identifier for the claim `jti`.
    pub id: String,
}

impl Authorizer {
    /// Requests a token of a client that acts without a page, or the JWT for it.
    pub(super) fn request_token(&mut self, found: AuthorizationTarget) -> Result<Step, AuthError> {
        let client = self.options.registration.as_ref();
        let client = client.filter(|client| client.issuer == found.server.issuer).cloned();
        let Some(client) = client else {
            return Err(AuthError::NoRegistration(found.server.issuer));
        };
        let sign_in = Box::new(SignIn::new(found, client));
        if self.options.grant == Grant::ClientSecret {
            let request = sign_in.grant(&[("grant_type", "client_credentials")], None);
            return Ok(self.send(sign_in, None, request));
        }
        Ok(self.request_assertion(sign_in))
    }

    /// Requests the JWT of a sign-in from the client.
    pub(super) fn request_assertion(&mut self, sign_in: Box<SignIn>) -> Step {
        let AuthorizationTarget { resource, server, scopes, secrets, .. } = &sign_in.found;
        self.events.push_back(AuthEvent::Assert(AssertionRequest {
            issuer: server.issuer.clone(),
            token_endpoint: server.token_endpoint.clone(),
            resource: resource.clone(),
            scopes: scopes.clone(),
            id: secrets.assertion_id(sign_in.is_repeated).into(),
        }));
        Step::Asserting(sign_in)
    }

    /// Handles the JWT of [`AuthEvent::Assert`]. A JWT that is not expected is ignored. A sign-in
    /// without one ends with [`cancel`](Self::cancel).
    pub fn handle_assertion(&mut self, jwt: &str) {
        match core::mem::replace(&mut self.step, Step::Idle) {
            Step::Asserting(sign_in) => {
                let request = match self.options.grant {
                    Grant::JwtBearer => {
                        sign_in.grant(&[("grant_type", JWT_BEARER), ("assertion", jwt)], None)
                    }
                    _ => sign_in.grant(&[("grant_type", "client_credentials")], Some(jwt)),
                };
                self.step = self.send(sign_in, None, request);
            }
            other => self.step = other,
        }
    }
}
