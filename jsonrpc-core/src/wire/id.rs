/// Defines opaque string identifiers: one atomic increment to clone, two words.
///
/// ```
/// jsonrpc_core::string_id! {
///     /// Names a conversation.
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
            /// The identifier as it is on the wire.
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
                f.write_str(&self.0)
            }
        }

        impl ::core::fmt::Debug for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl $crate::wire::private::serde::Serialize for $Name {
            fn serialize<S: $crate::wire::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> $crate::wire::private::Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> $crate::wire::private::serde::Deserialize<'de> for $Name {
            fn deserialize<D: $crate::wire::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> $crate::wire::private::Result<Self, D::Error> {
                let name = $crate::wire::private::Name::deserialize(deserializer)?;
                $crate::wire::private::Result::Ok(Self::from(name.as_str()))
            }
        }
    )+ };
}
