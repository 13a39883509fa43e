//! The current step of a sign-in or a sign-out.
use super::challenge::Challenge;
use super::credentials::{ClientRegistration, Credentials};
use super::metadata::{AuthorizationServerMetadata, ProtectedResourceMetadata};
use super::sign_in::{AuthorizationTarget, Secrets, SignIn};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use core::fmt;

/// The current step of a sign-in. Each except `Idle`, `Opened` and `Asserting` waits for a
/// response.
#[derive(Debug)]
pub(super) enum Step {
    Idle,
    Resource {
        begun: SignInStart,
        places: VecDeque<String>,
    },
    Server {
        begun: SignInStart,
        resource: ProtectedResourceMetadata,
        issuer: String,
        places: VecDeque<String>,
    },
    Registration(Box<AuthorizationTarget>),
    Opened(Box<SignIn>),
    Asserting(Box<SignIn>),
    /// A token was requested: with the refresh token of the credentials, if there are any.
    Token(Box<SignIn>, Option<Credentials>),
    /// A sign-out, before the metadata of the authorization server is known.
    Leaving(Credentials, VecDeque<String>),
    Revoking(Box<Revocation>),
}

/// A sign-in that has begun.
#[derive(Debug)]
pub(super) struct SignInStart {
    pub(super) challenge: Challenge,
    /// Whether the server rejected a token because of its scopes.
    pub(super) needs_scopes: bool,
    pub(super) secrets: Secrets,
}

/// Tokens that are revoked one after the other.
pub(super) struct Revocation {
    pub(super) server: AuthorizationServerMetadata,
    pub(super) endpoint: String,
    pub(super) client: ClientRegistration,
    /// Each with its type.
    pub(super) tokens: VecDeque<(&'static str, String)>,
}

impl fmt::Debug for Revocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revocation").field("client", &self.client).finish_non_exhaustive()
    }
}
