//! The settings of an agent.
use super::{ForwardedSettings, Permission, Sessions};
use acp_host::host::FsAccess;
use chat_model::ModelSettings;
use http_access::Secret;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How to reach an agent: by a command, or a URL; a model has neither, nor has the demo agent.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct AgentSettings {
    /// A command that talks over its stdin and stdout; split into words as a shell would, run without one.
    pub(crate) command: Option<String>,
    /// A WebSocket, `ws://…` or `wss://…`, or an endpoint of Streamable HTTP, `http://…` or `https://…`.
    pub(crate) url: Option<String>,
    /// The bearer token that it is sent there.
    pub(crate) token: Option<Secret>,
    /// A file with that token.
    pub(crate) token_file: Option<PathBuf>,
    /// The variable of the environment that has it.
    pub(crate) token_variable: Option<String>,
    /// Whether it is spoken to in HTTP/2 behind `http://…`, where that cannot be agreed on.
    pub(crate) h2c: bool,
    /// The authentication method to use once connected.
    pub(crate) authenticate: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) permission: Option<Permission>,
    /// The directory that it may use through the gateway; without one it may use neither files nor terminals.
    pub(crate) root: Option<PathBuf>,
    /// What it may do with the files there.
    pub(crate) fs: Option<FsAccess>,
    /// Whether it may run commands, which begin there and may do whatever the gateway may.
    pub(crate) terminal: Option<bool>,
    /// How long its sessions last.
    pub(crate) sessions: Sessions,
    /// What pages may ask of a session beside their messages.
    pub(crate) forwarded: ForwardedSettings,
    /// How it is given the page's tools.
    pub(crate) page_tools: PageToolsBinding,
    /// Whether it is given the gateway's own tools over MCP; unless it is set, beside those of a page.
    pub(crate) gateway_tools: Option<bool>,
    /// A model with the gateway's tools and the page's, without ACP.
    pub(crate) model: Option<ModelSettings>,
}

/// How an ACP agent is given the page's tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PageToolsBinding {
    /// As an MCP server of the gateway's, over HTTP where the agent speaks it, else on stdio.
    #[default]
    Mcp,
    /// In the `_meta` of its sessions, to be called by an extension method.
    Contextual,
    /// Not at all.
    Off,
}
