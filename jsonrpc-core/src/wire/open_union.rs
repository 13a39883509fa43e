//! Unions of objects, selected by a tag.
use super::extra::Extra;
use super::raw::Raw;
use alloc::boxed::Box;

/// A variant that this version does not know, kept verbatim.
///
/// Decoding creates it, and so does `from_parts` of a union with an unknown tag.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownVariant {
    tag: Box<str>,
    members: Extra,
}

impl UnknownVariant {
    /// Returns the value of the tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Returns the other members.
    pub fn members(&self) -> &Extra {
        &self.members
    }

    #[doc(hidden)]
    pub fn __new(tag: &str) -> Self {
        Self { tag: tag.into(), members: Extra::new() }
    }

    #[doc(hidden)]
    pub fn __members_mut(&mut self) -> &mut Extra {
        &mut self.members
    }
}

/// Returns the text of a union with this tag and these other members.
pub fn union_text(name: &str, tag: &str, members: &Extra) -> Raw {
    let mut all = Extra::new();
    all.push(name.into(), Raw::of(&Box::<str>::from(tag)));
    members.iter().for_each(|(name, value)| all.push(name.into(), value.clone()));
    Raw::of(&all)
}

/// Defines an enum for a JSON object with a tag member that selects its shape, and keeps unknown
/// shapes.
///
/// The payload of each variant is an [`Object`](crate::wire::Object); its members are siblings of
/// the tag. The tag may be at any place; the first is fastest. A known tag with an invalid body is
/// an error of that body. An unknown tag becomes `Unknown` ([`UnknownVariant`]). A missing or
/// `null` tag is an error, unless there is an `untagged` variant, which is then selected (if the
/// variant has a name on the wire, the tag may be present, and is then encoded again). With an
/// `untagged` variant the tag may have the annotation `default_on_error`, see
/// [`object!`](crate::object): `pub enum Name by "tag" [default_on_error] { … }`.
///
/// Besides the variants it defines `Unknown`, `TAG`, `NAMES`, `tag`, `is_known`, `from_parts`,
/// serde's traits, and `From` of each payload, boxed or not. Payloads of type
/// [`Extra`](crate::wire::Extra) have no `From`; nor has a variant that shares its payload type
/// with another, which is marked so: `Audio(Media) = "audio" [shared]`.
///
/// ```
/// use jsonrpc_core::{object, open_union};
///
/// object! {
///     /// A local program.
///     pub struct Stdio {
///         /// The command to run.
///         command: String = "command",
///     }
/// }
/// object! {
///     /// A remote server.
///     pub struct Http {
///         /// Address of the server.
///         url: String = "url",
///     }
/// }
/// open_union! {
///     /// A server, by transport.
///     pub enum Server by "type" {
///         /// A remote server.
///         Http(Http) = "http",
///     }
///     untagged {
///         /// A local program.
///         Stdio(Stdio) = "stdio",
///     }
/// }
///
/// for text in [r#"{"command":"ls"}"#, r#"{"command":"ls","type":"stdio"}"#, r#"{"type":"http","url":"x"}"#] {
///     let server: Server = serde_json::from_str(text)?;
///     assert!(server.is_known());
///     assert_eq!(serde_json::to_string(&server)?, text);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! open_union {
    (
        $(#[$attr:meta])*
        pub enum $Name:ident by $tag:literal $([$($mark:ident),+])? {
            $( $(#[$vattr:meta])* $Variant:ident($($Payload:tt)+) = $wire:literal $([$shared:ident])?, )*
        }
        $(untagged { $(#[$uattr:meta])* $Untagged:ident($($UPayload:tt)+) $(= $uwire:literal)? $([$ushared:ident])? $(,)? })?
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vattr])* $Variant($($Payload)+), )*
            $( $(#[$uattr])* $Untagged($($UPayload)+), )?
            /// A variant that this version does not know, kept verbatim.
            Unknown($crate::wire::UnknownVariant),
        }

        $( $crate::open_union! { @from $Name $Variant [$($shared)?] $($Payload)+ } )*
        $( $crate::open_union! { @from $Name $Untagged [$($ushared)?] $($UPayload)+ } )?

        impl $Name {
            /// The member that selects the variant.
            pub const TAG: &'static str = $tag;

            /// The known tags, in the specification's order.
            pub const NAMES: &'static [&'static str] = &[$($wire,)* $($($uwire)?)?];

            /// Returns the tag of this value; empty for a variant without a name on the wire.
            pub fn tag(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $wire, )*
                    $( Self::$Untagged(_) => ::core::concat!($($uwire)?), )?
                    Self::Unknown(variant) => variant.tag(),
                }
            }

            /// Returns whether this version knows the variant.
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::Unknown(_))
            }

            /// Creates a value from its tag and its other members; an unknown variant for an
            /// unknown tag.
            ///
            /// # Errors
            /// The tag is known, but the members are invalid for its variant.
            pub fn from_parts(
                tag: &str,
                members: &$crate::wire::Extra,
            ) -> ::core::result::Result<Self, $crate::wire::DecodeError> {
                $crate::wire::private::union_text($tag, tag, members).decode()
            }
        }

        const _: () = {
            use $crate::wire::private as __wire;

            static TAGS: __wire::Tags = __wire::Tags {
                name: $tag,
                quoted: ::core::concat!(",\"", $tag, "\":"),
                is_plain: __wire::are_plain($Name::NAMES),
                names: $Name::NAMES,
                untagged: $crate::open_union!(@untagged [$($wire)*] $($Untagged)?),
                marks: __wire::Marks::NONE $( $(.with($crate::object!(@mark $mark $tag)))+ )?,
            };
            __wire::assert_distinct_names($Name::NAMES);

            $crate::object! {
                @object $Name
                Self::Unknown($crate::wire::UnknownVariant::__new(""))
            }

            impl __wire::Members for $Name {
                fn write_members(&self, out: &mut __wire::Entries<'_>) {
                    $( if ::core::matches!(self, Self::$Untagged(_)) {
                        return __wire::Choice::payload(self).write_members(out);
                    } )?
                    out.tagged(&TAGS, self.tag(), __wire::Choice::payload(self));
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
                    reader.tagged(&TAGS, self, open)
                }

                fn extra_mut(&mut self) -> ::core::option::Option<&mut $crate::wire::Extra> {
                    __wire::Choice::payload_mut(self).extra_mut()
                }
            }

            $crate::open_union! {
                @choice $Name [$($Variant)* $($Untagged)?]
                |tag| $crate::wire::UnknownVariant::__new(tag), |variant| variant.members(), variant.__members_mut()
            }
        };

        $crate::__json_schema! { $Name, generator => {
            let mut union = $crate::wire::schema::UnionSchema::new($tag, Self::NAMES);
            $( union.variant($wire, $crate::object!(@schema $($Payload)+, generator)); )*
            $( union.untagged(
                $crate::open_union!(@name $($uwire)?),
                $crate::object!(@schema $($UPayload)+, generator),
            ); )?
            union.finish()
        } }

        $crate::object! { @serde $Name }
    };
    (@choice $Name:ident [$($Variant:ident)*] |$tag:ident| $unknown:expr, |$other:ident| $members:expr, $members_mut:expr) => {
        impl __wire::Choice for $Name {
            fn choose(&mut self, index: usize, $tag: &str) {
                // Functions, since a closure would have a second one that calls it.
                $(
                    #[allow(non_snake_case, reason = "the name of the variant")]
                    fn $Variant() -> $Name {
                        $Name::$Variant(__wire::Wire::blank())
                    }
                )*
                let variants: &[fn() -> Self] = &[$($Variant),*];
                *self = match variants.get(index) {
                    ::core::option::Option::Some(blank) => blank(),
                    ::core::option::Option::None => Self::Unknown($unknown),
                };
            }

            fn payload(&self) -> &dyn __wire::FlatObject {
                match self {
                    $( Self::$Variant(payload) => payload, )*
                    Self::Unknown($other) => $members,
                }
            }

            fn payload_mut(&mut self) -> &mut dyn __wire::FlatObject {
                match self {
                    $( Self::$Variant(payload) => payload, )*
                    Self::Unknown($other) => $members_mut,
                }
            }
        }
    };
    (@from $Name:ident $Variant:ident [shared] $($Payload:tt)+) => {};
    (@from $Name:ident $Variant:ident [$other:ident] $($Payload:tt)+) => {
        ::core::compile_error!(::core::concat!(
            "the mark `", ::core::stringify!($other), "` of the variant `", ::core::stringify!($Variant),
            "` is not `shared`",
        ));
    };
    (@from $Name:ident $Variant:ident [] Extra) => {};
    (@from $Name:ident $Variant:ident [] Box<$Payload:ty>) => {
        impl ::core::convert::From<$Payload> for $Name {
            fn from(payload: $Payload) -> Self {
                Self::$Variant(payload.into())
            }
        }

        impl ::core::convert::From<$crate::wire::private::Box<$Payload>> for $Name {
            fn from(payload: $crate::wire::private::Box<$Payload>) -> Self {
                Self::$Variant(payload)
            }
        }
    };
    (@from $Name:ident $Variant:ident [] $Payload:ty) => {
        impl ::core::convert::From<$Payload> for $Name {
            fn from(payload: $Payload) -> Self {
                Self::$Variant(payload)
            }
        }
    };
    (@untagged [$($wire:literal)*]) => { ::core::option::Option::None };
    (@untagged [$($wire:literal)*] $Untagged:ident) => {
        ::core::option::Option::Some({
            let tagged: &[&str] = &[$($wire),*];
            tagged.len()
        })
    };
    (@name) => { ::core::option::Option::None };
    (@name $name:literal) => { ::core::option::Option::Some($name) };
    (@$($internal:tt)*) => {
        ::core::compile_error!(::core::concat!("cannot read `", ::core::stringify!($($internal)*), "`"));
    };
    (
        $(#[$attr:meta])* pub enum $Name:ident by $tag:literal $([$($mark:ident),+])? { $($variants:tt)* }
        $(untagged { $($untagged:tt)* })?
    ) => {
        $crate::__check_variants! { by $Name $($variants)* }
        $( $crate::__check_variants! { untagged $Name $($untagged)* } )?
    };
    ($(#[$attr:meta])* $vis:vis enum $Name:ident $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($Name), "` is not `pub enum Name by \"tag\" { … }`, with `untagged { … }` behind it \
             or nothing",
        ));
    };
}

/// Names the first variant that the macro of an enum cannot read.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_variants {
    ($form:ident $Name:ident) => {};
    (
        by $Name:ident $(#[$attr:meta])* $Variant:ident($($Payload:tt)+) = $wire:literal $([$shared:ident])?,
        $($others:tt)*
    ) => {
        $crate::__check_variants! { by $Name $($others)* }
    };
    (
        untagged $Name:ident $(#[$attr:meta])* $Variant:ident($($Payload:tt)+) $(= $wire:literal)? $([$shared:ident])?
        $(,)?
    ) => {};
    (
        has $Name:ident $(#[$attr:meta])* $Variant:ident($Payload:ty) has $member:literal $(or null)?,
        $($others:tt)*
    ) => {
        $crate::__check_variants! { has $Name $($others)* }
    };
    (name $Name:ident $(#[$attr:meta])* $Variant:ident = $wire:literal, $($others:tt)*) => {
        $crate::__check_variants! { name $Name $($others)* }
    };
    (@expected by) => { "Variant(Payload) = \"name\"," };
    (@expected untagged) => { "Variant(Payload)` or `Variant(Payload) = \"name\"" };
    (@expected has) => { "Variant(Payload) has \"member\"," };
    (@expected name) => { "Variant = \"name\"," };
    ($form:ident $Name:ident $(#[$attr:meta])* $Variant:ident $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "the variant `", ::core::stringify!($Variant), "` of `", ::core::stringify!($Name), "` is not `",
            $crate::__check_variants!(@expected $form), "`",
        ));
    };
    ($form:ident $Name:ident $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected a variant of `", ::core::stringify!($Name), "`, got `", ::core::stringify!($($others)*), "`",
        ));
    };
}
