//! Parameters and results of `initialize`, and authentication methods.
//!
//! Spec: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization),
//! [in version 2](https://agentclientprotocol.com/protocol/v2/initialization)
use super::BridgeLoss;
use super::outbox::Outbox;
use crate::alike::alike;
use crate::v1::initialization::{
    self as i1, Implementation, InitializeRequest as Request1, InitializeResponse as Response1,
};
use crate::v2::initialization::{
    self as i2, InitializeRequest as Request2, InitializeResponse as Response2,
};
use crate::{v1, v2};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};

/// The value of a capability that is announced.
fn marked<T>(is_set: Option<bool>, mark: impl FnOnce() -> T) -> Option<T> {
    (is_set == Some(true)).then(mark)
}

fn unknown_program() -> Implementation {
    Implementation::new("unknown", "unknown")
}

/// Returns the parameters of version 2, followed by those of version 1 for an agent that falls back
/// to it.
pub(super) fn offer_to_v2(request: &Request1, out: &mut Outbox) -> Raw {
    let info = request.client_info.clone().unwrap_or_else(unknown_program);
    let mut offer = Request2::new(i1::ProtocolVersion::V2, info);
    let mut capabilities = i2::ClientCapabilities::new();
    if let Some(client) = &request.client_capabilities {
        capabilities.elicitation = client.elicitation.clone();
        let terminal = client.auth.as_ref().and_then(|auth| auth.terminal);
        capabilities.auth = marked(terminal, || {
            i2::ClientAuthCapabilities::new().with_terminal(i2::TerminalAuthCapabilities::new())
        });
        let session = client.session.as_ref();
        let suggestions = session.and_then(|session| session.prompt_suggestions.clone());
        capabilities.session = suggestions.map(|suggestions| {
            Box::new(i2::ClientSessionCapabilities::new().with_prompt_suggestions(suggestions))
        });
        capabilities.meta = client.meta.clone();
        let files = client.fs.as_ref();
        if files.and_then(|fs| fs.read_text_file.or(fs.write_text_file)) == Some(true) {
            out.lose(BridgeLoss::Initialize, "clientCapabilities.fs");
        }
        if client.terminal == Some(true) {
            out.lose(BridgeLoss::Initialize, "clientCapabilities.terminal");
        }
    }
    offer.capabilities = Some(capabilities);
    offer.meta = request.meta.clone();
    let read = |raw: Raw| raw.decode::<Extra>().unwrap_or_default();
    let mut members = read(Raw::of(&offer));
    for (name, value) in read(Raw::of(request)).iter() {
        if members.get(name).is_none() {
            members.insert(name, value.clone());
        }
    }
    Raw::of(&members)
}

/// Returns the parameters of version 1 for a client of version 2, which supports what version 1
/// announces.
pub(super) fn offer_to_v1(request: &Request2) -> Request1 {
    let mut offer = Request1::new(i1::ProtocolVersion::V1);
    offer.client_info = Some(request.info.clone());
    let mut client = i1::ClientCapabilities::new();
    let mut suggestions = None;
    if let Some(capabilities) = &request.capabilities {
        let session = capabilities.session.as_ref();
        suggestions = session.and_then(|session| session.prompt_suggestions.clone());
        client.elicitation = capabilities.elicitation.clone();
        let terminal = capabilities.auth.as_ref().and_then(|auth| auth.terminal.as_ref());
        client.auth = terminal.map(|_| i1::AuthCapabilities::new().with_terminal(true));
        client.meta = capabilities.meta.clone();
    }
    let boolean = i1::BooleanConfigOptionCapabilities::new();
    let mut session = i1::ClientSessionCapabilities::new()
        .with_compaction(i1::CompactionCapabilities::new())
        .with_notices(i1::NoticeCapabilities::new())
        .with_cursors(i1::SessionCursorsCapabilities::new())
        .with_config_options(i1::SessionConfigOptionsCapabilities::new().with_boolean(boolean));
    session.prompt_suggestions = suggestions;
    client.session = Some(session);
    client.subagents = Some(i1::SubagentCapabilities::new());
    client.plan = Some(i1::PlanCapabilities::new());
    offer.client_capabilities = Some(client);
    offer.meta = request.meta.clone();
    offer
}

/// Converts the response of an agent of version 2.
pub(super) fn response_to_v1(response: &Response2, out: &mut Outbox) -> Response1 {
    let mut response_v1 = Response1::new(i1::ProtocolVersion::V1);
    response_v1.agent_info = Some(response.info.clone());
    response_v1.meta = response.meta.clone();
    response_v1.auth_methods = response.auth_methods.as_ref().map(|methods| {
        let known = methods.iter().filter_map(|method| {
            let method_v1 = method_to_v1(method);
            if method_v1.is_none() {
                out.lose(BridgeLoss::AuthMethod, method.tag());
            }
            method_v1
        });
        known.collect()
    });
    let has_methods = response_v1.auth_methods.as_ref().is_some_and(|methods| !methods.is_empty());
    let default = i2::AgentCapabilities::new();
    let capabilities = response.capabilities.as_ref().unwrap_or(&default);
    let mut agent = i1::AgentCapabilities::new();
    agent.meta = capabilities.meta.clone();
    agent.providers = capabilities.providers.clone();
    let status = capabilities.auth.as_ref().and_then(|auth| auth.status.clone());
    if status.is_some() || has_methods {
        let mut auth = i1::AgentAuthCapabilities::new();
        auth.status = status;
        auth.logout = has_methods.then(i1::LogoutCapabilities::new);
        agent.auth = Some(auth);
    }
    if let Some(session) = &capabilities.session {
        agent.load_session = Some(true);
        agent.prompt_capabilities = session.prompt.as_ref().map(|prompt| {
            let mut prompt_v1 = i1::PromptCapabilities::new();
            prompt_v1.image = prompt.image.as_ref().map(|_| true);
            prompt_v1.audio = prompt.audio.as_ref().map(|_| true);
            prompt_v1.embedded_context = prompt.embedded_context.as_ref().map(|_| true);
            prompt_v1.meta = prompt.meta.clone();
            prompt_v1
        });
        agent.mcp_capabilities = session.mcp.as_ref().map(|mcp| {
            let mut mcp_v1 = i1::McpCapabilities::new();
            mcp_v1.http = mcp.http.as_ref().map(|_| true);
            mcp_v1.acp = mcp.acp.as_ref().map(|_| true);
            mcp_v1.meta = mcp.meta.clone();
            mcp_v1
        });
        agent.session_capabilities = Some(sessions_to_v1(session));
    }
    response_v1.agent_capabilities = Some(agent);
    response_v1
}

fn sessions_to_v1(session: &i2::SessionCapabilities) -> i1::SessionCapabilities {
    let mut session_v1 = i1::SessionCapabilities::new();
    session_v1.list = Some(i1::SessionListCapabilities::new());
    session_v1.resume = Some(i1::SessionResumeCapabilities::new());
    session_v1.close = Some(i1::SessionCloseCapabilities::new());
    session_v1.delete = session.delete.clone();
    session_v1.additional_directories = session.additional_directories.clone();
    session_v1.system_prompt = session.system_prompt.as_ref().and_then(alike);
    session_v1.fork = session.fork.clone();
    session_v1.archive = session.archive.clone();
    session_v1.status = session.status.clone();
    session_v1.options = session.options.clone();
    session_v1.title = session.title.clone();
    session_v1.meta = session.meta.clone();
    session_v1
}

/// Converts the response of an agent of version 1.
pub(super) fn response_to_v2(response: &Response1, out: &mut Outbox) -> Response2 {
    let info = response.agent_info.clone().unwrap_or_else(|| {
        out.lose(BridgeLoss::Initialize, "agentInfo");
        unknown_program()
    });
    let mut response_v2 = Response2::new(i1::ProtocolVersion::V2, info);
    response_v2.meta = response.meta.clone();
    let methods = response.auth_methods.as_ref();
    response_v2.auth_methods = methods.map(|methods| methods.iter().map(method_to_v2).collect());
    let default = i1::AgentCapabilities::new();
    let agent = response.agent_capabilities.as_ref().unwrap_or(&default);
    let mut capabilities = i2::AgentCapabilities::new();
    capabilities.meta = agent.meta.clone();
    capabilities.providers = agent.providers.clone();
    let status = agent.auth.as_ref().and_then(|auth| auth.status.clone());
    capabilities.auth = status.map(|status| i2::AgentAuthCapabilities::new().with_status(status));
    let mut session = i2::SessionCapabilities::new();
    session.prompt = agent.prompt_capabilities.as_ref().map(|prompt| {
        let mut prompt_v2 = i2::PromptCapabilities::new();
        prompt_v2.image = marked(prompt.image, i2::PromptImageCapabilities::new);
        prompt_v2.audio = marked(prompt.audio, i2::PromptAudioCapabilities::new);
        prompt_v2.embedded_context =
            marked(prompt.embedded_context, i2::PromptEmbeddedContextCapabilities::new);
        prompt_v2.meta = prompt.meta.clone();
        prompt_v2
    });
    let mut mcp = i2::McpCapabilities::new();
    mcp.stdio = Some(i2::McpStdioCapabilities::new());
    if let Some(agent) = &agent.mcp_capabilities {
        mcp.http = marked(agent.http, i2::McpHttpCapabilities::new);
        mcp.acp = marked(agent.acp, i2::McpAcpCapabilities::new);
        mcp.meta = agent.meta.clone();
        if agent.sse == Some(true) {
            out.lose(BridgeLoss::McpServer, "sse");
        }
    }
    session.mcp = Some(mcp);
    if let Some(agent) = &agent.session_capabilities {
        session.delete = agent.delete.clone();
        session.additional_directories = agent.additional_directories.clone();
        session.system_prompt = agent.system_prompt.as_ref().and_then(alike);
        session.fork = agent.fork.clone();
        session.archive = agent.archive.clone();
        session.status = agent.status.clone();
        session.options = agent.options.clone();
        session.title = agent.title.clone();
        session.meta = agent.meta.clone();
    }
    capabilities.session = Some(Box::new(session));
    response_v2.capabilities = Some(capabilities);
    response_v2
}

/// Converts an authentication method to version 1, if that has its kind.
fn method_to_v1(method: &v2::authentication::AuthMethod) -> Option<v1::authentication::AuthMethod> {
    use v1::authentication as to;
    use v2::authentication::AuthMethod;
    Some(match method {
        AuthMethod::Agent(method) => {
            let mut agent = to::AuthMethodAgent::new(method.method_id.clone(), &*method.name);
            agent.description = method.description.clone();
            agent.meta = method.meta.clone();
            to::AuthMethod::Agent(agent)
        }
        AuthMethod::Terminal(method) => {
            let mut terminal = to::AuthMethodTerminal::new(method.method_id.clone(), &*method.name);
            terminal.description = method.description.clone();
            terminal.args = method.args.clone();
            terminal.env = method.env.as_ref().map(|variables| {
                let pairs = variables.iter().map(|it| (it.name.clone(), it.value.clone()));
                pairs.collect::<BTreeMap<_, _>>()
            });
            terminal.meta = method.meta.clone();
            to::AuthMethod::Terminal(terminal)
        }
        AuthMethod::Unknown(_) => return None,
    })
}

/// Converts an authentication method to version 2, where unknown kinds are permitted.
fn method_to_v2(method: &v1::authentication::AuthMethod) -> v2::authentication::AuthMethod {
    use v1::authentication::AuthMethod;
    use v2::authentication as to;
    match method {
        AuthMethod::Agent(method) => {
            let mut agent = to::AuthMethodAgent::new(method.id.clone(), &*method.name);
            agent.description = method.description.clone();
            agent.meta = method.meta.clone();
            to::AuthMethod::Agent(agent)
        }
        AuthMethod::Terminal(method) => {
            let mut terminal = to::AuthMethodTerminal::new(method.id.clone(), &*method.name);
            terminal.description = method.description.clone();
            terminal.args = method.args.clone();
            terminal.env = method.env.as_ref().map(|variables| {
                let variables = variables.iter();
                let variables = variables
                    .map(|(name, value)| v2::session_setup::EnvVariable::new(&**name, &**value));
                variables.collect::<Vec<_>>()
            });
            terminal.meta = method.meta.clone();
            to::AuthMethod::Terminal(terminal)
        }
        AuthMethod::Unknown(method) => to::AuthMethod::Unknown(method.clone()),
    }
}
