//! Decoding by method, common to all versions.
use jsonrpc_core::wire::{DecodeError, DecodedValue, Mode, Wire, decode_into};
use serde_json::value::RawValue;

mod result;

pub(crate) use result::Answer;
pub use result::OrNull;

/// Declares the requests of one side and their results. In brackets are the properties of a method:
/// `unstable`, `session` if the parameters have to name one, the gate, and another receiver.
macro_rules! requests {
    (
        $(#[$rattr:meta])* pub enum $Requests:ident to $Receiver:ident;
        $(#[$sattr:meta])* pub enum $Responses:ident;
        $( $($shared:ident)? $method:literal $Request:ident -> $Response:ident $(or $null:ident)?
            [$($property:tt)*], )+
    ) => {
        $(#[$rattr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Requests {
            $(
                #[doc = concat!("`", $method, "`")]
                $Request(Box<$Request>),
            )+
            /// A method that this version does not define.
            Other {
                /// The method.
                method: String,
                /// The parameters, verbatim.
                params: Option<Raw>,
            },
        }

        impl $Requests {
            /// The methods.
            const METHODS: &[Method] = &[$( $crate::method::properties!(
                Method::request::<$Request>(Receiver::$Receiver); $($property)*
            ), )+];

            /// Decodes the parameters of a request. Absent parameters and `null` count as an empty
            /// object.
            ///
            /// # Errors
            /// The method is known, but the parameters are invalid. The pointer begins at the
            /// parameters.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Self::decode_with(method, params, Mode::Strict).map(|decoded| decoded.value)
            }

            /// Decodes the parameters of a request in a [mode](Mode), as [`decode`](Self::decode)
            /// does.
            ///
            /// # Errors
            /// The method is known, but the parameters are invalid even in this mode.
            pub fn decode_with(
                method: &str,
                params: Option<&RawValue>,
                mode: Mode,
            ) -> Result<DecodedValue<Self>, DecodeError> {
                let mut value = match method {
                    $( $method => Self::$Request(Wire::blank()), )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                };
                let read = $crate::dispatch::decode(params, value.params(), mode)?;
                Ok(read.map(|()| value))
            }

            /// Returns the parameters to decode.
            fn params(&mut self) -> Option<&mut dyn Wire> {
                match self {
                    $( Self::$Request(params) => Some(params), )+
                    Self::Other { .. } => None,
                }
            }

            /// Returns the method.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Request(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }
        }

        $(#[$sattr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Responses {
            $(
                #[doc = concat!("`", $method, "`")]
                $Response($crate::dispatch::payload! { $Response $($null)? }),
            )+
            /// The result of a method that this version does not define.
            Other {
                /// The method of the request.
                method: String,
                /// The result, verbatim.
                result: Raw,
            },
        }

        impl $Responses {
            /// Decodes the result of a request by its method. `null` counts as an empty object,
            /// since some agents send it.
            ///
            /// # Errors
            /// The method is known, but the result is invalid. The pointer begins at the result.
            pub fn decode(method: &str, result: &RawValue) -> Result<Self, DecodeError> {
                Self::decode_with(method, result, Mode::Strict).map(|decoded| decoded.value)
            }

            /// Decodes the result of a request in a [mode](Mode), as [`decode`](Self::decode) does.
            ///
            /// # Errors
            /// The method is known, but the result is invalid even in this mode.
            pub fn decode_with(
                method: &str,
                result: &RawValue,
                mode: Mode,
            ) -> Result<DecodedValue<Self>, DecodeError> {
                let mut value = match method {
                    $( $method => Self::$Response($crate::dispatch::Answer::blank(result)), )+
                    other => Self::Other { method: other.into(), result: result.into() },
                };
                let read = $crate::dispatch::decode(Some(result), value.result(), mode)?;
                Ok(read.map(|()| value))
            }

            /// Returns the result to decode.
            fn result(&mut self) -> Option<&mut dyn Wire> {
                match self {
                    $( Self::$Response(result) => $crate::dispatch::Answer::value(result), )+
                    Self::Other { .. } => None,
                }
            }

            /// Returns the method of the request.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Response(_) => $method, )+
                    Self::Other { method, .. } => method,
                }
            }
        }

        /// Encodes the parameters.
        impl Serialize for $Requests {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$Request(params) => params.serialize(serializer), )+
                    Self::Other { params, .. } => params.serialize(serializer),
                }
            }
        }

        /// Encodes the result.
        impl Serialize for $Responses {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$Response(result) => result.serialize(serializer), )+
                    Self::Other { result, .. } => result.serialize(serializer),
                }
            }
        }

        #[cfg(feature = "schemars")]
        impl $Requests {
            /// Returns the schemas of all parameters and results.
            fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
                [$(
                    generator.subschema_for::<$Request>(), generator.subschema_for::<$Response>(),
                )+].into()
            }
        }

        $( $crate::params::params! { $($shared)? $method $Request -> $Response } )+
    };
}

/// The type of a result: boxed, and accepting `null` if no member is required.
macro_rules! payload {
    ($Response:ident) => { Box<$Response> };
    ($Response:ident null) => { $crate::dispatch::OrNull<$Response> };
}

/// Declares the notifications of one side.
macro_rules! notifications {
    (
        $(#[$attr:meta])* pub enum $Notifications:ident to $Receiver:ident;
        $( $Notification:ident $([$($property:tt)*])?, )+
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Notifications {
            $(
                #[doc = concat!("Of [`", stringify!($Notification), "`].")]
                $Notification($Notification),
            )+
            /// A method that this version does not define.
            Other {
                /// The method.
                method: String,
                /// The parameters, verbatim.
                params: Option<Raw>,
            },
        }

        impl $Notifications {
            /// The methods, without those in the table of the other side.
            const METHODS: &[Method] = &[$($( $crate::method::properties!(
                Method::notification::<$Notification>(Receiver::$Receiver); $($property)*
            ), )?)+];

            /// Decodes the parameters of a notification. Absent parameters and `null` count as an
            /// empty object.
            ///
            /// # Errors
            /// The method is known, but the parameters are invalid. The pointer begins at the
            /// parameters.
            pub fn decode(method: &str, params: Option<&RawValue>) -> Result<Self, DecodeError> {
                Self::decode_with(method, params, Mode::Strict).map(|decoded| decoded.value)
            }

            /// Decodes the parameters of a notification in a [mode](Mode), as
            /// [`decode`](Self::decode) does.
            ///
            /// # Errors
            /// The method is known, but the parameters are invalid even in this mode.
            pub fn decode_with(
                method: &str,
                params: Option<&RawValue>,
                mode: Mode,
            ) -> Result<DecodedValue<Self>, DecodeError> {
                let mut value = match method {
                    $(
                        <$Notification as NotificationParams>::METHOD => {
                            Self::$Notification(Wire::blank())
                        }
                    )+
                    other => Self::Other { method: other.into(), params: params.map(Raw::from) },
                };
                let read = $crate::dispatch::decode(params, value.params(), mode)?;
                Ok(read.map(|()| value))
            }

            /// Returns the parameters to decode.
            fn params(&mut self) -> Option<&mut dyn Wire> {
                match self {
                    $( Self::$Notification(params) => Some(params), )+
                    Self::Other { .. } => None,
                }
            }

            /// Returns the method.
            pub fn method(&self) -> &str {
                match self {
                    $( Self::$Notification(_) => <$Notification as NotificationParams>::METHOD, )+
                    Self::Other { method, .. } => method,
                }
            }
        }

        /// Encodes the parameters.
        impl Serialize for $Notifications {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$Notification(params) => params.serialize(serializer), )+
                    Self::Other { params, .. } => params.serialize(serializer),
                }
            }
        }

        #[cfg(feature = "schemars")]
        impl $Notifications {
            /// Returns the schemas of all parameters.
            fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
                [$( generator.subschema_for::<$Notification>(), )+].into()
            }
        }
    };
}

pub(crate) use {notifications, payload, requests};

/// Decodes an object, which may be absent or `null`, into a blank value.
pub(crate) fn decode(
    text: Option<&RawValue>,
    value: Option<&mut dyn Wire>,
    mode: Mode,
) -> Result<DecodedValue<()>, DecodeError> {
    value.map_or_else(|| Ok(().into()), |value| decode_into(object(text), value, mode))
}

/// Returns the text of an object that may be absent.
pub(crate) fn object(value: Option<&RawValue>) -> &str {
    value.map(RawValue::get).filter(|text| *text != "null").unwrap_or("{}")
}
