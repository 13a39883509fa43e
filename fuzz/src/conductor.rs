//! Properties of conductor traces.
use jsonrpc_core::transcript::{Conductor, Direction};
use jsonrpc_core::{Kind, Message};

/// Entries of a trace are messages, and both ends of a connection see the same ones.
pub fn conductor(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let mut ours = Conductor::new("Client", "Agent");
    let mut theirs = Conductor::new("Agent", "Client");
    for line in text.lines() {
        let entry = ours.entry(line);
        let seen = theirs.entry(line);
        let reversed = seen.map(|entry| {
            entry.map(|mut entry| {
                entry.direction = entry.direction.reversed();
                entry
            })
        });
        assert_eq!(entry, reversed);
        let Ok(Some(entry)) = entry else { continue };
        assert!(matches!(entry.direction, Direction::Sent | Direction::Received));
        let text = core::str::from_utf8(&entry.bytes).expect("UTF-8");
        assert!(!text.contains(['\n', '\r']), "one line");
        // The parameters of a trace are not specified.
        let message = Message::decode(text);
        let kind =
            message.as_ref().map_or_else(|error| error.kind(), |message| Some(message.kind()));
        assert!(kind.is_some(), "{text}");
        assert!(message.is_ok() || kind != Some(Kind::Response), "{text}");
    }
}
