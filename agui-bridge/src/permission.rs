//! Permission requests, and the policies that answer them.
use crate::json::{self, Members};
use crate::limits::Limits;
use crate::outbox::acp_metadata;
use crate::tool_call::ToolCalls;
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionResponse, SelectedPermissionOutcome, ToolCallId, ToolKind,
};
use agui_types::id::ToolCallId as CallId;
use agui_types::interrupt::Interrupt;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

mod operation;

pub(crate) use operation::Operation;

/// The handling of permission requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PermissionMode {
    /// Answered by a policy at once. The stream shows it as `CUSTOM` `acp.permission`.
    Policy(Policy),
    /// Answered by the user: the run ends with outcome `interrupt`, the request stays open, and the
    /// run that resumes it continues the same turn. Requires
    /// [`Translator::handle_timeout`](crate::Translator::handle_timeout). Clients before 1.0, some
    /// of which do not store interrupts, receive the request in the stream unless
    /// [`legacy_interrupts`](crate::Options::legacy_interrupts) is set.
    Interrupt,
    /// Answered by the user: the stream has `CUSTOM` `acp.permission.requested`, and stays open
    /// until [`Translator::answer_permission`](crate::Translator::answer_permission) is called.
    InStream,
}

impl Default for PermissionMode {
    fn default() -> Self {
        Self::Policy(Policy::default())
    }
}

/// The tools that run without the user's permission; none by default.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    allows: Allows,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Rejects all tools.
    pub fn reject_all() -> Self {
        Self::default()
    }

    /// Allows all tools.
    pub fn allow_all() -> Self {
        Self { allows: Allows::All }
    }

    /// Allows tools of these kinds, as the agent states them, and rejects the rest.
    pub fn allow_kinds(kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        Self { allows: Allows::Only { tools: Vec::new(), kinds: kinds.into_iter().collect() } }
    }

    /// Allows tools of these names, as in `TOOL_CALL_START`, and rejects the rest.
    pub fn allow_tools(tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            allows: Allows::Only {
                tools: tools.into_iter().map(Into::into).collect(),
                kinds: Vec::new(),
            },
        }
    }

    /// Returns the answer for a tool of this name and kind.
    ///
    /// | the tool is | answer: the first option of kind | otherwise of kind | otherwise |
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
/// Spec: [Requesting
/// permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission) (ACP
/// v1)
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an answer selects an option or none")]
pub enum PermissionAnswer {
    /// This option.
    Selected(PermissionOptionId),
    /// No option: the turn is being cancelled, or the user left.
    Cancelled,
}

/// The decision of a program on a permission request. It takes precedence over [`PermissionMode`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a request is answered by the program or by the user")]
pub enum PermissionDecision {
    /// The answer. The stream shows it as that of a policy.
    Answer(PermissionAnswer),
    /// The user answers, also with [`PermissionMode::Policy`]: then by an interrupt.
    Ask,
}

/// A permission request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Permission {
    /// The [key](ToolCalls::key) of its call.
    call: Option<ToolCallId>,
    /// The call's identifier in the stream. A later call may have the same key.
    call_id: Option<CallId>,
    /// The question, if it differs from the call's title.
    title: Option<String>,
    description: Option<String>,
    operation: Operation,
    options: Vec<PermissionOption>,
}

impl Permission {
    /// Creates a request about an operation.
    pub(crate) fn new(operation: Operation, options: Vec<PermissionOption>) -> Self {
        let title = None;
        let description = None;
        Self { call: None, call_id: None, title, description, operation, options }
    }

    /// Returns the same for the call with this [key](ToolCalls::key).
    pub(crate) fn of_call(self, call: Option<ToolCallId>) -> Self {
        Self { call, ..self }
    }

    /// Returns the same with the question and the description of ACP v2.
    pub(crate) fn with_question(
        self,
        title: String,
        description: Option<String>,
        limits: &Limits,
    ) -> Self {
        let description = description.map(|text| json::cut(text, limits.message));
        Self { title: Some(json::cut(title, limits.message)), description, ..self }
    }

    /// Returns the key of its call.
    pub(crate) fn call(&self) -> Option<&ToolCallId> {
        self.call.as_ref()
    }

    /// Returns the call's identifier in the stream, if the call was shown.
    pub(crate) fn call_id(&self) -> Option<&CallId> {
        self.call_id.as_ref()
    }

    /// Finds its call, and adds the members of the call that the request lacks.
    pub(crate) fn find_call(&mut self, calls: &ToolCalls, limits: &Limits) {
        let Some(key) = self.call.as_ref().filter(|_| self.call_id.is_none()) else { return };
        self.call_id = calls.id(key).cloned();
        if let (Operation::Call(call), Some(known)) = (&mut self.operation, calls.describe(key)) {
            call.complete(known, limits);
        }
    }

    /// Returns the answer of a policy.
    pub(crate) fn decide(&self, policy: &Policy) -> PermissionAnswer {
        let (tool, kind) = self.operation.tool();
        policy.decide(tool, kind, &self.options)
    }

    /// Returns the size in bytes of the parts that no limit shortens.
    pub(crate) fn bytes(&self) -> usize {
        self.operation.bytes() + json::raw(&self.options).as_str().len()
    }

    /// Returns the answer to a plain approval or rejection, without a chosen option. An approval is
    /// for this call alone.
    pub(crate) fn approved(&self, is_approved: bool) -> PermissionAnswer {
        if !is_approved {
            return Policy::reject_all().decide("", &ToolKind::Other, &self.options);
        }
        let once = PermissionOptionKind::AllowOnce;
        let option = self.options.iter().find(|option| option.kind == once);
        option.map_or(PermissionAnswer::Cancelled, |option| {
            PermissionAnswer::Selected(option.option_id.clone())
        })
    }

    /// Returns the option that rejects the call.
    pub(crate) fn refused(&self) -> PermissionAnswer {
        self.approved(false)
    }

    /// Returns whether the request offers an option.
    pub(crate) fn offers(&self, answer: &PermissionAnswer) -> bool {
        match answer {
            PermissionAnswer::Selected(id) => {
                self.options.iter().any(|option| option.option_id == *id)
            }
            PermissionAnswer::Cancelled => true,
        }
    }

    /// Returns whether an answer rejects the call.
    pub(crate) fn denies(&self, answer: &PermissionAnswer) -> bool {
        let PermissionAnswer::Selected(id) = answer else { return false };
        let option = self.options.iter().find(|option| option.option_id == *id);
        option.is_some_and(|option| {
            matches!(
                option.kind,
                PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways
            )
        })
    }

    /// Returns the schema of an answer: an option, or AG-UI's own boolean if options both allow and
    /// reject.
    fn response_schema(&self) -> Extra {
        let ids: Vec<_> = self.options.iter().map(|option| &option.option_id).collect();
        let option_id = Members::new().with("type", "string").with("enum", &ids).into_raw();
        let properties = Members::new().with("optionId", &option_id);
        let schema = Members::new().with("type", "object");
        let has_both = [true, false]
            .map(|is_approved| self.approved(is_approved))
            .iter()
            .all(|answer| matches!(answer, PermissionAnswer::Selected(_)));
        if has_both {
            let approved = Members::new().with("type", "boolean").into_raw();
            let properties = properties.with("approved", &approved);
            schema.with("properties", &properties.into_raw())
        } else {
            schema.with("properties", &properties.into_raw()).with("required", &["optionId"])
        }
        .into_extra()
    }

    fn offered(&self, limit: usize) -> Raw {
        let offered = |option: &PermissionOption| {
            Members::new()
                .with("optionId", &option.option_id)
                .with("name", &option.name)
                .with("kind", &option.kind)
                .into_raw()
        };
        json::bounded(&self.options.iter().map(offered).collect::<Vec<_>>(), limit)
    }

    /// Returns the question: its own text, or the call's title.
    fn title(&self) -> Option<&str> {
        let call = match &self.operation {
            Operation::Call(call) => call.title.as_deref().or(call.name.as_deref()),
            _ => None,
        };
        self.title.as_deref().or(call)
    }

    /// Returns the question with all that the stream has nowhere else, for clients that show no
    /// more.
    fn message(&self) -> Option<String> {
        let parts =
            [self.title().map(ToOwned::to_owned), self.description.clone(), self.operation.text()];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Adds the call and the title to the value of an event.
    pub(crate) fn describe(&self, value: Members) -> Members {
        value
            .with_some("toolCallId", self.call_id.as_ref())
            .with_some("title", self.title().as_ref())
            .with_some("description", self.description.as_ref())
    }

    /// Adds all of the request to the value of an event.
    pub(crate) fn describe_whole(&self, value: Members, limits: &Limits) -> Members {
        let value = self.operation.describe(self.describe(value));
        value.with("options", &self.offered(limits.value))
    }

    /// Returns the request as an interrupt.
    pub(crate) fn interrupt(&self, id: String, limits: &Limits) -> Interrupt {
        let reason = if self.call_id.is_some() { "tool_call" } else { "confirmation" };
        let mut interrupt = Interrupt::new(id, reason);
        interrupt.message = self.message();
        interrupt.tool_call_id = self.call_id.clone();
        interrupt.response_schema = Some(self.response_schema());
        let acp = Members::new()
            .with("options", &self.offered(limits.value))
            .with_some("title", self.title.as_ref())
            .with_some("description", self.description.as_ref());
        interrupt.metadata = Some(acp_metadata(self.operation.describe(acp)));
        interrupt
    }
}

impl PermissionAnswer {
    pub(crate) fn is_cancelled(&self) -> bool {
        *self == Self::Cancelled
    }

    /// Returns the answer as the response to the request.
    pub(crate) fn to_response(&self) -> RequestPermissionResponse {
        RequestPermissionResponse::new(match self {
            Self::Selected(id) => {
                RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.clone()))
            }
            Self::Cancelled => RequestPermissionOutcome::Cancelled(Extra::new()),
        })
    }

    /// Adds the outcome to the value of an event.
    pub(crate) fn describe(&self, value: Members) -> Members {
        match self {
            Self::Selected(id) => value.with("outcome", "selected").with("optionId", id),
            Self::Cancelled => value.with("outcome", "cancelled"),
        }
    }
}
