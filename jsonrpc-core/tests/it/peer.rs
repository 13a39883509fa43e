//! Each request ends once, for any inputs in any order.
use core::time::Duration;
use jsonrpc_core::framing::FrameError;
use jsonrpc_core::{
    CancelMethod, EndReason, ErrorCode, ErrorObject, Message, Peer, PeerMessage, RegisterError,
    RequestId, RequestLimits, RespondError,
};
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::error::Error;

const LIMITS: RequestLimits = RequestLimits { ours: 4, theirs: 3 };

fn peer<T>() -> Peer<T> {
    Peer::new(CancelMethod::ACP, LIMITS)
}

fn null() -> &'static RawValue {
    serde_json::from_str("null").expect("JSON")
}

fn line(message: impl Into<Message<'static>>) -> String {
    let mut out = Vec::new();
    message.into().to_line(&mut out);
    String::from_utf8(out).expect("UTF-8").trim_end().to_owned()
}

#[derive(Clone, Debug)]
enum Step {
    Register { deadline: Option<u64> },
    RegisterAs { id: i64, deadline: Option<u64> },
    Cancel { id: i64 },
    TheyRespond { id: i64, how: u8 },
    TheyAsk { id: i64 },
    TheyCancel { id: i64 },
    Respond { id: i64 },
    Wait { time: u64 },
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    let ours = 0..12_i64;
    let theirs = 0..6_i64;
    prop_oneof![
        6 => prop::option::of(0..20_u64).prop_map(|deadline| Step::Register { deadline }),
        3 => (ours.clone(), prop::option::of(0..20_u64))
            .prop_map(|(id, deadline)| Step::RegisterAs { id, deadline }),
        2 => ours.clone().prop_map(|id| Step::Cancel { id }),
        4 => (ours, 0..5_u8).prop_map(|(id, how)| Step::TheyRespond { id, how }),
        4 => theirs.clone().prop_map(|id| Step::TheyAsk { id }),
        2 => theirs.clone().prop_map(|id| Step::TheyCancel { id }),
        4 => theirs.prop_map(|id| Step::Respond { id }),
        2 => (0..5_u64).prop_map(|time| Step::Wait { time }),
        1 => Just(Step::Close),
    ]
}

/// A simple model of both sides.
#[derive(Default)]
struct Account {
    now: u64,
    is_closed: bool,
    /// Own requests: deadlines, and whether they were cancelled.
    ours: BTreeMap<i64, (Option<u64>, bool)>,
    /// Requests of the peer: whether they were cancelled.
    theirs: BTreeMap<i64, bool>,
    /// The last assigned number.
    number: i64,
    begun: Vec<i64>,
    ended: Vec<i64>,
    asked: usize,
    answered: usize,
}

impl Account {
    fn end(&mut self, id: i64, token: i64) -> Result<(), TestCaseError> {
        prop_assert_eq!(id, token);
        prop_assert!(self.ours.remove(&id).is_some());
        self.ended.push(id);
        Ok(())
    }

    fn settle(&mut self, peer: &mut Peer<i64>) -> Result<(), TestCaseError> {
        let first = self.ours.values().filter_map(|(deadline, _)| *deadline).min();
        let expected = if self.is_closed { self.ours.first_key_value().map(|_| 0) } else { first };
        prop_assert_eq!(peer.poll_timeout(), expected.map(Duration::from_secs));
        while let Some(ended) = peer.poll_ended(Duration::from_secs(self.now)) {
            let id = ended.id.as_i64().unwrap_or_default();
            let deadline = self.ours.get(&id).and_then(|(deadline, _)| *deadline);
            match ended.reason {
                EndReason::Closed => prop_assert!(self.is_closed),
                EndReason::Expired => {
                    prop_assert!(deadline.is_some_and(|deadline| deadline <= self.now));
                }
                other => prop_assert!(false, "unexpected reason: {other:?}"),
            }
            self.end(id, ended.token)?;
        }
        let is_due =
            |(deadline, _): &(Option<u64>, bool)| deadline.is_some_and(|at| at <= self.now);
        prop_assert!(!self.ours.values().any(is_due));
        prop_assert!(!self.is_closed || self.ours.is_empty());
        Ok(())
    }

    fn take(&mut self, peer: &mut Peer<i64>, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Register { deadline } => {
                let deadline = deadline.map(|after| self.now + after);
                let mut free = self.number + 1..;
                let token = free.find(|id| !self.ours.contains_key(id)).unwrap_or_default();
                let registered = peer.register(token, deadline.map(Duration::from_secs));
                let expected = match (self.is_closed, self.ours.len()) {
                    (true, _) => Err(RegisterError::Closed),
                    (false, 4) => Err(RegisterError::Full),
                    (false, _) => Ok(RequestId::from(token)),
                };
                prop_assert_eq!(&registered, &expected);
                if registered.is_ok() {
                    self.number = token;
                    self.begun.push(token);
                    self.ours.insert(token, (deadline, false));
                }
            }
            Step::RegisterAs { id, deadline } => {
                let deadline = deadline.map(|after| self.now + after);
                let spelled = serde_json::from_str(&format!("{id}.0")).expect("an id");
                let registered = peer.register_as(spelled, id, deadline.map(Duration::from_secs));
                let expected = match (self.is_closed, self.ours.len()) {
                    (true, _) => Err(RegisterError::Closed),
                    (false, 4) => Err(RegisterError::Full),
                    _ if self.ours.contains_key(&id) => Err(RegisterError::Taken),
                    _ => Ok(()),
                };
                prop_assert_eq!(registered, expected);
                if registered.is_ok() {
                    self.begun.push(id);
                    self.ours.insert(id, (deadline, false));
                }
            }
            Step::Cancel { id } => {
                let expected = self.ours.get_mut(&id).filter(|(_, is_cancelled)| !is_cancelled);
                let cancellation = peer.cancel(&id.into());
                prop_assert_eq!(cancellation.is_some(), expected.is_some());
                if let Some((_, is_cancelled)) = expected {
                    *is_cancelled = true;
                }
            }
            Step::TheyRespond { id, how } => self.they_respond(peer, id, how)?,
            Step::TheyAsk { id } => self.they_ask(peer, id)?,
            Step::TheyCancel { id } => {
                let text =
                    format!(r#"{{"method":"$/cancel_request","params":{{"requestId":{id}.0}}}}"#);
                let expected = self.theirs.get_mut(&id).filter(|is_cancelled| !**is_cancelled);
                match (peer.handle_line(Ok(&text)), expected) {
                    (PeerMessage::Cancelled { id: found, .. }, Some(is_cancelled)) => {
                        prop_assert_eq!(found, RequestId::from(id));
                        *is_cancelled = true;
                    }
                    (PeerMessage::Notification(_), None) => {}
                    (other, _) => prop_assert!(false, "{:?}", other),
                }
            }
            Step::Respond { id } => {
                let response = peer.respond(&id.into(), Ok(null()));
                match self.theirs.remove(&id) {
                    Some(_) => self.answered += 1,
                    None => prop_assert_eq!(response.err(), Some(RespondError)),
                }
            }
            Step::Wait { time } => self.now += time,
            Step::Close => {
                peer.handle_close();
                self.is_closed = true;
                self.answered += self.theirs.len();
                self.theirs.clear();
            }
        }
        self.settle(peer)
    }

    fn they_respond(
        &mut self,
        peer: &mut Peer<i64>,
        id: i64,
        how: u8,
    ) -> Result<(), TestCaseError> {
        let text = match how {
            0 => format!(r#"{{"id":{id},"result":{{}}}}"#),
            1 => format!(r#"{{"id":{id}.0,"error":{{"code":1,"message":"m"}}}}"#),
            2 => format!(r#"{{"id":{id},"error":"no error object"}}"#),
            3 => format!(r#"{{"id":{id},"result":"#),
            _ => format!(r#"{{"id":"{id}","result":1}}"#),
        };
        let is_ours = self.ours.contains_key(&id);
        match peer.handle_line(Ok(&text)) {
            PeerMessage::Response { id: found, token, outcome } => {
                prop_assert_eq!(outcome.is_ok(), how == 0);
                prop_assert!(how < 2 && found == RequestId::from(id));
                self.end(id, token)?;
            }
            PeerMessage::Unmatched(_) => prop_assert!(how == 4 || how < 2 && !is_ours),
            PeerMessage::Malformed { reply: None, ended: Some((found, token)), .. } => {
                prop_assert!((how == 2 || how == 3) && found == RequestId::from(id));
                self.end(id, token)?;
            }
            PeerMessage::Malformed { reply: None, ended: None, .. } => {
                prop_assert!((how == 2 || how == 3) && !is_ours);
            }
            other => prop_assert!(false, "{:?}", other),
        }
        Ok(())
    }

    fn they_ask(&mut self, peer: &mut Peer<i64>, id: i64) -> Result<(), TestCaseError> {
        let text = format!(r#"{{"id":{id},"method":"m"}}"#);
        self.asked += 1;
        let refused = match (self.is_closed, self.theirs.contains_key(&id), self.theirs.len()) {
            (true, ..) => Some(ErrorCode::INTERNAL_ERROR),
            (_, true, _) => Some(ErrorCode::INVALID_REQUEST),
            (_, _, 3) => Some(ErrorCode::INTERNAL_ERROR),
            _ => None,
        };
        match (peer.handle_line(Ok(&text)), refused) {
            (PeerMessage::Request(_), None) => {
                self.theirs.insert(id, false);
            }
            (PeerMessage::Refused { response, .. }, Some(code)) => {
                prop_assert_eq!(response.outcome.err().map(|error| error.code), Some(code));
                self.answered += 1;
            }
            (other, _) => prop_assert!(false, "{:?}", other),
        }
        Ok(())
    }
}

proptest! {
    /// For any inputs in any order, each own request ends once, and each request of the peer has
    /// one response.
    #[test]
    fn each_request_ends_once(steps in prop::collection::vec(step(), 0..60)) {
        let mut peer = peer();
        let mut account = Account::default();
        for step in steps {
            account.take(&mut peer, step)?;
        }
        for id in 0..6 {
            account.take(&mut peer, Step::Respond { id })?;
        }
        account.take(&mut peer, Step::Close)?;
        account.begun.sort_unstable();
        account.ended.sort_unstable();
        prop_assert_eq!(&account.ended, &account.begun);
        prop_assert_eq!(account.answered, account.asked);
    }
}

#[test]
fn request_is_cancelled_by_the_notification_of_the_protocol() -> Result<(), Box<dyn Error>> {
    let mut acp: Peer<()> = peer();
    let id = acp.register((), None)?;
    let cancellation = acp.cancel(&id).ok_or("not open")?;
    let mut out = Vec::new();
    Message::from(cancellation.notification()).to_line(&mut out);
    let expected =
        "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":1}}\n";
    assert_eq!(String::from_utf8(out)?, expected);
    let mut mcp: Peer<()> = Peer::new(CancelMethod::MCP, LIMITS);
    assert!(matches!(mcp.handle_line(Ok(r#"{"id":"a","method":"m"}"#)), PeerMessage::Request(_)));
    let cancelled =
        r#"{"method":"notifications/cancelled","params":{"reason":"late","requestId":"\u0061"}}"#;
    assert!(
        matches!(mcp.handle_line(Ok(cancelled)), PeerMessage::Cancelled { id, .. } if id == "a".into())
    );
    Ok(())
}

#[test]
fn requests_may_have_ids_of_the_caller() -> Result<(), Box<dyn Error>> {
    let mut peer = peer();
    peer.register_as("a\"b".into(), "text", None)?;
    assert_eq!(peer.register_as(RequestId::NULL, "null", None), Err(RegisterError::Taken));
    let unread = peer.handle_line(Ok(r#"{"id":null,"error":{"code":-32700,"message":"m"}}"#));
    assert!(matches!(unread, PeerMessage::Unmatched(_)), "{unread:?}");
    let cancellation = peer.cancel(&"a\"b".into()).ok_or("not open")?;
    let mut out = Vec::new();
    Message::from(cancellation.notification()).to_line(&mut out);
    assert!(out.ends_with(b"\"params\":{\"requestId\":\"a\\\"b\"}}\n"));
    let answer = peer.handle_line(Ok(r#"{"id":"a\u0022b","result":1}"#));
    assert!(matches!(answer, PeerMessage::Response { token: "text", .. }), "{answer:?}");
    Ok(())
}

#[test]
fn responses_have_the_id_as_the_peer_wrote_it() -> Result<(), Box<dyn Error>> {
    let mut peer: Peer<()> = peer();
    assert!(matches!(peer.handle_line(Ok(r#"{"id":1.0,"method":"m"}"#)), PeerMessage::Request(_)));
    let error = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
    let response = peer.respond(&1.into(), Err(error.clone()))?;
    let expected = r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-32800,"message":"cancelled"}}"#;
    assert_eq!(line(response), expected);
    assert_eq!(peer.respond(&1.into(), Err(error)).err(), Some(RespondError));
    Ok(())
}

#[test]
fn oversized_response_ends_its_request() -> Result<(), Box<dyn Error>> {
    let mut peer = peer();
    let id = peer.register("big", None)?;
    let kind = Some(jsonrpc_core::Kind::Response);
    let too_long = FrameError::TooLong { limit: 9, kind, id: Some(id.clone()) };
    match peer.handle_line(Err(too_long)) {
        PeerMessage::Malformed { ended, reply: None, .. } => assert_eq!(ended, Some((id, "big"))),
        other => panic!("{other:?}"),
    }
    Ok(())
}
