//! The permission requests of one connection, and its commands for terminals.
use crate::permissions::calls::RecentValues;
use crate::permissions::decision::Decision;
use crate::permissions::facts::Facts;
use crate::permissions::json::{Fact, Json};
use crate::permissions::rules::Rules;
use jsonrpc_core::transcript::Direction;
use jsonrpc_core::{JsonStr, Kind, PeekedMessage};
use std::path::{Path, PathBuf};

/// Largest number of remembered tool calls. Rules do not allow by facts of a call that was
/// forgotten.
pub const MAX_CALLS: usize = 256;

/// Largest number of sessions with a remembered working directory, and of requests for one.
pub const MAX_SESSIONS: usize = 1024;

/// The final statuses of a tool call.
const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];

/// Takes the lines of one connection, and decides on its permission requests and its commands for
/// terminals.
///
/// It performs no input or output, except that it looks up links below the working directories of
/// sessions.
///
/// ```
/// use jsonrpc_core::peek;
/// use jsonrpc_core::transcript::Direction;
/// use host::permissions::{Action, Files, Rule, Rules, Watcher};
///
/// let rule: Rule = toml::from_str("command = 'git status'\naction = 'allow'")?;
/// let mut watcher = Watcher::new(Rules::new(&[rule], "agent", Files::Local));
/// let asked = r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s",
///     "toolCall":{"toolCallId":"c","kind":"execute","rawInput":{"command":"git status"}},
///     "options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}"#;
/// let decision = watcher.handle_line(Direction::Received, &peek(asked.as_bytes())?);
/// let response = decision.as_ref().and_then(|decision| decision.response("7"));
/// assert_eq!(decision.map(|decision| decision.action()), Some(Action::Allow));
/// assert_eq!(
///     response.as_deref(),
///     Some(r#"{"jsonrpc":"2.0","id":7,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}"#),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Watcher {
    rules: Rules,
    calls: RecentValues<Facts, MAX_CALLS>,
    /// Working directories by session.
    directories: RecentValues<PathBuf, MAX_SESSIONS>,
    /// Working directories of sessions without an id, by request.
    opening: RecentValues<PathBuf, MAX_SESSIONS>,
}

impl Watcher {
    /// Creates the watcher of a new connection.
    pub fn new(rules: Rules) -> Self {
        let (calls, directories, opening) = Default::default();
        Self { rules, calls, directories, opening }
    }

    /// Returns whether no rule is for the agent: lines need not be peeked.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// Handles a line. `Sent` is from the client to the agent. Returns the decision if the line is
    /// a permission request, or `terminal/create`, that a rule matches.
    pub fn handle_line(
        &mut self,
        direction: Direction,
        line: &PeekedMessage<'_>,
    ) -> Option<Decision> {
        if self.is_idle() {
            return None;
        }
        let method = line.method();
        let method = method.as_ref().and_then(JsonStr::decode);
        match (direction, line.kind(), method.as_deref().unwrap_or_default()) {
            (Direction::Sent, Kind::Request, "initialize") => {
                self.handle_lost_line();
                self.directories.clear();
                self.opening.clear();
            }
            (Direction::Sent, Kind::Request, method) => self.handle_opening(line, method),
            (Direction::Received, Kind::Response, _) => self.handle_opened(line),
            (Direction::Received, Kind::Notification, "session/update") => self.handle_update(line),
            (Direction::Received, Kind::Request, "session/request_permission") => {
                return self.decide(&line.params().and_then(Json::parse).unwrap_or(Json::Null));
            }
            (Direction::Received, Kind::Request, method @ "terminal/create") => {
                let params = line.params().and_then(Json::parse).unwrap_or(Json::Null);
                let facts = Facts::of_terminal(&params);
                let found = self.rules.find(&facts, self.directory(&params))?;
                return Some(Decision::of_terminal(found, method));
            }
            _ => {}
        }
        None
    }

    /// Handles that a line of the agent was not read, for example a line that is too long: earlier
    /// facts of tool calls are forgotten.
    pub fn handle_lost_line(&mut self) {
        self.calls.clear();
    }

    fn handle_opening(&mut self, line: &PeekedMessage<'_>, method: &str) {
        let text = |name| JsonStr::new(line.param(&[name])?)?.decode();
        let Some(directory) = text("cwd").map(|cwd| PathBuf::from(&*cwd)) else { return };
        match (method, text("sessionId"), line.id()) {
            ("session/load" | "session/resume", Some(session), _) => {
                self.directories.insert(of_session(&session), directory);
            }
            ("session/new" | "session/fork", _, Some(id)) => {
                self.opening.insert(of_session(id), directory);
            }
            _ => {}
        }
    }

    fn handle_opened(&mut self, line: &PeekedMessage<'_>) {
        let Some(directory) = line.id().and_then(|id| self.opening.remove(&of_session(id))) else {
            return;
        };
        let result = line.result().and_then(Json::parse);
        let session =
            result.and_then(|result| result.get("sessionId").and_then(Json::text).known());
        if let Some(session) = session {
            self.directories.insert(of_session(&session), directory);
        }
    }

    fn handle_update(&mut self, line: &PeekedMessage<'_>) {
        let kind = line.param(&["update", "sessionUpdate"]).and_then(JsonStr::new);
        let kind = kind.as_ref().and_then(JsonStr::decode);
        let (is_new, is_piece) = match kind.as_deref() {
            Some("tool_call") => (true, false),
            Some("tool_call_update") => (false, false),
            Some("tool_call_content_chunk") => (false, true),
            _ => return,
        };
        let params = line.params().and_then(Json::parse).unwrap_or(Json::Null);
        let call = params.get("update").known();
        let id = call.and_then(|call| text(call, "toolCallId"));
        let (Some(session), Some(call), Some(id)) = (text(&params, "sessionId"), call, id) else {
            // A repeated member, for example: the call is not known.
            return self.handle_lost_line();
        };
        let key = (session, id);
        let known = self.calls.get(&key).filter(|_| !is_new);
        let mut facts = known.cloned().unwrap_or_default();
        match call.get("content") {
            Fact::Known(piece) if is_piece => facts.append(piece),
            _ if is_piece => {}
            _ => facts.update(call),
        }
        if text(call, "status").is_some_and(|status| ENDS.contains(&&*status)) {
            // A request with the same id is about another call.
            self.calls.remove(&key);
        } else {
            self.calls.insert(key, facts);
        }
    }

    fn decide(&mut self, params: &Json) -> Option<Decision> {
        let session = text(params, "sessionId").unwrap_or_default();
        let facts = self.facts(&session, params);
        let found = self.rules.find(&facts, self.directory(params))?;
        let tool = facts.name.known().or(facts.kind.known());
        Some(Decision::new(found, tool.as_deref().unwrap_or("tool"), params.get("options")))
    }

    /// Returns the working directory of the session of a request.
    fn directory(&self, params: &Json) -> Option<&Path> {
        let session = text(params, "sessionId").unwrap_or_default();
        let directory = self.directories.get(&of_session(&session)).map(PathBuf::as_path);
        directory.filter(|directory| directory.is_absolute())
    }

    /// Returns the facts of the call that a request is about, and remembers them.
    fn facts(&mut self, session: &str, params: &Json) -> Facts {
        let subject = params.get("subject");
        if subject != Fact::Absent && params.get("toolCall") != Fact::Absent {
            // Each version of the protocol has one of both, and a user sees only that one.
            return Facts::unclear();
        }
        let call = match &subject {
            Fact::Known(subject) if text(subject, "type").as_deref() == Some("command") => {
                return Facts::of_command(subject);
            }
            Fact::Known(subject) => subject.get("toolCall"),
            Fact::Absent => params.get("toolCall"),
            Fact::Unclear => Fact::Unclear,
        };
        let Fact::Known(call) = call else { return Facts::unclear() };
        let Some(id) = text(call, "toolCallId") else { return Facts::unclear() };
        let key = (session.to_owned(), id);
        let mut facts = self.calls.get(&key).cloned().unwrap_or_default();
        facts.update(call);
        self.calls.insert(key, facts.clone());
        facts
    }
}

fn text(object: &Json, member: &str) -> Option<String> {
    object.get(member).and_then(Json::text).known()
}

/// Returns the key of a value of a session, or of a request.
fn of_session(id: &str) -> (String, String) {
    (id.to_owned(), String::new())
}
