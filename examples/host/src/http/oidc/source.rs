//! Where the keys of a provider are read: a file, a URL, or the metadata of the provider.
use super::keys::Keys;
use super::settings::OidcSettings;
use super::source_error::{MAX_DOCUMENT, SourceError};
use crate::http::AccessError;
use display_error_chain::ErrorChainExt;
use reqwest::header::ACCEPT;
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::ring::default_provider;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Position;

/// Time limit of a request to the provider, with the body of its response.
const FETCH_TIME: Duration = Duration::from_secs(5);

/// Path of the metadata below the issuer.
///
/// Spec: [OpenID Connect Discovery, section
/// 4](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig)
const METADATA: &str = "/.well-known/openid-configuration";

/// The source of the keys.
#[derive(Debug)]
pub(super) enum Source {
    File(PathBuf),
    Url(Client, Url),
    /// The metadata of the provider with this issuer.
    Metadata(Client, Url, String),
}

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl Source {
    pub(super) fn new(issuer: &str, settings: &OidcSettings) -> Result<Self, AccessError> {
        let wrong = |setting| move |error| AccessError::OidcSource(setting, error);
        let metadata = permitted(&format!("{}{METADATA}", issuer.trim_end_matches('/')));
        let metadata = metadata.map_err(|_| SourceError::Url(without_user(issuer)));
        let metadata = metadata.map_err(wrong("auth.oidc.issuer"))?;
        match (&settings.jwks_file, &settings.jwks_url) {
            (Some(_), Some(_)) => Err(AccessError::OidcTwoSources),
            (Some(file), None) => Ok(Self::File(file.clone())),
            (None, Some(url)) => {
                let url = permitted(url).map_err(wrong("auth.oidc.jwks-url"))?;
                Ok(Self::Url(client()?, url))
            }
            (None, None) => Ok(Self::Metadata(client()?, metadata, issuer.to_owned())),
        }
    }

    /// Reads the keys from their file; `None` if they are elsewhere.
    pub(super) fn read_file(&self) -> Option<Result<Keys, AccessError>> {
        let Self::File(path) = self else { return None };
        let keys = keys_of_file(path);
        Some(keys.map_err(|error| AccessError::OidcSource("auth.oidc.jwks-file", error)))
    }

    /// Reads the keys.
    pub(super) async fn read(&self) -> Result<Keys, SourceError> {
        let (client, url) = match self {
            Self::File(path) => {
                let path = path.clone();
                let read = tokio::task::spawn_blocking(move || keys_of_file(&path)).await;
                return read
                    .map_err(|error| SourceError::Request("file".to_owned(), error.to_string()))?;
            }
            Self::Url(client, url) => (client, url.clone()),
            Self::Metadata(client, url, issuer) => {
                let document = fetch(client, url).await?;
                let metadata = serde_json::from_slice(&document);
                let wrong = |error| SourceError::Metadata(shown(url), error);
                let Metadata { issuer: got, jwks_uri } = metadata.map_err(wrong)?;
                if got != *issuer {
                    return Err(SourceError::Issuer(shown(url), issuer.clone(), got));
                }
                (client, permitted(&jwks_uri)?)
            }
        };
        let document = fetch(client, &url).await?;
        Keys::parse(&document).map_err(|error| SourceError::Keys(shown(&url), error))
    }
}

fn keys_of_file(path: &Path) -> Result<Keys, SourceError> {
    let unreadable = |error| SourceError::File(path.to_owned(), error);
    let mut document = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_DOCUMENT as u64 + 1).read_to_end(&mut document).map_err(unreadable)?;
    let path = path.display().to_string();
    if document.len() > MAX_DOCUMENT {
        return Err(SourceError::Size(path));
    }
    Keys::parse(&document).map_err(|error| SourceError::Keys(path, error))
}

/// Returns a URL that may be fetched: over TLS, or from this machine.
fn permitted(text: &str) -> Result<Url, SourceError> {
    let is_permitted = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
        let is_local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        let is_named = url.username().is_empty() && url.password().is_none();
        is_named && (url.scheme() == "https" || url.scheme() == "http" && is_local)
    };
    text.parse().ok().filter(is_permitted).ok_or_else(|| SourceError::Url(without_user(text)))
}

/// Returns a URL without its user and password.
fn without_user(text: &str) -> String {
    text.rsplit_once('@').map_or(text, |(_, rest)| rest).to_owned()
}

/// Returns a URL without its query, which may be a secret.
fn shown(url: &Url) -> String {
    url[..Position::AfterPath].to_owned()
}

fn client() -> Result<Client, AccessError> {
    // The client panics without a default provider. A default of the program stays in place.
    let _ = default_provider().install_default();
    let client = Client::builder()
        .timeout(FETCH_TIME)
        .redirect(Policy::none())
        .user_agent(concat!("spanwire-http-access/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| AccessError::OidcClient(error.to_string()))
}

/// Fetches a document of limited size.
async fn fetch(client: &Client, url: &Url) -> Result<Vec<u8>, SourceError> {
    let failed = |error: reqwest::Error| {
        let why = if error.is_timeout() {
            "no response in time".to_owned()
        } else {
            error.without_url().chain().to_string()
        };
        SourceError::Request(shown(url), why)
    };
    let mut response =
        client.get(url.clone()).header(ACCEPT, "application/json").send().await.map_err(failed)?;
    if response.status() != reqwest::StatusCode::OK {
        return Err(SourceError::Status(shown(url), response.status().as_u16()));
    }
    let mut document = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if document.len() + chunk.len() > MAX_DOCUMENT {
            return Err(SourceError::Size(shown(url)));
        }
        document.extend_from_slice(&chunk);
    }
    Ok(document)
}
