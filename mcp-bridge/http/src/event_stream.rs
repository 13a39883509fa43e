//! Parser of `text/event-stream`.
//!
//! Spec: [Interpreting an event
//! stream](https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation)
use std::time::Duration;

/// Maximum size of an event. A stream with a larger event is abandoned.
pub(crate) const MAX_EVENT: usize = 64 << 20;

/// An event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The last event id of the stream, if any.
    pub(crate) id: Option<String>,
    /// The data, possibly empty.
    pub(crate) data: String,
}

/// The size limit of an event was exceeded.
#[derive(Debug)]
pub(crate) struct TooLarge;

/// Splits a stream into events.
#[derive(Debug, Default)]
pub(crate) struct EventStream {
    buffer: Vec<u8>,
    /// Length of the buffer prefix that contains no line break.
    searched: usize,
    data: String,
    has_data: bool,
    last_id: Option<String>,
    /// Reconnection time requested by the server.
    pub(crate) retry: Option<Duration>,
}

impl EventStream {
    /// Appends bytes and returns the completed events.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        self.buffer.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut start = 0;
        while let Some((line, next)) = self.line(start) {
            let line = String::from_utf8_lossy(self.buffer.get(line).unwrap_or_default());
            let line = line.into_owned();
            start = next;
            self.searched = next;
            events.extend(self.take(&line));
        }
        self.buffer.drain(..start);
        self.searched = self.buffer.len().saturating_sub(1);
        match self.buffer.len() + self.data.len() > MAX_EVENT {
            true => Err(TooLarge),
            false => Ok(events),
        }
    }

    /// Returns the next line and the start of the line after it.
    fn line(&self, start: usize) -> Option<(std::ops::Range<usize>, usize)> {
        let from = self.searched.max(start);
        let rest = self.buffer.get(from..)?;
        let end = from + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let next = match (self.buffer.get(end), self.buffer.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => end + 2,
            // A line feed may follow.
            (Some(b'\r'), None) => return None,
            _ => end + 1,
        };
        Some((start..end, next))
    }

    fn take(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let has_data = self.has_data;
            self.has_data = false;
            return has_data.then(|| Event { id: self.last_id.clone(), data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, EventStream};

    /// The events do not depend on how the stream is split.
    #[test]
    fn events_do_not_depend_on_chunks() {
        let text = ": hi\nid: 1-0\nretry: 500\ndata: \n\nevent: message\r\nid: 1-1\r\ndata: {\"a\":\r\ndata: \"é\"}\r\n\r\ndata:x\r\rid\n\ndata: lost";
        let event = |id: &str, data: &str| Event { id: Some(id.into()), data: data.into() };
        let expected = [event("1-0", ""), event("1-1", "{\"a\":\n\"é\"}"), event("1-1", "x")];
        for size in 1..text.len() {
            let mut stream = EventStream::default();
            let chunks = text.as_bytes().chunks(size);
            let events = chunks.flat_map(|chunk| stream.push(chunk).expect("small"));
            assert_eq!(events.collect::<Vec<_>>(), expected, "{size}");
            assert_eq!(stream.retry.map(|retry| retry.as_millis()), Some(500));
        }
    }
}
