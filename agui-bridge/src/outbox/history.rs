//! The conversation of the client.
use agui_types::event::{Event, MessagesSnapshotEvent};
use agui_types::message::Message;
use agui_types::reduce::Reducer;
use alloc::vec::Vec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The conversation of the client; kept only if
/// [`Options::history`](crate::options::Options::history) is set.
#[derive(Clone, Debug)]
pub(crate) struct History {
    reducer: Reducer,
    limit: usize,
}

impl History {
    pub(crate) fn new(messages: &[Message], limit: usize) -> Self {
        let mut reducer = Reducer::new().with_limit(limit);
        let snapshot = MessagesSnapshotEvent::new(messages.to_vec());
        // Messages beyond the limit are missing and are not restated.
        let _ = reducer.handle(&Event::from(snapshot));
        Self { reducer, limit }
    }

    pub(super) fn handle(&mut self, event: &Event) {
        // The reducer warns of events that the client ignores as well.
        let _ = self.reducer.handle(event);
    }

    pub(crate) fn messages(&self) -> &[Message] {
        self.reducer.messages()
    }
}

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.limit, self.messages()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (limit, messages) = <(usize, Vec<Message>)>::deserialize(deserializer)?;
        Ok(Self::new(&messages, limit))
    }
}
