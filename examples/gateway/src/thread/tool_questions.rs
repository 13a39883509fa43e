//! What the gateway's tools ask the user of a thread whose agent has called them: a question as the agent's own are.
use super::Thread;
use acp_types::v1::elicitation::{
    CreateElicitationRequest, ElicitationAction, ElicitationFormMode, ElicitationMode,
    ElicitationScope, ElicitationSessionScope,
};
use acp_types::v1::prompt_turn::SessionUpdate;
use acp_types::v1::tool_calls::ToolCallId;
use agent_tools::{FromServer, ToolQuestion};
use agui_bridge::Answer;
use jsonrpc_core::RequestId;
use jsonrpc_core::wire::Extra;
use mcp_http::random_id;
use std::collections::{BTreeMap, VecDeque};
use tokio::sync::oneshot;

/// How many tool calls of the agent's are remembered, so that a question can name the one that it is of.
const MAX_ANNOUNCED: usize = 16;

/// The questions that wait.
#[derive(Default)]
pub(super) struct ToolQuestions {
    waiting: BTreeMap<RequestId, Waiting>,
    /// Tool calls as the agent told of them: the id, the name and the title.
    announced: VecDeque<(ToolCallId, String)>,
}

struct Waiting {
    /// Names the call.
    key: u64,
    reply: oneshot::Sender<ElicitationAction>,
}

impl ToolQuestions {
    /// Notes a tool call of the agent's.
    pub(super) fn note(&mut self, update: &SessionUpdate) {
        if let SessionUpdate::ToolCall(call) = update {
            if self.announced.len() >= MAX_ANNOUNCED {
                self.announced.pop_front();
            }
            let words = format!("{} {}", call.name.as_deref().unwrap_or_default(), call.title);
            self.announced.push_back((call.tool_call_id.clone(), words));
        }
    }

    /// The call that the agent told of last with this tool in its name or title.
    fn call_of(&self, tool: &str) -> Option<ToolCallId> {
        let of_tool = |(_, words): &&(ToolCallId, String)| words.contains(tool);
        self.announced.iter().rev().find(of_tool).map(|(id, _)| id.clone())
    }

    /// Takes an answer that is to a question of a tool's; gives it back if it is to one of the agent's.
    pub(super) fn answer(&mut self, id: &RequestId, answer: Answer) -> Option<Answer> {
        let Some(waiting) = self.waiting.remove(id) else { return Some(answer) };
        let action = match answer {
            Answer::Elicitation(answer) => answer.action,
            _ => ElicitationAction::Cancel(Extra::new()),
        };
        // A call that is over has no use for it.
        let _ = waiting.reply.send(action);
        None
    }
}

impl Thread {
    /// Something came from the server of the thread's tools.
    pub(super) fn hear_server(&mut self, heard: FromServer) {
        match heard {
            FromServer::Ask { key, question, reply } => self.ask_user(key, *question, reply),
            FromServer::Withdrawn(key) => {
                let waiting = self.questions.waiting.iter();
                let asked = waiting.filter(|(_, waiting)| waiting.key == key);
                let asked: Vec<_> = asked.map(|(id, _)| id.clone()).collect();
                for id in &asked {
                    self.translator.handle_request_withdrawn(id);
                }
                self.page.hear(FromServer::Withdrawn(key), self.began.elapsed());
            }
            call => self.page.hear(call, self.began.elapsed()),
        }
    }

    fn ask_user(
        &mut self,
        key: u64,
        question: ToolQuestion,
        reply: oneshot::Sender<ElicitationAction>,
    ) {
        // No request of the agent's has such an id. Without one the call is told that there is no answer.
        let (Some(session), Ok(id)) = (&self.session, random_id()) else { return };
        let mut scope = ElicitationSessionScope::new(session.id.clone());
        scope.tool_call_id = question.agent_id.or_else(|| self.questions.call_of(&question.tool));
        let form = ElicitationFormMode::new(question.schema, ElicitationScope::Session(scope));
        let mode = ElicitationMode::Form(Box::new(form));
        let mut request = CreateElicitationRequest::new(question.message, mode);
        request.meta = question.meta;
        let id = RequestId::from(id.as_str());
        self.questions.waiting.insert(id.clone(), Waiting { key, reply });
        self.translator.handle_elicitation_request(id, request);
    }
}
