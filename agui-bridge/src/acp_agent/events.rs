//! Events of an AG-UI stream as ACP updates.
use super::{AcpAgent, MAX_SHOWN};
use crate::json::{self, Members};
use acp_types::v1::content::ContentBlock;
use acp_types::v1::prompt_turn::{ContentChunk, MessageId as ChunkId, SessionUpdate};
use agui_types::event::{
    ActivitySnapshotEvent, CustomEvent, Event, MessagesSnapshotEvent, TextMessageRole,
};
use agui_types::id::MessageId;
use agui_types::message::Message;
use alloc::format;
use alloc::string::String;
use jsonrpc_core::wire::{Extra, Raw, decode};

/// The author of a text, as far as the editor shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    /// An author with messages that the editor does not show.
    Hidden,
}

/// Custom events that have an update without its tag as their value.
const UPDATES: [(&str, &str); 8] = [
    ("acp.usage", "usage_update"),
    ("acp.commands", "available_commands_update"),
    ("acp.mode", "current_mode_update"),
    ("acp.config_options", "config_option_update"),
    ("acp.suggestions", "prompt_suggestions_update"),
    ("acp.session_info", "session_info_update"),
    ("acp.notice", "notice"),
    ("acp.plan", "plan"),
];

impl AcpAgent {
    /// Handles an event that is not a chunk.
    pub(super) fn take(&mut self, event: Event) {
        if let Event::MessagesSnapshot(snapshot) = &event {
            self.show_snapshot(snapshot);
        }
        if let Some(warning) = self.conversation.handle(&event) {
            // Unknown events are reported below.
            if event.is_known() {
                self.lose(event.tag(), &format!("not applied to the conversation: {warning}"));
            }
        }
        match event {
            Event::TextMessageStart(start) => {
                let speaker = match start.role {
                    None | Some(TextMessageRole::Assistant) => None,
                    Some(TextMessageRole::User) => Some(Speaker::User),
                    Some(_) => Some(Speaker::Hidden),
                };
                if let (Some(turn), Some(speaker)) = (&mut self.turn, speaker)
                    && turn.roles.len() < MAX_SHOWN
                {
                    turn.roles.insert(start.message_id, speaker);
                }
            }
            Event::TextMessageContent(content) => self.say_text(&content.message_id, content.delta),
            Event::ReasoningMessageContent(content) => {
                let chunk = chunk(&content.message_id, content.delta.into());
                self.show(&content.message_id);
                self.update(SessionUpdate::AgentThoughtChunk(chunk));
            }
            Event::ToolCallStart(start) => self.start_call(&start),
            Event::ToolCallArgs(args) => self.extend_call(&args.tool_call_id, &args.delta),
            Event::ToolCallEnd(end) => self.end_call(&end.tool_call_id),
            Event::ToolCallResult(result) => self.finish_call(&result),
            Event::ActivitySnapshot(activity) => self.show_activity(&activity),
            Event::Custom(custom) => self.show_custom(&custom),
            Event::RunFinished(finished) => self.finish(finished),
            Event::RunError(error) => self.fail(error),
            Event::RunStarted(_)
            | Event::TextMessageEnd(_)
            | Event::ReasoningStart(_)
            | Event::ReasoningMessageStart(_)
            | Event::ReasoningMessageEnd(_)
            | Event::ReasoningEnd(_)
            | Event::StateSnapshot(_)
            | Event::StateDelta(_)
            | Event::MessagesSnapshot(_) => {}
            other => self.lose(other.tag(), "ACP has nothing like it"),
        }
    }

    fn say_text(&mut self, id: &MessageId, delta: String) {
        if delta.is_empty() {
            return;
        }
        let speaker = self.turn.as_ref().and_then(|turn| turn.roles.get(id)).copied();
        self.show(id);
        let chunk = chunk(id, delta.into());
        match speaker {
            None => self.update(SessionUpdate::AgentMessageChunk(chunk)),
            Some(Speaker::User) => self.update(SessionUpdate::UserMessageChunk(chunk)),
            Some(Speaker::Hidden) => {
                self.lose("TEXT_MESSAGE_CONTENT", "it is not intended for the user");
            }
        }
    }

    /// Shows restated messages that were not streamed.
    fn show_snapshot(&mut self, snapshot: &MessagesSnapshotEvent) {
        for message in &snapshot.messages {
            let (id, text, thought) = match message {
                Message::Assistant(assistant) => (&assistant.id, assistant.content.as_ref(), false),
                Message::Reasoning(reasoning) => (&reasoning.id, Some(&reasoning.content), true),
                _ => continue,
            };
            let Some(text) = text.filter(|text| !text.is_empty()) else { continue };
            let restated =
                self.conversation.messages().iter().any(|known| known.id().as_ref() == Some(id));
            if restated || !self.show(id) {
                continue;
            }
            let chunk = chunk(id, text.clone().into());
            self.update(if thought {
                SessionUpdate::AgentThoughtChunk(chunk)
            } else {
                SessionUpdate::AgentMessageChunk(chunk)
            });
        }
    }

    fn show_activity(&mut self, activity: &ActivitySnapshotEvent) {
        let shown = match &*activity.activity_type {
            "acp.tool" => self.show_call(&activity.content),
            "PLAN" => self.show_update("plan", &json::raw(&activity.content)),
            "acp.content" => self.show_content(activity.content.get("part")),
            _ => false,
        };
        if !shown {
            let why = format!("ACP has no equivalent of the activity {}", activity.activity_type);
            self.lose("ACTIVITY_SNAPSHOT", &why);
        }
    }

    fn show_custom(&mut self, custom: &CustomEvent) {
        let update = UPDATES.iter().find(|(name, _)| *name == custom.name);
        let shown = match (update, &*custom.name) {
            (Some((_, tag)), _) => self.show_update(tag, &custom.value),
            (None, "acp.compaction" | "acp.unknown") => match custom.value.decode() {
                Ok(update) => self.show_if_taken(update),
                Err(_) => false,
            },
            (None, "acp.content") => {
                let content = custom.value.decode::<Extra>().ok();
                self.show_content(content.as_ref().and_then(|content| content.get("part")))
            }
            _ => false,
        };
        if !shown {
            self.lose("CUSTOM", &format!("the editor does not support {}", custom.name));
        }
    }

    fn show_content(&mut self, part: Option<&Raw>) -> bool {
        let block = part.and_then(|part| part.decode::<ContentBlock>().ok());
        let Some(block) = block.filter(ContentBlock::is_known) else { return false };
        self.update(SessionUpdate::AgentMessageChunk(ContentChunk::new(block)));
        true
    }

    /// Shows the update with this tag and the body `value`.
    fn show_update(&mut self, tag: &str, value: &Raw) -> bool {
        let Ok(members) = value.decode::<Extra>() else { return false };
        let mut tagged = Members::new().with("sessionUpdate", tag).into_extra();
        for (name, value) in members.iter() {
            tagged.insert(name, value.clone());
        }
        match decode(json::raw(&tagged).as_str()) {
            Ok(update) => self.show_if_taken(update),
            Err(_) => false,
        }
    }

    /// Shows an update, unless it requires a declared capability that the client lacks.
    fn show_if_taken(&mut self, update: SessionUpdate) -> bool {
        let session = self.options.client.session.as_ref();
        let taken = match &update {
            SessionUpdate::Notice(_) => session.is_some_and(|session| session.notices.is_some()),
            SessionUpdate::PromptSuggestionsUpdate(_) => {
                session.is_some_and(|session| session.prompt_suggestions.is_some())
            }
            SessionUpdate::CompactionUpdate(_) | SessionUpdate::CompactionSummaryChunk(_) => {
                session.is_some_and(|session| session.compaction.is_some())
            }
            update => update.is_known(),
        };
        if taken {
            self.update(update);
        }
        taken
    }
}

fn chunk(id: &MessageId, text: ContentBlock) -> ContentChunk {
    let mut chunk = ContentChunk::new(text);
    chunk.message_id = Some(ChunkId::from(id.as_str()));
    chunk
}
