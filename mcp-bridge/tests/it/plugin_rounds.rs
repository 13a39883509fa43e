//! Rounds of questions: each is answered once, and together with the others of its round.
use futures::channel::oneshot;
use futures::executor::block_on;
use jsonrpc_core::wire::Raw;
use mcp_bridge::plugin::{Ask, EntryKind, Journal, Outcome, SessionError, Turn, answer_asks};
use proptest::prelude::*;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::future::{Ready, ready};

/// Returns a question; those to a model are answered by the tests.
fn question(key: &str, kind: EntryKind) -> Ask {
    let method = match kind {
        EntryKind::Sample => "sampling/createMessage",
        _ => "elicitation/create",
    };
    let params = match kind {
        EntryKind::Sample => json!({ "messages": [], "maxTokens": 1 }),
        _ => json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } }),
    };
    let stored =
        json!({ "key": key, "kind": kind, "method": method, "params": params, "context": null });
    serde_json::from_value(stored).expect("a question")
}

fn asking(state: usize, asks: Vec<Ask>) -> Result<Turn, SessionError> {
    Ok(Turn::Asks { state: state.to_string(), asks })
}

fn value(text: &str) -> Outcome {
    Outcome::Value(Raw::from_value(&text).expect("JSON"))
}

/// Answers the requests to a model with the key of the question.
fn answer_samples(ask: &Ask) -> Option<Ready<Outcome>> {
    (ask.kind == EntryKind::Sample).then(|| ready(value(&ask.key)))
}

/// Turns of a call: the kinds of the questions of each.
fn turns() -> impl Strategy<Value = Vec<Vec<EntryKind>>> {
    let kind = prop_oneof![3 => Just(EntryKind::Sample), 1 => Just(EntryKind::Elicit)];
    prop::collection::vec(prop::collection::vec(kind, 1..4), 0..6)
}

fn asks(turns: &[Vec<EntryKind>], number: usize) -> Vec<Ask> {
    let kinds = turns[number].iter().enumerate();
    kinds.map(|(index, kind)| question(&format!("{number}.{index}"), *kind)).collect()
}

proptest! {
    /// Each turn with a question that can be answered is resumed once with all of those answers,
    /// in order, and the first without one is returned.
    #[test]
    fn each_turn_is_resumed_with_its_answers(turns in turns()) {
        let turn = |number: usize| match number < turns.len() {
            true => asking(number, asks(&turns, number)),
            false => Ok(Turn::Taken),
        };
        let resumed = RefCell::new(Vec::new());
        let resume = |state, answers| {
            resumed.borrow_mut().push((state, answers));
            ready(turn(resumed.borrow().len()))
        };
        let end = block_on(answer_asks(turn(0), answer_samples, resume)).expect("a turn");

        let has_sample = |kinds: &Vec<EntryKind>| kinds.contains(&EntryKind::Sample);
        let rounds = turns.iter().take_while(|kinds| has_sample(kinds)).count();
        let expected: Vec<_> = (0..rounds)
            .map(|number| {
                let samples = asks(&turns, number).into_iter();
                let samples = samples.filter(|ask| ask.kind == EntryKind::Sample);
                let answers: Vec<_> = samples.map(|ask| (ask.key.clone(), value(&ask.key))).collect();
                (number.to_string(), answers)
            })
            .collect();
        prop_assert_eq!(resumed.into_inner(), expected);
        prop_assert_eq!(end, turn(rounds).expect("a turn"));
    }
}

/// A question that stays open is answered as often as a call can have questions, and then returned.
#[test]
fn rounds_are_bounded() {
    let turn = || asking(0, vec![question("0", EntryKind::Sample)]);
    let rounds = Cell::new(0);
    let resume = |_, _| {
        rounds.set(rounds.get() + 1);
        ready(turn())
    };
    let end = block_on(answer_asks(turn(), answer_samples, resume)).expect("a turn");
    assert_eq!(rounds.get(), Journal::MAX_ENTRIES);
    assert_eq!(end, turn().expect("a turn"));
}

/// The questions of a turn are answered at the same time.
#[test]
fn questions_of_a_turn_are_answered_concurrently() {
    let (send, receive) = oneshot::channel();
    let send = Cell::new(Some(send));
    let receive = Cell::new(Some(receive));
    // The first question is answered after the second one.
    let wait = async || receive.take().expect("one question").await.expect("an answer");
    let wait = &wait;
    let send = &send;
    let answer = |ask: &Ask| {
        let key = ask.key.clone();
        Some(async move {
            match key.as_str() {
                "first" => wait().await,
                _ => send.take().expect("one question").send(()).expect("a receiver"),
            }
            value(&key)
        })
    };
    let asks = ["first", "second"].map(|key| question(key, EntryKind::Elicit));
    let answered = RefCell::new(Vec::new());
    let resume = |_, answers| {
        *answered.borrow_mut() = answers;
        ready(Ok(Turn::Taken))
    };
    let end = block_on(answer_asks(asking(0, asks.to_vec()), answer, resume));
    assert_eq!(end.expect("a turn"), Turn::Taken);
    let expected = ["first", "second"].map(|key| (key.to_owned(), value(key)));
    assert_eq!(answered.into_inner(), expected);
}

/// An error of a call or a resumption is returned.
#[test]
fn errors_end_the_rounds() {
    let resume = |_, _| ready(Err(SessionError::Expired));
    let turn = asking(0, vec![question("0", EntryKind::Sample)]);
    let end = block_on(answer_asks(turn, answer_samples, resume));
    assert!(matches!(end, Err(SessionError::Expired)), "{end:?}");

    let resume = |_, _| async { panic!("resumed an ended call") };
    let end = block_on(answer_asks(Err(SessionError::Aborted), answer_samples, resume));
    assert!(matches!(end, Err(SessionError::Aborted)), "{end:?}");
}
