//! Properties of the JSON-RPC peer.
use core::time::Duration;
use jsonrpc_core::{
    CancelMethod, EndReason, Kind, Message, Peer, PeerMessage, RequestId, RequestLimits,
};
use std::collections::BTreeMap;

const LIMITS: RequestLimits = RequestLimits { ours: 3, theirs: 3 };

/// For any inputs in any order, a simple model of both sides agrees with the peer. Each step is a
/// byte that selects the input and a byte for its subject; a line of the other side follows its
/// length.
pub fn peer(data: &[u8]) {
    let mut account = Account::new();
    let mut left = data;
    while let Some((&[step, about], behind)) = left.split_first_chunk() {
        left = behind;
        match step % 9 {
            0 => account.register(about),
            1 => account.cancel(i64::from(about % 8)),
            2 => account.respond(&i64::from(about % 8).into()),
            3 => account.forget(i64::from(about % 8)),
            4 => account.now += u64::from(about % 16),
            5 => account.end(about),
            6 => account.come(&format!(r#"{{"id":{},"method":"m"}}"#, about % 8)),
            7 => account.come(&theirs(about)),
            _ => {
                let (line, behind) = left.split_at(left.len().min(usize::from(about)));
                left = behind;
                if let Ok(line) = core::str::from_utf8(line) {
                    account.come(line);
                }
            }
        }
        account.settle();
    }
}

/// Returns a line of the other side about a request of either side.
fn theirs(about: u8) -> String {
    let id = about % 8;
    match about / 8 % 5 {
        0 => format!(r#"{{"id":{id},"result":[]}}"#),
        1 => format!(r#"{{"id":{id}.0,"error":{{"code":1,"message":"m"}}}}"#),
        2 => format!(r#"{{"id":{id},"result":1,"error":2}}"#),
        3 => format!(r#"{{"id":{id},"result":["#),
        _ => format!(r#"{{"method":"$/cancel_request","params":{{"requestId":{id}}}}}"#),
    }
}

struct Account {
    peer: Peer<i64>,
    now: u64,
    /// Open, draining, ended, closed.
    state: u8,
    next: i64,
    /// Own requests: deadlines, and whether they were withdrawn.
    ours: BTreeMap<i64, (Option<u64>, bool)>,
    /// Requests of the other side: whether they were withdrawn.
    theirs: BTreeMap<RequestId, bool>,
}

impl Account {
    fn new() -> Self {
        let peer = Peer::new(CancelMethod::ACP, LIMITS);
        let ours = BTreeMap::new();
        let theirs = BTreeMap::new();
        Self { peer, now: 0, state: 0, next: 1, ours, theirs }
    }

    fn register(&mut self, about: u8) {
        let deadline = (about < 128).then(|| self.now + u64::from(about % 16));
        let id = self.peer.register(self.next, deadline.map(Duration::from_secs));
        assert_eq!(id.is_ok(), self.state < 2 && self.ours.len() < LIMITS.ours);
        if id.is_ok() {
            assert_eq!(id, Ok(self.next.into()));
            self.ours.insert(self.next, (deadline, false));
            self.next += 1;
        }
    }

    fn cancel(&mut self, id: i64) {
        let is_told = self.peer.cancel(&id.into()).is_some();
        let open = self.ours.get_mut(&id).filter(|(_, is_cancelled)| !is_cancelled);
        assert_eq!(is_told, open.map(|(_, is_cancelled)| *is_cancelled = true).is_some());
    }

    fn respond(&mut self, id: &RequestId) {
        let is_open = self.theirs.remove(id).is_some();
        assert_eq!(self.peer.respond(id, Ok(serde_json::value::RawValue::NULL)).is_ok(), is_open);
    }

    fn forget(&mut self, id: i64) {
        assert_eq!(self.peer.forget(&id.into()), self.ours.remove(&id).map(|_| id));
    }

    fn end(&mut self, about: u8) {
        match about {
            0..32 => self.peer.drain(),
            32..64 => self.peer.handle_end(),
            64..96 => {
                self.peer.handle_close();
                self.theirs.clear();
            }
            _ => return,
        }
        self.state = self.state.max(about / 32 + 1);
    }

    fn come(&mut self, line: &str) {
        match (self.peer.handle_line(Ok(line)), Message::decode(line)) {
            (PeerMessage::Request(request), Ok(Message::Request(same))) => {
                assert_eq!(request.id, same.id);
                assert!(self.state == 0 && self.theirs.len() < LIMITS.theirs);
                assert_eq!(self.theirs.insert(request.id, false), None);
            }
            (PeerMessage::Refused { response, .. }, Ok(Message::Request(request))) => {
                assert_eq!(response.id, request.id);
                let is_full = self.theirs.len() >= LIMITS.theirs;
                assert!(self.state > 0 || is_full || self.theirs.contains_key(&request.id));
            }
            (PeerMessage::Notification(_), Ok(Message::Notification(_))) => {}
            (PeerMessage::Cancelled { id, .. }, Ok(Message::Notification(_))) => {
                assert_eq!(self.theirs.insert(id, true), Some(false));
            }
            (PeerMessage::Response { id, token, .. }, Ok(Message::Response(same))) => {
                assert_eq!(&id, &same.id);
                assert_eq!(id.as_i64(), Some(token));
                assert!(self.ours.remove(&token).is_some());
            }
            (PeerMessage::Unmatched(response), Ok(Message::Response(_))) => {
                assert!(response.id.as_i64().is_none_or(|id| !self.ours.contains_key(&id)));
            }
            (PeerMessage::Malformed { ended, reply, .. }, Err(error)) => {
                assert_eq!(reply.is_some(), error.reply().is_some());
                let id = error.id().filter(|_| error.kind() == Some(Kind::Response));
                let id = id.and_then(|id| id.as_i64()).filter(|id| self.ours.remove(id).is_some());
                assert_eq!(
                    ended.map(|(id, token)| (id.as_i64(), token)),
                    id.map(|id| (Some(id), id))
                );
            }
            (incoming, message) => panic!("{incoming:?} of {message:?}"),
        }
    }

    fn settle(&mut self) {
        let first = self.ours.values().filter_map(|(deadline, _)| *deadline).min();
        let is_ended = self.state >= 2;
        let due = if is_ended { self.ours.first_key_value().map(|_| 0) } else { first };
        assert_eq!(self.peer.poll_timeout(), due.map(Duration::from_secs));
        while let Some(ended) = self.peer.poll_ended(Duration::from_secs(self.now)) {
            let (deadline, _) = self.ours.remove(&ended.token).expect("an open request");
            match ended.reason {
                EndReason::Closed => assert!(is_ended),
                EndReason::Expired => assert!(deadline.is_some_and(|at| at <= self.now)),
                other => panic!("unexpected reason: {other:?}"),
            }
        }
        assert!(self.ours.values().all(|(at, _)| !is_ended && at.is_none_or(|at| at > self.now)));
        let open = (self.peer.open_ours(), self.peer.open_theirs());
        assert_eq!(open, (self.ours.len(), self.theirs.len()));
    }
}
