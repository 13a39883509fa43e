//! MCP servers of settings, for the sessions of agents.
use crate::hub::server_sign_in::{ClientSettings, SignInPlace, SignIns};
use crate::tools::sources::{AddressError, ServerOptions, SignInOptions, ToolServer};
use crate::tools::{MAX_SAMPLES, Offered, OfferedServer};
use acp_types::v1::session_setup::{
    EnvVariable, HttpHeader, McpServer, McpServerHttp, McpServerSse, McpServerStdio,
};
use host::http::Secret;
use mcp_bridge::plugin::Sampling;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::{env, fs};

/// An MCP server, by a command or a URL. Each secret is a value, or in a file or an environment
/// variable.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct McpServerSettings {
    /// Names of the agents and models that get it; all without this list.
    pub agents: Option<Vec<String>>,
    /// Whether calls of agents pass through this program, instead of a connection of each agent.
    pub relay: bool,
    /// Whether the users share one connection of this program, instead of a process or a session of
    /// each.
    pub shared: bool,
    /// A command with MCP on stdin and stdout; split into words like a shell, but run without a
    /// shell, by the agent.
    pub command: Option<String>,
    /// Variables of the command.
    pub env: BTreeMap<String, Secret>,
    /// Files with values of variables of the command.
    pub env_file: BTreeMap<String, PathBuf>,
    /// Variables of this program with values of variables of the command.
    pub env_variable: BTreeMap<String, String>,
    /// The address of a server over HTTP.
    pub url: Option<String>,
    /// The transport behind the address.
    pub transport: McpTransport,
    /// Headers of requests.
    pub header: BTreeMap<String, Secret>,
    /// Files with values of headers.
    pub header_file: BTreeMap<String, PathBuf>,
    /// Variables of this program with values of headers.
    pub header_variable: BTreeMap<String, String>,
    /// Requests of the server to the models that call its tools.
    pub sampling: SamplingSettings,
    /// Registration of this program for sign-ins, if the server's authorization server does not
    /// register clients.
    pub sign_in: ClientSettings,
}

/// The transport of a server behind a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpTransport {
    /// Streamable HTTP.
    #[default]
    Http,
    /// HTTP with server-sent events, deprecated by MCP.
    Sse,
}

/// Requests of a server to the models that call its tools.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct SamplingSettings {
    /// Maximum number of requests of one call; 0 permits none.
    pub max_requests: u32,
    /// Maximum number of tokens of one response; that of the model if it is lower.
    pub max_tokens: Option<NonZeroU32>,
}

impl Default for SamplingSettings {
    fn default() -> Self {
        Self { max_requests: MAX_SAMPLES, max_tokens: None }
    }
}

impl SamplingSettings {
    fn sampling(&self, server: &str) -> Sampling {
        let mut sampling = Sampling::new();
        if self.max_requests == 0 {
            let setting = format!("mcp-servers.{server}.sampling.max-requests");
            sampling = sampling.with_before(move |_, _| Err(format!("`{setting}` is 0")));
        } else {
            sampling = sampling.with_max_requests(self.max_requests);
        }
        match self.max_tokens {
            Some(most) => sampling.with_max_tokens(most.get().into()),
            None => sampling,
        }
    }
}

/// The settings of an MCP server are invalid.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {why}")]
pub struct McpServerError {
    setting: String,
    why: String,
}

/// Returns the servers for the sessions of an agent.
///
/// # Errors
/// A server has neither or both of a command and a URL, a program is not installed, or a secret
/// cannot be read.
pub fn mcp_servers(
    servers: &BTreeMap<String, McpServerSettings>,
    agent: &str,
) -> Result<Vec<McpServer>, McpServerError> {
    let chosen = servers.iter().filter(|(_, server)| server.is_for(agent) && !server.relay);
    chosen.map(|(name, server)| server.describe(name)).collect()
}

/// Connects to the servers that this program itself calls: those of `models`, and those that it
/// relays to agents.
///
/// # Errors
/// See [`mcp_servers`]. A relayed server has a transport that is deprecated.
pub fn offered_servers<'a>(
    servers: &BTreeMap<String, McpServerSettings>,
    models: impl Iterator<Item = &'a String> + Clone,
    options: &ServerOptions,
    sign_in: &SignInPlace,
) -> Result<Offered, McpServerError> {
    let mut offered = Vec::new();
    let mut sign_ins = None;
    for (name, server) in servers {
        let is_deprecated = server.transport == McpTransport::Sse && !server.relay;
        let is_for_models = models.clone().any(|model| server.is_for(model));
        if is_for_models && is_deprecated {
            tracing::warn!(server = name, "models get no tools over the transport `sse`");
        }
        if server.relay || is_for_models && !is_deprecated {
            let described = server.describe(name)?;
            let sign_in = server.sign_in(name, &described, sign_in, &mut sign_ins)?;
            let mut options = options.clone();
            options.is_shared = server.shared;
            options.can_sample = is_for_models && server.sampling.max_requests > 0;
            let started = ToolServer::start(&described, options, sign_in);
            let started = started.map_err(|error| {
                let setting = match error {
                    AddressError::Transport => "transport",
                    AddressError::Header(_) => "header",
                    _ => "url",
                };
                McpServerError::new(name, setting, error.to_string())
            })?;
            let agents = server.agents.clone();
            let is_relayed = server.relay;
            let sampling = server.sampling.sampling(name);
            offered.push(Arc::new(OfferedServer { server: started, agents, is_relayed, sampling }));
        }
    }
    Ok(offered)
}

impl McpServerError {
    fn new(server: &str, setting: &str, why: String) -> Self {
        Self { setting: format!("mcp-servers.{server}.{setting}"), why }
    }
}

impl McpServerSettings {
    /// Returns the sign-in at a server over HTTP that this program calls, unless the settings have
    /// its credentials. The first one opens the key.
    fn sign_in(
        &self,
        name: &str,
        described: &McpServer,
        place: &SignInPlace,
        open: &mut Option<SignIns>,
    ) -> Result<Option<SignInOptions>, McpServerError> {
        let McpServer::Http(http) = described else { return Ok(None) };
        let mut headers = http.headers.iter();
        if headers.any(|header| header.name.eq_ignore_ascii_case("authorization")) {
            return Ok(None);
        }
        let wrong = |(setting, why): (&str, String)| {
            McpServerError::new(name, &format!("sign-in.{setting}"), why)
        };
        let sign_ins = match open {
            Some(sign_ins) => sign_ins,
            None => open.insert(SignIns::open(place).map_err(|why| {
                // The key is that of all servers.
                McpServerError { setting: "store-key-file".to_owned(), why }
            })?),
        };
        sign_ins.of_server(name, &http.url, &self.sign_in).map(Some).map_err(wrong)
    }

    /// Returns whether an agent or a model gets the server.
    fn is_for(&self, agent: &str) -> bool {
        self.agents.as_ref().is_none_or(|agents| agents.iter().any(|name| name == agent))
    }

    /// Returns the names of the environment variables with secrets.
    pub fn secret_variables(&self) -> impl Iterator<Item = String> {
        let variables = self.env_variable.values().chain(self.header_variable.values());
        variables.chain(&self.sign_in.client_secret_variable).cloned()
    }

    fn describe(&self, name: &str) -> Result<McpServer, McpServerError> {
        let wrong = |setting: &str, why: String| McpServerError::new(name, setting, why);
        let has_env =
            !(self.env.is_empty() && self.env_file.is_empty() && self.env_variable.is_empty());
        let has_headers = !(self.header.is_empty()
            && self.header_file.is_empty()
            && self.header_variable.is_empty());
        match (&self.command, &self.url) {
            (Some(_), None) if self.sign_in.is_set() => {
                Err(wrong("url", "missing, expected with a sign-in".to_owned()))
            }
            (Some(_), None) if has_headers || self.transport != McpTransport::Http => {
                Err(wrong("url", "missing, expected with a header or a transport".to_owned()))
            }
            (None, Some(_)) if has_env => {
                Err(wrong("command", "missing, expected with variables".to_owned()))
            }
            (Some(command), None) => {
                let (program, arguments) = program(command).map_err(|why| wrong("command", why))?;
                let env = values("env", &self.env, &self.env_file, &self.env_variable);
                let env = env.map_err(|(setting, why)| wrong(&setting, why))?;
                let env = env.into_iter().map(|(name, value)| EnvVariable::new(name, value));
                let env: Vec<_> = env.collect();
                Ok(McpServer::Stdio(McpServerStdio::new(name, program, arguments, env)))
            }
            (None, Some(url)) => {
                if !(url.starts_with("http://") || url.starts_with("https://")) {
                    return Err(wrong("url", "expected http://… or https://…".to_owned()));
                }
                let headers =
                    values("header", &self.header, &self.header_file, &self.header_variable);
                let headers = headers.map_err(|(setting, why)| wrong(&setting, why))?;
                let headers = headers.into_iter().map(|(name, value)| HttpHeader::new(name, value));
                let headers: Vec<_> = headers.collect();
                Ok(match self.transport {
                    McpTransport::Http => McpServer::Http(McpServerHttp::new(name, url, headers)),
                    McpTransport::Sse => McpServer::Sse(McpServerSse::new(name, url, headers)),
                })
            }
            (got, _) => {
                let got = if got.is_some() { "both" } else { "none" };
                Err(wrong("command", format!("expected one of `command` and `url`, got {got}")))
            }
        }
    }
}

/// Returns the absolute path of a program, which ACP requires, and its arguments.
fn program(command: &str) -> Result<(String, Vec<String>), String> {
    let mut words = shlex::split(command).unwrap_or_default().into_iter();
    let program = words.next().ok_or("expected words, got none, or an open quote")?;
    let found = which::which(&program).map_err(|_| format!("`{program}` is not on the path"))?;
    let path = found.to_str().ok_or_else(|| format!("the path of `{program}` is not UTF-8"))?;
    Ok((path.to_owned(), words.collect()))
}

/// Returns values by name, from settings, files and variables of this program. An error has the
/// setting and the reason, without a value.
pub(crate) fn values(
    setting: &str,
    own: &BTreeMap<String, Secret>,
    files: &BTreeMap<String, PathBuf>,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, (String, String)> {
    let own = own.iter().map(|(name, value)| (name, String::new(), Ok(value.reveal().to_owned())));
    let files = files.iter().map(|(name, path)| {
        let read = fs::read_to_string(path).map(|text| text.trim().to_owned());
        (name, "-file".to_owned(), read.map_err(|error| format!("{}: {error}", path.display())))
    });
    let variables = variables.iter().map(|(name, variable)| {
        let value = env::var(variable).ok().filter(|value| !value.is_empty());
        (name, "-variable".to_owned(), value.ok_or_else(|| format!("{variable} has no value")))
    });
    let mut values = BTreeMap::new();
    for (name, kind, value) in own.chain(files).chain(variables) {
        let at = format!("{setting}{kind}.{name}");
        let value = value.map_err(|why| (at.clone(), why))?;
        if name.is_empty() || value.chars().any(char::is_control) {
            return Err((at, "expected a name, and a value in one line".to_owned()));
        }
        if values.insert(name.clone(), value).is_some() {
            return Err((at, "expected one value, got two".to_owned()));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::SamplingSettings;
    use jsonrpc_core::wire;
    use mcp_bridge::mcp::sampling::CreateMessageRequestParams;
    use mcp_bridge::plugin::SamplingContext;
    use serde_json::json;

    #[test]
    fn requests_to_a_model_are_limited_by_settings() {
        let params = json!({ "messages": [], "maxTokens": 1000 }).to_string();
        let sent = |settings: &str, number| {
            let settings: SamplingSettings = serde_json::from_str(settings).unwrap();
            let params = wire::decode::<CreateMessageRequestParams>(&params).unwrap();
            let context = SamplingContext::new("k", "ada", "c1", number);
            let sent = settings.sampling("docs").before(params, context);
            sent.map(|params| params.max_tokens.as_u64()).map_err(|error| error.to_string())
        };
        assert_eq!(sent("{}", 8), Ok(Some(1000)));
        assert!(sent("{}", 9).unwrap_err().contains("at most 8 requests"));
        assert_eq!(sent(r#"{"max-requests":2,"max-tokens":50}"#, 2), Ok(Some(50)));
        assert!(sent(r#"{"max-requests":2}"#, 3).unwrap_err().contains("at most 2 requests"));
        let error = sent(r#"{"max-requests":0}"#, 1).unwrap_err();
        assert!(error.contains("`mcp-servers.docs.sampling.max-requests` is 0"), "{error}");
    }
}
