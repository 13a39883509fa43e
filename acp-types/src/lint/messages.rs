//! Messages of a connection: what they are, what they answer, which session they are of.
use super::check::{self, Capabilities};
use super::proxy::{self, Proxy};
use super::schema::shown;
use super::session::Standing;
use super::{Linter, errors, receiver, rule};
use crate::methods::{self, Direction as Receiver, Method, MethodKind, Stability};
use crate::spoken::{self, Shape};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{Message, Notification, Request, RequestId, Response};
use serde_json::Value;
use serde_json::value::RawValue;

/// What a connection as a whole is at.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    /// What it speaks, once `initialize` is answered.
    pub(super) version: Option<u16>,
    capabilities: Capabilities,
    /// By id, whether it is for a terminal.
    auth_methods: BTreeMap<String, bool>,
    /// Providers that must not be disabled.
    required_providers: BTreeSet<String>,
    /// Elicitations by URL that were asked for.
    elicitations: BTreeSet<String>,
    /// The agent archives sessions.
    archives: bool,
    /// The agent is a proxy.
    pub(super) proxy: Option<Proxy>,
    /// Requests of the client.
    pub(super) open_to_agent: BTreeMap<RequestId, Pending>,
    /// Requests of the agent.
    pub(super) open_to_client: BTreeMap<RequestId, Pending>,
}

/// A request that is not answered.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) line: u64,
    pub(super) method: String,
    pub(super) session: Option<String>,
    /// What it asked, where the answer has to do with it.
    pub(super) params: Value,
    /// Its session was cancelled since.
    pub(super) is_cancelled: bool,
    /// `$/cancel_request` named it.
    is_taken_back: bool,
    /// Its session was cancelled, closed or deleted since.
    is_stopped: bool,
}

/// The version that parameters or a result of `initialize` name.
pub(super) fn protocol_version(value: &Value) -> Option<u64> {
    value.get("protocolVersion").and_then(Value::as_u64)
}

/// Whether a method may go this way. The client of a proxy is its conductor.
pub(super) fn fits(to: Receiver, direction: Direction) -> bool {
    match to {
        Receiver::ToEither | Receiver::ToProxyOrConductor => true,
        Receiver::ToProxy => direction == Direction::Sent,
        Receiver::ToAgent | Receiver::ToClient => to == receiver(direction),
    }
}

fn is_initialize(method: &str) -> bool {
    matches!(method, "initialize" | "proxy/initialize")
}

/// The version that parameters of `initialize` are of, by their shape.
fn version_of_request(params: &Value) -> u16 {
    let shape = spoken::of_initialize(protocol_version(params), |name| params.get(name).is_some());
    if shape == Shape::V2 { 2 } else { 1 }
}

/// The version that a result of `initialize` is of, by its shape; where that does not decide, by the number.
fn version_of_result(result: &Value) -> u16 {
    let shape = spoken::of_initialized(protocol_version(result), |name| result.get(name).is_some());
    if shape == Shape::V1 { 1 } else { 2 }
}

/// What is kept of parameters, to be looked at beside the answer.
fn kept(method: &str, params: Value) -> Value {
    match method {
        "session/request_permission" | "elicitation/create" => params,
        "proxy/successor" => proxy::kept(&params),
        _ if is_initialize(method) => params,
        _ => Value::Null,
    }
}

fn parse(raw: Option<&RawValue>) -> Value {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null)
}

impl Connection {
    fn open(&mut self, direction: Direction) -> &mut BTreeMap<RequestId, Pending> {
        match direction {
            Direction::Sent => &mut self.open_to_agent,
            Direction::Received => &mut self.open_to_client,
        }
    }

    fn begins_session(&self) -> bool {
        let begins = |pending: &Pending| matches!(&*pending.method, "session/new" | "session/fork");
        self.open_to_agent.values().any(begins)
    }
}

impl Linter {
    pub(super) fn look_at(&mut self, line: &[u8]) {
        let Ok(text) = core::str::from_utf8(line) else {
            return self.report.add(&rule::JSON_SYNTAX, "", "not UTF-8");
        };
        let message = match Message::decode_strict(text) {
            Ok(message) => message,
            Err(error) => {
                let trimmed = text.trim_ascii_start();
                let rule =
                    if trimmed.starts_with('[') && serde_json::from_str::<Value>(text).is_ok() {
                        &rule::BATCH
                    } else if serde_json::from_str::<&RawValue>(text).is_ok() {
                        &rule::JSON_RPC
                    } else {
                        &rule::JSON_SYNTAX
                    };
                self.report.add(rule, "", error.to_string());
                // What it answers is answered all the same.
                match Message::decode(text) {
                    Ok(message) => message,
                    Err(error) => {
                        let direction = self.report.direction.reversed();
                        error.id().and_then(|id| self.connection.open(direction).remove(id));
                        return;
                    }
                }
            }
        };
        match message {
            Message::Request(request) => self.request(&request),
            Message::Notification(notification) => self.notification(&notification),
            Message::Response(response) => self.response(&response),
        }
    }

    fn request(&mut self, request: &Request<'_>) {
        let (direction, line) = (self.report.direction, self.report.line);
        let params = parse(request.params);
        if request.id.is_null() {
            self.report.add(&rule::NULL_ID, "/id", "expected an integer or a string");
        }
        self.message(MethodKind::Request, &request.method, request.params, &params);
        let session = params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let limit = self.limits.requests;
        let open = self.connection.open(direction);
        if open.contains_key(&request.id) {
            let message = format!("the request {} is still open", shown(&request.id.to_string()));
            self.report.add(&rule::ID_REUSED, "/id", message);
        } else if open.len() < limit {
            let pending = Pending {
                line,
                params: kept(&request.method, params),
                method: request.method.to_string(),
                session,
                is_cancelled: false,
                is_taken_back: false,
                is_stopped: false,
            };
            open.insert(request.id.clone(), pending);
        }
    }

    fn notification(&mut self, notification: &Notification<'_>) {
        let params = parse(notification.params);
        self.message(MethodKind::Notification, &notification.method, notification.params, &params);
        if notification.method == "$/cancel_request" {
            let direction = self.report.direction;
            let id = params
                .get("requestId")
                .and_then(|id| serde_json::from_str::<RequestId>(&id.to_string()).ok());
            let Some(id) = id else { return };
            match self.connection.open(direction).get_mut(&id) {
                Some(open) => open.is_taken_back = true,
                None => {
                    let message = "no such open request";
                    self.report.add(&rule::CANCEL_UNKNOWN, "/params/requestId", message);
                }
            }
        }
    }

    /// What requests and notifications have in common.
    fn message(&mut self, kind: MethodKind, name: &str, raw: Option<&RawValue>, params: &Value) {
        let direction = self.report.direction;
        let is_initialize = is_initialize(name) && direction == Direction::Sent;
        if is_initialize && name != "initialize" {
            self.connection.proxy = Some(Proxy::default());
        }
        // A proxy asks its successor before it answers.
        let may_come = name.starts_with("$/")
            || (name == "proxy/successor" && self.connection.proxy.is_some());
        let version = match (self.connection.version, is_initialize) {
            (Some(_), true) => {
                self.report.add(&rule::INITIALIZE_AGAIN, "/method", "`initialize` came before");
                version_of_request(params)
            }
            (None, true) => version_of_request(params),
            (Some(version), false) => version,
            (None, false) => {
                if !may_come {
                    let message = format!("`{}` before `initialize` is answered", shown(name));
                    self.report.add(&rule::NOT_INITIALIZED, "/method", message);
                }
                1
            }
        };
        let Some(method) = self.method(version, kind, name) else { return };
        let report = &mut self.report;
        if method.stability == Stability::Unstable {
            let message = format!("`{}` is unstable in version {version}", method.name);
            report.add(&rule::UNSTABLE_METHOD, "/method", message);
        }
        let capabilities = &self.connection.capabilities;
        capabilities.method(direction, name, report);
        check::params(version, direction, kind, name, raw, capabilities, report);
        self.schemas.look_at(version, method.params, params, "/params", report);
        if name == "proxy/successor" {
            self.successor(version, kind, params);
        }
        self.in_session(version, name, params);
    }

    /// The method, if it may go this way.
    fn method(&mut self, version: u16, kind: MethodKind, name: &str) -> Option<&'static Method> {
        let table = if version == 2 { methods::V2 } else { methods::V1 };
        let direction = self.report.direction;
        let found = table.iter().find(|method| {
            method.name == name && method.kind == kind && fits(method.direction, direction)
        });
        if found.is_some() || name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
            return found;
        }
        if table.iter().any(|method| method.name == name) {
            let what = match kind {
                MethodKind::Request => "a request",
                MethodKind::Notification => "a notification",
            };
            let message = format!("`{name}` does not go this way as {what}");
            self.report.add(&rule::WRONG_DIRECTION, "/method", message);
        } else {
            let message = format!("version {version} has no `{}`", shown(name));
            self.report.add(&rule::UNKNOWN_METHOD, "/method", message);
        }
        None
    }

    /// Looks at a message that has to do with what was said before on the connection, of whatever session.
    fn of_connection(&mut self, name: &str, params: &Value) {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let (connection, report) = (&mut self.connection, &mut self.report);
        match name {
            "authenticate" | "auth/login" => {
                let Some(method) = text("methodId") else { return };
                let (rule, message) = match connection.auth_methods.get(method) {
                    Some(false) => return,
                    Some(true) => (
                        &rule::AUTH_METHOD_TERMINAL,
                        format!("`{}` is for a terminal", shown(method)),
                    ),
                    None => {
                        let message = format!("the agent does not offer `{}`", shown(method));
                        (&rule::AUTH_METHOD_UNKNOWN, message)
                    }
                };
                report.add(rule, "/params/methodId", message);
            }
            "providers/disable" => {
                let provider = text("providerId");
                if provider.is_some_and(|it| connection.required_providers.contains(it)) {
                    let message = format!("`{}` is required", shown(provider.unwrap_or_default()));
                    report.add(&rule::PROVIDER_REQUIRED, "/params/providerId", message);
                }
            }
            "elicitation/create" if connection.elicitations.len() < self.limits.names => {
                connection.elicitations.extend(text("elicitationId").map(str::to_owned));
            }
            "elicitation/complete" => {
                let Some(id) = text("elicitationId") else { return };
                if !connection.elicitations.contains(id) {
                    let message = format!("nobody asked for `{}`", shown(id));
                    report.add(&rule::ELICITATION_UNKNOWN, "/params/elicitationId", message);
                }
            }
            _ => {}
        }
    }

    /// Looks at a message as one of its session.
    fn in_session(&mut self, version: u16, name: &str, params: &Value) {
        self.of_connection(name, params);
        let Some(id) = params.get("sessionId").and_then(Value::as_str) else { return };
        // They are about sessions that may be of long ago.
        let opens = matches!(name, "session/load" | "session/resume");
        let is_about = matches!(
            name,
            "session/delete"
                | "session/fork"
                | "session/archive"
                | "session/unarchive"
                | "session/status"
                | "session/set_title"
                | "session/close"
        );
        let is_known = self.sessions.contains_key(id);
        if !is_known && (is_about || self.sessions.len() >= self.limits.sessions) {
            return;
        }
        let begins =
            self.report.direction == Direction::Received && self.connection.begins_session();
        let session = self.sessions.entry(id.to_owned()).or_default();
        if opens {
            session.standing = Standing::Opening;
            session.has_told_state = false;
        } else if !is_known {
            session.standing = Standing::Early;
            let (rule, message) = if begins {
                (&rule::UPDATE_EARLY, format!("no answer has named `{}` yet", shown(id)))
            } else {
                (&rule::SESSION_UNKNOWN, format!("nobody began `{}`", shown(id)))
            };
            self.report.add(rule, "/params/sessionId", message);
        } else if session.standing == Standing::Closed && !is_about {
            let message = format!("`{}` is closed", shown(id));
            self.report.add(&rule::SESSION_CLOSED, "/params/sessionId", message);
        }
        if name == "session/cancel" && version == 1 && session.prompts > 0 {
            for open in self.connection.open_to_client.values_mut() {
                open.is_cancelled |= open.session.as_deref() == Some(id);
            }
        }
        if matches!(name, "session/cancel" | "session/close" | "session/delete") {
            for open in self.connection.open_to_agent.values_mut() {
                open.is_stopped |= open.session.as_deref() == Some(id);
            }
            for open in self.connection.open_to_client.values_mut() {
                open.is_stopped |= open.session.as_deref() == Some(id);
            }
        }
        session.message(version, name, params, &self.limits, &mut self.report);
        if let Some(child) = session.take_subagent()
            && self.sessions.len() < self.limits.sessions
        {
            let child = self.sessions.entry(child).or_default();
            child.standing = Standing::Open;
            child.is_subagent = true;
        }
    }

    fn response(&mut self, response: &Response<'_>) {
        let asked = self.report.direction.reversed();
        let Some(pending) = self.connection.open(asked).remove(&response.id) else {
            // An error without an id answers what could not be read.
            if !(response.id.is_null() && response.outcome.is_err()) {
                let message = format!("no open request {}", shown(&response.id.to_string()));
                self.report.add(&rule::UNMATCHED_RESPONSE, "/id", message);
            }
            return;
        };
        if let Err(error) = &response.outcome {
            errors::look_at(&pending.method, error, &mut self.report);
            let (taken_back, stopped) = (pending.is_taken_back, pending.is_stopped);
            errors::cancelled(error, taken_back, stopped, &mut self.report);
        }
        let raw = response.outcome.as_ref().ok().copied();
        let result = parse(raw);
        let mut version = self.connection.version.unwrap_or(1);
        if is_initialize(&pending.method) && asked == Direction::Sent && raw.is_some() {
            version = version_of_result(&result);
            self.initialized(version, &pending, &result, raw);
            if pending.method != "initialize" {
                self.proxy_answered(&result);
            }
        }
        if raw.is_some() {
            self.successor_answered(asked, &pending, &result);
        }
        if let Some(raw) = raw {
            let table = if version == 2 { methods::V2 } else { methods::V1 };
            let method = table.iter().find(|method| {
                method.name == pending.method
                    && method.kind == MethodKind::Request
                    && fits(method.direction, asked)
            });
            if let Some(name) = method.and_then(|method| method.result) {
                check::result(version, asked, &pending.method, raw, &mut self.report);
                self.schemas.look_at(version, name, &result, "/result", &mut self.report);
            }
        }
        if raw.is_some() {
            self.connection_answered(version, &pending.method, &result);
        }
        self.answered(version, &pending, raw.is_some(), &result);
    }

    /// What a result means for the connection as a whole.
    fn connection_answered(&mut self, version: u16, method: &str, result: &Value) {
        let (connection, report) = (&mut self.connection, &mut self.report);
        let items = |name: &str| {
            let items = result.get(name).and_then(Value::as_array);
            items.map(|items| items.as_slice()).unwrap_or_default()
        };
        check::options(items("configOptions"), &connection.capabilities, report);
        match method {
            "providers/list" => {
                let required =
                    items("providers").iter().filter(|it| it.get("required") == Some(&true.into()));
                let ids = required
                    .filter_map(|it| it.get("providerId").or_else(|| it.get("id"))?.as_str());
                connection.required_providers =
                    ids.take(self.limits.names).map(str::to_owned).collect();
            }
            "session/list" if connection.archives => {
                for (index, session) in items("sessions").iter().enumerate() {
                    if !session.get("archived").is_some_and(Value::is_boolean) {
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

    fn initialized(
        &mut self,
        version: u16,
        pending: &Pending,
        result: &Value,
        raw: Option<&RawValue>,
    ) {
        let asked = protocol_version(&pending.params);
        if let (Some(asked), Some(answered)) = (asked, protocol_version(result)) {
            let pointer = "/result/protocolVersion";
            if version == 2 && answered > asked {
                let message = format!("asked for version {asked}, answered {answered}");
                self.report.add(&rule::VERSION_ANSWER, pointer, message);
            }
            if (answered >= 2) != (version == 2) {
                let message = format!("it says {answered}, and is of version {version}");
                self.report.add(&rule::VERSION_SHAPE, pointer, message);
            }
        }
        let connection = &mut self.connection;
        connection.version = Some(version);
        let params = pending.params.to_string();
        let result_text = raw.map(RawValue::get).unwrap_or_default();
        connection.capabilities = Capabilities::new(version, &params, result_text);
        let methods = result.get("authMethods").and_then(Value::as_array).into_iter().flatten();
        let method = |method: &Value| {
            let id = method.get("id").or_else(|| method.get("methodId"))?;
            let is_for_terminal = method.get("type").is_some_and(|kind| kind == "terminal");
            Some((id.as_str()?.to_owned(), is_for_terminal))
        };
        connection.auth_methods = methods.filter_map(method).take(self.limits.names).collect();
        let archive =
            ["/agentCapabilities/sessionCapabilities/archive", "/capabilities/session/archive"];
        let has = |path: &&str| result.pointer(path).is_some_and(Value::is_object);
        connection.archives = archive.iter().any(has);
        check::auth_methods(result, &connection.capabilities, &mut self.report);
    }

    /// What an answer means for its session.
    fn answered(&mut self, version: u16, pending: &Pending, is_result: bool, result: &Value) {
        let begins = matches!(&*pending.method, "session/new" | "session/fork");
        if begins && is_result {
            let Some(id) = result.get("sessionId").and_then(Value::as_str) else { return };
            if self.sessions.contains_key(id) || self.sessions.len() < self.limits.sessions {
                let session = self.sessions.entry(id.to_owned()).or_default();
                session.standing = Standing::Open;
                session.set_up(result, &self.limits);
            }
            return;
        }
        let Some(session) = pending.session.as_ref().and_then(|id| self.sessions.get_mut(id))
        else {
            return;
        };
        session.answered(version, pending, is_result, result, &self.limits, &mut self.report);
    }
}
