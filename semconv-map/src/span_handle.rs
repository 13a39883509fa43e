//! The identity of a span.
use core::num::NonZeroU64;

/// Identifies a span, unique for the lifetime of a [`Tracker`](crate::Tracker).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanHandle(pub(crate) NonZeroU64);
