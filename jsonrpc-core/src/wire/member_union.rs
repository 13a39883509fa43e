//! Unions of objects, selected by their members.
/// Defines an enum for a JSON object without a tag: the present members select its shape.
///
/// The payload of each variant is an [`Object`](crate::wire::Object). The first variant with a
/// member that is present and not `null` is selected (`has "member" or null` accepts `null` as
/// well). An invalid body is then an error of that variant. An object with none of the members
/// becomes `Unknown` ([`Extra`](crate::wire::Extra)).
///
/// Besides the variants it defines `Unknown`, `is_known` and serde's traits.
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
///         /// The bytes, in base64.
///         blob: String = "blob",
///     }
/// }
/// member_union! {
///     /// The contents of a resource.
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
            $( $(#[$vattr:meta])* $Variant:ident($Payload:ty) has $member:literal $(or $null:ident)?, )+
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vattr])* $Variant($Payload), )+
            /// A shape that this version does not know, kept verbatim.
            Unknown($crate::wire::Extra),
        }

        impl $Name {
            /// Returns whether this version knows the shape.
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::Unknown(_))
            }
        }

        const _: () = {
            use $crate::wire::private as __wire;

            static SELECTORS: &[__wire::Selector] = &[
                $( __wire::Selector { name: $member, takes_null: $crate::member_union!(@null $($null)?) }, )+
            ];
            __wire::assert_distinct_names(&[$($member),+]);

            $crate::object! {
                @object $Name
                Self::Unknown($crate::wire::Extra::new())
            }

            impl __wire::Members for $Name {
                fn write_members(&self, out: &mut __wire::Entries<'_>) {
                    __wire::Choice::payload(self).write_members(out);
                }

                fn extra(&self) -> ::core::option::Option<&$crate::wire::Extra> {
                    __wire::Choice::payload(self).extra()
                }
            }

            impl __wire::FlatObject for $Name {
                fn read_flat(
                    &mut self,
                    reader: &mut __wire::ValueReader<'_>,
                    open: &__wire::OpenObject<'_>,
                ) -> ::core::result::Result<(), __wire::Fault> {
                    reader.selected(SELECTORS, self, open)
                }

                fn extra_mut(&mut self) -> ::core::option::Option<&mut $crate::wire::Extra> {
                    __wire::Choice::payload_mut(self).extra_mut()
                }
            }

            $crate::open_union! {
                @choice $Name [$($Variant)+]
                |_tag| $crate::wire::Extra::new(), |members| members, members
            }
        };

        $crate::__json_schema! { $Name, generator => {
            $crate::wire::schema::member_union(
                $crate::wire::private::Vec::from([$( (
                    $member,
                    $crate::member_union!(@null $($null)?),
                    $crate::object!(@schema $Payload, generator),
                ) ),+]),
            )
        } }

        $crate::object! { @serde $Name }
    };
    (@null) => { false };
    (@null null) => { true };
    ($(#[$attr:meta])* pub enum $Name:ident { $($variants:tt)* }) => {
        $crate::__check_variants! { has $Name $($variants)* }
    };
}
