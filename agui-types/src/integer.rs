//! Integers in the range that every JSON implementation keeps exactly: 2^53 − 1 and below.
//!
//! Spec: [`BaseEvent.timestamp`, 1.0](https://ag-ui.com/spec/1.0/schema#baseevent)
use core::fmt;
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest integer that a double holds exactly together with all below it: 2^53 − 1.
const MAX: i64 = (1 << 53) - 1;

macro_rules! integer {
    ($(#[$attr:meta])* pub struct $Name:ident($Inner:ty) from $min:literal, $expecting:literal;) => {
        $(#[$attr])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name($Inner);

        impl $Name {
            /// The largest.
            pub const MAX: Self = Self(MAX as $Inner);

            /// The number.
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
            type Error = OutOfRange;

            fn try_from(number: u64) -> Result<Self, OutOfRange> {
                i64::try_from(number).map_err(|_| OutOfRange)?.try_into()
            }
        }

        impl TryFrom<i64> for $Name {
            type Error = OutOfRange;

            fn try_from(number: i64) -> Result<Self, OutOfRange> {
                if ($min..=MAX).contains(&number) { Ok(Self(number as $Inner)) } else { Err(OutOfRange) }
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

        impl Serialize for $Name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct NumberVisitor;

                impl Visitor<'_> for NumberVisitor {
                    type Value = $Name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$Name, E> {
                        number.try_into().map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
                    }

                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$Name, E> {
                        number.try_into().map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
                    }

                    // `1.0` and `1e3` are integers in JSON Schema; the cast saturates, so the comparison decides.
                    fn visit_f64<E: de::Error>(self, number: f64) -> Result<$Name, E> {
                        let whole = number as i64;
                        let read = if whole as f64 == number { whole.try_into() } else { Err(OutOfRange) };
                        read.map_err(|_| E::invalid_value(Unexpected::Float(number), &self))
                    }
                }

                deserializer.deserialize_i64(NumberVisitor)
            }
        }
    };
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
    /// # Ok::<(), agui_types::integer::OutOfRange>(())
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

/// A number is beyond what the type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number is beyond what every JSON implementation keeps exactly")]
pub struct OutOfRange;
