//! Checks of the outputs of a client.
use super::*;
use acp_types::client::{Diagnostic, Event, SessionEvent};

impl Model {
    pub(super) fn transmit(&mut self) {
        while let Some(transmit) = self.connection.poll_transmit() {
            let line: Value = serde_json::from_slice(&transmit.line).unwrap();
            match (line["id"].as_i64(), line["method"].as_str()) {
                (Some(id), Some(method)) => self.received.push((id, method.to_owned())),
                (None, None) => {
                    let id = line["id"].as_str().unwrap_or_default();
                    self.asked.entry(id.to_owned()).and_modify(|answers| *answers += 1);
                }
                _ => {}
            }
        }
    }

    pub(super) fn poll(&mut self) -> Result<(), TestCaseError> {
        let mut updates = BTreeMap::new();
        let mut diagnostics = 0;
        while let Some(event) = self.connection.poll_event() {
            prop_assert!(!self.closed, "after the end: {event:?}");
            match event {
                Event::Session(key, event) => {
                    if let SessionEvent::Update(_) = event {
                        *updates.entry(key).or_insert(0) += 1;
                    }
                    self.session_event(key, event)?;
                }
                Event::Request(key, _) => self.requests.push(key),
                Event::CallEnded(key, _) => *self.calls.get_mut(&key).unwrap() += 1,
                Event::Closed(_) => self.closed = true,
                Event::Diagnostic(Diagnostic::Missed { .. } | Diagnostic::Dropped { .. }) => {}
                Event::Diagnostic(_) => diagnostics += 1,
                _ => {}
            }
        }
        let bounds = limits();
        prop_assert!(updates.values().all(|count| *count <= bounds.events), "{updates:?}");
        // Decoding unpolled updates may add a diagnostic for each.
        let most = bounds.diagnostics + bounds.sessions * (bounds.events + bounds.replay);
        prop_assert!(diagnostics <= most, "{diagnostics}");
        Ok(())
    }

    pub(super) fn session_event(
        &mut self,
        key: SessionKey,
        event: SessionEvent,
    ) -> Result<(), TestCaseError> {
        let seen = format!("{event:?}");
        if !matches!(event, SessionEvent::Refused(_) | SessionEvent::Opened(_)) {
            let is_early = matches!(
                event,
                SessionEvent::Request(..)
                    | SessionEvent::Withdrawn(_)
                    | SessionEvent::Notification(_)
                    | SessionEvent::Lagged { .. }
            );
            prop_assert!(is_early || self.names.contains_key(&key), "before it was opened: {seen}");
        }
        match event {
            SessionEvent::Opened(opened) => {
                *self.opened.get_mut(&key).unwrap() += 1;
                self.names.insert(key, opened.session_id.as_str().to_owned());
                prop_assert!(opened.replay.len() <= limits().replay);
                for update in &opened.replay {
                    self.update(key, update.raw.as_str())?;
                }
            }
            SessionEvent::Refused(_) => *self.opened.get_mut(&key).unwrap() += 1,
            SessionEvent::Update(update) => self.update(key, update.raw.as_str())?,
            SessionEvent::Request(request, _) => self.requests.push(request),
            SessionEvent::TurnEnded(turn, _) => *self.turns.get_mut(&turn).unwrap() += 1,
            _ => {}
        }
        Ok(())
    }

    /// An update belongs to its session, and is newer than earlier ones.
    fn update(&mut self, key: SessionKey, params: &str) -> Result<(), TestCaseError> {
        let params: Value = serde_json::from_str(params).unwrap();
        let name = params["sessionId"].as_str().unwrap().to_owned();
        prop_assert!(self.names[&key] == name || self.owned.contains(&name), "{name}");
        let text = params["update"]["content"]["text"].as_str();
        if let Some(number) = text.and_then(|text| text.parse().ok()) {
            let last = self.last.insert((key, name), number);
            prop_assert!(last.is_none_or(|last| last < number), "{last:?} before {number}");
        }
        Ok(())
    }
}
