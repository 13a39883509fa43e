//! Inputs during runs: answers, results of page tools, cancellation, settings of sessions.
use super::{INTERRUPT, RunKey, Threads, lock, thread_name};
use crate::hub::{ACTIVITY_WAIT, TooManyWaiting, UserAgent};
use crate::run::Cancel;
use crate::store::{RunLog, ThreadName};
use agui_bridge::AnswerError;
use agui_bridge::conversation::{SessionSettings, Setting, SettingError, UserAnswer};
use agui_bridge::frontend_tool::{Completion, ToolResult};
use agui_types::id::ToolCallId;
use host::http::Principal;
use std::sync::Arc;

impl Threads {
    /// Answers a question of the agent.
    pub(crate) fn answer(
        &self,
        principal: &Principal,
        interrupt_id: &str,
        answer: UserAnswer,
    ) -> Result<(), AnswerError> {
        let (name, _) = interrupt_id.split_once(INTERRUPT).ok_or(AnswerError::Unknown)?;
        let key = lock(&self.threads).find(name).cloned();
        let key = key.filter(|key| key.user == principal.as_str()).ok_or(AnswerError::Unknown)?;
        let (acp, thread) = self.conversation(&key).ok_or(AnswerError::Unknown)?;
        acp.connection.answer(&thread, interrupt_id, answer)
    }

    /// Passes the result of a page tool to the thread of a run. Returns `None` for an unknown
    /// thread.
    pub(crate) fn tool_result(
        &self,
        principal: &Principal,
        run_id: &str,
        call: &ToolCallId,
        result: ToolResult,
    ) -> Option<Completion> {
        let run = (principal.clone(), run_id.to_owned());
        let key = lock(&self.runs).get(&run).map(|run| run.thread.clone())?;
        let (acp, thread) = self.conversation(&key)?;
        acp.connection.tool_result(&thread, call, result)
    }

    /// Returns the settings of the agent's session of a thread.
    pub(crate) fn settings(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
    ) -> Option<SessionSettings> {
        let (acp, thread) = self.conversation(&thread_name(principal, agent, thread))?;
        acp.connection.settings(&thread)
    }

    /// Waits for a turn that the agent begins without a prompt. Returns `None` for an unknown
    /// agent.
    pub(crate) async fn activity(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
    ) -> Option<Result<bool, TooManyWaiting>> {
        self.agents.get(agent)?;
        let wait = async {
            if let Some((acp, thread)) = self.conversation(&thread_name(principal, agent, thread)) {
                return acp.connection.activity(&thread).await;
            }
            tokio::time::sleep(ACTIVITY_WAIT).await;
            Ok(false)
        };
        Some(tokio::select! {
            active = wait => active,
            () = self.shutdown.cancelled() => Ok(false),
        })
    }

    /// Changes a setting of the session.
    pub(crate) async fn set(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
        setting: Setting,
    ) -> Option<Result<(), SettingError>> {
        let (acp, thread) = self.conversation(&thread_name(principal, agent, thread))?;
        acp.connection.set(&thread, setting).await
    }

    /// Cancels the open run when its token is, and returns when it has ended.
    pub(super) async fn steer(
        &self,
        thread: &ThreadName,
        run: &RunKey,
        log: &RunLog,
        cancel: &Cancel,
    ) {
        let reason = tokio::select! {
            () = log.ended() => return,
            reason = cancel.wait() => *reason,
        };
        if let Some((acp, name)) = self.conversation(thread) {
            acp.connection.cancel(&name, &run.1.as_str().into(), reason);
        }
        log.ended().await;
    }

    /// Returns the agent of a thread, and the name of the thread in its hub.
    pub(super) fn conversation(&self, key: &ThreadName) -> Option<(Arc<UserAgent>, String)> {
        Some((self.acp(&key.agent)?.users.find(&key.user)?, key.text()))
    }
}
