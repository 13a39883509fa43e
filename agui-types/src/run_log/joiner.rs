//! Successive deltas of stored runs as one.
use super::delta::DeltaFrame;
use alloc::vec::Vec;
use bytes::Bytes;

/// Size of a joined frame, in bytes, from which on a further delta begins another one.
const MAX_JOINED: usize = 1 << 20;

/// Joins deltas of one target that follow each other in the frames of a run. The frames are not
/// decoded.
///
/// Joined frames are fewer, and [reduce](crate::reduce) to the same messages. Joined deltas have no
/// event id.
///
/// ```
/// use agui_types::event::TextMessageContentEvent;
/// use agui_types::run_log::FrameJoiner;
/// use agui_types::sse;
///
/// let mut joiner = FrameJoiner::default();
/// for delta in ["Hel", "lo"] {
///     let mut frame = Vec::new();
///     sse::write_event(&mut frame, &TextMessageContentEvent::new("m", delta).into())?;
///     assert_eq!(joiner.push(&frame), None);
/// }
/// let mut expected = Vec::new();
/// sse::write_event(&mut expected, &TextMessageContentEvent::new("m", "Hello").into())?;
/// assert_eq!(joiner.take(), Some(expected.into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct FrameJoiner {
    last: Option<LastFrame>,
}

/// The last frame, which the next one may continue.
#[derive(Debug)]
enum LastFrame {
    Delta(DeltaFrame),
    Other(Vec<u8>),
}

impl FrameJoiner {
    /// Adds a frame. Returns the frame before it, unless both are joined.
    pub fn push(&mut self, frame: &[u8]) -> Option<Bytes> {
        if let Some(LastFrame::Delta(delta)) = &mut self.last
            && delta.len() < MAX_JOINED
            && delta.join(frame)
        {
            return None;
        }
        let frame = match DeltaFrame::new(frame) {
            Some(delta) => LastFrame::Delta(delta),
            None => LastFrame::Other(frame.into()),
        };
        self.last.replace(frame).map(LastFrame::into_bytes)
    }

    /// Takes the last frame.
    pub fn take(&mut self) -> Option<Bytes> {
        self.last.take().map(LastFrame::into_bytes)
    }
}

impl LastFrame {
    fn into_bytes(self) -> Bytes {
        match self {
            Self::Delta(delta) => delta.into_bytes(),
            Self::Other(frame) => frame.into(),
        }
    }
}
