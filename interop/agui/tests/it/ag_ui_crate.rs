//! The crate `ag-ui` and agui-types read each other's output alike.
use ag_ui::client::{Applier, Verifier};
use agui::stream;
use agui_types::enforce;
use agui_types::message::{AssistantMessage, Message};
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use jsonrpc_core::wire;
use serde_json::Value;

const STREAMS: u64 = 400;

fn theirs(event: &impl serde::Serialize) -> ag_ui::Event {
    serde_json::from_value(serde_json::to_value(event).expect("JSON")).expect("an event of theirs")
}

#[test]
fn streams_of_our_producer_are_accepted() {
    for number in 0..STREAMS {
        let stream = stream(number);
        let mut verifier = Verifier::new();
        for event in stream.events_for(Profile::V1) {
            let event = theirs(&event);
            verifier.verify(&event).unwrap_or_else(|error| panic!("{number}: {error}: {event:?}"));
        }
        verifier.finish().unwrap_or_else(|error| panic!("{number}: {error}"));
    }
}

/// The crate names the message of a call, and places results, differently from the first-party
/// client, and keeps no reasoning among the messages. Therefore only texts and the state are
/// compared.
#[test]
fn streams_make_the_same_texts_and_state() {
    let mut texts = 0;
    for number in 0..STREAMS {
        let stream = stream(number);
        let mut reducer = Reducer::for_input(&stream.input).expect("an input");
        let mut applier = Applier::new();
        for event in stream.events_for(Profile::V1) {
            let ours = reducer.handle(&event);
            // A patch that cannot be applied is an error there, and a warning here.
            let other = applier.apply(&theirs(&event));
            assert_eq!(other.is_err(), ours.is_some(), "{number}: {ours:?}: {other:?}");
        }
        for message in reducer.messages() {
            if let Message::Assistant(AssistantMessage { id, content: Some(text), .. }) = message {
                assert_eq!(applier.text_of(id.as_str()), Some(text.as_str()), "{number}");
                texts += 1;
            }
        }
        assert_eq!(reducer.state(), applier.state(), "{number}");
    }
    assert!(texts > 500, "{texts}");
}

/// Optional members that the crate always writes: event, member, value.
const DEFAULTS: &[(&str, &str, &str)] =
    &[("TEXT_MESSAGE_START", "role", r#""assistant""#), ("ACTIVITY_SNAPSHOT", "replace", "true")];

/// The crate's output equals the output of agui-types, except for defaults, and decodes to the same
/// event.
#[test]
fn what_it_writes_is_read() {
    for number in 0..STREAMS {
        for event in stream(number).events {
            let written = serde_json::to_string(&theirs(&event)).expect("JSON");
            let (read, removals) = enforce::read_event(&written).expect("an event");
            assert_eq!(enforce::enforce_event(read.clone()).1, vec![]);
            assert_eq!(removals, vec![]);
            let mut ours = serde_json::to_value(event).expect("JSON");
            let other: Value = wire::decode(&written).expect("JSON");
            // It writes the defaults of absent members.
            for (event_type, member, meaning) in DEFAULTS {
                if ours["type"] == *event_type && ours.get(member).is_none() {
                    ours[member] = serde_json::from_str(meaning).expect("JSON");
                }
            }
            assert_eq!(ours, other, "{number}");
        }
    }
}
