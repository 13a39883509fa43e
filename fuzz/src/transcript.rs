//! Properties of transcripts.
use jsonrpc_core::transcript::{self, Entry, Replay, ReplayStep};
use jsonrpc_core::{CancelMethod, Peer, PeerMessage, RequestLimits};

/// A decodable entry round-trips. Entries play to the end, twice with the same result.
pub fn transcript(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    let read: Vec<_> = transcript::read(text).collect();
    assert_eq!(read.len(), lines);
    let entries: Vec<_> = read.into_iter().flatten().collect();
    for entry in &entries {
        let mut line = Vec::new();
        entry.to_line(&mut line);
        let line = String::from_utf8(line).expect("UTF-8");
        assert_eq!(line.matches(['\n', '\r']).count(), 1, "one line");
        assert_eq!(Entry::from_line(&line).as_ref(), Ok(entry));
    }
    assert_eq!(play(entries.clone()), play(entries));
}

/// Returns the outcome of each entry. Each own request ends at most once, and each matched response
/// has a request.
fn play(entries: Vec<Entry<'static>>) -> Vec<String> {
    let limits = RequestLimits { ours: 3, theirs: 3 };
    let mut peer = Peer::new(CancelMethod::ACP, limits);
    let mut replay = Replay::new(entries);
    let mut asked = 0;
    let mut open = Vec::new();
    let mut played = Vec::new();
    while let Some((time, replayed)) = replay.step(&mut peer, |_| asked) {
        match &replayed {
            ReplayStep::Request { id: Ok(_), .. } => {
                open.push(asked);
                asked += 1;
            }
            ReplayStep::Received(
                PeerMessage::Response { token, .. }
                | PeerMessage::Malformed { ended: Some((_, token)), .. },
            ) => {
                let at = open.iter().position(|open| open == token).expect("an open request");
                open.remove(at);
            }
            _ => {}
        }
        played.push(format!("{time:?} {replayed:?}"));
        assert_eq!(peer.open_ours(), open.len());
    }
    played
}
