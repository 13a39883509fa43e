//! What is told the threads beside their runs: answers, results of the page's tools, settings of the agent's sessions.
use super::{INTERRUPT, Setting, ThreadKey, Threads, lock};
use crate::agent::Trouble;
use crate::site::Principal;
use crate::thread::{Changed, Command, ResultError, SessionSettings, SessionView, UserAnswer};
use acp_types::v1::session_config_options::SetSessionConfigOptionRequest;
use agui_bridge::AnswerError;
use agui_bridge::frontend_tool::ToolResult;
use agui_types::id::ToolCallId;
use tokio::sync::{mpsc, oneshot};

impl Threads {
    /// Answers what the agent asked.
    pub(crate) async fn answer(
        &self,
        principal: &Principal,
        interrupt_id: &str,
        answer: UserAnswer,
    ) -> Result<(), AnswerError> {
        let name =
            interrupt_id.split_once(INTERRUPT).map(|(name, _)| name).ok_or(AnswerError::Unknown)?;
        let thread = lock(&self.threads)
            .iter()
            .find(|(key, thread)| key.principal == *principal && thread.name == name)
            .map(|(_, thread)| thread.commands.clone());
        let (reply, answered) = oneshot::channel();
        let command = Command::Answer(interrupt_id.to_owned(), answer, reply);
        thread
            .ok_or(AnswerError::Unknown)?
            .send(command)
            .await
            .map_err(|_| AnswerError::Unknown)?;
        answered.await.map_err(|_| AnswerError::Unknown)?
    }

    /// Gives the result of a tool of the page's to the thread of a run.
    pub(crate) async fn tool_result(
        &self,
        principal: &Principal,
        run_id: &str,
        call: ToolCallId,
        result: ToolResult,
    ) -> Result<(), ResultError> {
        let run = (principal.clone(), run_id.to_owned());
        let thread = lock(&self.runs).get(&run).map(|kept| kept.thread.clone());
        let thread = thread.and_then(|key| Some(lock(&self.threads).get(&key)?.commands.clone()));
        let (reply, taken) = oneshot::channel();
        thread
            .ok_or(ResultError::Unknown)?
            .send(Command::ToolResult(call, result, reply))
            .await
            .map_err(|_| ResultError::Unknown)?;
        taken.await.map_err(|_| ResultError::Unknown)?
    }

    /// The agent's session of a thread, and who to tell of what changes in it.
    async fn session(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
    ) -> Option<(SessionView, mpsc::Sender<Command>)> {
        let key = ThreadKey {
            principal: principal.clone(),
            agent: agent.to_owned(),
            id: thread.to_owned(),
        };
        let commands = lock(&self.threads).get(&key)?.commands.clone();
        let (reply, view) = oneshot::channel();
        commands.send(Command::Session(reply)).await.ok()?;
        Some((view.await.ok()??, commands))
    }

    /// What a user may set in the agent's session of a thread; nothing where there is none.
    pub(crate) async fn settings(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
    ) -> Option<SessionSettings> {
        Some(self.session(principal, agent, thread).await?.0.settings)
    }

    /// Sets something there.
    pub(crate) async fn set(
        &self,
        principal: &Principal,
        agent: &str,
        thread: &str,
        set: Setting,
    ) -> Option<Result<(), Trouble>> {
        let (view, commands) = self.session(principal, agent, thread).await?;
        let changed = match set {
            Setting::Mode(mode) => {
                view.agent.set_mode(&view.id, &mode).await.map(|()| Changed::Mode(mode))
            }
            Setting::ConfigOption(config, value) => {
                let request = SetSessionConfigOptionRequest::new(view.id.clone(), config, value);
                let answer = view.agent.set_config_option(&request).await;
                answer.map(|answer| Changed::ConfigOptions(answer.config_options))
            }
        };
        Some(match changed {
            Ok(changed) => {
                commands.send(Command::Changed(changed)).await.map_err(|_| Trouble::lost())
            }
            Err(trouble) => Err(trouble),
        })
    }
}
