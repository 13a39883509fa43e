//! Execution of turns.

use crate::agent::Agent;
use crate::client::{Client, wait_in_passing};
use crate::script::{Question, Step, wrong_answer};
use crate::session::Turn;
use crate::tools::failed;
use crate::updates::Update;
use acp_types::client::CallError;
use acp_types::connection::{Context, RequestError};
use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate, StopReason};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::ReleaseTerminalRequest;
use acp_types::v2::prompt_lifecycle::SessionUpdate as UpdateV2;
use acp_types::v2::session_states::{RequiresActionStateUpdate, RunningStateUpdate, StateUpdate};
use acp_types::v2::tool_calls::{ToolCallStatus, ToolCallUpdate};
use core::future::{Future, pending};
use core::time::Duration;
use futures::future::{Either, select};
use jsonrpc_core::ErrorObject;
use std::pin::pin;
use tokio::task::yield_now;
use tokio::time::sleep;

impl Agent {
    /// Executes the steps of a turn until it ends. `context` is that of the prompt, which the
    /// client may cancel in version 1.
    pub(crate) async fn run(
        &self,
        mut turn: Turn,
        client: &Client,
        context: Option<&Context>,
    ) -> Result<PromptResponse, ErrorObject> {
        loop {
            if turn.cancel.is_cancelled() {
                return Ok(self.cancel_turn(turn, client).await);
            }
            match turn.next() {
                Step::Update(update) => {
                    turn.track_calls(&update);
                    self.send_update(&turn, client, update.into()).await;
                    self.wait(&turn, context, self.pause).await;
                }
                Step::UpdateV2(update) => {
                    self.send_update(&turn, client, Update::V2(update)).await;
                    self.wait(&turn, context, self.pause).await;
                }
                Step::UpdateOwned(owned, update) => {
                    self.send_update_of(&turn, &owned, client, update.into()).await;
                    self.wait(&turn, context, self.pause).await;
                }
                Step::Later(steps) => {
                    self.with_session(&turn.session_id, |session| session.keep_for_later(steps))?;
                }
                Step::Wait(pause) => self.wait(&turn, context, pause).await,
                Step::Ask(question) => self.ask(&mut turn, client, context, question).await,
                Step::CallPage(call) => {
                    if let Some(result) = self.unless_cancelled(&turn, context, call.make()).await {
                        turn.go_on((call.then)(result));
                    }
                }
                Step::AllowEdits => {
                    self.with_session(&turn.session_id, |session| session.scene.asks = false)?;
                }
                Step::UseTerminal(terminal) => turn.terminal = Some(terminal),
                Step::ForgetTerminal => turn.terminal = None,
                Step::Spend(usage) => turn.usage = Some(usage),
                Step::Noise(line) => {
                    // Earlier output is written first.
                    yield_now().await;
                    self.output.noise(line);
                }
                Step::Stop(StopReason::Cancelled) => turn.cancel.cancel(),
                Step::Stop(reason) => {
                    let mut response = PromptResponse::new(reason);
                    response.usage = turn.usage;
                    return Ok(response);
                }
                Step::Fail(error) => return Err(error),
                Step::Exit(status) => {
                    yield_now().await;
                    // The receiver is dropped only when the process is ending.
                    let _ = self.exit.send(status).await;
                    pending::<()>().await;
                }
            }
        }
    }

    /// Sends a request, and continues with the steps that follow from the response. A response
    /// after a cancellation is ignored.
    async fn ask(
        &self,
        turn: &mut Turn,
        client: &Client,
        context: Option<&Context>,
        question: Question,
    ) {
        if client.is_v2() {
            client
                .update(state(StateUpdate::RequiresAction(RequiresActionStateUpdate::new())))
                .await;
        }
        let answer = match client.ask(question.method, &question.params).await {
            Ok(mut reply) => match self.unless_cancelled(turn, context, &mut reply).await {
                Some(answer) => answer,
                None => {
                    // In version 2 the agent withdraws its questions, in version 1 the client
                    // answers them.
                    if client.is_v2() {
                        reply.withdraw();
                    }
                    return wait_in_passing(reply);
                }
            },
            Err(error) => Err(error),
        };
        if client.is_v2() {
            client.update(running()).await;
        }
        turn.go_on(match answer {
            Err(RequestError::Call(CallError::Invalid(error))) => {
                vec![Step::Fail(wrong_answer(question.method, &error))]
            }
            answer => (question.then)(answer.map_err(ErrorObject::from)),
        });
    }

    async fn wait(&self, turn: &Turn, context: Option<&Context>, pause: Duration) {
        self.unless_cancelled(turn, context, sleep(pause)).await;
    }

    /// Returns the output of `future`, or `None` if the turn is cancelled first, by any means.
    async fn unless_cancelled<F: Future>(
        &self,
        turn: &Turn,
        context: Option<&Context>,
        future: F,
    ) -> Option<F::Output> {
        let taken_back = pin!(async {
            match context {
                Some(context) => context.cancelled().await,
                None => pending().await,
            }
        });
        let gone = pin!(self.gone.cancelled());
        let cancelled = pin!(turn.cancel.cancelled());
        let ends = select(cancelled, select(taken_back, gone));
        match select(pin!(future), ends).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => {
                turn.cancel.cancel();
                None
            }
        }
    }

    /// Closes tool calls and terminals of a cancelled turn.
    async fn cancel_turn(&self, mut turn: Turn, client: &Client) -> PromptResponse {
        if let Some(terminal) = turn.terminal.take() {
            let request = ReleaseTerminalRequest::new(turn.session_id.clone(), terminal);
            client.ask_in_passing(&request).await;
        }
        for id in turn.take_open_calls() {
            let update = if client.is_v2() {
                let mut cancelled = ToolCallUpdate::new(id);
                cancelled.status = ToolCallStatus::Cancelled.into();
                UpdateV2::ToolCallUpdate(Box::new(cancelled)).into()
            } else {
                let failed = failed(&id, "The turn was cancelled.");
                SessionUpdate::ToolCallUpdate(Box::new(failed)).into()
            };
            self.send_update(&turn, client, update).await;
        }
        let mut response = PromptResponse::new(StopReason::Cancelled);
        response.usage = turn.usage;
        response
    }

    async fn send_update(&self, turn: &Turn, client: &Client, update: Update) {
        self.send_update_of(turn, &turn.session_id, client, update).await;
    }

    /// Sends an update of the session of the turn, or of one that it owns.
    async fn send_update_of(&self, turn: &Turn, of: &SessionId, client: &Client, update: Update) {
        client.update_of(of, update.clone()).await;
        // A closed session keeps nothing.
        let _ = self.with_session(&turn.session_id, |session| session.remember(of.clone(), update));
    }
}

/// A state of the session, as an update.
pub(crate) fn state(state: StateUpdate) -> UpdateV2 {
    UpdateV2::StateUpdate(state)
}

/// The state of a session that works.
pub(crate) fn running() -> UpdateV2 {
    state(StateUpdate::Running(RunningStateUpdate::new()))
}
