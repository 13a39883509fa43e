//! Messages of either version of the protocol.

/// Declares messages by version: enums over those of `v1::dispatch` and `v2::dispatch`.
macro_rules! by_version {
    ($( $(#[$attr:meta])* pub enum $Name:ident of $Json:ty $(, with $method:ident)?; )+) => { $(
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            /// Version 1.
            V1($crate::v1::dispatch::$Name),
            /// Version 2.
            V2($crate::v2::dispatch::$Name),
        }

        impl $Name {
            /// Decodes parameters or a result by method, leniently, as the schema defines.
            pub(crate) fn decode(
                is_v2: bool,
                method: &str,
                json: $Json,
            ) -> Result<DecodedValue<Self>, DecodeError> {
                let mode = Mode::SpecLenient;
                Ok(if is_v2 {
                    $crate::v2::dispatch::$Name::decode_with(method, json, mode)?.map(Self::V2)
                } else {
                    $crate::v1::dispatch::$Name::decode_with(method, json, mode)?.map(Self::V1)
                })
            }

            $(
                /// Returns the method.
                pub fn $method(&self) -> &str {
                    match self {
                        Self::V1(message) => message.method(),
                        Self::V2(message) => message.method(),
                    }
                }
            )?
        }
    )+ };
}

pub(crate) use by_version;
