//! Permission requests: each gets one answer, whatever happens.
use crate::json::{self, Members};
use crate::tool_call::{Change, Denial};
use crate::translator::Translator;
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, ToolCallId,
    ToolKind,
};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{Extra, Raw};

/// Who answers permission requests.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionMode {
    /// A rule, at once. The stream tells it, as `CUSTOM` `acp.permission`.
    Policy(Policy),
    /// A person: the stream asks with `CUSTOM` `acp.permission.requested`, and stays open until
    /// [`Translator::answer_permission`] is called.
    InStream,
}

impl Default for PermissionMode {
    fn default() -> Self {
        Self::Policy(Policy::default())
    }
}

/// Which tools may run without asking anyone; the default is none.
///
/// ```
/// use acp_types::v1::tool_calls::{PermissionOption, PermissionOptionKind, ToolKind};
/// use agui_bridge::{PermissionAnswer, Policy};
///
/// let options = [
///     PermissionOption::new("always", "Always", PermissionOptionKind::AllowAlways),
///     PermissionOption::new("once", "Allow", PermissionOptionKind::AllowOnce),
///     PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
/// ];
/// let policy = Policy::allow_kinds([ToolKind::Read]);
/// assert_eq!(policy.decide("Grep", &ToolKind::Read, &options), PermissionAnswer::Selected("once".into()));
/// assert_eq!(policy.decide("Bash", &ToolKind::Execute, &options), PermissionAnswer::Selected("no".into()));
/// assert_eq!(policy.decide("Bash", &ToolKind::Execute, &[]), PermissionAnswer::Cancelled);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    allows: Allows,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Allows {
    All,
    Only { tools: Vec<String>, kinds: Vec<ToolKind> },
}

impl Default for Allows {
    fn default() -> Self {
        Self::Only { tools: Vec::new(), kinds: Vec::new() }
    }
}

impl Policy {
    /// Rejects everything.
    pub fn reject_all() -> Self {
        Self::default()
    }

    /// Allows everything.
    pub fn allow_all() -> Self {
        Self { allows: Allows::All }
    }

    /// Allows the kinds of tools that the agent says they are, and rejects the rest.
    pub fn allow_kinds(kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        Self { allows: Allows::Only { tools: Vec::new(), kinds: kinds.into_iter().collect() } }
    }

    /// Allows the tools of these names, as `TOOL_CALL_START` gives them, and rejects the rest.
    pub fn allow_tools(tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            allows: Allows::Only {
                tools: tools.into_iter().map(Into::into).collect(),
                kinds: Vec::new(),
            },
        }
    }

    /// The answer for a tool of this name and kind.
    ///
    /// | the tool is | answer: the first option of kind | else of kind | else |
    /// |---|---|---|---|
    /// | allowed | `allow_once` | `allow_always` | cancelled |
    /// | not allowed | `reject_once` | `reject_always` | cancelled |
    pub fn decide(
        &self,
        tool: &str,
        kind: &ToolKind,
        options: &[PermissionOption],
    ) -> PermissionAnswer {
        let allowed = match &self.allows {
            Allows::All => true,
            Allows::Only { tools, kinds } => {
                kinds.contains(kind) || tools.iter().any(|name| name == tool)
            }
        };
        let kinds = if allowed {
            [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
        } else {
            [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]
        };
        let option =
            kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
        match option {
            Some(option) => PermissionAnswer::Selected(option.option_id.clone()),
            None => PermissionAnswer::Cancelled,
        }
    }
}

/// The answer to a permission request.
///
/// Spec: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission) (ACP v1)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermissionAnswer {
    /// This option.
    Selected(PermissionOptionId),
    /// None: the turn is being cancelled, or whoever was asked went away.
    Cancelled,
}

/// A response to send to the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionResponse {
    /// The request it is for, as [`Translator::handle_permission_request`] got it.
    pub request_id: RequestId,
    /// Its result.
    pub response: RequestPermissionResponse,
}

/// An answer was not taken; what was asked is as open as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// Nothing was asked under this id.
    #[error("no permission was asked for under this id")]
    Unknown,
    /// It has its answer.
    #[error("the permission request has its answer already")]
    Answered,
    /// The request does not offer this option.
    #[error("the permission request does not offer this option")]
    Option,
}

/// The requests that wait for a person, by the number in their interrupt ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permissions {
    open: BTreeMap<u64, Open>,
    asked: u64,
}

#[derive(Clone, Debug)]
struct Open {
    request_id: RequestId,
    call: ToolCallId,
    options: Vec<PermissionOption>,
}

impl Translator {
    /// Takes in a `session/request_permission`. The answer comes out of [`poll_response`](Self::poll_response): at once,
    /// or after [`answer_permission`](Self::answer_permission); when the run ends first, it is `cancelled`.
    ///
    /// The tool call in it counts as an update of that call, and closes its arguments. While no run is open, nobody can
    /// be asked: the answer is that of [`Policy::reject_all`].
    pub fn handle_permission_request(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
    ) {
        let RequestPermissionRequest { session_id, tool_call, options, .. } = request;
        let Some(run) = &self.run else {
            let answer = Policy::reject_all().decide("", &ToolKind::Other, &options);
            let update = SessionUpdate::ToolCallUpdate(Box::new(tool_call));
            self.waiting.push(SessionNotification::new(session_id, update), &self.options.limits);
            self.respond(request_id, &answer);
            return;
        };
        let cancelled = run.cancelled;
        let call = tool_call.tool_call_id.clone();
        self.tool_call(Change::from(tool_call).asking());
        let full = self.permissions.open.len() >= self.options.limits.permissions;
        let policy = match &self.options.permission {
            PermissionMode::InStream if !full => None,
            PermissionMode::InStream => Some(Policy::reject_all()),
            PermissionMode::Policy(policy) => Some(policy.clone()),
        };
        match policy {
            _ if cancelled => self.decide(request_id, &call, &options, PermissionAnswer::Cancelled),
            Some(policy) => {
                let subject = self.subject(&call);
                let tool = subject.map_or("", |subject| subject.tool);
                let kind = subject.and_then(|subject| subject.kind).unwrap_or(&ToolKind::Other);
                let answer = policy.decide(tool, kind, &options);
                self.decide(request_id, &call, &options, answer);
            }
            None => self.ask(Open { request_id, call, options }),
        }
    }

    /// Answers a request that the stream asked about. The response comes out of [`poll_response`](Self::poll_response).
    ///
    /// # Errors
    /// Nothing was asked under `interrupt_id`, it was answered before, or it does not offer the option.
    pub fn answer_permission(
        &mut self,
        interrupt_id: &str,
        answer: PermissionAnswer,
    ) -> Result<(), AnswerError> {
        let number = interrupt_id
            .strip_prefix(&*self.options.interrupt_prefix)
            .and_then(|number| number.parse().ok());
        let number: u64 =
            number.filter(|n| interrupt_id == self.interrupt(*n)).ok_or(AnswerError::Unknown)?;
        if number == 0 || number > self.permissions.asked {
            return Err(AnswerError::Unknown);
        }
        let open = self.permissions.open.get(&number).ok_or(AnswerError::Answered)?;
        if let PermissionAnswer::Selected(id) = &answer
            && !open.options.iter().any(|option| option.option_id == *id)
        {
            return Err(AnswerError::Option);
        }
        self.resolve(number, &answer);
        Ok(())
    }

    /// Notes that the agent does not want an answer any more, as `$/cancel_request` says: it gets `cancelled`, unless it
    /// got another before.
    pub fn handle_permission_withdrawn(&mut self, request_id: &RequestId) {
        let open = self.permissions.open.iter().find(|(_, open)| open.request_id == *request_id);
        if let Some((&number, _)) = open {
            self.resolve(number, &PermissionAnswer::Cancelled);
        }
    }

    /// Takes the next response that has to go to the agent.
    pub fn poll_response(&mut self) -> Option<PermissionResponse> {
        self.responses.pop_front()
    }

    /// Answers `cancelled` to whatever still waits.
    pub(crate) fn cancel_permissions(&mut self) {
        while let Some((&number, _)) = self.permissions.open.first_key_value() {
            self.resolve(number, &PermissionAnswer::Cancelled);
        }
    }

    fn ask(&mut self, open: Open) {
        self.permissions.asked += 1;
        let number = self.permissions.asked;
        let limit = self.options.limits.value;
        let subject = self.subject(&open.call);
        let value = Members::new()
            .with("interruptId", &self.interrupt(number))
            .with_some("toolCallId", subject.map(|subject| subject.id).as_ref())
            .with_some("title", subject.map(|subject| subject.title).as_ref())
            .with("options", &offered(&open.options, limit));
        self.permissions.open.insert(number, open);
        self.custom("acp.permission.requested", value.into_raw());
    }

    fn interrupt(&self, number: u64) -> String {
        format!("{}{number}", self.options.interrupt_prefix)
    }

    fn resolve(&mut self, number: u64, answer: &PermissionAnswer) {
        let Some(open) = self.permissions.open.remove(&number) else { return };
        self.set_denial(&open.call, denial(answer, &open.options, Denial::User));
        let value = Members::new().with("interruptId", &self.interrupt(number));
        self.custom("acp.permission.resolved", outcome(value, answer));
        self.respond(open.request_id, answer);
    }

    /// Answers a request that nobody was asked about.
    fn decide(
        &mut self,
        request_id: RequestId,
        call: &ToolCallId,
        options: &[PermissionOption],
        answer: PermissionAnswer,
    ) {
        self.set_denial(call, denial(&answer, options, Denial::Policy));
        let subject = self.subject(call);
        let value = Members::new()
            .with_some("toolCallId", subject.map(|subject| subject.id).as_ref())
            .with_some("title", subject.map(|subject| subject.title).as_ref());
        self.custom("acp.permission", outcome(value, &answer));
        self.respond(request_id, &answer);
    }

    fn respond(&mut self, request_id: RequestId, answer: &PermissionAnswer) {
        let outcome = match answer {
            PermissionAnswer::Selected(id) => {
                RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.clone()))
            }
            PermissionAnswer::Cancelled => RequestPermissionOutcome::Cancelled(Extra::new()),
        };
        let response = RequestPermissionResponse::new(outcome);
        self.responses.push_back(PermissionResponse { request_id, response });
    }
}

fn denial(answer: &PermissionAnswer, options: &[PermissionOption], who: Denial) -> Option<Denial> {
    let PermissionAnswer::Selected(id) = answer else { return None };
    let option = options.iter().find(|option| option.option_id == *id)?;
    let rejects = matches!(
        option.kind,
        PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways
    );
    rejects.then_some(who)
}

fn outcome(value: Members, answer: &PermissionAnswer) -> Raw {
    match answer {
        PermissionAnswer::Selected(id) => {
            value.with("outcome", "selected").with("optionId", id).into_raw()
        }
        PermissionAnswer::Cancelled => value.with("outcome", "cancelled").into_raw(),
    }
}

fn offered(options: &[PermissionOption], limit: usize) -> Raw {
    let offered = |option: &PermissionOption| {
        Members::new()
            .with("optionId", &option.option_id)
            .with("name", &option.name)
            .with("kind", &option.kind)
            .into_raw()
    };
    json::bounded(&options.iter().map(offered).collect::<Vec<_>>(), limit)
}
