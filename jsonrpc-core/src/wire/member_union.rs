/// Defines an enum for a JSON object that has no tag: which members are there selects its shape.
///
/// The payload of each variant is an [`Object`](crate::wire::Object). The first variant whose member is there and not
/// `null` is meant; a bad body is then that body's error. An object with none of the members gives `Unknown`
/// ([`Extra`](crate::wire::Extra)).
///
/// Beside the variants it gives `Unknown`, `is_known` and serde.
///
/// ```
/// use jsonrpc_core::{member_union, object};
///
/// object! {
///     /// Text.
///     pub struct Text {
///         /// The text.
///         text: String = "text",
///     }
/// }
/// object! {
///     /// Bytes.
///     pub struct Blob {
///         /// The bytes in base64.
///         blob: String = "blob",
///     }
/// }
/// member_union! {
///     /// What a resource holds.
///     pub enum Contents {
///         /// Text.
///         Text(Text) has "text",
///         /// Bytes.
///         Blob(Blob) has "blob",
///     }
/// }
///
/// let contents: Contents = serde_json::from_str(r#"{"uri":"a:b","blob":"AA=="}"#)?;
/// assert!(matches!(contents, Contents::Blob(_)));
/// let newer = r#"{"uri":"a:b","stream":7}"#;
/// let contents: Contents = serde_json::from_str(newer)?;
/// assert!(!contents.is_known());
/// assert_eq!(serde_json::to_string(&contents)?, newer);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! member_union {
    (
        $(#[$attr:meta])*
        pub enum $Name:ident {
            $( $(#[$vattr:meta])* $Variant:ident($Payload:ty) has $member:literal, )+
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vattr])* $Variant($Payload), )+
            /// A shape that this version does not know, kept whole.
            Unknown($crate::wire::Extra),
        }

        const _: () = $crate::wire::private::assert_distinct(&[$($member),+]);

        impl $Name {
            /// Whether this version knows the shape.
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::Unknown(_))
            }
        }

        impl $crate::wire::Object for $Name {
            const NAME: &'static str = ::core::stringify!($Name);

            fn read_members<'de, M: $crate::wire::Members<'de>>(
                members: M,
            ) -> $crate::wire::private::Result<Self, M::Error> {
                let members = <$crate::wire::Extra as $crate::wire::Object>::read_members(members)?;
                <Self as $crate::wire::Object>::from_extra(members)
            }

            fn write_members<M: $crate::wire::private::serde::ser::SerializeMap>(
                &self,
                out: &mut M,
            ) -> $crate::wire::private::Result<(), M::Error> {
                match self {
                    $( Self::$Variant(payload) =>
                        <$Payload as $crate::wire::Object>::write_members(payload, out), )+
                    Self::Unknown(members) =>
                        <$crate::wire::Extra as $crate::wire::Object>::write_members(members, out),
                }
            }

            fn from_extra<E: $crate::wire::private::serde::de::Error>(
                members: $crate::wire::Extra,
            ) -> $crate::wire::private::Result<Self, E> {
                $( if members.get($member).is_some_and(|value| value.as_str() != "null") {
                    return <$Payload as $crate::wire::Object>::from_extra(members).map(Self::$Variant);
                } )+
                $crate::wire::private::Result::Ok(Self::Unknown(members))
            }
        }

        $crate::__json_schema! { $Name, generator => {
            $crate::wire::schema::member_union(
                $crate::wire::private::Vec::from([$( ($member, $crate::object!(@schema $Payload, generator)) ),+]),
            )
        } }

        $crate::object! { @serde $Name }
    };
}
