//! What becomes of a message that came.
use super::shared::{Cancel, Token};
use super::{Driver, Parked, RequestError, Serve, Stray};
use crate::framing::{Frame, FrameError};
use crate::message::{Message, Response};
use crate::wire::Raw;
use crate::{Batch, ErrorCode, ErrorObject, Incoming, LineError, RequestId};
use alloc::sync::Arc;

impl<St, Si, H: Serve> Driver<St, Si, H> {
    /// Takes what was read.
    pub(super) fn handle(&mut self, item: Result<Frame, FrameError>) {
        let text = item.as_ref().map_err(Clone::clone).and_then(Frame::text);
        match text.map(|text| (text, text.trim_ascii_start().starts_with('['))) {
            Ok((text, true)) => self.handle_batch(text),
            Ok((text, false)) => self.handle_message(Ok(text), None),
            Err(error) => self.handle_message(Err(error), None),
        }
    }

    /// Takes the messages of a batch, whose answers then are one array.
    fn handle_batch(&mut self, text: &str) {
        let batch = match Batch::decode(text, self.options.limits.theirs.max(1)) {
            Ok(batch) => batch,
            Err(error) => {
                error.reply().into_iter().for_each(|reply| self.shared.reply(reply, None));
                return self.handle_malformed(error.into(), None);
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
            self.handle_message(Ok(text), Some(number));
        }
        self.shared.end_batch(number);
    }

    fn handle_message(&mut self, text: Result<&str, FrameError>, batch: Option<u64>) {
        let mut state = self.shared.lock();
        let incoming = state.peer.handle_line(text);
        match incoming {
            Incoming::Request(request) => {
                let id = request.id.clone();
                let cancel = state.open(id.clone(), batch);
                drop(state);
                let request = Message::from(request).into();
                self.parked.push_back(Parked { id, request, cancel });
            }
            Incoming::Notification(late) if late.method == self.options.cancel_method.method => {
                drop(state);
                self.handler.hear(Stray::Late(&late));
            }
            Incoming::Notification(notification) => {
                state.count_received();
                drop(state);
                self.notifications.push_back(Message::from(notification).into());
            }
            Incoming::Response { id, token, outcome } => {
                state.answered(&id);
                drop(state);
                // Nobody may be waiting any more.
                let _ = token.send(outcome.map(Raw::from).map_err(RequestError::Answered));
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
            Incoming::Malformed { error, reply, ended } => {
                if let Some((id, _)) = &ended {
                    state.answered(id);
                }
                drop(state);
                reply.into_iter().for_each(|reply| self.shared.reply(reply, batch));
                self.handle_malformed(error, ended);
            }
        }
    }

    fn handle_malformed(&self, error: LineError, ended: Option<(RequestId, Token)>) {
        match ended {
            Some((_, token)) => {
                if let Err(Err(RequestError::Malformed(error))) =
                    token.send(Err(RequestError::Malformed(error)))
                {
                    self.handler.hear(Stray::Malformed(&error));
                }
            }
            None => self.handler.hear(Stray::Malformed(&error)),
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
