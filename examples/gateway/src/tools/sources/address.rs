//! Transports of servers: the pipes of a process, or Streamable HTTP.
use acp_types::v1::session_setup::McpServer;
use async_trait::async_trait;
use host::transport::{Address, AgentProcess};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::client::ClientOptions;
use mcp_bridge::client::auth::{AuthError, AuthOptions, Grant};
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge_http::{CredentialStore, Handler, McpClient, SignIn};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rustls::crypto::ring::default_provider;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for a connection over TCP.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// The address of a server is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The transport is neither the pipes of a process nor Streamable HTTP.
    #[error("expected a command, or a URL with the transport `http`")]
    Transport,
    /// A header cannot be sent. The value is not shown.
    #[error("the header `{0}`: expected a name and a value of a header")]
    Header(String),
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[from] reqwest::Error),
    /// No sign-in is possible at the address.
    #[error("cannot sign in: {0}")]
    SignIn(#[from] AuthError),
}

/// Sign-in at a server over HTTP that requires it.
#[derive(Clone)]
#[expect(missing_debug_implementations, reason = "a store of credentials has none")]
pub struct SignInOptions {
    /// Identity of the program. The redirect URI is the one of
    /// [`ToolServer::begin_sign_in`](crate::tools::sources::ToolServer::begin_sign_in).
    pub auth: AuthOptions,
    /// The credentials of a user. A program that acts for itself requests a token in each run.
    pub store: Arc<dyn CredentialStore>,
}

impl SignInOptions {
    /// Returns the sign-in at a server. Tokens are not sent over plain HTTP to another machine, so
    /// a server there has no sign-in, which is an error only if the program is registered for one.
    fn at(self, http: reqwest::Client, url: &str) -> Result<Option<Arc<SignIn>>, AuthError> {
        let Self { auth, store } = self;
        let is_registered = auth.registration.is_some() || auth.metadata_url.is_some();
        let sign_in = match auth.grant {
            Grant::AuthorizationCode => SignIn::without_browser(http, url, auth, store),
            _ => SignIn::without_user(http, url, auth, None),
        };
        match sign_in {
            Err(AuthError::Url { .. }) if !is_registered => Ok(None),
            sign_in => Ok(Some(Arc::new(sign_in?))),
        }
    }
}

/// The way to a server.
#[derive(Debug)]
pub(crate) enum ServerAddress {
    Process(Address),
    Http { http: reqwest::Client, url: String, sign_in: Option<Arc<SignIn>>, has_users: bool },
}

/// A connection, and the process that it belongs to.
pub(crate) struct OpenConnection {
    pub(crate) client: McpClient,
    pub(crate) process: Option<AgentProcess>,
}

impl ServerAddress {
    /// Reads a description. A process does not inherit the variables in `secrets`.
    pub(crate) fn new(
        server: &McpServer,
        secrets: Vec<String>,
        sign_in: Option<SignInOptions>,
    ) -> Result<Self, AddressError> {
        match server {
            McpServer::Stdio(stdio) => {
                let words = [&stdio.command].into_iter().chain(&stdio.args).cloned().collect();
                let variables = stdio.env.iter().map(|it| (it.name.clone(), it.value.clone()));
                let variables: BTreeMap<_, _> = variables.collect();
                Ok(Self::Process(Address::Command { words, secrets, variables }))
            }
            McpServer::Http(http) => {
                let mut headers = HeaderMap::new();
                for header in &http.headers {
                    let name = HeaderName::try_from(&header.name);
                    let value = HeaderValue::try_from(&header.value);
                    let (Ok(name), Ok(mut value)) = (name, value) else {
                        return Err(AddressError::Header(header.name.clone()));
                    };
                    value.set_sensitive(true);
                    headers.insert(name, value);
                }
                // The client panics without a default provider. A default of the program stays in
                // place.
                let _ = default_provider().install_default();
                // A redirect would send the headers to another address.
                let client = || reqwest::Client::builder().redirect(Policy::none());
                let client = || client().connect_timeout(CONNECT_TIME);
                let url = http.url.clone();
                let has_users =
                    sign_in.as_ref().is_some_and(|it| it.auth.grant == Grant::AuthorizationCode);
                // The headers are for the server only, so the sign-in has a client of its own.
                let sign_in = match sign_in {
                    Some(options) => options.at(client().build()?, &url)?,
                    None => None,
                };
                let http = client().default_headers(headers).build()?;
                Ok(Self::Http { http, url, sign_in, has_users })
            }
            _ => Err(AddressError::Transport),
        }
    }

    /// Returns the sign-in of users, if the server has one.
    pub(crate) fn sign_in(&self) -> Option<&Arc<SignIn>> {
        match self {
            Self::Http { sign_in, has_users, .. } => sign_in.as_ref().filter(|_| *has_users),
            Self::Process(_) => None,
        }
    }

    /// Connects to the server. An error is the reason, for a log.
    pub(crate) async fn connect(
        &self,
        options: ClientOptions,
        exit_grace: Duration,
    ) -> Result<OpenConnection, String> {
        match self {
            Self::Process(address) => {
                let transport = address.connect(exit_grace).await.map_err(|it| it.to_string())?;
                let outgoing = transport.outgoing;
                let send = move |line| outgoing.send(line).map_err(io::Error::other);
                let incoming = transport.incoming;
                let client =
                    McpClient::connect_pipes(incoming, send, options, Arc::new(NoHandler)).await;
                match client {
                    Ok(client) => Ok(OpenConnection { client, process: transport.process }),
                    Err(error) => Err(explain(error.to_string(), transport.process).await),
                }
            }
            Self::Http { http, url, sign_in, .. } => {
                let http = http.clone();
                let handler = Arc::new(NoHandler);
                let client = McpClient::connect(http, url, options, handler, sign_in.clone()).await;
                let client = client.map_err(|error| error.to_string())?;
                Ok(OpenConnection { client, process: None })
            }
        }
    }
}

/// Waits for the end of a process, and returns `problem` with its status and its last words.
pub(crate) async fn explain(problem: String, process: Option<AgentProcess>) -> String {
    let Some(process) = process else { return problem };
    let (status, last) = process.end().await;
    let status = status.map_or_else(|error| error.to_string(), |status| status.to_string());
    let last = if last.is_empty() { String::new() } else { format!(": {}", last.join("; ")) };
    format!("{problem} ({status}){last}")
}

/// Every call has a receiver of its own, which answers.
struct NoHandler;

#[async_trait]
impl Handler for NoHandler {
    async fn answer(&self, request: &ServerRequest) -> Result<Raw, ErrorObject> {
        let problem = format!("unknown method: {}", request.method());
        Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::{AddressError, ServerAddress, SignInOptions};
    use acp_types::v1::session_setup::{McpServer, McpServerHttp};
    use async_trait::async_trait;
    use mcp_bridge::client::auth::{AuthError, AuthOptions, Credentials};
    use mcp_bridge_http::CredentialStore;
    use std::sync::Arc;

    struct NoCredentials;

    #[async_trait]
    impl CredentialStore for NoCredentials {
        async fn load(&self) -> Option<Credentials> {
            None
        }

        async fn save(&self, _: &Credentials) {}

        async fn remove(&self) {}
    }

    #[test]
    fn server_over_plain_http_has_no_sign_in() {
        let address = |url: &str, metadata_url: Option<&str>| {
            let mut auth = AuthOptions::new("test", "");
            auth.metadata_url = metadata_url.map(str::to_owned);
            let server = McpServer::Http(McpServerHttp::new("docs", url, []));
            let options = SignInOptions { auth, store: Arc::new(NoCredentials) };
            ServerAddress::new(&server, Vec::new(), Some(options))
        };
        for (url, expected) in [
            ("http://tools.example:8000/mcp", false),
            ("http://127.0.0.1:8000/mcp", true),
            ("https://tools.example/mcp", true),
        ] {
            assert_eq!(address(url, None).unwrap().sign_in().is_some(), expected, "{url}");
        }
        let registered = address("http://tools.example:8000/mcp", Some("https://client.example"));
        assert!(matches!(registered, Err(AddressError::SignIn(AuthError::Url { .. }))));
    }
}
