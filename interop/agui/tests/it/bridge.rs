//! The output of agui-bridge is valid by the published schema, and accepted by the crate `ag-ui`.
use crate::schema::validator;
use ag_ui::client::Verifier;
use agui::bridge::bridged;
use agui_types::event::Event;
use agui_types::profile::Profile;
use serde_json::Value;

/// Number of streams: `PROPTEST_CASES`, or a small default.
fn cases() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

#[test]
fn events_are_valid_by_the_schema() {
    let validator = validator("Event");
    let mut judged = 0;
    for number in 0..cases() {
        for profile in [Profile::V1, Profile::Legacy] {
            for event in bridged(number, profile).events {
                let document = serde_json::to_value(&event).expect("JSON");
                if let Err(error) = validator.validate(&document) {
                    panic!("stream {number}: {error}: {document}");
                }
                judged += 1;
            }
        }
    }
    assert!(judged > 10 * cases(), "{judged}");
}

#[test]
fn streams_are_accepted_by_another_verifier() {
    for number in 0..cases() {
        let mut verifier: Option<Verifier> = None;
        for event in bridged(number, Profile::V1).events {
            // The verifier handles one run.
            if matches!(event, Event::RunStarted(_)) {
                verifier = Some(Verifier::new());
            }
            let value: Value = serde_json::to_value(&event).expect("JSON");
            let theirs: ag_ui::Event = serde_json::from_value(value).expect("an event of theirs");
            let verifier = verifier.as_mut().expect("a run");
            verifier
                .verify(&theirs)
                .unwrap_or_else(|error| panic!("{number}: {error}: {theirs:?}"));
            if matches!(event, Event::RunFinished(_) | Event::RunError(_)) {
                verifier.finish().unwrap_or_else(|error| panic!("{number}: {error}"));
            }
        }
    }
}
