//! Words that call tools.

use crate::script::{Scene, Step, ask};
use crate::talk::say;
use acp_types::v1::prompt_turn::{SessionUpdate, StopReason};
use acp_types::v1::tool_calls::{
    Content, Diff, DiffMembers, PermissionOption, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, ToolCall, ToolCallContent, ToolCallId, ToolCallLocation,
    ToolCallStatus, ToolCallUpdate, ToolKind,
};
use acp_types::v2;
use acp_types::v2::permissions::{RequestPermissionSubject, ToolCallPermissionSubject};
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Presence, Raw};
use serde_json::json;

const OLD_TEXT: &str = "Hello\nworld\n";
const NEW_TEXT: &str = "Hello\ndear\nworld\n";

pub(crate) fn read(scene: &mut Scene) -> Vec<Step> {
    let id = scene.tool_call_id();
    let path = scene.path("greeting.txt");
    let mut call = ToolCall::new(id.clone(), "Read greeting.txt");
    call.name = Some("read_file".to_owned());
    call.kind = Some(ToolKind::Read);
    call.status = Some(ToolCallStatus::InProgress);
    call.raw_input = raw(&json!({ "path": path }));
    call.locations = Some(vec![line(&path, 1)]);
    let mut done = status(&id, ToolCallStatus::Completed);
    done.content = vec![text(OLD_TEXT)].into();
    done.raw_output =
        raw(&json!({ "bytes": OLD_TEXT.len() })).map_or(Presence::Absent, Presence::from);
    let mut steps = vec![start(call), update(done)];
    steps.extend(say(scene, "I have read greeting.txt. "));
    steps
}

pub(crate) fn edit(scene: &mut Scene) -> Vec<Step> {
    let id = scene.tool_call_id();
    let path = scene.path("greeting.txt");
    let mut diff = Diff::from(DiffMembers { path: path.clone(), new_text: NEW_TEXT.into() });
    diff.old_text = Some(OLD_TEXT.to_owned());
    let mut call = ToolCall::new(id.clone(), "Edit greeting.txt");
    call.name = Some("edit_file".to_owned());
    call.kind = Some(ToolKind::Edit);
    call.status = Some(ToolCallStatus::Pending);
    call.raw_input = raw(&json!({ "path": path, "insert": "dear", "line": 2 }));
    call.locations = Some(vec![line(&path, 2)]);
    call.content = Some(vec![ToolCallContent::Diff(Box::new(diff))]);

    let mut allowed = vec![
        update(status(&id, ToolCallStatus::InProgress)),
        update(status(&id, ToolCallStatus::Completed)),
    ];
    allowed.extend(say(scene, "I have edited greeting.txt (not really: I touch no files). "));
    let mut refused = vec![update(failed(&id, "The edit was not allowed."))];
    refused.extend(say(scene, "Then I leave greeting.txt as it is. "));

    let mut steps = vec![start(call)];
    if scene.asks {
        steps.push(ask_permission(scene, id, allowed, refused));
    } else {
        steps.extend(allowed);
    }
    steps
}

pub(crate) fn permission(scene: &mut Scene) -> Vec<Step> {
    let id = scene.tool_call_id();
    let mut allowed = say(scene, "Thank you. I will not make use of it. ");
    let mut refused = say(scene, "As you wish. ");
    if scene.is_v2 {
        // The subject of the request is a tool call.
        allowed.insert(0, update(status(&id, ToolCallStatus::Completed)));
        refused.insert(0, update(failed(&id, "The permission was refused.")));
    }
    vec![ask_permission(scene, id, allowed, refused)]
}

/// Requests permission for tool call `id`.
fn ask_permission(scene: &Scene, id: ToolCallId, allowed: Vec<Step>, refused: Vec<Step>) -> Step {
    let options = [
        ("allow-once", "Allow", PermissionOptionKind::AllowOnce),
        ("allow-always", "Always allow in this session", PermissionOptionKind::AllowAlways),
        ("reject-once", "Reject", PermissionOptionKind::RejectOnce),
    ];
    let options: Vec<_> =
        options.map(|(id, name, kind)| PermissionOption::new(id, name, kind)).into();
    let mut tool_call = ToolCallUpdate::new(id.clone());
    tool_call.title = "Edit greeting.txt".to_owned().into();
    tool_call.kind = ToolKind::Edit.into();
    let session = scene.session_id.clone();
    let then = move |selected: Result<Option<String>, ErrorObject>| match selected {
        Ok(Some(option)) if option == "allow-once" => allowed,
        Ok(Some(option)) if option == "allow-always" => {
            [Step::AllowEdits].into_iter().chain(allowed).collect()
        }
        Ok(Some(option)) if option == "reject-once" => refused,
        Ok(_) => {
            let stop = Step::Stop(StopReason::Cancelled);
            vec![update(failed(&id, "Nobody gave permission.")), stop]
        }
        Err(error) => {
            let reason = format!("The client cannot ask for permission: {}", error.message);
            vec![update(failed(&id, &reason))]
        }
    };
    if scene.is_v2 {
        let mut subject = v2::tool_calls::ToolCallUpdate::new(tool_call.tool_call_id);
        subject.title = tool_call.title;
        subject.kind = tool_call.kind;
        let subject = ToolCallPermissionSubject::new(Box::new(subject));
        let mut request =
            v2::permissions::RequestPermissionRequest::new(session, "Edit greeting.txt?", options);
        request.description = Some("A line is added.".to_owned());
        request.subject = Some(Box::new(RequestPermissionSubject::ToolCall(subject)));
        return ask(&request, |answer| {
            then(answer.map(|answer| answer.outcome.option_id().map(ToString::to_string)))
        });
    }
    let request = RequestPermissionRequest::new(session, tool_call, options);
    ask(&request, |answer| {
        then(answer.map(|answer| match answer.outcome {
            RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.to_string()),
            _ => None,
        }))
    })
}

/// Starts a tool call.
pub(crate) fn start(call: ToolCall) -> Step {
    Step::Update(SessionUpdate::ToolCall(Box::new(call)))
}

/// Updates a tool call.
pub(crate) fn update(update: ToolCallUpdate) -> Step {
    Step::Update(SessionUpdate::ToolCallUpdate(Box::new(update)))
}

/// Updates only the status.
pub(crate) fn status(id: &ToolCallId, status: ToolCallStatus) -> ToolCallUpdate {
    let mut update = ToolCallUpdate::new(id.clone());
    update.status = status.into();
    update
}

/// Ends a tool call as failed.
pub(crate) fn failed(id: &ToolCallId, reason: &str) -> ToolCallUpdate {
    let mut update = status(id, ToolCallStatus::Failed);
    update.content = vec![text(reason)].into();
    update
}

/// Text as a tool call's content.
pub(crate) fn text(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(text))
}

/// A tool's arguments or result.
pub(crate) fn raw(value: &serde_json::Value) -> Option<Raw> {
    Raw::from_value(value).ok()
}

fn line(path: &str, line: u32) -> ToolCallLocation {
    let mut location = ToolCallLocation::new(path);
    location.line = Some(line);
    location
}
