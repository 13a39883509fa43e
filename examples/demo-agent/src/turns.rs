//! Execution of turns.

use crate::agent::Agent;
use crate::client::{Client, wait_in_passing};
use crate::script::{Question, Step, wrong_answer};
use crate::session::Turn;
use crate::tools::failed;
use acp_types::client::CallError;
use acp_types::connection::{Context, RequestError};
use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate, StopReason};
use acp_types::v1::terminals::ReleaseTerminalRequest;
use core::future::{Future, pending};
use core::time::Duration;
use futures::future::{Either, select};
use jsonrpc_core::ErrorObject;
use std::pin::pin;
use tokio::task::yield_now;
use tokio::time::sleep;

impl Agent {
    /// Executes the steps of a turn until it ends.
    pub(crate) async fn run(
        &self,
        mut turn: Turn,
        client: &Client,
        context: &Context,
    ) -> Result<PromptResponse, ErrorObject> {
        loop {
            if turn.cancel.is_cancelled() {
                return Ok(self.cancel_turn(turn, client).await);
            }
            match turn.next() {
                Step::Update(update) => {
                    turn.track_calls(&update);
                    self.send_update(&turn, client, update).await;
                    self.wait(&turn, context, self.pause).await;
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

    /// Sends a request, and continues with the steps that follow from the response. A response after a cancellation is
    /// ignored.
    async fn ask(&self, turn: &mut Turn, client: &Client, context: &Context, question: Question) {
        let answer = match client.ask(question.method, &question.params).await {
            Ok(mut reply) => match self.unless_cancelled(turn, context, &mut reply).await {
                Some(answer) => answer,
                None => return wait_in_passing(reply),
            },
            Err(error) => Err(error),
        };
        turn.go_on(match answer {
            Err(RequestError::Call(CallError::Invalid(error))) => {
                vec![Step::Fail(wrong_answer(question.method, &error))]
            }
            answer => (question.then)(answer.map_err(ErrorObject::from)),
        });
    }

    async fn wait(&self, turn: &Turn, context: &Context, pause: Duration) {
        self.unless_cancelled(turn, context, sleep(pause)).await;
    }

    /// Returns the output of `future`, or `None` if the turn is cancelled first, by any means.
    async fn unless_cancelled<F: Future>(
        &self,
        turn: &Turn,
        context: &Context,
        future: F,
    ) -> Option<F::Output> {
        let taken_back = pin!(context.cancelled());
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
            let update = failed(&id, "The turn was cancelled.");
            self.send_update(&turn, client, SessionUpdate::ToolCallUpdate(Box::new(update))).await;
        }
        let mut response = PromptResponse::new(StopReason::Cancelled);
        response.usage = turn.usage;
        response
    }

    async fn send_update(&self, turn: &Turn, client: &Client, update: SessionUpdate) {
        client.update(&update).await;
        // A closed session keeps nothing.
        let _ = self.with_session(&turn.session_id, |session| session.remember(update));
    }
}
