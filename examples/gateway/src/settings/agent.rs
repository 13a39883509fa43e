//! The settings of an agent.
use super::Permission;
use crate::hub::{AcpVersion, ForwardedSettings, Isolation, Sessions};
use crate::model::ModelSettings;
use host::http::Secret;
use host::workspace::FsAccess;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An agent, by a command or a URL. A model and the demo agent have neither.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AgentSettings {
    /// A command with ACP on stdin and stdout; split into words like a shell, but run without a
    /// shell.
    pub(crate) command: Option<String>,
    /// A WebSocket, `ws://…` or `wss://…`, or an endpoint of Streamable HTTP, `http://…` or
    /// `https://…`.
    pub(crate) url: Option<String>,
    /// The bearer token for the URL.
    pub(crate) token: Option<Secret>,
    /// A file with that token.
    pub(crate) token_file: Option<PathBuf>,
    /// The environment variable with that token.
    pub(crate) token_variable: Option<String>,
    /// Whether to use HTTP/2 for `http://…`, where it cannot be negotiated.
    pub(crate) h2c: bool,
    pub(crate) version: AcpVersion,
    /// The authentication method to use once connected.
    pub(crate) authenticate: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) permission: Option<Permission>,
    /// Users that share its process.
    pub(crate) isolation: Isolation,
    /// Whether the home of its process is the root of its user.
    pub(crate) home: bool,
    /// Root directory for file and terminal requests, which are refused without it.
    pub(crate) root: Option<PathBuf>,
    /// Access to the files below the root.
    pub(crate) fs: Option<FsAccess>,
    /// Whether terminals are permitted. Commands start in the root, with all rights of the gateway.
    pub(crate) terminal: Option<bool>,
    /// Instructions for the model in each session.
    pub(crate) system_prompt: Option<String>,
    /// Lifetime of its sessions.
    pub(crate) sessions: Sessions,
    /// Session settings that pages may send with their messages.
    pub(crate) forwarded: ForwardedSettings,
    /// How it receives the tools of the page.
    pub(crate) page_tools: PageToolsBinding,
    /// Whether it receives the tools of the gateway over MCP; by default together with those of a
    /// page.
    pub(crate) gateway_tools: Option<bool>,
    /// A model with the tools of the gateway and the page, without ACP.
    pub(crate) model: Option<ModelSettings>,
}

/// How an ACP agent receives the tools of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageToolsBinding {
    /// From an MCP server of the gateway, over HTTP if the agent supports it, otherwise on stdio.
    #[default]
    Mcp,
    /// In the `_meta` of its sessions, with calls by an extension method.
    Contextual,
    /// Not at all.
    Off,
}
