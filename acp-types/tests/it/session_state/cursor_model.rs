//! Cursors of a session, compared with a model: a list of messages and a list of cursors.
use super::{beside, chunk, cursor, v2};
use acp_types::session_state::{SessionState, StateLimits};
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Clone, Debug)]
enum Step {
    Message(&'static str),
    /// A cursor, its anchor, and its capabilities: absent, cleared or `fork`.
    Cursor(&'static str, Option<&'static str>, Option<bool>),
}

const ENTRIES: usize = 2;
const NAMES: usize = 2;

fn step() -> impl Strategy<Value = Step> {
    let message = || prop::sample::select(vec!["a", "b", "c", "d"]);
    let name = prop::sample::select(vec!["x", "y", "z"]);
    let capabilities = any::<Option<bool>>();
    prop_oneof![
        message().prop_map(Step::Message),
        (name, proptest::option::of(message()), capabilities)
            .prop_map(|(name, anchor, fork)| Step::Cursor(name, anchor, fork)),
    ]
}

/// A cursor of the model.
#[derive(Clone, Debug, PartialEq)]
struct Cursor {
    name: String,
    anchor: Value,
    can_fork: bool,
}

/// Messages and cursors, oldest first.
#[derive(Default)]
struct Model {
    messages: Vec<&'static str>,
    cursors: Vec<Cursor>,
}

impl Model {
    fn take(&mut self, step: &Step) {
        match step {
            Step::Message(message) => {
                if self.messages.contains(message) {
                    return;
                }
                self.messages.push(message);
                if self.messages.len() > ENTRIES {
                    let gone = beside(self.messages.remove(0));
                    self.cursors.retain(|cursor| cursor.anchor != gone);
                }
            }
            Step::Cursor(name, anchor, fork) => {
                let known = self.cursors.iter_mut().find(|cursor| cursor.name == *name);
                match (known, anchor) {
                    (Some(cursor), _) => cursor.can_fork = fork.unwrap_or(cursor.can_fork),
                    (None, Some(anchor)) => {
                        let name = (*name).to_owned();
                        let can_fork = fork.unwrap_or_default();
                        self.cursors.push(Cursor { name, anchor: beside(anchor), can_fork });
                        if self.cursors.len() > NAMES {
                            self.cursors.remove(0);
                        }
                    }
                    (None, None) => {}
                }
            }
        }
    }
}

fn update(step: &Step) -> Value {
    match step {
        Step::Message(message) => chunk("agent_message_chunk", Some(message), "x"),
        Step::Cursor(name, anchor, fork) => {
            let capabilities =
                fork.map(|can_fork| if can_fork { json!({ "fork": {} }) } else { Value::Null });
            cursor(name, anchor.map(beside), capabilities)
        }
    }
}

fn cursors(state: &SessionState) -> Vec<Cursor> {
    let cursors = state.cursors().map(|cursor| {
        let capabilities = cursor.capabilities.value();
        Cursor {
            name: cursor.cursor_id.as_str().to_owned(),
            anchor: serde_json::to_value(cursor.anchor.as_ref().expect("a place")).unwrap(),
            can_fork: capabilities.is_some_and(|capabilities| capabilities.fork.is_some()),
        }
    });
    cursors.collect()
}

proptest! {
    /// A cursor begins with its first anchor, keeps it, and ends with its message or beyond the
    /// limit; its capabilities are the last that were named.
    #[test]
    fn cursors_follow_the_model(steps in prop::collection::vec(step(), 0..40)) {
        let mut limits = StateLimits::default();
        limits.entries = ENTRIES;
        limits.names = NAMES;
        let mut state = SessionState::new(limits);
        let mut model = Model::default();
        for step in &steps {
            state.handle(&v2(update(step)));
            model.take(step);
            prop_assert_eq!(cursors(&state), model.cursors.clone(), "{:?}", step);
        }
    }
}
