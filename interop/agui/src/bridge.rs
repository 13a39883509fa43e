//! Streams that agui-bridge makes of what an agent may send: any updates of either version, in any order, repeated, lost,
//! with questions, cancels, failures, replays and several runs. They are drawn as the properties of that crate draw them.
use crate::generated::{options, steps};
use crate::script::{Step, events};
use agui_bridge::Translator;
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// What a page is sent, in one or several runs.
#[derive(Debug)]
pub struct Bridged {
    pub profile: Profile,
    pub events: Vec<Event>,
}

/// The stream of this number for a client of this profile.
pub fn bridged(number: u64, profile: Profile) -> Bridged {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut options = options().new_tree(&mut runner).expect("options").current();
    options.profile = Some(profile);
    let steps: Vec<Step> = steps().new_tree(&mut runner).expect("steps").current();
    let mut translator = Translator::new(options);
    let mut made = Vec::new();
    for step in steps {
        // A run in a run, and answers to nothing, are refused.
        let _ = step.apply(&mut translator);
        made.extend(events(&mut translator));
        while translator.poll_response().is_some() {}
    }
    Bridged { profile, events: made }
}

impl Bridged {
    /// What it makes with us, as JSON.
    pub fn report(&self) -> Value {
        let mut reducer = Reducer::new();
        for event in &self.events {
            let _ = reducer.handle(event);
        }
        let lines: Vec<_> =
            self.events.iter().map(|event| serde_json::to_string(event).expect("JSON")).collect();
        json!({"lines": lines, "messages": reducer.messages(), "state": reducer.state()})
    }
}
