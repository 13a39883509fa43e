//! Streams of agui-bridge for generated and recorded input. Generated input has any updates of
//! either version in any order, repeated and lost, with questions, cancellations, failures, replays
//! and several runs; the generators are those of the crate's property tests. Recorded input comes
//! from the crate's recordings of agents.
use crate::generated::{options, steps};
use crate::hub_differences::ComparisonCounts;
use crate::replay::{How, messages, replay};
use crate::script::{Step, events};
use agui_bridge::Translator;
use agui_types::event::Event;
use agui_types::profile::Profile;
use agui_types::reduce::Reducer;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The output for a page, in one or several runs.
#[derive(Debug)]
pub struct Bridged {
    pub profile: Profile,
    pub events: Vec<Event>,
}

/// Returns the stream of this number, for a client of this profile.
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
        // A nested run, and answers without a question, are refused.
        let _ = step.apply(&mut translator);
        made.extend(events(&mut translator));
        while translator.poll_response().is_some() {}
    }
    Bridged { profile, events: made }
}

/// Returns the sessions of all recordings in the folders of this folder, by agent, scenario and
/// session.
pub fn recorded(folder: &Path, profile: Profile) -> Vec<(String, Bridged)> {
    let mut sessions = Vec::new();
    for agent in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        if !agent.path().is_dir() {
            continue;
        }
        for file in fs::read_dir(agent.path()).expect("a folder") {
            let path = file.expect("a file").path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let messages = messages(&fs::read_to_string(&path).expect("a recording"));
            for session in replay(&messages, How::Plain(profile)) {
                let scenario = path.file_stem().unwrap_or_default().to_string_lossy();
                let agent = agent.file_name();
                let name = format!("{}/{scenario} {}", agent.to_string_lossy(), session.session);
                sessions.push((name, Bridged { profile, events: session.events }));
            }
        }
    }
    sessions.sort_by(|(one, _), (other, _)| one.cmp(other));
    sessions
}

/// Compares, for each recording below a folder, the events of a hub with those of a translator, for
/// both profiles. Prints the numbers, and returns whether no session has a difference beyond those
/// that are known.
pub fn compare_hub(folder: &Path) -> bool {
    let mut compared = ComparisonCounts::default();
    let mut folders = vec![folder.to_owned()];
    let mut files = 0;
    let mut failed = 0;
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let messages = messages(&fs::read_to_string(&path).expect("a recording"));
            files += 1;
            for profile in [Profile::V1, Profile::Legacy] {
                if let Err(error) = compared.add(&messages, profile) {
                    println!("{} {profile:?}: {error}", path.display());
                    failed += 1;
                }
            }
        }
    }
    println!("{files} recordings, {failed} that differ, {compared:#?}");
    failed == 0
}

impl Bridged {
    /// Returns the resulting conversation of agui-types, as JSON.
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
