//! Properties of the hub for any order of lines and inputs.
use crate::generated::{cases, update};
use crate::hub_world::{Op, THREADS, World};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

fn op() -> impl Strategy<Value = Op> {
    let thread = || 0..THREADS.len();
    let garbage =
        vec!["", "{", "[]", "7", r#"{"jsonrpc":"2.0"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#];
    prop_oneof![
        6 => (thread(), any::<bool>()).prop_map(|(thread, resumes)| Op::Run(thread, resumes)),
        1 => thread().prop_map(Op::Cancel),
        14 => (0..4_usize, 0..8_u8).prop_map(|(nth, how)| Op::Answer(nth, how)),
        8 => (0..5_usize, update()).prop_map(|(session, update)| Op::Update(session, update)),
        2 => (0..5_usize, select(vec![10, 3_000])).prop_map(|(session, size)| Op::Say(session, size)),
        3 => (0..5_usize).prop_map(Op::Permission),
        1 => (0..5_usize).prop_map(Op::Files),
        1 => select(garbage).prop_map(Op::Garbage),
        1 => Just(Op::Again),
        1 => Just(Op::Close),
        2 => Just(Op::Connect),
        1 => Just(Op::Unavailable),
        1 => thread().prop_map(Op::Remove),
        3 => select(vec![0, 50, 1_000, 11_000, 2_000_000]).prop_map(Op::Wait),
    ]
}

fn play(steps: &[Op], cut: usize) -> Result<World, TestCaseError> {
    let mut world = World::new(cut);
    world.connect();
    world.drain()?;
    for op in steps {
        world.play(op)?;
        world.verify(false)?;
    }
    Ok(world)
}

proptest! {
    #![proptest_config(cases())]

    /// Each run ends once, the streams of all threads are in order, and no limit is exceeded, for
    /// any lines in any order, any loss and delay, and any end of the connection.
    #[test]
    fn hub_is_valid_for_any_inputs(steps in proptest::collection::vec(op(), 0..80)) {
        let mut world = play(&steps, usize::MAX)?;
        world.play(&Op::Close)?;
        world.play(&Op::Unavailable)?;
        world.verify(true)?;
        prop_assert_eq!(&world.open, &BTreeSet::new());
        for thread in THREADS {
            prop_assert!(!world.hub.conversation(thread).is_some_and(|it| it.is_running()));
        }
    }

    /// Each request of the agent is answered once, at the latest when its thread is removed.
    #[test]
    fn requests_are_answered_once(steps in proptest::collection::vec(op(), 0..80)) {
        let mut world = play(&steps, usize::MAX)?;
        for thread in 0..THREADS.len() {
            world.play(&Op::Remove(thread))?;
        }
        prop_assert_eq!(&world.agent_requests, &BTreeSet::new());
    }

    /// The lines and frames do not depend on the pieces in which the agent's bytes arrive.
    #[test]
    fn pieces_do_not_change_the_output(steps in proptest::collection::vec(op(), 0..30), cut in 1..40_usize) {
        let whole = play(&steps, usize::MAX)?;
        let pieces = play(&steps, cut)?;
        prop_assert_eq!(whole.transmitted, pieces.transmitted);
        prop_assert_eq!(whole.streams, pieces.streams);
    }
}
