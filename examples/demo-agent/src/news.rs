//! Words for updates that came with version 2. What version 1 has as well is sent if the client
//! shows it.

use crate::script::{Scene, Step};
use crate::talk::say;
use crate::tools::{raw, start, status, text, update};
use crate::updates;
use acp_types::v1::compaction::{CompactionStatus, CompactionSummaryChunk, CompactionUpdate};
use acp_types::v1::notices::{Notice, NoticeSeverity};
use acp_types::v1::prompt_suggestions::{PromptSuggestion, PromptSuggestionsUpdate};
use acp_types::v1::prompt_turn::{ContentChunk, SessionUpdate};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::subagents::{
    IdleStateUpdate, IdleStopReason, RunningStateUpdate, StateUpdate, SubagentUpdate,
};
use acp_types::v1::tool_calls::{ToolCall, ToolCallStatus, ToolKind};
use acp_types::v2::content::ContentBlock;
use acp_types::v2::prompt_lifecycle::{AgentMessage, SessionUpdate as UpdateV2};
use acp_types::v2::tool_calls::ToolCallContentChunk;
use jsonrpc_core::wire::Extra;
use serde_json::json;

/// The pieces of a result.
const PIECES: [&str; 3] = ["greeting.txt\n", "notes.txt\n", "readme.txt\n"];

/// A tool call with content in pieces. In version 1 each update has all of it.
pub(crate) fn pieces(scene: &mut Scene) -> Vec<Step> {
    let id = scene.tool_call_id();
    let mut call = ToolCall::new(id.clone(), "List the files");
    call.name = Some("list_files".to_owned());
    call.kind = Some(ToolKind::Search);
    call.status = Some(ToolCallStatus::InProgress);
    call.raw_input = raw(&json!({ "path": scene.cwd }));
    let mut steps = vec![start(call)];
    let mut shown = String::new();
    for piece in PIECES {
        if scene.is_v2 {
            let chunk = ToolCallContentChunk::new(id.clone(), updates::text(piece));
            let chunk = UpdateV2::ToolCallContentChunk(Box::new(chunk));
            steps.push(Step::UpdateV2(Box::new(chunk)));
        } else {
            shown.push_str(piece);
            let mut growing = status(&id, ToolCallStatus::InProgress);
            growing.content = vec![text(&shown)].into();
            steps.push(update(growing));
        }
    }
    steps.push(update(status(&id, ToolCallStatus::Completed)));
    steps.extend(say(scene, "These are the files (not really: I read no folders). "));
    steps
}

/// A whole message, which is then rewritten and continued.
pub(crate) fn rewrite(scene: &mut Scene) -> Vec<Step> {
    if !scene.is_v2 {
        return say(scene, "A message of version 1 stays as it is. ");
    }
    let id = scene.message_id();
    let whole = |text: &str| {
        let mut message = AgentMessage::new(id.as_str());
        message.content = vec![ContentBlock::from(text)].into();
        Step::UpdateV2(Box::new(UpdateV2::AgentMessage(Box::new(message))))
    };
    let mut chunk = ContentChunk::new("And this is the end of it. ");
    chunk.message_id = Some(id.as_str().into());
    vec![
        whole("This is a draft. "),
        whole("This is the final text. "),
        Step::Update(SessionUpdate::AgentMessageChunk(chunk)),
    ]
}

/// A turn without a prompt follows.
pub(crate) fn later(scene: &mut Scene) -> Vec<Step> {
    let mut steps = say(scene, "I will come back to this. ");
    steps.push(Step::Later(say(scene, "I have come back without a prompt. ")));
    steps
}

/// A notice.
pub(crate) fn notice(scene: &mut Scene) -> Vec<Step> {
    if !scene.shows.notices {
        return say(scene, "You show no notices, so I send none. ");
    }
    let mut notice = Notice::new(NoticeSeverity::Warning, "The model is slow today");
    notice.description = Some("Answers may take longer than usual.".to_owned());
    let mut steps = vec![Step::Update(SessionUpdate::Notice(notice))];
    steps.extend(say(scene, "You have been warned. "));
    steps
}

/// Prompts for the user to choose from.
pub(crate) fn suggest(scene: &mut Scene) -> Vec<Step> {
    if !scene.shows.suggestions {
        return say(scene, "You show no suggestions, so I make none. ");
    }
    let suggestions = ["hello", "make a plan"].map(|text| PromptSuggestion::new([text.into()]));
    let update = PromptSuggestionsUpdate::new(suggestions);
    let mut steps = say(scene, "You could go on with one of these. ");
    steps.push(Step::Update(SessionUpdate::PromptSuggestionsUpdate(update)));
    steps
}

/// A compaction of the context, with a summary in pieces.
pub(crate) fn compact(scene: &mut Scene) -> Vec<Step> {
    if !scene.shows.compactions {
        return say(scene, "You show no compactions, so I do none. ");
    }
    scene.ids += 1;
    let id = format!("compaction-{}", scene.ids);
    let state = |status| {
        let update = CompactionUpdate::new(id.as_str(), status);
        Step::Update(SessionUpdate::CompactionUpdate(Box::new(update)))
    };
    let summary = |text: &str| {
        let chunk = CompactionSummaryChunk::new(id.as_str(), text);
        Step::Update(SessionUpdate::CompactionSummaryChunk(Box::new(chunk)))
    };
    let mut steps = vec![
        state(CompactionStatus::InProgress),
        summary("You said a few words. "),
        summary("I followed my script. "),
        state(CompactionStatus::Completed),
    ];
    steps.extend(say(scene, "I have summarized the conversation. "));
    steps
}

/// A subagent with a message of its own.
pub(crate) fn delegate(scene: &mut Scene) -> Vec<Step> {
    if !scene.shows.subagents {
        return say(scene, "You show no subagents, so I work alone. ");
    }
    scene.ids += 1;
    let id = SessionId::from(format!("{}-helper-{}", scene.session_id, scene.ids));
    let mut begins = SubagentUpdate::new(id.clone());
    begins.title = "Helper".to_owned().into();
    begins.description = "Says hello".to_owned().into();
    begins.state = StateUpdate::Running(RunningStateUpdate::new()).into();
    let mut ends = SubagentUpdate::new(id.clone());
    let idle = IdleStateUpdate::new(IdleStopReason::EndTurn(Extra::new()));
    ends.state = StateUpdate::Idle(Box::new(idle)).into();
    let mut chunk = ContentChunk::new("Hello from the helper. ");
    chunk.message_id = Some("message-1".into());
    let mut steps = vec![
        Step::Update(SessionUpdate::SubagentUpdate(Box::new(begins))),
        Step::UpdateOwned(id, SessionUpdate::AgentMessageChunk(chunk)),
        Step::Update(SessionUpdate::SubagentUpdate(Box::new(ends))),
    ];
    steps.extend(say(scene, "My helper has finished. "));
    steps
}
