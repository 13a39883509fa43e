//! State of a connection: capabilities, authentication methods, open requests.
use super::check::{self, Capabilities};
use super::pending::{PendingRequest, is_initialize, protocol_version};
use super::proxy::Proxy;
use super::report::{LintLimits, Report};
use super::rule;
use super::value::{Json, is_text, items, shown, text};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use jsonrpc_core::RequestId;
use jsonrpc_core::transcript::Direction;

/// What to do about a version that is not 1 or 2.
const NEXT_STEP: &str = "; use a release of the agent that speaks version 1 or 2";

/// State of a connection outside of sessions.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    /// The version, once `initialize` is answered.
    pub(super) version: Option<u16>,
    pub(super) capabilities: Capabilities,
    /// By id, whether the method is for a terminal.
    auth_methods: BTreeMap<String, bool>,
    /// Providers that must not be disabled.
    required_providers: BTreeSet<String>,
    /// Elicitations by URL that the agent requested.
    elicitations: BTreeSet<String>,
    /// Whether the agent archives sessions.
    archives: bool,
    /// State of a proxy, if the agent is one.
    pub(super) proxy: Option<Proxy>,
    /// Requests of the client.
    pub(super) open_to_agent: BTreeMap<RequestId, PendingRequest>,
    /// Requests of the agent.
    pub(super) open_to_client: BTreeMap<RequestId, PendingRequest>,
}

impl Connection {
    /// Returns the open requests of the sender of `direction`.
    pub(super) fn open(
        &mut self,
        direction: Direction,
    ) -> &mut BTreeMap<RequestId, PendingRequest> {
        match direction {
            Direction::Sent => &mut self.open_to_agent,
            Direction::Received => &mut self.open_to_client,
        }
    }

    /// Returns whether a request that creates a session is open.
    pub(super) fn begins_session(&self) -> bool {
        let begins =
            |pending: &PendingRequest| matches!(&*pending.method, "session/new" | "session/fork");
        self.open_to_agent.values().any(begins)
    }

    /// Checks a message against earlier ones of the connection.
    pub(super) fn handle_message(
        &mut self,
        name: &str,
        params: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        let text = |name| text(params, name);
        match name {
            "authenticate" | "auth/login" => {
                let Some(method) = text("methodId") else { return };
                let (rule, message) = match self.auth_methods.get(&*method) {
                    Some(false) => return,
                    Some(true) => (
                        &rule::AUTH_METHOD_TERMINAL,
                        format!("`{}` is for a terminal", shown(&method)),
                    ),
                    None => {
                        let message = format!("the agent does not offer `{}`", shown(&method));
                        (&rule::AUTH_METHOD_UNKNOWN, message)
                    }
                };
                report.add(rule, "/params/methodId", message);
            }
            "providers/disable" => {
                let provider = text("providerId");
                if provider.as_deref().is_some_and(|it| self.required_providers.contains(it)) {
                    let message = format!("`{}` is required", shown(&provider.unwrap_or_default()));
                    report.add(&rule::PROVIDER_REQUIRED, "/params/providerId", message);
                }
            }
            "elicitation/create" if self.elicitations.len() < limits.names => {
                self.elicitations.extend(text("elicitationId").map(Cow::into_owned));
            }
            "elicitation/complete" => {
                let Some(id) = text("elicitationId") else { return };
                if !self.elicitations.contains(&*id) {
                    let message = format!("the agent did not request `{}`", shown(&id));
                    report.add(&rule::ELICITATION_UNKNOWN, "/params/elicitationId", message);
                }
            }
            _ => {}
        }
    }

    /// Records the content of a result.
    pub(super) fn handle_result(
        &mut self,
        version: u16,
        method: &str,
        result: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        check::options(items(result, "configOptions"), &self.capabilities, report);
        check::commands(items(result, "availableCommands"), &self.capabilities, report);
        match method {
            "providers/list" => {
                let is_required = |provider: &Json<'_>| {
                    provider.get("required").is_some_and(|it| it.as_text() == "true")
                };
                let ids = items(result, "providers")
                    .filter(is_required)
                    .filter_map(|it| it.get("providerId").or_else(|| it.get("id"))?.as_str());
                self.required_providers = ids.take(limits.names).map(Cow::into_owned).collect();
            }
            "session/list" if self.archives => {
                for (index, session) in items(result, "sessions").enumerate() {
                    if !session.get("archived").is_some_and(Json::is_boolean) {
                        let pointer = format!("/result/sessions/{index}");
                        report.add(&rule::ARCHIVED_MISSING, pointer, "no `archived`");
                    }
                }
            }
            "mcp/message" if result.get("result").is_some() && result.get("error").is_some() => {
                report.add(&rule::MCP_OUTCOME, "/result", "expected one of `result` and `error`");
            }
            name if is_initialize(name) && version == 1 => check::capability_pairs(result, report),
            _ => {}
        }
    }

    /// Handles the response to `initialize`.
    pub(super) fn handle_initialized(
        &mut self,
        version: u16,
        pending: &PendingRequest,
        result: Json<'_>,
        limits: &LintLimits,
        report: &mut Report,
    ) {
        let requested = protocol_version(pending.params());
        let pointer = "/result/protocolVersion";
        if let (Some(requested), Some(answered)) = (requested, protocol_version(result)) {
            if answered > 2 || version == 2 && answered > requested {
                let next = if answered > 2 { NEXT_STEP } else { "" };
                let message =
                    format!("version {requested} was requested, the answer is {answered}{next}");
                report.add(&rule::VERSION_ANSWER, pointer, message);
            } else if (answered >= 2) != (version == 2) {
                let message = format!(
                    "the answer states version {answered}, but has the form of version {version}"
                );
                report.add(&rule::VERSION_SHAPE, pointer, message);
            }
        } else if let (Some(requested), Some(answered)) = (requested, result.get("protocolVersion"))
        {
            let answered = shown(answered.as_text());
            let message =
                format!("version {requested} was requested, the answer is {answered}{NEXT_STEP}");
            report.add(&rule::VERSION_ANSWER, pointer, message);
        }
        self.version = Some(version);
        let params = pending.params();
        self.capabilities = Capabilities::new(version, params.as_text(), result.as_text());
        let method = |method: Json<'_>| {
            let id = method.get("id").or_else(|| method.get("methodId"))?;
            let is_for_terminal = is_text(method, "type", "terminal");
            Some((id.as_str()?.into_owned(), is_for_terminal))
        };
        let methods = items(result, "authMethods");
        self.auth_methods = methods.filter_map(method).take(limits.names).collect();
        let archive =
            ["/agentCapabilities/sessionCapabilities/archive", "/capabilities/session/archive"];
        let has = |path: &&str| result.pointer(path).is_some_and(Json::is_object);
        self.archives = archive.iter().any(has);
        check::auth_methods(params, result, &self.capabilities, report);
    }
}
