//! Results of requests, which some agents send as `null`.
use alloc::boxed::Box;
use core::ops::Deref;
use jsonrpc_core::wire::{Object, Wire};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A result without required members, which some agents send as `null`.
///
/// It is decoded as an empty object, and encoded as `null` again.
///
/// ```
/// use acp_types::v1::dispatch::AgentResponse;
/// use jsonrpc_core::wire::Raw;
///
/// let response = AgentResponse::decode("session/load", Raw::from_text("null")?.as_ref())?;
/// let AgentResponse::LoadSessionResponse(load) = &response else { panic!("another method") };
/// assert!(load.is_null() && load.modes.is_none());
/// assert_eq!(serde_json::to_string(&response)?, "null");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct OrNull<T> {
    value: Box<T>,
    is_null: bool,
}

impl<T> OrNull<T> {
    /// Returns whether the result was `null`.
    pub fn is_null(&self) -> bool {
        self.is_null
    }

    /// Returns the result, an empty one for `null`.
    pub fn into_inner(self) -> T {
        *self.value
    }
}

impl<T> From<T> for OrNull<T> {
    fn from(value: T) -> Self {
        Self { value: Box::new(value), is_null: false }
    }
}

impl<T> Deref for OrNull<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Serialize> Serialize for OrNull<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_null { serializer.serialize_unit() } else { self.value.serialize(serializer) }
    }
}

/// A result that is decoded by the method of its request.
pub(crate) trait Answer: Sized {
    /// Returns the initial value for decoding a text.
    fn blank(text: &RawValue) -> Self;

    /// Returns the object to decode; `None` if the result is the text.
    fn value(&mut self) -> Option<&mut dyn Wire>;
}

impl<T: Object> Answer for Box<T> {
    fn blank(_: &RawValue) -> Self {
        Wire::blank()
    }

    fn value(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut **self)
    }
}

impl<T: Object> Answer for OrNull<T> {
    fn blank(text: &RawValue) -> Self {
        Self { value: Wire::blank(), is_null: text.get() == "null" }
    }

    fn value(&mut self) -> Option<&mut dyn Wire> {
        Some(&mut *self.value)
    }
}
