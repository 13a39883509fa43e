//! Size limits of content.

/// Default of [`ContentLimits::message_bytes`].
pub const MAX_MESSAGE_BYTES: usize = 64 * 1024;
/// Default of [`ContentLimits::part_bytes`].
pub const MAX_PART_BYTES: usize = 16 * 1024;
/// Default of [`ContentLimits::parts`].
pub const MAX_PARTS: usize = 256;
/// Default of [`ContentLimits::tool_bytes`].
pub const MAX_TOOL_CONTENT_BYTES: usize = 16 * 1024;

/// Size limits of recorded content, in bytes before JSON escaping.
///
/// ```
/// use semconv_map::Policy;
///
/// let mut policy = Policy::default();
/// policy.content_limits.part_bytes = 1024;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ContentLimits {
    /// Maximum size of all texts and data of a message.
    pub message_bytes: usize,
    /// Maximum size of one part of a message.
    pub part_bytes: usize,
    /// Maximum number of parts of a message.
    pub parts: usize,
    /// Maximum size of the arguments or the result of a tool. A longer value is replaced by an
    /// object with the start of its text.
    pub tool_bytes: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self {
            message_bytes: MAX_MESSAGE_BYTES,
            part_bytes: MAX_PART_BYTES,
            parts: MAX_PARTS,
            tool_bytes: MAX_TOOL_CONTENT_BYTES,
        }
    }
}
