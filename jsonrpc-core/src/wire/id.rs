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

        impl ::core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        $crate::open_enum! { @string $Name Self($crate::wire::private::Arc::default()) }
    )+ };
}
