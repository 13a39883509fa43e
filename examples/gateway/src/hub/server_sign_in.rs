//! Credentials of MCP servers, sealed in the store of runs.
use crate::store::RunStore;
use crate::tools::sources::{CredentialStore, SignInOptions};
use async_trait::async_trait;
use host::http::Secret;
use host::key::Key;
use mcp_bridge::client::auth::{AuthOptions, ClientRegistration, Credentials, Grant};
use mcp_bridge::seal::{SealedStates, StateKey};
use mcp_bridge::server::StateCodec;
use mcp_bridge_http::{random_bytes, since_1970};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

/// Time after which unchanged credentials cannot be opened.
const LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Where credentials are kept.
#[derive(Clone, Debug)]
pub struct SignInPlace {
    store: Arc<dyn RunStore>,
    key_file: Option<PathBuf>,
    client_name: String,
}

impl SignInPlace {
    /// Creates the place of a program that authorization servers show to users by `client_name`.
    /// The file with the key is created if it is missing. Without one, the credentials end with the
    /// program.
    pub fn new(store: Arc<dyn RunStore>, key_file: Option<PathBuf>, client_name: &str) -> Self {
        Self { store, key_file, client_name: client_name.to_owned() }
    }
}

/// The way to obtain tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SignInGrant {
    /// A user signs in.
    #[default]
    AuthorizationCode,
    /// The program acts for itself, with its secret.
    ClientCredentials,
}

/// Registration of the program at an authorization server that does not register clients.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct ClientSettings {
    /// The way to obtain tokens.
    pub grant: SignInGrant,
    /// The authorization server: its `issuer`.
    pub issuer: Option<String>,
    /// Id of the program there.
    pub client_id: Option<String>,
    /// Secret of the program there, unless it is a public client.
    pub client_secret: Option<Secret>,
    /// File with the secret.
    pub client_secret_file: Option<PathBuf>,
    /// Variable of this program with the secret.
    pub client_secret_variable: Option<String>,
    /// URL of a metadata document of the program, for authorization servers with such client ids.
    pub metadata_url: Option<String>,
}

impl ClientSettings {
    /// Returns whether there is a setting.
    pub(crate) fn is_set(&self) -> bool {
        let texts =
            [&self.issuer, &self.client_id, &self.client_secret_variable, &self.metadata_url];
        self.grant != SignInGrant::default()
            || self.client_secret.is_some()
            || self.client_secret_file.is_some()
            || texts.into_iter().any(Option::is_some)
    }

    /// Returns the identity of the program, or the setting that is wrong and the reason.
    fn options(&self, client_name: &str) -> Result<AuthOptions, (&'static str, String)> {
        let secret = self.secret()?;
        let is_without_user = self.grant == SignInGrant::ClientCredentials;
        if is_without_user && secret.is_none() {
            return Err(("client-secret", "missing, expected with this `grant`".to_owned()));
        }
        // The redirect URI depends on the address by which the user's browser reaches the program.
        let mut options = AuthOptions::new(client_name, "");
        options.metadata_url.clone_from(&self.metadata_url);
        options.registration = match (&self.issuer, &self.client_id) {
            (Some(issuer), Some(id)) => Some(ClientRegistration::new(issuer, id, secret)),
            (None, None) if secret.is_none() => None,
            (None, _) => return Err(("issuer", "missing, expected with a client".to_owned())),
            (_, None) => return Err(("client-id", "missing, expected with an issuer".to_owned())),
        };
        if is_without_user {
            options.grant = Grant::ClientSecret;
        }
        Ok(options)
    }

    fn secret(&self) -> Result<Option<String>, (&'static str, String)> {
        let own = self.client_secret.as_ref().map(|secret| Ok(secret.reveal().to_owned()));
        let file = self.client_secret_file.as_ref().map(|path| {
            let text = fs::read_to_string(path).map(|text| text.trim().to_owned());
            text.map_err(|error| ("client-secret-file", format!("{}: {error}", path.display())))
        });
        let variable = self.client_secret_variable.as_ref().map(|name| {
            let value = env::var(name).ok().filter(|value| !value.is_empty());
            value.ok_or_else(|| ("client-secret-variable", format!("{name} has no value")))
        });
        let mut given = own.into_iter().chain(file).chain(variable);
        match (given.next(), given.next()) {
            (_, Some(_)) => Err(("client-secret", "expected one value, got two".to_owned())),
            (one, None) => one.transpose(),
        }
    }
}

/// Sign-ins at servers, with one key.
pub(crate) struct SignIns {
    place: SignInPlace,
    key: StateKey,
}

impl SignIns {
    /// Reads the key, or creates it.
    pub(crate) fn open(place: &SignInPlace) -> Result<Self, String> {
        let key = match &place.key_file {
            Some(path) => read_key(path)?,
            None => Key::random().map_err(|error| error.to_string())?,
        };
        Ok(Self { place: place.clone(), key: StateKey::new(1, key.0) })
    }

    /// Returns the sign-in at a server. An error is the setting and the reason.
    pub(crate) fn of_server(
        &self,
        name: &str,
        url: &str,
        client: &ClientSettings,
    ) -> Result<SignInOptions, (&'static str, String)> {
        let auth = client.options(&self.place.client_name)?;
        let store = self.place.store.clone();
        let key = self.key.clone();
        // Another server of the same name does not receive the tokens.
        let place = format!("mcp-sign-in:{name}");
        let bound_to = format!("{name} {url}");
        Ok(SignInOptions {
            auth,
            store: Arc::new(SealedCredentials { store, key, place, bound_to }),
        })
    }
}

fn read_key(path: &Path) -> Result<Key, String> {
    Key::read_or_create(path).map_err(|error| error.to_string())
}

/// The credentials of one server.
struct SealedCredentials {
    store: Arc<dyn RunStore>,
    key: StateKey,
    /// Name in the store.
    place: String,
    bound_to: String,
}

impl SealedCredentials {
    fn states(
        &self,
        nonce: [u8; 12],
    ) -> SealedStates<impl Fn() -> Duration, impl Fn(&mut [u8; 12])> {
        SealedStates::new(self.key.clone(), LIFETIME, since_1970, move |out| *out = nonce)
    }

    async fn read(&self) -> Result<Option<Credentials>, String> {
        let sealed = self.store.kept(&self.place).await.map_err(|error| error.to_string())?;
        let Some(sealed) = sealed else { return Ok(None) };
        let text = self.states([0; 12]).try_open(&sealed, &self.bound_to);
        let text = text.map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map(Some).map_err(|error| error.to_string())
    }

    async fn write(&self, credentials: &Credentials) -> Result<(), String> {
        let text = serde_json::to_string(credentials).map_err(|error| error.to_string())?;
        let nonce = random_bytes().map_err(|error| error.to_string())?;
        let sealed = self.states(nonce).seal(&text, &self.bound_to);
        let stored = self.store.keep(&self.place, Some(&sealed)).await;
        stored.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl CredentialStore for SealedCredentials {
    async fn load(&self) -> Option<Credentials> {
        self.read().await.unwrap_or_else(|error| {
            tracing::warn!(place = self.place, error, "cannot read credentials; sign in again");
            None
        })
    }

    async fn save(&self, credentials: &Credentials) {
        if let Err(error) = self.write(credentials).await {
            tracing::error!(place = self.place, error, "cannot store credentials");
        }
    }

    async fn remove(&self) {
        if let Err(error) = self.store.keep(&self.place, None).await {
            tracing::error!(place = self.place, %error, "cannot remove credentials");
        }
    }
}

#[cfg(test)]
mod tests;
