//! Fallbacks for unknown values, as defined by the specification.
use acp_types::{v1, v2};
use jsonrpc_core::ErrorCode;
use jsonrpc_core::wire::{Presence, decode};
use serde_json::json;

fn read<T: jsonrpc_core::wire::Wire>(value: serde_json::Value) -> T {
    decode(&value.to_string()).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// An unknown name reads as its fallback in the specification, a known one as itself.
#[test]
fn names_fall_back() {
    for (given, shown) in [("read", "read"), ("other", "other"), ("ponder", "other")] {
        assert_eq!(v1::tool_calls::ToolKind::from(given).or_other().as_str(), shown);
        assert_eq!(v2::tool_calls::ToolKind::from(given).or_other().as_str(), shown);
    }
    for (given, shown) in [("paused", "paused"), ("failed", "failed"), ("stuck", "in_progress")] {
        assert_eq!(v2::tool_calls::ToolCallStatus::from(given).or_in_progress().as_str(), shown);
    }
    for (given, shown) in [("open", "open"), ("saved", "saved"), ("frozen", "saved")] {
        assert_eq!(v1::session_status::SessionStatus::from(given).or_saved().as_str(), shown);
        assert_eq!(v2::session_status::SessionStatus::from(given).or_saved().as_str(), shown);
    }
    for (given, shown) in [("authenticated", "authenticated"), ("expiring", "unknown")] {
        assert_eq!(v1::authentication::AuthState::from(given).or_unknown().as_str(), shown);
        assert_eq!(v2::authentication::AuthState::from(given).or_unknown().as_str(), shown);
    }
}

/// A tool call of version 1 without known kind and status is pending and of kind `other`.
#[test]
fn tool_call_has_a_kind_and_a_status() {
    for (members, kind, status) in [
        (json!({}), "other", "pending"),
        (json!({ "kind": "ponder", "status": "stuck" }), "other", "pending"),
        (json!({ "kind": "edit", "status": "failed" }), "edit", "failed"),
    ] {
        let mut call = json!({ "toolCallId": "c", "title": "t" });
        call.as_object_mut().expect("an object").extend(members.as_object().expect("one").clone());
        let call: v1::tool_calls::ToolCall = read(call);
        assert_eq!(call.kind_or_other().as_str(), kind);
        assert_eq!(call.status_or_pending().as_str(), status);
    }
}

/// An absent member in an update of version 2 keeps the value; `null` resets it.
#[test]
fn upsert_returns_the_values_to_show() {
    let mut update = v2::tool_calls::ToolCallUpdate::new("c");
    assert_eq!(update.kind_or_other(), None);
    assert_eq!(update.status_or_in_progress(), None);
    update.kind = Presence::Null;
    update.status = Presence::Null;
    assert_eq!(update.kind_or_other().map(|kind| kind.as_str()), Some("other"));
    assert_eq!(update.status_or_in_progress().map(|status| status.as_str()), Some("pending"));
    update.kind = Presence::Value("ponder".into());
    update.status = Presence::Value("stuck".into());
    assert_eq!(update.kind_or_other().map(|kind| kind.as_str()), Some("other"));
    assert_eq!(update.status_or_in_progress().map(|status| status.as_str()), Some("in_progress"));
}

/// An unknown state is busy and never idle; `unknown` itself is neither.
#[test]
fn only_idle_is_idle() {
    for (state, is_idle, is_busy) in [
        ("idle", true, false),
        ("running", false, true),
        ("requires_action", false, true),
        ("unknown", false, false),
        ("dreaming", false, true),
    ] {
        let value = json!({ "state": state });
        let first: v1::subagents::StateUpdate = read(value.clone());
        let second: v2::session_states::StateUpdate = read(value);
        assert_eq!(first.is_idle(), is_idle, "{state}");
        assert_eq!(first.is_busy(), is_busy, "{state}");
        assert_eq!(second.is_idle(), is_idle, "{state}");
        assert_eq!(second.is_busy(), is_busy, "{state}");
    }
}

/// Only the selection of an allowing option grants permission.
#[test]
fn only_an_allowing_option_grants_permission() {
    let kinds = ["allow_once", "allow_always", "reject_once", "reject_always", "allow_later"];
    let options: Vec<_> =
        kinds.iter().map(|kind| json!({ "optionId": kind, "name": kind, "kind": kind })).collect();
    let first: v1::tool_calls::RequestPermissionRequest = read(
        json!({ "sessionId": "s", "toolCall": { "toolCallId": "c" }, "options": options.clone() }),
    );
    let second: v2::permissions::RequestPermissionRequest =
        read(json!({ "sessionId": "s", "title": "May I?", "options": options }));
    let selected = |id: &str| json!({ "outcome": "selected", "optionId": id });
    for (outcome, expected) in [
        (selected("allow_once"), true),
        (selected("allow_always"), true),
        (selected("reject_once"), false),
        (selected("reject_always"), false),
        (selected("allow_later"), false),
        (selected("never_offered"), false),
        (json!({ "outcome": "cancelled" }), false),
        (json!({ "outcome": "delegated", "optionId": "allow_once" }), false),
    ] {
        assert_eq!(first.is_granted_by(&read(outcome.clone())), expected, "{outcome}");
        assert_eq!(second.is_granted_by(&read(outcome.clone())), expected, "{outcome}");
    }
}

/// An unknown action is `cancel`.
#[test]
fn unknown_action_is_cancel() {
    for (action, expected) in
        [("accept", false), ("decline", false), ("cancel", true), ("postpone", true)]
    {
        let value = json!({ "action": action });
        let first: v1::elicitation::ElicitationAction = read(value.clone());
        let second: v2::elicitation::ElicitationAction = read(value);
        assert_eq!(first.is_cancel(), expected, "{action}");
        assert_eq!(second.is_cancel(), expected, "{action}");
    }
}

/// An unknown plan replaces the plan with its id.
#[test]
fn unknown_plan_has_an_id() {
    for (plan, expected) in [
        (json!({ "type": "items", "planId": "p", "entries": [] }), Some("p")),
        (json!({ "type": "file", "planId": "p", "uri": "file:///p" }), Some("p")),
        (json!({ "type": "markdown", "planId": "p", "content": "" }), Some("p")),
        (json!({ "type": "gantt", "planId": "p" }), Some("p")),
        (json!({ "type": "gantt", "planId": 7 }), None),
        (json!({ "type": "gantt" }), None),
    ] {
        let first: v1::agent_plan::PlanUpdateContent = read(plan.clone());
        let second: v2::agent_plan::PlanUpdateContent = read(plan.clone());
        assert_eq!(first.plan_id(), expected.map(Into::into), "{plan}");
        assert_eq!(second.plan_id(), expected.map(Into::into), "{plan}");
    }
}

/// A command of an unknown kind has a name and a description.
#[test]
fn unknown_command_has_a_name() {
    for kind in ["command", "macro"] {
        let command: v2::slash_commands::AvailableCommand =
            read(json!({ "type": kind, "name": "test", "description": "Runs tests" }));
        assert_eq!(command.name().as_deref(), Some("test"));
        assert_eq!(command.description().as_deref(), Some("Runs tests"));
    }
}

macro_rules! rejections {
    ($($module:ident::$Type:ident { $($json:tt)* } => $expected:expr,)+) => {
        [$((
            stringify!($Type),
            read::<v2::$module::$Type>(json!({ $($json)* })).rejection(),
            $expected,
        ),)+]
    };
}

/// Values that an agent must not ignore are answered with invalid parameters and their place.
#[test]
fn requests_with_unknown_values_are_refused() {
    let server = json!([{ "type": "pigeon" }]);
    let prompt = json!({ "mode": "whisper", "content": [] });
    let image = json!({ "mode": "append", "content": [{ "type": "hologram" }] });
    let transport = Some("at /mcpServers/0: unknown transport `pigeon`");
    let mode = Some("at /systemPrompt/mode: unknown mode `whisper`");
    let content = Some("at /systemPrompt/content/0: unknown content `hologram`");
    let replay = Some("at /replayFrom: unknown start of a replay `message`");
    for (name, rejection, expected) in rejections! {
        prompt_lifecycle::PromptRequest { "sessionId": "s", "prompt": [{ "type": "hologram" }] }
            => Some("at /prompt/0: unknown content `hologram`"),
        session_setup::ResumeSessionRequest { "sessionId": "s", "cwd": "/", "mcpServers": server } => transport,
        session_setup::ResumeSessionRequest { "sessionId": "s", "cwd": "/", "systemPrompt": prompt } => mode,
        session_setup::ResumeSessionRequest { "sessionId": "s", "cwd": "/", "systemPrompt": image } => content,
        session_setup::ResumeSessionRequest
            { "sessionId": "s", "cwd": "/", "replayFrom": { "type": "message" } } => replay,
        session_setup::ResumeSessionRequest
            { "sessionId": "s", "cwd": "/", "replayFrom": { "type": "start" } } => None,
    } {
        assert_eq!(rejection.as_ref().map(|error| &*error.message), expected, "{name}");
        assert!(rejection.is_none_or(|error| error.code == ErrorCode::INVALID_PARAMS));
    }
}
