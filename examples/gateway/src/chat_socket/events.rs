//! The events of a run, read from its server-sent events.
use agui_types::event::Event;
use agui_types::sse::Decoder;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;

/// The events of a run.
pub(crate) struct Events {
    bytes: BoxStream<'static, Bytes>,
    decoder: Decoder,
}

impl Events {
    pub(crate) fn new(bytes: BoxStream<'static, Bytes>) -> Self {
        Self { bytes, decoder: Decoder::default() }
    }

    /// Returns the next event; `None` at the end of the run. No event is lost if the future is
    /// dropped.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some(frame) = self.decoder.next_frame() {
                match frame.map(|frame| frame.decode::<Event>()) {
                    Ok(Ok(event)) => return Some(event),
                    Ok(Err(error)) => tracing::error!(%error, "an own event cannot be read"),
                    Err(error) => tracing::error!(%error, "an own event cannot be read"),
                }
            }
            self.decoder.push(&self.bytes.next().await?);
        }
    }
}
