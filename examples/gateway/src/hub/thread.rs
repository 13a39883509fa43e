//! Waiting items of a thread outside of its conversation: runs, calls, questions, settings.
use crate::hub::new_run::Reply;
use crate::store::RunLog;
use crate::tools::PageServer;
use crate::tools::events::TextResult;
use acp_types::v1::elicitation::ElicitationAction;
use agui_bridge::conversation::{QuestionKey, RememberedSession, SettingError, SettingKey};
use agui_bridge::frontend_tool::Outcome;
use agui_types::id::{RunId, ToolCallId};
use mcp_bridge_http::CallContext;
use semconv_map::trace_context::TraceContext;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::{Notify, oneshot, watch};

/// A run that waits or is open.
#[derive(Debug)]
pub(crate) struct OpenRun {
    pub(crate) log: Arc<RunLog>,
    /// Reports the beginning of a run that waits.
    pub(crate) reply: Option<Reply>,
    pub(crate) span: Option<TraceContext>,
}

/// Waiting items of a thread outside of its conversation.
#[derive(Debug)]
pub struct ThreadState {
    /// The MCP server with the page's tools.
    pub(crate) page: Option<PageServer>,
    pub(crate) runs: BTreeMap<RunId, OpenRun>,
    /// The run that began last, and its span.
    pub(crate) current: Option<RunId>,
    pub(crate) span: Option<TraceContext>,
    calls: HashMap<ToolCallId, WaitingCall>,
    /// Questions of the gateway's tools: the call, and the sender of the answer.
    pub(crate) questions: HashMap<QuestionKey, (u64, oneshot::Sender<ElicitationAction>)>,
    pub(crate) settings: BTreeMap<SettingKey, oneshot::Sender<Result<(), SettingError>>>,
    /// Callers that wait for the session that is opened before the first run.
    pub(crate) prepared: Vec<oneshot::Sender<Result<(), String>>>,
    /// Wakes callers that wait for a turn without a prompt.
    pub(crate) activity: Arc<Notify>,
    /// The session to continue after a restart.
    pub(crate) remembered: watch::Sender<Option<RememberedSession>>,
}

/// A call of a page's tool by the agent over MCP.
#[derive(Debug)]
struct WaitingCall {
    key: u64,
    reply: oneshot::Sender<TextResult>,
    context: CallContext,
    /// Number of progress notifications so far.
    beats: u32,
}

impl ThreadState {
    /// Creates the state of a thread with the MCP server for the page's tools, and the sender of
    /// the session to continue after a restart.
    pub fn new(
        page: Option<PageServer>,
        remembered: watch::Sender<Option<RememberedSession>>,
    ) -> Self {
        Self {
            page,
            runs: BTreeMap::new(),
            current: None,
            span: None,
            calls: HashMap::new(),
            questions: HashMap::new(),
            settings: BTreeMap::new(),
            prepared: Vec::new(),
            activity: Arc::default(),
            remembered,
        }
    }

    /// Keeps a call until its outcome is known.
    pub(crate) fn wait_for_call(
        &mut self,
        id: ToolCallId,
        key: u64,
        reply: oneshot::Sender<TextResult>,
        context: CallContext,
    ) {
        self.calls.insert(id, WaitingCall { key, reply, context, beats: 0 });
    }

    /// Ends a call; calls of the extension method are answered already.
    pub(crate) fn answer_call(&mut self, id: &ToolCallId, outcome: Outcome) {
        if let Some(call) = self.calls.remove(id) {
            let _gone = call.reply.send(outcome.to_text());
        }
    }

    /// Reports that a call still waits.
    pub(crate) fn keep_call_alive(&mut self, id: &ToolCallId) {
        if let Some(call) = self.calls.get_mut(id) {
            call.beats += 1;
            let progress = f64::from(call.beats);
            call.context.progress(progress, None, Some("waiting for the page"));
        }
    }

    /// Removes what waits for a cancelled call: the call itself, and the questions of it.
    pub(crate) fn withdraw(&mut self, key: u64) -> (Vec<ToolCallId>, Vec<QuestionKey>) {
        let calls = self.calls.extract_if(|_, call| call.key == key);
        let calls = calls.map(|(id, _)| id).collect();
        let questions = self.questions.extract_if(|_, (asking, _)| *asking == key);
        (calls, questions.map(|(question, _)| question).collect())
    }
}
