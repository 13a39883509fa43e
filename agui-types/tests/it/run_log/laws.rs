//! Laws of a log, for any run and any readers.
use super::*;
use crate::generate::cases;
use agui_types::event::{
    ActivitySnapshotEvent, RunErrorEvent, ToolCallArgsEvent, ToolCallEndEvent, ToolCallResultEvent,
    ToolCallStartEvent,
};
use std::collections::BTreeSet;

/// The events of a run of these steps, without its end. Ids are used once.
fn played(steps: Vec<Step>) -> Vec<Event> {
    let mut events = vec![started()];
    let mut texts = [None; 2];
    let mut calls = [None; 2];
    let mut shown = BTreeSet::new();
    for (place, step) in steps.into_iter().enumerate() {
        match step {
            Step::Text(id, text) => {
                let of = *texts[id].get_or_insert_with(|| {
                    events.push(TextMessageStartEvent::new(format!("m{place}")).into());
                    place
                });
                events.push(TextMessageContentEvent::new(format!("m{of}"), text).into());
            }
            Step::EndText(id) => events.extend(
                texts[id].take().map(|of| TextMessageEndEvent::new(format!("m{of}")).into()),
            ),
            Step::Thought(text) => {
                let id = format!("t{place}");
                events.push(ReasoningMessageStartEvent::new(id.clone(), "reasoning").into());
                events.push(ReasoningMessageContentEvent::new(id.clone(), text).into());
                events.push(ReasoningMessageEndEvent::new(id).into());
            }
            Step::Call(id, text) => {
                let of = *calls[id].get_or_insert_with(|| {
                    events.push(ToolCallStartEvent::new(format!("c{place}"), "tool").into());
                    place
                });
                events.push(ToolCallArgsEvent::new(format!("c{of}"), text).into());
            }
            Step::EndCall(id) => {
                if let Some(of) = calls[id].take() {
                    let call = format!("c{of}");
                    let result = format!("r{of}");
                    events.push(ToolCallEndEvent::new(call.clone()).into());
                    events.push(ToolCallResultEvent::new(result, call, "done").into());
                }
            }
            Step::Activity(id, n) => {
                shown.insert(id);
                let content: wire::Extra =
                    wire::decode(&format!(r#"{{"n":{n}}}"#)).expect("an object");
                events.push(ActivitySnapshotEvent::new(format!("a{id}"), "plan", content).into());
            }
            Step::ActivityDelta(id, n) if shown.contains(&id) => {
                let patch = format!(r#"[{{"op":"add","path":"/m","value":{n}}}]"#);
                let event = format!(
                    r#"{{"type":"ACTIVITY_DELTA","messageId":"a{id}","activityType":"plan","patch":{patch}}}"#
                );
                events.push(wire::decode(&event).expect("an event"));
            }
            Step::ActivityDelta(..) => {}
            Step::Count(n) => events.push(counted(n)),
            Step::Restate(n) => {
                let state =
                    format!(r#"{{"type":"STATE_SNAPSHOT","snapshot":{{"counted":[{n}]}}}}"#);
                events.push(wire::decode(&state).expect("an event"));
            }
        }
    }
    let open = texts.into_iter().flatten();
    events.extend(open.map(|of| TextMessageEndEvent::new(format!("m{of}")).into()));
    let open = calls.into_iter().flatten();
    events.extend(open.map(|of| ToolCallEndEvent::new(format!("c{of}")).into()));
    events
}

#[derive(Clone, Debug)]
enum Action {
    Push(usize),
    Read(usize, usize),
    Copy(usize),
    CopyAgain,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (1..40_usize).prop_map(Action::Push),
        4 => (0..3_usize, 0..4000_usize).prop_map(|(client, max)| Action::Read(client, max)),
        1 => (0..4000_usize).prop_map(Action::Copy),
        1 => Just(Action::CopyAgain),
    ]
}

/// A log, its copy elsewhere, and the clients of both.
struct World {
    log: RunLog,
    copy: RunLog,
    last_part: LogPart,
    clients: [Client; 3],
    accepted: Vec<Event>,
}

impl World {
    fn new(limits: RunLogLimits) -> Self {
        let log = RunLog::new(&input(), limits);
        Self {
            copy: log.clone(),
            log,
            last_part: LogPart::default(),
            clients: [Client::new(), Client::new(), Client::new()],
            accepted: Vec::new(),
        }
    }

    /// Adds an event, unless the log is full.
    fn push(&mut self, event: Event) {
        let before = self.log.last();
        match self.log.push(&event) {
            Ok(number) => {
                assert_eq!(number, before + 1);
                self.accepted.push(event);
            }
            Err(PushError::Full) => assert!(self.log.is_full() && self.log.last() == before),
            Err(error) => panic!("{error}"),
        }
    }

    /// The first two clients read the log, the third one its copy.
    fn act(&mut self, action: Action, events: &mut impl Iterator<Item = Event>) {
        match action {
            Action::Push(count) => events.take(count).for_each(|event| self.push(event)),
            Action::Read(client, max) => {
                let log = if client == 2 { &self.copy } else { &self.log };
                self.clients[client].read(log, max);
            }
            Action::Copy(max) => {
                self.last_part = self.log.part(self.copy.last(), max);
                self.copy.apply(self.last_part.clone());
            }
            Action::CopyAgain => self.copy.apply(self.last_part.clone()),
        }
    }
}

proptest! {
    #![proptest_config(cases(128))]

    /// In any order of pushes and reads each client, of the log and of a copy, ends with the run's
    /// conversation; no rule of the protocol is broken, and the log stays within its bounds.
    #[test]
    fn each_client_ends_with_the_conversation_of_the_run(
        steps in prop::collection::vec(step(), 0..150),
        limits in (1..60_usize, 200..4000_usize),
        actions in prop::collection::vec(action(), 0..60),
        fails in any::<bool>(),
    ) {
        let limits = RunLogLimits { events: limits.0, bytes: limits.1 };
        let mut world = World::new(limits);
        let mut events = played(steps).into_iter();
        for action in actions.into_iter().chain([Action::Push(usize::MAX)]) {
            world.act(action, &mut events);
            prop_assert!(world.log.bytes() <= 4 * limits.bytes + 400, "{}", world.log.bytes());
        }
        let was_full = world.log.is_full();
        let end = if fails || was_full { RunErrorEvent::new("failed").into() } else { finished() };
        world.push(end.clone());
        prop_assert_eq!(world.accepted.last(), Some(&end));
        prop_assert_eq!(world.log.outcome().cloned(), RunOutcome::of(&end));
        world.log.end();
        prop_assert!(matches!(world.log.push(&finished()), Err(PushError::Ended)));
        while !world.copy.has_ended() {
            world.copy.apply(world.log.part(world.copy.last(), 1000));
        }
        prop_assert_eq!(world.copy.outcome(), world.log.outcome());
        for (place, client) in world.clients.iter_mut().enumerate() {
            let log = if place == 2 { &world.copy } else { &world.log };
            while client.read(log, 1000) {}
            prop_assert_eq!(client.after, world.accepted.len() as u64);
            prop_assert_eq!(reduced(&client.seen), reduced(&world.accepted));
        }
    }

    /// Joined frames are events of the same conversation, and two deltas of one message do not
    /// follow each other.
    #[test]
    fn joined_frames_are_the_same_conversation(steps in prop::collection::vec(step(), 0..150)) {
        let mut events = played(steps);
        events.push(finished());
        let mut log = RunLog::new(&input(), LIMITS);
        let frames: Vec<_> = events.iter().map(|event| log_frame(&mut log, event)).collect();
        let mut joiner = FrameJoiner::default();
        let mut joined: Vec<_> = frames.iter().filter_map(|frame| joiner.push(frame)).collect();
        joined.extend(joiner.take());
        let joined: Vec<Event> = joined.iter().map(|frame| decoded(frame)).collect();
        prop_assert_eq!(reduced(&joined), reduced(&events));
        let texts = joined.windows(2).filter(|pair| match pair {
            [Event::TextMessageContent(one), Event::TextMessageContent(other)] => {
                one.message_id == other.message_id
            }
            _ => false,
        });
        prop_assert_eq!(texts.count(), 0);
    }
}

/// Returns the numbered frame of an event.
fn log_frame(log: &mut RunLog, event: &Event) -> Vec<u8> {
    let frame = log.next_frame(event).expect("a frame");
    log.push(event).expect("room");
    frame.to_vec()
}

fn decoded(frame: &[u8]) -> Event {
    let mut decoder = Decoder::with_limit(usize::MAX);
    decoder.push(frame);
    let frame = decoder.next_frame().expect("a frame").expect("an event");
    frame.decode().expect("an event")
}
