//! Permission requests.
use crate::json::{self, Members};
use crate::question::{About, AnswerError, By, Settlement};
use crate::state::Update;
use crate::tool_call::{Change, Denial};
use crate::translator::{Translator, acp_metadata};
use acp_types::v1::prompt_turn::{SessionNotification, SessionUpdate};
use acp_types::v1::tool_calls::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, RequestPermissionResponse, SelectedPermissionOutcome, ToolCallId,
    ToolKind,
};
use agui_types::interrupt::Interrupt;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// Who answers permission requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PermissionMode {
    /// A rule, at once. The stream tells it, as `CUSTOM` `acp.permission`.
    Policy(Policy),
    /// A person: the run ends with outcome `interrupt`, the request stays open, and the run whose input resumes goes on
    /// with the same turn. Needs [`Translator::tick`]. Clients before 1.0, the older of
    /// which forget what they were asked, are asked in the stream unless
    /// [`legacy_interrupts`](crate::Options::legacy_interrupts) is set.
    Interrupt,
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

/// What a permission request asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Permission {
    pub(crate) call: Option<ToolCallId>,
    /// The question, where it is another than the call's title.
    pub(crate) title: Option<String>,
    pub(crate) options: Vec<PermissionOption>,
}

impl Permission {
    /// The option that says no.
    pub(crate) fn refused(&self) -> PermissionAnswer {
        Policy::reject_all().decide("", &ToolKind::Other, &self.options)
    }

    /// Whether it offers an option.
    pub(crate) fn offers(&self, answer: &PermissionAnswer) -> bool {
        match answer {
            PermissionAnswer::Selected(id) => {
                self.options.iter().any(|option| option.option_id == *id)
            }
            PermissionAnswer::Cancelled => true,
        }
    }

    fn denies(&self, answer: &PermissionAnswer) -> bool {
        let PermissionAnswer::Selected(id) = answer else { return false };
        let option = self.options.iter().find(|option| option.option_id == *id);
        option.is_some_and(|option| {
            matches!(
                option.kind,
                PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways
            )
        })
    }

    /// What an answer looks like: an option, or AG-UI's own yes or no where the options have both.
    fn response_schema(&self) -> Extra {
        let ids: Vec<_> = self.options.iter().map(|option| &option.option_id).collect();
        let option_id = Members::new().with("type", "string").with("enum", &ids).into_raw();
        let properties = Members::new().with("optionId", &option_id);
        let schema = Members::new().with("type", "object");
        let answered = |by: Policy| by.decide("", &ToolKind::Other, &self.options);
        let says_both = [Policy::allow_all(), Policy::reject_all()]
            .map(answered)
            .iter()
            .all(|answer| matches!(answer, PermissionAnswer::Selected(_)));
        if says_both {
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
}

impl PermissionAnswer {
    pub(crate) fn to_response(&self) -> RequestPermissionResponse {
        RequestPermissionResponse::new(match self {
            Self::Selected(id) => {
                RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id.clone()))
            }
            Self::Cancelled => RequestPermissionOutcome::Cancelled(Extra::new()),
        })
    }
}

impl Translator {
    /// Takes in a `session/request_permission`. The answer comes out of [`poll_response`](Self::poll_response): at
    /// once, after [`answer_permission`](Self::answer_permission), or with the run that
    /// [resumes](Self::begin_run); when the turn ends first, it is `cancelled`.
    ///
    /// The tool call in it counts as an update of that call, and closes its arguments. While the run is interrupted, the
    /// question waits for the next; while there is no turn at all, nobody can be asked, and the answer is that of
    /// [`Policy::reject_all`].
    pub fn handle_permission_request(
        &mut self,
        request_id: RequestId,
        request: RequestPermissionRequest,
    ) {
        let RequestPermissionRequest { session_id, tool_call, options, .. } = request;
        let lane = self.subagents.lane(&session_id);
        let call = self.calls.key(&lane, &tool_call.tool_call_id);
        let permission = Permission { call: Some(call), title: None, options };
        self.heard();
        if self.run.is_some() {
            self.begin_subagent(&lane);
            self.speak_as(&lane, |t| t.tool_call(Change::from(tool_call).asking()));
        } else {
            let update = SessionUpdate::ToolCallUpdate(Box::new(tool_call));
            let update = SessionNotification::new(session_id, update);
            self.waiting.push(Update::V1(update), &self.options.limits);
        }
        self.ask_permission(request_id, permission);
    }

    /// Asks for permission, where its tool call is known.
    pub(crate) fn ask_permission(&mut self, request_id: RequestId, permission: Permission) {
        let policy = match &self.options.permission {
            PermissionMode::Policy(policy) => Some(policy.clone()),
            PermissionMode::InStream | PermissionMode::Interrupt => None,
        };
        let answer = policy.map(|policy| {
            let subject = permission.call.as_ref().and_then(|call| self.subject(call));
            let tool = subject.map_or("", |subject| subject.tool);
            let kind = subject.and_then(|subject| subject.kind).unwrap_or(&ToolKind::Other);
            Settlement::Permission(policy.decide(tool, kind, &permission.options))
        });
        self.ask(request_id, About::Permission(permission), answer);
    }

    /// Answers a permission request. The response comes out of [`poll_response`](Self::poll_response).
    ///
    /// A request that the run was interrupted for can be answered here as well; the client's answer to it is then left
    /// out.
    ///
    /// # Errors
    /// No permission was asked for under `interrupt_id`, it was answered before, or it does not offer the option.
    pub fn answer_permission(
        &mut self,
        interrupt_id: &str,
        answer: PermissionAnswer,
    ) -> Result<(), AnswerError> {
        match self.open_question(interrupt_id)? {
            (_, About::Elicitation(_)) => Err(AnswerError::Kind),
            (_, About::Permission(permission)) if !permission.offers(&answer) => {
                Err(AnswerError::Option)
            }
            (number, About::Permission(_)) => {
                self.answer(number, &Settlement::Permission(answer));
                Ok(())
            }
        }
    }

    /// Has a call's result say who denied it, if anyone, unless the agent gives one.
    pub(crate) fn note_denial(&mut self, about: &About, settlement: &Settlement, by: By) {
        let (About::Permission(permission), Settlement::Permission(answer)) = (about, settlement)
        else {
            return;
        };
        let Some(call) = &permission.call else { return };
        let denial = match by {
            By::Time => Denial::Time,
            By::Policy => Denial::Policy,
            By::Person | By::Agent | By::End => Denial::User,
        };
        let denial = match answer {
            PermissionAnswer::Cancelled => (by == By::Person).then_some(Denial::Nobody),
            PermissionAnswer::Selected(_) => permission.denies(answer).then_some(denial),
        };
        self.set_denial(call, denial);
    }

    /// What a permission request is about.
    pub(crate) fn permission_subject(&self, value: Members, permission: &Permission) -> Members {
        let subject = permission.call.as_ref().and_then(|call| self.subject(call));
        let title = permission.title.as_deref().or(subject.map(|subject| subject.title));
        value
            .with_some("toolCallId", subject.map(|subject| subject.id).as_ref())
            .with_some("title", title.as_ref())
    }

    pub(crate) fn permission_value(&self, value: Members, permission: &Permission) -> Members {
        let options = permission.offered(self.options.limits.value);
        self.permission_subject(value, permission).with("options", &options)
    }

    pub(crate) fn permission_interrupt(&self, id: String, permission: &Permission) -> Interrupt {
        let subject = permission.call.as_ref().and_then(|call| self.subject(call));
        let reason = if subject.is_some() { "tool_call" } else { "confirmation" };
        let mut interrupt = Interrupt::new(id, reason);
        let title = permission.title.as_deref().or(subject.map(|subject| subject.title));
        interrupt.message = title.map(ToOwned::to_owned);
        interrupt.tool_call_id = subject.map(|subject| subject.id.clone());
        interrupt.response_schema = Some(permission.response_schema());
        let call = subject.map(|subject| {
            Members::new()
                .with("title", subject.title)
                .with("name", subject.tool)
                .with_some("kind", subject.kind)
                .into_raw()
        });
        let acp = Members::new()
            .with("options", &permission.offered(self.options.limits.value))
            .with_some("toolCall", call.as_ref());
        interrupt.metadata = Some(acp_metadata(acp));
        interrupt
    }
}

/// The value of an event that tells what came of a permission request.
pub(crate) fn outcome(value: Members, answer: &PermissionAnswer) -> Members {
    match answer {
        PermissionAnswer::Selected(id) => value.with("outcome", "selected").with("optionId", id),
        PermissionAnswer::Cancelled => value.with("outcome", "cancelled"),
    }
}
