//! Events of a hub compared with those of a translator, and the permitted differences.
//!
//! A hub opens a session within the run that needs it, so that the page sees the announcements of
//! the session. The recorded clients opened their sessions before the first prompt. The translator
//! therefore gets the messages in between after that prompt, as in the hub.
use crate::hub_player::play;
use crate::replay::{How, SentLine, replay, replays};
use crate::script::verify;
use agui_types::profile::Profile;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A permitted difference. Apart from these, both have the same events in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    /// A replay that joins messages of the thread makes no snapshot, which would remove them from
    /// the page.
    JoinedMessages,
}

impl Difference {
    const ALL: [Self; 1] = [Self::JoinedMessages];

    /// Returns the events without this difference.
    fn removed(self, mut events: Vec<Value>) -> Vec<Value> {
        match self {
            Self::JoinedMessages => {
                let deltas = events.iter().filter_map(|event| event["delta"].as_str());
                let streamed: BTreeSet<_> = deltas.map(str::to_owned).collect();
                let joins = |message: &Value| {
                    let text = message["content"].as_str().unwrap_or_default();
                    let is_longer =
                        |part: &String| text.len() > part.len() && text.starts_with(part);
                    message["role"] == "assistant" && streamed.iter().any(is_longer)
                };
                events.retain(|event| {
                    event["messages"].as_array().is_none_or(|messages| !messages.iter().any(joins))
                });
            }
        }
        events
    }
}

/// Returns the messages, with those between the opening of a session and its first prompt moved
/// after that prompt.
fn opened_in_runs(messages: &[SentLine]) -> Vec<SentLine> {
    let mut ordered = Vec::new();
    let mut open = BTreeSet::new();
    let mut held = BTreeMap::<String, Vec<SentLine>>::new();
    let mut loads = BTreeMap::new();
    for sent in messages {
        let (SentLine::Client(line) | SentLine::Agent(line)) = sent;
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let session = message["params"]["sessionId"].as_str().unwrap_or_default().to_owned();
        let method = message["method"].as_str();
        let id = message["id"].to_string();
        let is_agents = matches!(sent, SentLine::Agent(_));
        if is_agents && method.is_none() {
            loads.retain(|load, _| *load != id);
        }
        let is_loading = loads.values().any(|loading| *loading == session);
        let is_held = !session.is_empty() && !open.contains(&session) && !is_loading;
        if is_agents && method.is_some() && is_held {
            held.entry(session).or_default().push(sent.clone());
            continue;
        }
        ordered.push(sent.clone());
        match method.filter(|_| !is_agents) {
            Some("initialize") => open.clear(),
            Some(method) if replays(method, &message["params"]) => drop(loads.insert(id, session)),
            Some("session/prompt") => {
                ordered.extend(held.remove(&session).into_iter().flatten());
                open.insert(session);
            }
            _ => {}
        }
    }
    ordered
}

/// Number of compared sessions, and of those with each difference.
#[derive(Debug, Default)]
pub(crate) struct ComparisonCounts {
    pub(crate) sessions: usize,
    pub(crate) events: usize,
    pub(crate) differences: BTreeMap<Difference, usize>,
}

impl ComparisonCounts {
    /// Compares the events of a recording in both ways.
    ///
    /// # Errors
    /// An event of a session differs.
    pub(crate) fn add(&mut self, messages: &[SentLine], profile: Profile) -> Result<(), String> {
        let by_hub = play(messages, profile);
        for session in replay(&opened_in_runs(messages), How::Known(profile)) {
            let Some(by_hub) = by_hub.get(&session.session) else { continue };
            verify(profile, by_hub);
            let by_hand: Vec<_> =
                session.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
            let ways = [common(by_hub.clone()), common(by_hand)];
            let without = |but: Option<Difference>| {
                ways.clone().map(|events| {
                    let all = Difference::ALL.into_iter().filter(|it| Some(*it) != but);
                    all.fold(events, |events, it| it.removed(events))
                })
            };
            let [given, expected] = without(None);
            if let Some(place) = (0..given.len().max(expected.len()))
                .find(|place| given.get(*place) != expected.get(*place))
            {
                let given = given.get(place);
                let expected = expected.get(place);
                return Err(format!(
                    "{}, event {place}: {given:?}, and by hand {expected:?}",
                    session.session
                ));
            }
            for difference in Difference::ALL {
                let [given, expected] = without(Some(difference));
                if given != expected {
                    *self.differences.entry(difference).or_default() += 1;
                }
            }
            self.sessions += 1;
            self.events += by_hub.len();
        }
        Ok(())
    }
}

/// Returns the events without the differences at the two ends of a recording.
fn common(mut events: Vec<Value>) -> Vec<Value> {
    // The run with the translator's remaining events is not in the recording.
    let last = events.iter().rposition(|it| it["type"] == "RUN_STARTED" && it["runId"] == "last");
    events.truncate(last.unwrap_or(events.len()));
    for event in events.iter_mut().filter(|event| event["code"] == "AGENT_EXITED") {
        event["message"] = Value::Null;
    }
    events
}
