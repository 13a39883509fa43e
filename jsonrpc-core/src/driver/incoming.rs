//! What becomes of a message that came.
use super::call::Call;
use super::cancel::Cancel;
use super::{Driver, Parked, RequestError, Serve, Stray};
use crate::Message;
use crate::framing::{Frame, FrameError};
use crate::message::Response;
use crate::wire::Raw;
use crate::{Batch, ErrorCode, ErrorObject, Incoming, RequestId};
use alloc::sync::Arc;
use core::task::{Context as Task, Waker};

impl<St, Si, H: Serve> Driver<St, Si, H> {
    /// Takes what was read.
    pub(super) fn handle(&mut self, item: Result<Frame, FrameError>, task: &mut Task<'_>) {
        let text = item.as_ref().map_err(Clone::clone).and_then(Frame::text);
        match text.map(|text| (text, text.trim_ascii_start().starts_with('['))) {
            Ok((text, true)) => self.handle_batch(text, task),
            Ok((text, false)) => self.handle_message(Ok(text), None, task),
            Err(error) => self.handle_message(Err(error), None, task),
        }
    }

    /// Takes the messages of a batch, whose answers then are one array.
    fn handle_batch(&mut self, text: &str, task: &mut Task<'_>) {
        let batch = match Batch::decode(text, self.options.limits.theirs.max(1)) {
            Ok(batch) => batch,
            Err(error) => {
                error.reply().into_iter().for_each(|reply| self.shared.reply(reply, None));
                return self.handler.hear(Stray::Malformed(&error.into()));
            }
        };
        let (number, is_full) = self.shared.begin_batch();
        for text in batch.texts() {
            if is_full && let Ok(Message::Request(request)) = Message::decode(text) {
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many open requests");
                self.shared.reply(Response::new(request.id.clone(), Err(error)), Some(number));
                self.handler.hear(Stray::Refused(&request));
                continue;
            }
            self.handle_message(Ok(text), Some(number), task);
        }
        self.shared.end_batch(number);
    }

    fn handle_message(
        &mut self,
        text: Result<&str, FrameError>,
        batch: Option<u64>,
        task: &mut Task<'_>,
    ) {
        let mut state = self.shared.lock();
        let incoming = state.peer.handle_line(text);
        match incoming {
            Incoming::Request(request) => {
                let id = request.id.clone();
                let cancel = state.open(id.clone(), batch);
                let asking = state.peer.open_ours();
                drop(state);
                let request = Call::new(request.into(), self.texts.pop().unwrap_or_default());
                let request = Parked { id, request, cancel };
                // What comes in a batch may be taken back in it.
                if batch.is_none() && self.parked.is_empty() && self.has_place(asking) {
                    self.begin(request, task);
                } else {
                    self.parked.push_back(request);
                }
            }
            Incoming::Notification(late) if late.method == self.options.cancel_method.method => {
                drop(state);
                self.handler.hear(Stray::Late(&late));
            }
            Incoming::Notification(notification) => {
                state.count_received();
                drop(state);
                let text = self.texts.pop().unwrap_or_default();
                let notification = Call::new(notification.into(), text);
                if self.is_idle() {
                    self.tell(notification);
                } else {
                    self.notifications.push_back(notification);
                }
            }
            Incoming::Response { id, token, outcome } => {
                let outcome = outcome.map(Raw::from).map_err(RequestError::Answered);
                let waker = state.answered(&id, token, outcome);
                drop(state);
                waker.into_iter().for_each(Waker::wake);
            }
            Incoming::Cancelled { id, .. } => {
                let cancel = state.cancelled(&id);
                drop(state);
                self.cancel(&id, cancel);
            }
            Incoming::Refused { request, response } => {
                drop(state);
                self.shared.reply(response, batch);
                self.handler.hear(Stray::Refused(&request));
            }
            Incoming::Unmatched(response) => {
                drop(state);
                self.handler.hear(Stray::Unmatched(&response));
            }
            Incoming::Malformed { error, reply, ended: None } => {
                drop(state);
                reply.into_iter().for_each(|reply| self.shared.reply(reply, batch));
                self.handler.hear(Stray::Malformed(&error));
            }
            Incoming::Malformed { error, ended: Some((id, token)), .. } => {
                let waker = state.answered(&id, token, Err(RequestError::Malformed(error)));
                drop(state);
                waker.into_iter().for_each(Waker::wake);
            }
        }
    }

    /// Tells the handler of a request that it is taken back, or answers for it if it has not begun.
    fn cancel(&mut self, id: &RequestId, cancel: Option<Arc<Cancel>>) {
        match self.parked.iter().position(|parked| parked.id == *id) {
            Some(at) => {
                self.parked.remove(at);
                let error = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
                self.shared.respond(id, Err(error));
            }
            None => cancel.into_iter().for_each(|cancel| cancel.set()),
        }
    }
}
