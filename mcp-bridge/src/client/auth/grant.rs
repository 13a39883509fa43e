//! Ways of a client to obtain tokens, and those without a page.
use super::sign_in::{Found, SignIn};
use super::steps::Step;
use super::{AuthError, AuthEvent, Authorizer};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The way of a client to obtain tokens.
///
/// Except for [`AuthorizationCode`](Self::AuthorizationCode), no user takes part, and tokens are not refreshed but requested
/// again. The client has to be registered in advance ([`AuthOptions::registration`](super::AuthOptions::registration)), so
/// that its secret or its JWT reaches no authorization server that only the MCP server names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The user signs in at the page of [`AuthEvent::Open`].
    #[default]
    AuthorizationCode,
    /// The client acts for itself, and authenticates with the secret of its registration.
    ///
    /// Spec: [OAuth Client Credentials](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/oauth-client-credentials.mdx)
    ClientSecret,
    /// The client acts for itself, and authenticates with a JWT that it signs for [`AuthEvent::Assert`]
    /// (`private_key_jwt`). Its claims are `iss` and `sub`, the client id; `aud`, the issuer; `jti`; `iat` and `exp`.
    ///
    /// Spec: [OAuth Client Credentials](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/oauth-client-credentials.mdx),
    /// [RFC 7523, section 2.2](https://www.rfc-editor.org/rfc/rfc7523.html#section-2.2)
    ClientAssertion,
    /// The client presents a JWT for [`AuthEvent::Assert`] from a third party that the authorization server trusts: the
    /// identity of a workload, or a grant of an identity provider (ID-JAG). The client id is sent unless it is empty,
    /// together with the secret, if there is one.
    ///
    /// Spec: [Workload Identity Federation](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/draft/workload-identity-federation.mdx),
    /// [Enterprise-Managed Authorization](https://github.com/modelcontextprotocol/ext-auth/blob/main/specification/stable/enterprise-managed-authorization.mdx),
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
    pub(super) fn request_token(&mut self, found: Found) -> Result<Step, AuthError> {
        let client = self.options.registration.as_ref();
        let client = client.filter(|client| client.issuer == found.server.issuer).cloned();
        let Some(client) = client else {
            return Err(AuthError::NoRegistration(found.server.issuer));
        };
        if self.options.grant == Grant::ClientSecret {
            let sign_in = SignIn::new(found, client);
            self.request = Some(sign_in.grant(&[("grant_type", "client_credentials")]));
            return Ok(Step::Token(Box::new(sign_in)));
        }
        self.events.push_back(AuthEvent::Assert(AssertionRequest {
            issuer: found.server.issuer.clone(),
            token_endpoint: found.server.token_endpoint.clone(),
            resource: found.resource.clone(),
            scopes: found.scopes.clone(),
            id: found.secrets.state.clone(),
        }));
        Ok(Step::Asserting(Box::new(SignIn::new(found, client))))
    }

    /// Handles the JWT of [`AuthEvent::Assert`]. A JWT that is not expected is ignored. A sign-in without one ends with
    /// [`cancel`](Self::cancel).
    pub fn handle_assertion(&mut self, jwt: &str) {
        match core::mem::replace(&mut self.step, Step::Idle) {
            Step::Asserting(sign_in) => {
                self.request = Some(match self.options.grant {
                    Grant::JwtBearer => {
                        sign_in.grant(&[("grant_type", JWT_BEARER), ("assertion", jwt)])
                    }
                    _ => sign_in.grant(&[
                        ("grant_type", "client_credentials"),
                        ("client_assertion_type", CLIENT_ASSERTION),
                        ("client_assertion", jwt),
                    ]),
                });
                self.step = Step::Token(sign_in);
            }
            other => self.step = other,
        }
    }
}
