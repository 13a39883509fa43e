//! Checks of messages: method, response, session.
use super::linter::Linter;
use super::pending::{PendingRequest, fits, is_initialize, version_of_request, version_of_result};
use super::proxy::Proxy;
use super::session::SessionStage;
use super::value::{Json, shown, text};
use super::{check, errors, proxy, rule};
use crate::methods::{self, Method, MethodKind, Stability};
use crate::v1::extensibility::EXTENSION_PREFIX;
use alloc::format;
use alloc::string::ToString;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{Message, Notification, Request, RequestId, Response};
use serde_json::value::RawValue;

fn json(raw: Option<&RawValue>) -> Json<'_> {
    raw.map_or(Json::NULL, |raw| Json::new(raw.get()))
}

impl Linter {
    /// Checks a line, without its line end. `Sent` lines are from the client, `Received` lines from
    /// the agent. Blank lines are only counted.
    pub fn handle_line(&mut self, direction: Direction, line: &[u8]) {
        self.report.line += 1;
        self.report.direction = direction;
        self.report.in_line.clear();
        self.report.method.clear();
        if !line.trim_ascii().is_empty() {
            self.handle_text(line);
        }
    }

    fn handle_text(&mut self, line: &[u8]) {
        let Ok(text) = core::str::from_utf8(line) else {
            return self.report.add(&rule::JSON_SYNTAX, "", "not UTF-8");
        };
        let message = match Message::decode_strict(text) {
            Ok(message) => message,
            Err(error) => {
                let trimmed = text.trim_ascii_start();
                let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
                let rule = match is_json {
                    true if trimmed.starts_with('[') => &rule::BATCH,
                    true => &rule::JSON_RPC,
                    false => &rule::JSON_SYNTAX,
                };
                self.report.add(rule, "", error.to_string());
                // The request of the response is no longer open.
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
        let direction = self.report.direction;
        let line = self.report.line;
        let params = json(request.params);
        self.report.set_method(&request.method);
        if request.id.is_null() {
            self.report.add(&rule::NULL_ID, "/id", "expected an integer or a string");
        }
        self.message(MethodKind::Request, &request.method, request.params, params);
        let limit = self.limits.requests;
        let open = self.connection.open(direction);
        if open.contains_key(&request.id) {
            let message = format!("the request {} is still open", shown(&request.id.to_string()));
            self.report.add(&rule::ID_REUSED, "/id", message);
        } else if open.len() < limit {
            let pending = PendingRequest::new(line, &request.method, params);
            open.insert(request.id.clone(), pending);
        }
    }

    fn notification(&mut self, notification: &Notification<'_>) {
        let params = json(notification.params);
        self.message(MethodKind::Notification, &notification.method, notification.params, params);
        if notification.method == "$/cancel_request" {
            let direction = self.report.direction;
            let id = params
                .get("requestId")
                .and_then(|id| serde_json::from_str::<RequestId>(id.as_text()).ok());
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

    /// Checks common properties of requests and notifications.
    fn message(&mut self, kind: MethodKind, name: &str, raw: Option<&RawValue>, params: Json<'_>) {
        self.report.set_method(name);
        let direction = self.report.direction;
        let is_initialize = is_initialize(name) && direction == Direction::Sent;
        if is_initialize && name != "initialize" {
            self.connection.proxy = Some(Proxy::default());
        }
        // A proxy sends a request to its successor before it responds.
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
            let Self { connection, schemas, report, .. } = self;
            proxy::check_message(connection.proxy, version, kind, params, schemas, report);
        }
        self.in_session(version, name, params);
    }

    /// Returns the method, if it is valid in this direction.
    fn method(&mut self, version: u16, kind: MethodKind, name: &str) -> Option<&'static Method> {
        let table = if version == 2 { methods::V2 } else { methods::V1 };
        let direction = self.report.direction;
        let found = table.iter().find(|method| {
            method.name == name && method.kind == kind && fits(method.receiver, direction)
        });
        if found.is_some() || name.starts_with(EXTENSION_PREFIX) || name.starts_with("$/") {
            return found;
        }
        if table.iter().any(|method| method.name == name) {
            let what = match kind {
                MethodKind::Request => "a request",
                MethodKind::Notification => "a notification",
            };
            let message = format!("`{name}` is not valid in this direction as {what}");
            self.report.add(&rule::WRONG_DIRECTION, "/method", message);
        } else {
            let message = format!("version {version} has no `{}`", shown(name));
            self.report.add(&rule::UNKNOWN_METHOD, "/method", message);
        }
        None
    }

    /// Checks a message of a session.
    fn in_session(&mut self, version: u16, name: &str, params: Json<'_>) {
        self.connection.handle_message(name, params, &self.limits, &mut self.report);
        let Some(id) = text(params, "sessionId") else { return };
        // These methods may refer to old sessions.
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
        let is_known = self.sessions.contains_key(&*id);
        if !is_known && (is_about || self.sessions.len() >= self.limits.sessions) {
            return;
        }
        let begins =
            self.report.direction == Direction::Received && self.connection.begins_session();
        let session = self.sessions.entry(id.clone().into_owned()).or_default();
        if opens {
            session.stage = SessionStage::Opening;
            session.has_told_state = false;
        } else if !is_known {
            session.stage = SessionStage::Early;
            let (rule, message) = if begins {
                (&rule::UPDATE_EARLY, format!("no answer has named `{}` yet", shown(&id)))
            } else {
                (&rule::SESSION_UNKNOWN, format!("no response has named `{}`", shown(&id)))
            };
            self.report.add(rule, "/params/sessionId", message);
        } else if session.stage == SessionStage::Closed && !is_about {
            let message = format!("`{}` is closed", shown(&id));
            self.report.add(&rule::SESSION_CLOSED, "/params/sessionId", message);
        }
        if name == "session/cancel" && version == 1 && session.prompts > 0 {
            for open in self.connection.open_to_client.values_mut() {
                open.is_cancelled |= open.session.as_deref() == Some(&*id);
            }
        }
        if matches!(name, "session/cancel" | "session/close" | "session/delete") {
            for open in self.connection.open_to_agent.values_mut() {
                open.is_stopped |= open.session.as_deref() == Some(&*id);
            }
            for open in self.connection.open_to_client.values_mut() {
                open.is_stopped |= open.session.as_deref() == Some(&*id);
            }
        }
        if version == 2
            && let Some(update) = params.get("update").filter(|_| name == "session/update")
        {
            for (request, open) in &self.connection.open_to_client {
                if open.session.as_deref() == Some(&*id)
                    && open.is_stopped
                    && !open.is_taken_back
                    && session.ends_work_of(update, open)
                {
                    let request = shown(&request.to_string());
                    let message = format!("the request {request} (line {}) is open", open.line);
                    self.report.add(&rule::REQUEST_NOT_WITHDRAWN, "/params/update", message);
                }
            }
        }
        session.message(version, name, params, &self.limits, &mut self.report);
        if let Some(child) = session.take_subagent()
            && self.sessions.len() < self.limits.sessions
        {
            let child = self.sessions.entry(child).or_default();
            child.stage = SessionStage::Open;
            child.is_subagent = true;
        }
    }

    fn response(&mut self, response: &Response<'_>) {
        let requested_by = self.report.direction.reversed();
        let Some(pending) = self.connection.open(requested_by).remove(&response.id) else {
            // An error response without an id answers an unreadable message.
            if !(response.id.is_null() && response.outcome.is_err()) {
                let message = format!("no open request {}", shown(&response.id.to_string()));
                self.report.add(&rule::UNMATCHED_RESPONSE, "/id", message);
            }
            return;
        };
        self.report.set_method(&pending.method);
        if let Err(error) = &response.outcome {
            errors::look_at(&pending.method, error, &mut self.report);
            let taken_back = pending.is_taken_back;
            let stopped = pending.is_stopped;
            errors::cancelled(error, taken_back, stopped, &mut self.report);
            if self.connection.version == Some(2)
                && pending.method == "session/prompt"
                && stopped
                && !taken_back
            {
                errors::prompt_cancelled(error, &mut self.report);
            }
        }
        let raw = response.outcome.as_ref().ok().copied();
        let result = json(raw);
        let mut version = self.connection.version.unwrap_or(1);
        if is_initialize(&pending.method) && requested_by == Direction::Sent && raw.is_some() {
            version = version_of_result(result);
            let Self { connection, limits, report, .. } = self;
            connection.handle_initialized(version, &pending, result, limits, report);
            if pending.method != "initialize" {
                proxy::check_initialized(connection.proxy, result, report);
            }
        }
        if let Some(proxy) = self.connection.proxy.as_mut().filter(|_| raw.is_some()) {
            proxy.handle_result(requested_by, &pending, result);
        }
        if let Some(raw) = raw {
            let table = if version == 2 { methods::V2 } else { methods::V1 };
            let method = table.iter().find(|method| {
                method.name == pending.method
                    && method.kind == MethodKind::Request
                    && fits(method.receiver, requested_by)
            });
            if let Some(name) = method.and_then(|method| method.result) {
                check::result(version, requested_by, &pending.method, raw, &mut self.report);
                self.schemas.look_at(version, name, result, "/result", &mut self.report);
            }
        }
        if raw.is_some() {
            let Self { connection, limits, report, .. } = self;
            connection.handle_result(version, &pending.method, result, limits, report);
        }
        self.answered(version, &pending, raw.is_some(), result);
    }

    /// Checks a response of a session.
    fn answered(
        &mut self,
        version: u16,
        pending: &PendingRequest,
        is_result: bool,
        result: Json<'_>,
    ) {
        let begins = matches!(&*pending.method, "session/new" | "session/fork");
        if begins && is_result {
            let Some(id) = text(result, "sessionId") else { return };
            if self.sessions.contains_key(&*id) || self.sessions.len() < self.limits.sessions {
                let session = self.sessions.entry(id.into_owned()).or_default();
                session.stage = SessionStage::Open;
                session.is_new = true;
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
