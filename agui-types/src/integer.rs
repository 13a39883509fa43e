//! Integers that every JSON implementation represents exactly: magnitudes up to 2^53 − 1.
//!
//! Spec: [`BaseEvent.timestamp`, 1.0](https://ag-ui.com/spec/1.0/schema#baseevent)
use core::fmt;
use jsonrpc_core::wire::{Fault, ValueReader, View, Wire};

/// The largest integer of the contiguous range that a double represents exactly: 2^53 − 1.
const MAX: i64 = (1 << 53) - 1;

macro_rules! integer {
    ($(#[$attr:meta])* pub struct $Name:ident($Inner:ty) from $min:literal, $expecting:literal;) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name($Inner);

        impl $Name {
            /// The largest value.
            pub const MAX: Self = Self(MAX as $Inner);

            /// Returns the number.
            pub const fn get(self) -> $Inner {
                self.0
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<u32> for $Name {
            fn from(number: u32) -> Self {
                Self(number.into())
            }
        }

        impl TryFrom<u64> for $Name {
            type Error = IntegerRangeError;

            fn try_from(number: u64) -> Result<Self, IntegerRangeError> {
                i64::try_from(number).map_err(|_| IntegerRangeError)?.try_into()
            }
        }

        impl TryFrom<i64> for $Name {
            type Error = IntegerRangeError;

            fn try_from(number: i64) -> Result<Self, IntegerRangeError> {
                if ($min..=MAX).contains(&number) { Ok(Self(number as $Inner)) } else { Err(IntegerRangeError) }
            }
        }

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $Name {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }

            fn schema_id() -> alloc::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($Name)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "integer", "minimum": ($min as i64), "maximum": MAX })
            }
        }

        impl Wire for $Name {
            fn blank() -> Self {
                Self(0)
            }

            fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
                match whole_number(reader, $expecting)?.try_into() {
                    Ok(number) => *self = number,
                    Err(IntegerRangeError) => return Err(reader.invalid($expecting)),
                }
                Ok(())
            }

            fn view(&self) -> View<'_> {
                self.0.view()
            }
        }

        jsonrpc_core::object! { @serde $Name }
    };
}

/// Reads a number without a fraction: `1.0` and `1e3` are integers in JSON Schema.
fn whole_number(reader: &mut ValueReader<'_>, what: &'static str) -> Result<i64, Fault> {
    if !matches!(reader.next_byte(), b'-' | b'0'..=b'9') {
        return Err(reader.expected(what));
    }
    let text = reader.text()?;
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    // The cast saturates, so the comparison decides.
    let number = text.parse::<f64>().ok().filter(|number| *number as i64 as f64 == *number);
    number.map(|number| number as i64).ok_or_else(|| reader.invalid(what))
}

integer! {
    /// An integer from −(2^53 − 1) to 2^53 − 1.
    ///
    /// ```
    /// use agui_types::integer::SafeInteger;
    ///
    /// let timestamp = SafeInteger::try_from(1_763_600_000_123_i64)?;
    /// assert_eq!(timestamp.get(), 1_763_600_000_123);
    /// assert!(serde_json::from_str::<SafeInteger>("0.5").is_err());
    /// # Ok::<(), agui_types::integer::IntegerRangeError>(())
    /// ```
    ///
    /// Spec: [`BaseEvent.timestamp`, 1.0](https://ag-ui.com/spec/1.0/schema#baseevent)
    pub struct SafeInteger(i64) from -9_007_199_254_740_991, "an integer from -(2^53 - 1) to 2^53 - 1";
}

integer! {
    /// An integer from 0 to 2^53 − 1.
    ///
    /// Spec: [`TokenUsage`, 1.0](https://ag-ui.com/spec/1.0/schema#tokenusage)
    pub struct Count(u64) from 0, "an integer from 0 to 2^53 - 1";
}

impl From<i32> for SafeInteger {
    fn from(number: i32) -> Self {
        Self(number.into())
    }
}

/// An error creating a number: the value is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number is outside the range that every JSON implementation represents exactly")]
pub struct IntegerRangeError;
