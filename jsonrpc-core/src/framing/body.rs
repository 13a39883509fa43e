use super::cut::{BYTE_ORDER_MARK, Buffer, Cut, Cutter, is_blank};
use super::skim::TooLong;
use super::{FrameError, TextPolicy};
use alloc::borrow::Cow;

/// Takes bodies: each is one JSON-RPC message, or one batch.
///
/// For HTTP requests and responses, and for WebSocket messages. A body that comes in pieces is
/// [pushed](Self::push) and [finished](Self::finish), so that the limit holds before the whole is there; one that is
/// there as a whole is [read](Self::read) where it is.
///
/// | the body is | what comes of it |
/// |---|---|
/// | empty, or spaces, tabs and line breaks | nothing |
/// | with a byte order mark | as without it |
/// | longer than the limit | [`FrameError::TooLong`], as soon as its id has come, or never will, or at its end |
/// | not UTF-8 | [`FrameError::Utf8`], unless the [policy](TextPolicy) is another |
///
/// ```
/// use jsonrpc_core::framing::Body;
///
/// let mut body = Body::default();
/// body.push(b"{\"id\":1,");
/// assert!(body.next().is_none());
/// body.push(b"\"method\":\"a\"}\n");
/// body.finish();
/// assert_eq!(body.next(), Some(Ok("{\"id\":1,\"method\":\"a\"}\n")));
///
/// // What is pushed now is the next body; and this one needs no copy.
/// assert_eq!(body.read(b"[]"), Some(Ok("[]".into())));
/// ```
#[derive(Debug)]
pub struct Body {
    pub(crate) buffer: Buffer<BodyCutter>,
}

impl Body {
    /// How long a body may be unless told otherwise, in bytes: 16 MiB.
    pub const DEFAULT_LIMIT: usize = super::DEFAULT_LIMIT;

    /// Bodies of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Buffer::new(BodyCutter::new(limit)) }
    }

    /// With another policy for invalid text.
    #[must_use]
    pub fn with_text(mut self, policy: TextPolicy) -> Self {
        self.buffer.text = policy;
        self
    }

    /// Takes the bytes that come next. Behind the end of a body they are those of another, and what was not taken of
    /// the one before is dropped.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.buffer.is_finished() {
            *self = Self::new(self.buffer.cutter.limit).with_text(self.buffer.text);
        }
        self.buffer.push(bytes);
    }

    /// Tells that the body has ended.
    pub fn finish(&mut self) {
        self.buffer.finish();
    }

    /// The body, once it has ended.
    ///
    /// # Errors
    /// It is too long, which is told once and may be before it ends, or not UTF-8.
    #[expect(
        clippy::should_implement_trait,
        reason = "the body borrows from here, so this is no iterator"
    )]
    pub fn next(&mut self) -> Option<Result<&str, FrameError>> {
        self.buffer.next_text()
    }

    /// The same as bytes, for a policy that lets pass what is not UTF-8.
    ///
    /// # Errors
    /// As those of [`next`](Self::next).
    pub fn next_bytes(&mut self) -> Option<Result<&[u8], FrameError>> {
        self.buffer.next_bytes()
    }

    /// Takes a body that is there as a whole. Nothing of it is copied unless it has to be repaired.
    ///
    /// # Errors
    /// It is too long, or not UTF-8.
    pub fn read<'a>(&self, body: &'a [u8]) -> Option<Result<Cow<'a, str>, FrameError>> {
        let limit = self.buffer.cutter.limit;
        if body.len() > limit {
            let mut too_long = TooLong::new(limit);
            too_long.pass(body);
            return too_long.tell(true).map(Err);
        }
        let text = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        (!is_blank(text)).then(|| self.buffer.text.before_text().read(text))
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

/// Waits for the end.
#[derive(Debug)]
pub(crate) struct BodyCutter {
    limit: usize,
    is_too_long: bool,
    /// A body that is too long, and has not been told of.
    too_long: Option<TooLong>,
}

impl BodyCutter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, is_too_long: false, too_long: None }
    }
}

impl Cutter for BodyCutter {
    fn cut(&mut self, buffer: &[u8], is_finished: bool) -> Cut {
        let taken = buffer.len();
        if let Some(too_long) = &self.too_long {
            let Some(error) = too_long.tell(is_finished) else { return Cut::Unfinished };
            self.too_long = None;
            return Cut::Error { error, taken };
        }
        if taken > self.limit {
            self.is_too_long = true;
            self.too_long.insert(TooLong::new(self.limit)).pass(buffer);
            return Cut::Space { taken };
        }
        let start = if buffer.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        if !is_finished || is_blank(buffer.get(start..).unwrap_or_default()) {
            return Cut::Unfinished;
        }
        Cut::Message { range: start..taken, taken }
    }

    fn drop_some(&mut self, bytes: &[u8]) -> usize {
        if !self.is_too_long {
            return 0;
        }
        self.too_long.iter_mut().for_each(|too_long| too_long.pass(bytes));
        bytes.len()
    }

    fn limit(&self) -> usize {
        self.limit
    }
}
