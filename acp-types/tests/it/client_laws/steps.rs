//! Inputs of a client.
use super::*;

/// An input of the connection.
#[derive(Clone, Debug)]
pub(super) enum Step {
    New,
    Load(Index),
    Prompt(Index),
    Cancel(Index, u64),
    Release(Index),
    Call,
    Reply(Index),
    /// The agent responds to a received request, possibly again.
    Answer(Index, Answer),
    Update(Index),
    Own(Index, Index),
    Ask(Question, Option<Index>),
    /// A request of the agent with a reused id.
    AskAgain(Index),
    Withdraw(Index),
    Hostile(String),
    Wait(u64),
    Poll,
    PollSession(Index),
    Close,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Right(usize),
    Null,
    Wrong,
    Error,
    Login,
    Broken,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Question {
    Permission,
    Elicitation,
    File,
    Extension,
    Bad,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let answer = prop_oneof![
        6 => (0..NAMES.len()).prop_map(Answer::Right),
        1 => Just(Answer::Null),
        1 => Just(Answer::Wrong),
        1 => Just(Answer::Error),
        1 => Just(Answer::Login),
        1 => Just(Answer::Broken),
    ];
    let question = prop_oneof![
        Just(Question::Permission),
        Just(Question::Elicitation),
        Just(Question::File),
        Just(Question::Extension),
        Just(Question::Bad),
    ];
    let hostile = prop_oneof![
        "[\\[\\]{}\",:a-z0-9]{0,40}",
        Just(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7}}"#.to_owned()),
        Just(r#"{"method":"session/update","params":{"sessionId":"a","update":{"sessionUpdate":"plan"}}}"#.to_owned()),
        Just(r#"{"method":"session/update","params":[]}"#.to_owned()),
        Just(r#"{"method":"elicitation/complete","params":{"elicitationId":"e"}}"#.to_owned()),
        Just(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#.to_owned()),
        Just(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#.to_owned()),
    ];
    prop_oneof![
        3 => Just(Step::New),
        2 => index().prop_map(Step::Load),
        4 => index().prop_map(Step::Prompt),
        2 => (index(), 0_u64..20).prop_map(|(at, grace)| Step::Cancel(at, grace)),
        2 => index().prop_map(Step::Release),
        2 => Just(Step::Call),
        3 => index().prop_map(Step::Reply),
        10 => (index(), answer).prop_map(|(at, answer)| Step::Answer(at, answer)),
        10 => index().prop_map(Step::Update),
        1 => (index(), index()).prop_map(|(owner, owned)| Step::Own(owner, owned)),
        5 => (question, proptest::option::of(index())).prop_map(|(q, at)| Step::Ask(q, at)),
        1 => index().prop_map(Step::AskAgain),
        2 => index().prop_map(Step::Withdraw),
        2 => hostile.prop_map(Step::Hostile),
        2 => (0_u64..90).prop_map(Step::Wait),
        4 => Just(Step::Poll),
        3 => index().prop_map(Step::PollSession),
        1 => Just(Step::Close),
    ]
}
