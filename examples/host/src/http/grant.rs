//! Users with valid credentials.
use std::sync::Arc;

/// A user. The empty name is that of all callers of a server without authentication.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Arc<str>);

impl From<&str> for Principal {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

impl Principal {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A user with valid credentials.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Grant {
    pub(crate) user: Principal,
    /// Digest of what a session of the user depends on: the token, or the settings of the OpenID
    /// provider. Empty for a user without a token: it begins no session.
    pub(crate) credential: String,
    /// End of the credentials, in seconds since 1970.
    pub(crate) until: Option<u64>,
}
