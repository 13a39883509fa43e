//! Opaque identifiers.

/// Defines opaque string identifiers of two words. Cloning increments one atomic counter.
///
/// ```
/// jsonrpc_core::string_id! {
///     /// Identifies a conversation.
///     pub struct SessionId;
/// }
///
/// let id = SessionId::from("s-1");
/// assert_eq!(id.as_str(), "s-1");
/// assert_eq!(serde_json::to_string(&id.clone())?, r#""s-1""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! string_id {
    ($($(#[$attr:meta])* pub struct $Name:ident;)+) => { $(
        $(#[$attr])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name($crate::wire::private::Arc<str>);

        impl $Name {
            /// Returns the identifier as on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<$crate::wire::private::Arc<str>>> From<T> for $Name {
            fn from(id: T) -> Self {
                Self(id.into())
            }
        }

        $crate::__json_schema! { $Name, generator => $crate::object!(@schema str, generator) }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl ::core::borrow::Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl $crate::wire::private::Wire for $Name {
            fn blank() -> Self {
                Self($crate::wire::private::Arc::default())
            }

            fn read(
                &mut self,
                reader: &mut $crate::wire::private::ValueReader<'_>,
            ) -> ::core::result::Result<(), $crate::wire::private::Fault> {
                *self = Self::from(&*reader.string()?);
                ::core::result::Result::Ok(())
            }

            fn view(&self) -> $crate::wire::private::View<'_> {
                $crate::wire::private::View::Str(self.as_str())
            }
        }

        $crate::object! { @serde $Name }
    )+ };
}
