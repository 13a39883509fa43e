//! The turns of all sessions: their steps, when it is time, and their ends.

use crate::agent::Agent;
use crate::client::Client;
use crate::script::Step;
use crate::session::Session;
use crate::tools::failed;
use acp_types::methods::RequestParams;
use acp_types::v1::prompt_turn::{PromptResponse, SessionUpdate, StopReason};
use acp_types::v1::session_setup::SessionId;
use acp_types::v1::terminals::ReleaseTerminalRequest;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, RequestId};

impl Agent {
    /// Does what is due; gives a status if the process is to exit with it.
    pub(crate) fn poll(&mut self, now: Duration) -> Option<u8> {
        for session in self.sessions.values_mut() {
            while let Some(step) = session.turn.as_mut().and_then(|turn| turn.next(now)) {
                if let Step::Exit(status) = step {
                    return Some(status);
                }
                take(session, &mut self.client, step, now, self.pause);
            }
        }
        None
    }

    /// When [`poll`](Self::poll) next has something to do.
    pub(crate) fn poll_timeout(&self) -> Option<Duration> {
        let turns = self.sessions.values().filter_map(|session| session.turn.as_ref());
        turns.filter(|turn| turn.waiting.is_none()).map(|turn| turn.due).min()
    }

    /// Goes on with a turn that waited for an answer.
    pub(crate) fn go_on(
        &mut self,
        session: &SessionId,
        question: &RequestId,
        answer: Result<Raw, ErrorObject>,
    ) {
        let turn = self.sessions.get_mut(session).and_then(|session| session.turn.as_mut());
        // The turn that asked may be over: it was cancelled.
        let Some(turn) = turn else { return };
        if let Some((_, asked)) = turn.waiting.take_if(|(id, _)| id == question) {
            turn.go_on((asked.then)(answer));
        }
    }

    /// Ends the turn of a session because the client wants it.
    pub(crate) fn cancel(&mut self, session: &SessionId) {
        if let Some(session) = self.sessions.get_mut(session) {
            cancel(session, &mut self.client);
        }
    }

    /// Ends the turn of a prompt because the client no longer waits for it.
    pub(crate) fn cancel_request(&mut self, request: &RequestId) {
        let asked = |session: &&mut Session| {
            session.turn.as_ref().is_some_and(|turn| turn.prompt == *request)
        };
        if let Some(session) = self.sessions.values_mut().find(asked) {
            cancel(session, &mut self.client);
        }
    }
}

/// Takes one step of a session's turn.
fn take(session: &mut Session, client: &mut Client, step: Step, now: Duration, pause: Duration) {
    let Some(turn) = &mut session.turn else { return };
    match step {
        Step::Update(update) => {
            turn.due = now + pause;
            turn.note(&update);
            tell(session, client, update);
        }
        Step::Wait(pause) => turn.due = now + pause,
        Step::Ask(question) => {
            match client.ask(&session.scene.session_id, question.method, &question.params) {
                Ok(id) => turn.waiting = Some((id, question)),
                Err(error) => turn.go_on((question.then)(Err(error))),
            }
        }
        Step::AllowEdits => session.scene.asks = false,
        Step::UseTerminal(terminal) => turn.terminal = Some(terminal),
        Step::ForgetTerminal => turn.terminal = None,
        Step::Spend(usage) => turn.usage = Some(usage),
        Step::Noise(line) => client.noise(line),
        Step::Stop(StopReason::Cancelled) => cancel(session, client),
        Step::Stop(reason) => end(session, client, Ok(reason)),
        Step::Fail(error) => end(session, client, Err(error)),
        Step::Exit(_) => {}
    }
}

/// Closes what is open, then ends the turn as cancelled.
fn cancel(session: &mut Session, client: &mut Client) {
    let Some(turn) = &mut session.turn else { return };
    if let Some(terminal) = turn.terminal.take() {
        let request = ReleaseTerminalRequest::new(session.scene.session_id.clone(), terminal);
        if let Ok(params) = Raw::from_value(&request) {
            // Whatever comes of it, the turn is over.
            let _ = client.ask(&session.scene.session_id, ReleaseTerminalRequest::METHOD, &params);
        }
    }
    for id in turn.take_open_calls() {
        let update = failed(&id, "The turn was cancelled.");
        tell(session, client, SessionUpdate::ToolCallUpdate(Box::new(update)));
    }
    end(session, client, Ok(StopReason::Cancelled));
}

fn tell(session: &mut Session, client: &mut Client, update: SessionUpdate) {
    client.update(&session.scene.session_id, update.clone());
    session.remember(update);
}

fn end(session: &mut Session, client: &mut Client, outcome: Result<StopReason, ErrorObject>) {
    let Some(turn) = session.turn.take() else { return };
    let response = outcome.map(|reason| {
        let mut response = PromptResponse::new(reason);
        response.usage = turn.usage;
        response
    });
    client.answer(&turn.prompt, response);
}
