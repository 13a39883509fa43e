//! The decision of a rule, and its answer to the agent.
use crate::permissions::json::{Fact, Json};
use crate::permissions::rule::Action;
use crate::permissions::rules::RuleMatch;
use acp_types::v1::tool_calls::{
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome,
};
use jsonrpc_core::wire::{Extra, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject};
use std::fmt;

/// Attribute of the request's span: the number of the rule in its file, from 1.
pub const RULE_INDEX: &str = "acp.permission.rule.index";

/// Attribute of the request's span: the action that was taken, `allow`, `ask` or `reject`.
pub const RULE_ACTION: &str = "acp.permission.rule.action";

/// Longest name of a tool in a decision, in characters.
const MAX_TOOL: usize = 64;

/// Reason for a question, if a match could only not be excluded.
const UNCLEAR: &str = ": its values cannot be compared";

/// The decision of a rule on a permission request, or on a command for a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    rule: usize,
    action: Action,
    why: &'static str,
    tool: String,
    outcome: Option<RequestPermissionOutcome>,
    is_of_terminal: bool,
}

impl Decision {
    /// Creates the decision on a request with these options. `tool` is shown.
    pub(crate) fn new(found: RuleMatch, tool: &str, options: Fact<&Json>) -> Self {
        let RuleMatch { rule, mut action, is_unclear } = found;
        let mut why = if is_unclear { UNCLEAR } else { "" };
        let outcome = match action {
            Action::Ask => None,
            Action::Allow => {
                let kinds = [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways];
                select(options, &kinds)
            }
            Action::Reject => {
                let kinds = [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways];
                let cancelled = || RequestPermissionOutcome::Cancelled(Extra::new());
                Some(select(options, &kinds).unwrap_or_else(cancelled))
            }
        };
        if outcome.is_none() && action == Action::Allow {
            action = Action::Ask;
            why = ": the agent offers no option to allow";
        }
        let shown = tool.chars().map(|c| if c.is_control() { '?' } else { c });
        let tool = shown.take(MAX_TOOL).collect();
        Self { rule, action, why, tool, outcome, is_of_terminal: false }
    }

    /// Creates the decision on a command for a terminal, which runs without a question unless it is
    /// rejected.
    pub(crate) fn of_terminal(found: RuleMatch, method: &str) -> Self {
        let RuleMatch { rule, action, is_unclear } = found;
        let why = if is_unclear { UNCLEAR } else { "" };
        Self { rule, action, why, tool: method.to_owned(), outcome: None, is_of_terminal: true }
    }

    /// Returns the number of the rule in its file, from 1.
    pub fn rule(&self) -> usize {
        self.rule
    }

    /// Returns the action: [`Action::Ask`] also if the rule has another one that cannot be taken.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Returns the name of the tool, or else its kind.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns whether the request is `terminal/create` instead of a permission request.
    pub fn is_of_terminal(&self) -> bool {
        self.is_of_terminal
    }

    /// Returns the answer to a permission request. `None` if the user decides.
    pub fn outcome(&self) -> Option<&RequestPermissionOutcome> {
        self.outcome.as_ref()
    }

    /// Returns the response to the request with this id, as a line without a line break. `None` if
    /// the user decides, or if a command runs.
    pub fn response(&self, id: &str) -> Option<String> {
        if self.is_of_terminal {
            let message = format!("permission rule {} rejects this command", self.rule);
            let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, message);
            let error = (self.action == Action::Reject).then(|| Raw::of(&error))?;
            return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.as_str()));
        }
        let result = Raw::of(&RequestPermissionResponse::new(self.outcome.clone()?));
        Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.as_str()))
    }
}

/// Shows the number of the rule, the action and the tool.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, action, why, tool, .. } = self;
        write!(f, "permission rule {rule}: {} {tool}{why}", action.as_str())
    }
}

/// Selects the first option of the first kind that is offered.
fn select(
    options: Fact<&Json>,
    kinds: &[PermissionOptionKind],
) -> Option<RequestPermissionOutcome> {
    let Fact::Known(Json::List(options)) = options else { return None };
    let member = |option: &Json, name| option.get(name).and_then(Json::text).known();
    let id = kinds.iter().find_map(|kind| {
        let of_kind = |option: &&Json| member(option, "kind").as_deref() == Some(kind.as_str());
        member(options.iter().find(of_kind)?, "optionId")
    })?;
    Some(RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id)))
}
