//! Which thread hears what an agent says.
use crate::agent::{FromAgent, Opened, Trouble};
use crate::connection::{Token, cancelled};
use acp_types::v1::elicitation::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationMode, ElicitationScope,
};
use acp_types::v1::prompt_turn::SessionNotification;
use acp_types::v1::session_setup::{LoadSessionResponse, NewSessionResponse, SessionId};
use acp_types::v1::tool_calls::RequestPermissionRequest;
use agui_bridge::contextual_tools::{ContextualToolsStore, Wire};
use jsonrpc_core::wire::{self, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, Notification, Request, RequestId};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};
use tokio::sync::{mpsc, oneshot};

/// The most messages that may wait for a thread; then the agent has to wait.
const MAX_WAITING: usize = 64;

/// The most updates that are kept for a session whose `session/new` the agent has not answered yet.
const MAX_EARLY: usize = 256;

/// The most bytes of them, as they were on the wire.
const MAX_EARLY_BYTES: usize = 32 * 1024 * 1024;

/// The most updates that are taken of a session that is loaded; of longer ones the oldest are left out.
const MAX_REPLAY: usize = 20_000;

/// The most bytes of them.
const MAX_REPLAY_BYTES: usize = 32 * 1024 * 1024;

/// What is told again of a session that is loaded.
#[derive(Debug, Default)]
struct Replay {
    updates: VecDeque<(SessionNotification, usize)>,
    bytes: usize,
}

impl Replay {
    fn push(&mut self, update: SessionNotification, bytes: usize) {
        self.bytes += bytes;
        self.updates.push_back((update, bytes));
        while (self.updates.len() > MAX_REPLAY || self.bytes > MAX_REPLAY_BYTES)
            && let Some((update, bytes)) = self.updates.pop_front()
        {
            self.bytes -= bytes;
            tracing::warn!(session = %update.session_id, "too much is told again; its beginning is left out");
        }
    }
}

/// The sessions that somebody listens to.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: HashMap<SessionId, mpsc::Sender<FromAgent>>,
    /// What the agent has asked and has no answer to: whose it is, and the method.
    asked: HashMap<RequestId, (SessionId, String)>,
    /// How many sessions the agent was asked for and has not given yet.
    opening: usize,
    /// What came for sessions that nobody knows while some were opening: some agents speak before they answer.
    early: VecDeque<(SessionNotification, usize)>,
    early_bytes: usize,
    /// The sessions that are loaded.
    loading: HashMap<SessionId, Replay>,
    /// The page's tools that may be called by the extension method.
    contextual: ContextualToolsStore,
}

impl Sessions {
    /// A session was asked for.
    pub(crate) fn opens(&mut self) {
        self.opening += 1;
    }

    /// A session is loaded; `false` if it is in use.
    pub(crate) fn loads(&mut self, session_id: &SessionId) -> bool {
        let is_open = self.open.get(session_id).is_some_and(|inbox| !inbox.is_closed());
        let is_free = !is_open && !self.loading.contains_key(session_id);
        if is_free {
            self.loading.insert(session_id.clone(), Replay::default());
        }
        is_free
    }

    /// Whether somebody listens to it, or is about to.
    pub(crate) fn has(&self, session_id: &SessionId) -> bool {
        self.open.contains_key(session_id) || self.loading.contains_key(session_id)
    }

    pub(crate) async fn notification(&mut self, notification: &Notification<'_>) {
        match &*notification.method {
            "session/update" => self.update(notification).await,
            "elicitation/complete" => {
                match decode::<CompleteElicitationNotification>(notification.params) {
                    // Whose it is only those know who show it.
                    Ok(complete) => {
                        let listening: Vec<_> = self.open.keys().cloned().collect();
                        for session_id in listening {
                            let complete = FromAgent::ElicitationComplete(complete.clone());
                            self.deliver(&session_id, complete).await;
                        }
                    }
                    Err(error) => tracing::warn!(%error, "a notification that cannot be read"),
                }
            }
            method => tracing::debug!(method, "a notification that the gateway has no use for"),
        }
    }

    async fn update(&mut self, notification: &Notification<'_>) {
        match decode::<SessionNotification>(notification.params) {
            Ok(update) if self.open.contains_key(&update.session_id) => {
                let session_id = update.session_id.clone();
                self.deliver(&session_id, FromAgent::Update(update)).await;
            }
            Ok(update) if self.loading.contains_key(&update.session_id) => {
                let bytes = notification.params.map_or(0, |params| params.get().len());
                if let Some(replay) = self.loading.get_mut(&update.session_id) {
                    replay.push(update, bytes);
                }
            }
            Ok(update) if self.opening > 0 => {
                let bytes = notification.params.map_or(0, |params| params.get().len());
                self.keep(update, bytes);
            }
            Ok(update) => {
                tracing::debug!(session = %update.session_id, "an update of a session that nobody listens to");
            }
            Err(error) => tracing::warn!(%error, "an update that cannot be read"),
        }
    }

    /// Gives the answer, unless a thread will.
    pub(crate) async fn request(
        &mut self,
        request: &Request<'_>,
    ) -> Option<Result<Raw, ErrorObject>> {
        let id = request.id.clone();
        let wire = Wire::default();
        if request.method == wire.method {
            return Some(self.contextual_call(&wire, request.params).await);
        }
        let asked = match &*request.method {
            "session/request_permission" => {
                decode::<RequestPermissionRequest>(request.params).map(|asked| {
                    (Some(asked.session_id.clone()), FromAgent::PermissionRequest(id, asked))
                })
            }
            "elicitation/create" => {
                decode::<CreateElicitationRequest>(request.params).map(|asked| {
                    (session_of(&asked), FromAgent::ElicitationRequest(id, Box::new(asked)))
                })
            }
            _ => {
                let message = "this client does not have the method";
                return Some(Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, message)));
            }
        };
        let (session_id, asked) = match asked {
            Ok(asked) => asked,
            Err(error) => {
                let message = error.to_string();
                return Some(Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, message)));
            }
        };
        if let Some(session_id) = session_id {
            let method = request.method.clone().into_owned();
            self.asked.insert(request.id.clone(), (session_id.clone(), method));
            if self.deliver(&session_id, asked).await {
                return None;
            }
            self.asked.remove(&request.id);
        }
        Some(cancelled(&request.method))
    }

    pub(crate) fn offer_contextual(&mut self, session_id: &SessionId, tools: Vec<Raw>) {
        for skipped in self.contextual.set(session_id.as_str(), tools) {
            tracing::warn!(?skipped, "a tool of the page's that the agent is not offered");
        }
    }

    /// The agent calls a tool of the page's by the extension method: it is answered at once.
    async fn contextual_call(
        &mut self,
        wire: &Wire,
        params: Option<&RawValue>,
    ) -> Result<Raw, ErrorObject> {
        let call = wire.dispatch(&self.contextual, params)?;
        if !call.has_prefix {
            tracing::warn!(tool = call.requested_name, "the agent calls a tool without its prefix");
        }
        let (session_id, response) = (call.session_id.clone(), call.response.clone());
        self.deliver(&session_id, FromAgent::ContextualCall(call)).await;
        Raw::from_value(&response)
            .map_err(|error| ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string()))
    }

    /// The agent takes a question back.
    pub(crate) async fn withdraw(&mut self, id: RequestId) {
        if let Some((session_id, _)) = self.asked.remove(&id) {
            self.deliver(&session_id, FromAgent::Withdrawn(id)).await;
        }
    }

    /// A question has its answer.
    pub(crate) fn answered(&mut self, id: &RequestId) {
        self.asked.remove(id);
    }

    /// Hands an answer to whoever waits for it.
    pub(crate) async fn end(&mut self, token: Token, outcome: Result<Raw, Trouble>) {
        match token {
            Token::Once(answer) => {
                let _ = answer.send(outcome);
            }
            Token::NewSession(answer) => self.opened(answer, outcome).await,
            Token::OldSession(session_id, answer) => self.loaded(session_id, answer, outcome),
            Token::Nobody(method) => match outcome {
                Err(Trouble::Refused(error)) => {
                    tracing::warn!(error = error.message, method, "the agent refuses");
                }
                Err(trouble) => tracing::debug!(%trouble, method, "the agent has not done it"),
                Ok(_) => {}
            },
            Token::Prompt(session_id) => {
                let ended = outcome.and_then(|result| {
                    result.decode().map_err(|error| Trouble::unreadable("session/prompt", &error))
                });
                self.deliver(&session_id, FromAgent::PromptEnded(ended)).await;
            }
        }
    }

    /// Nobody listens to the session any more; gives the questions that have to be answered now, with their methods.
    pub(crate) fn detach(&mut self, session_id: &SessionId) -> Vec<(RequestId, String)> {
        self.open.remove(session_id);
        self.contextual.delete(session_id.as_str());
        let asked = self.asked.extract_if(|_, (asking, _)| asking == session_id);
        asked.map(|(id, (_, method))| (id, method)).collect()
    }

    pub(crate) async fn close(self, why: &str) {
        for inbox in self.open.into_values() {
            let _ = inbox.send(FromAgent::Gone(why.to_owned())).await;
        }
    }

    /// The agent has answered `session/new`. From here on the session is heard: nothing can come between.
    async fn opened(
        &mut self,
        answer: oneshot::Sender<Result<Opened, Trouble>>,
        outcome: Result<Raw, Trouble>,
    ) {
        self.opening = self.opening.saturating_sub(1);
        let opened = outcome.and_then(|result| self.open(&result));
        let session_id = opened.as_ref().ok().map(|opened| opened.response.session_id.clone());
        let is_wanted = answer.send(opened).is_ok();
        let early = self.take_early(session_id.as_ref());
        if let Some(session_id) = session_id {
            if !is_wanted {
                self.open.remove(&session_id);
            }
            for update in early {
                self.deliver(&session_id, FromAgent::Update(update)).await;
            }
        }
    }

    /// The agent has answered `session/load` or `session/resume`.
    fn loaded(
        &mut self,
        session_id: SessionId,
        answer: oneshot::Sender<Result<Opened, Trouble>>,
        outcome: Result<Raw, Trouble>,
    ) {
        let replay = self.loading.remove(&session_id);
        let opened = outcome.and_then(|result| {
            let answered: LoadSessionResponse =
                result.decode().map_err(|error| Trouble::unreadable("session/load", &error))?;
            let mut response = NewSessionResponse::new(session_id.clone());
            (response.modes, response.config_options) = (answered.modes, answered.config_options);
            let (sender, inbox) = mpsc::channel(MAX_WAITING);
            self.open.insert(session_id.clone(), sender);
            let updates = replay.unwrap_or_default().updates.into_iter();
            let replay = updates.map(|(update, _)| update).collect();
            Ok(Opened { response, inbox, replay })
        });
        let is_open = opened.is_ok();
        if answer.send(opened).is_err() && is_open {
            self.open.remove(&session_id);
        }
    }

    fn open(&mut self, result: &Raw) -> Result<Opened, Trouble> {
        let response: NewSessionResponse =
            result.decode().map_err(|error| Trouble::unreadable("session/new", &error))?;
        let session_id = response.session_id.clone();
        if self.open.get(&session_id).is_some_and(|inbox| !inbox.is_closed()) {
            let message =
                format!("the agent's answer to session/new: the session {session_id} is in use");
            return Err(Trouble::Refused(ErrorObject::new(ErrorCode::INVALID_REQUEST, message)));
        }
        let (sender, inbox) = mpsc::channel(MAX_WAITING);
        self.open.insert(session_id, sender);
        Ok(Opened { response, inbox, replay: Vec::new() })
    }

    /// Whether somebody got it.
    pub(crate) async fn deliver(&mut self, session_id: &SessionId, what: FromAgent) -> bool {
        let Some(inbox) = self.open.get(session_id) else { return false };
        let delivered = inbox.send(what).await.is_ok();
        if !delivered {
            self.open.remove(session_id);
        }
        delivered
    }

    fn keep(&mut self, update: SessionNotification, bytes: usize) {
        self.early_bytes += bytes;
        self.early.push_back((update, bytes));
        while self.early.len() > MAX_EARLY || self.early_bytes > MAX_EARLY_BYTES {
            let Some((update, bytes)) = self.early.pop_front() else { return };
            self.early_bytes -= bytes;
            tracing::warn!(session = %update.session_id, "too much for sessions that are not open yet; an update is lost");
        }
    }

    /// Takes what came early for this session; when no other is opening, what is left is for nobody.
    fn take_early(&mut self, session_id: Option<&SessionId>) -> Vec<SessionNotification> {
        let (mine, others) = std::mem::take(&mut self.early)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(update, _)| Some(&update.session_id) == session_id);
        if self.opening > 0 {
            self.early = others;
        }
        self.early_bytes = self.early.iter().map(|(_, bytes)| bytes).sum();
        mine.into_iter().map(|(update, _)| update).collect()
    }
}

fn decode<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, wire::DecodeError> {
    wire::decode(params.map_or("{}", RawValue::get))
}

/// The session that an elicitation belongs to; those of requests outside of sessions belong to nobody here.
fn session_of(elicitation: &CreateElicitationRequest) -> Option<SessionId> {
    let scope = match &elicitation.mode {
        ElicitationMode::Form(form) => &form.scope,
        ElicitationMode::Url(page) => &page.scope,
        _ => return None,
    };
    match scope {
        ElicitationScope::Session(scope) => Some(scope.session_id.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission<'a>(id: i64, params: &'a RawValue) -> Request<'a> {
        Request::new(RequestId::from(id), "session/request_permission", Some(params))
    }

    /// A session that the agent has opened.
    async fn opened(sessions: &mut Sessions) -> mpsc::Receiver<FromAgent> {
        let (answer, answered) = oneshot::channel();
        sessions.opens();
        let result = Raw::from_text(r#"{"sessionId":"s"}"#).unwrap();
        sessions.end(Token::NewSession(answer), Ok(result)).await;
        answered.await.unwrap().unwrap().inbox
    }

    #[tokio::test]
    async fn what_nobody_has_answered_is_answered_when_nobody_listens() {
        let params = r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}"#;
        let params: &RawValue = serde_json::from_str(params).unwrap();
        let mut sessions = Sessions::default();
        assert!(sessions.request(&permission(1, params)).await.is_some(), "no session");
        let inbox = opened(&mut sessions).await;
        for id in 2..=4 {
            assert!(sessions.request(&permission(id, params)).await.is_none());
        }
        sessions.answered(&RequestId::from(3));
        let mut left = sessions.detach(&"s".into());
        left.sort();
        let method = "session/request_permission".to_owned();
        assert_eq!(left, [2, 4].map(|id| (RequestId::from(id), method.clone())));
        drop(inbox);
        assert!(sessions.request(&permission(5, params)).await.is_some(), "no session any more");
    }

    #[tokio::test]
    async fn a_session_that_nobody_waits_for_any_more_is_not_kept() {
        let mut sessions = Sessions::default();
        let (answer, answered) = oneshot::channel();
        sessions.opens();
        drop(answered);
        let result = Raw::from_text(r#"{"sessionId":"s"}"#).unwrap();
        sessions.end(Token::NewSession(answer), Ok(result)).await;
        assert!(sessions.open.is_empty());
    }

    #[tokio::test]
    async fn what_comes_early_is_bounded() {
        let update = |text: &str| {
            let content = format!(r#"{{"type":"text","text":"{text}"}}"#);
            let update =
                format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{content}}}"#);
            let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
            RawValue::from_string(params).unwrap()
        };
        let mut sessions = Sessions::default();
        let large = update(&"x".repeat(MAX_EARLY_BYTES / 2));
        sessions.opens();
        for params in [&large, &large, &update("y")] {
            sessions
                .notification(&Notification::new("session/update", Some(params.as_ref())))
                .await;
        }
        assert_eq!(sessions.early.len(), 2);
        assert!(sessions.early_bytes <= MAX_EARLY_BYTES);
        for _ in 0..MAX_EARLY {
            let small = update("z");
            sessions.notification(&Notification::new("session/update", Some(small.as_ref()))).await;
        }
        assert_eq!(sessions.early.len(), MAX_EARLY);
        // Another answer of the agent's: this session is not to be, so that nobody waits for any.
        let (answer, _answered) = oneshot::channel();
        let refused = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no");
        sessions.end(Token::NewSession(answer), Err(Trouble::Refused(refused))).await;
        assert_eq!((sessions.early.len(), sessions.early_bytes), (0, 0));
    }
}
