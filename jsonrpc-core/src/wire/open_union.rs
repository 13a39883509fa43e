use super::extra::Extra;
use super::locate::Carried;
use super::mark::{Mark, next_marked};
use super::object::{Members, Name, Object};
use super::raw::Raw;
use alloc::boxed::Box;
use alloc::vec;
use core::marker::PhantomData;
use serde::de::{self, DeserializeOwned, IgnoredAny};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer};

/// A variant that this version of a union does not have, kept whole; only decoding makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownVariant {
    tag: Box<str>,
    members: Extra,
}

impl UnknownVariant {
    /// The value of the tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// The other members.
    pub fn members(&self) -> &Extra {
        &self.members
    }

    #[doc(hidden)]
    pub fn __read<'de, M: Members<'de>>(tag: &str, members: M) -> Result<Self, M::Error> {
        Ok(Self { tag: tag.into(), members: Extra::read_members(members)? })
    }

    #[doc(hidden)]
    pub fn __write<M: SerializeMap>(
        &self,
        name: &'static str,
        out: &mut M,
    ) -> Result<(), M::Error> {
        out.serialize_entry(name, &*self.tag)?;
        self.members.write_members(out)
    }
}

/// Defines an enum for a JSON object whose tag member selects its shape, and that keeps shapes it does not know.
///
/// The payload of each variant is an [`Object`]; its members lie beside the tag. The tag may stand anywhere; first is
/// cheapest. A known tag with a bad body is that body's error; an unknown tag gives
/// `Unknown` ([`UnknownVariant`]); no tag, or `null`, is an error, unless there is an `untagged` variant, which
/// then is meant (where the variant has a name on the wire, that may also be written; if it was, it is written again).
/// With an `untagged` variant the tag may have the mark `default_on_error`, see [`object!`](crate::object):
/// `pub enum Name by "tag" [default_on_error] { … }`.
///
/// Beside the variants it gives `Unknown`, `TAG`, `NAMES`, `tag`, `is_known` and serde.
///
/// ```
/// use jsonrpc_core::{object, open_union};
///
/// object! {
///     /// A local program.
///     pub struct Stdio {
///         /// What to run.
///         command: String = "command",
///     }
/// }
/// object! {
///     /// A server elsewhere.
///     pub struct Http {
///         /// Where it is.
///         url: String = "url",
///     }
/// }
/// open_union! {
///     /// How to reach a server.
///     pub enum Server by "type" {
///         /// A server elsewhere.
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
            $( $(#[$vattr:meta])* $Variant:ident($Payload:ty) = $wire:literal, )*
        }
        $(untagged { $(#[$uattr:meta])* $Untagged:ident($UPayload:ty) $(= $uwire:literal)? $(,)? })?
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vattr])* $Variant($Payload), )*
            $( $(#[$uattr])* $Untagged($UPayload), )?
            /// A variant that this version does not know, kept whole.
            Unknown($crate::wire::UnknownVariant),
        }

        const _: () = $crate::wire::private::assert_distinct($Name::NAMES);

        impl $Name {
            /// The member that selects the variant.
            pub const TAG: &'static str = $tag;

            /// The tags that this version knows, in the specification's order.
            pub const NAMES: &'static [&'static str] = &[$($wire,)* $($($uwire)?)?];

            /// The tag of this value; empty for a variant that has no name on the wire.
            pub fn tag(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $wire, )*
                    $( Self::$Untagged(_) => ::core::concat!($($uwire)?), )?
                    Self::Unknown(variant) => variant.tag(),
                }
            }

            /// Whether this version knows the variant.
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::Unknown(_))
            }
        }

        impl $crate::wire::Object for $Name {
            const NAME: &'static str = ::core::stringify!($Name);

            fn read_members<'de, M: $crate::wire::Members<'de>>(
                members: M,
            ) -> $crate::wire::private::Result<Self, M::Error> {
                let (tag, members) = $crate::open_union!(@read_tag $tag members $([$($mark)+])?)?;
                match tag.as_ref().map($crate::wire::private::Name::as_str) {
                    $( ::core::option::Option::Some($wire) =>
                        <$Payload as $crate::wire::Object>::read_members(members).map(Self::$Variant), )*
                    $( $( ::core::option::Option::Some($uwire) =>
                        <$UPayload as $crate::wire::Object>::read_members(members.with_tag($uwire))
                            .map(Self::$Untagged), )?
                    ::core::option::Option::None =>
                        <$UPayload as $crate::wire::Object>::read_members(members).map(Self::$Untagged), )?
                    ::core::option::Option::Some(other) =>
                        $crate::wire::UnknownVariant::__read(other, members).map(Self::Unknown),
                    #[allow(unreachable_patterns, reason = "reached where no variant is untagged")]
                    ::core::option::Option::None => $crate::wire::private::Result::Err(
                        $crate::wire::private::serde::de::Error::missing_field($tag),
                    ),
                }
            }

            fn write_members<M: $crate::wire::private::serde::ser::SerializeMap>(
                &self,
                out: &mut M,
            ) -> $crate::wire::private::Result<(), M::Error> {
                match self {
                    $( Self::$Variant(payload) => {
                        out.serialize_entry($tag, $wire)?;
                        <$Payload as $crate::wire::Object>::write_members(payload, out)
                    } )*
                    $( Self::$Untagged(payload) =>
                        <$UPayload as $crate::wire::Object>::write_members(payload, out), )?
                    Self::Unknown(variant) => variant.__write($tag, out),
                }
            }
        }

        $crate::__json_schema! { $Name, generator => {
            let mut union = $crate::wire::schema::UnionSchema::new($tag, Self::NAMES);
            $( union.variant($wire, $crate::object!(@schema $Payload, generator)); )*
            $( union.untagged(
                $crate::open_union!(@name $($uwire)?),
                $crate::object!(@schema $UPayload, generator),
            ); )?
            union.finish()
        } }

        $crate::object! { @serde $Name }
    };
    (@read_tag $tag:literal $members:ident) => {
        $crate::wire::private::read_tag($tag, ::core::concat!("$wire::tag ", $tag), $members)
    };
    (@read_tag $tag:literal $members:ident [$($mark:ident)+]) => {{
        $crate::object! { @define_mark [$($mark)+] "" }
        let ask = ::core::concat!("$wire::tag ", $tag);
        $crate::wire::private::read_marked_tag::<Mark, _>($tag, ask, $members)
    }};
    (@name) => { ::core::option::Option::None };
    (@name $name:literal) => { ::core::option::Option::Some($name) };
}

/// Reads the tag: ahead of the other members where these can look ahead when `ask`ed, else up to it, keeping what stands
/// before it.
pub fn read_tag<'de, M: Members<'de>>(
    tag: &'static str,
    ask: &'static str,
    members: M,
) -> Result<(Option<Name<'de>>, Tagged<'de, M>), M::Error> {
    read_to_tag(tag, ask, members, M::next_value)
}

/// As [`read_tag`], for a tag that has marks.
pub fn read_marked_tag<'de, K: Mark, M: Members<'de>>(
    tag: &'static str,
    ask: &'static str,
    members: M,
) -> Result<(Option<Name<'de>>, Tagged<'de, M>), M::Error> {
    read_to_tag(tag, ask, members, next_marked::<K, _, _>)
}

fn read_to_tag<'de, M: Members<'de>>(
    tag: &'static str,
    ask: &'static str,
    mut members: M,
    read: impl FnOnce(&mut M) -> Result<Option<Tag>, M::Error>,
) -> Result<(Option<Name<'de>>, Tagged<'de, M>), M::Error> {
    let mut before = Extra::new();
    let mut next = match members.next_name_and_tag(ask)? {
        Some((name, Some(value))) => {
            let is_first = name.as_str() == tag;
            if is_first {
                members.next_value::<IgnoredAny>()?;
            }
            let ahead = Ahead { name: (!is_first).then_some(name), is_to_come: !is_first };
            return Ok((Some(value), Tagged { ahead, ..Tagged::new(tag, before, Some(members)) }));
        }
        Some((name, None)) => Some(name),
        None => None,
    };
    while let Some(name) = next {
        if name.as_str() == tag {
            let value = read(&mut members)?.map(|Tag(value)| Name::Owned(value));
            return Ok((value, Tagged::new(tag, before, Some(members))));
        }
        before.read(name, &mut members)?;
        next = members.next_name()?;
    }
    Ok((None, Tagged::new(tag, before, None)))
}

struct Tag(Box<str>);

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Name::deserialize(deserializer).map(|name| Self(name.into_boxed()))
    }
}

/// The members of an object without its tag: those before it, which were kept, then the ones still to be read.
#[derive(Debug)]
pub struct Tagged<'de, M> {
    tag: &'static str,
    tag_value: Option<&'static str>,
    kept: Kept,
    ahead: Ahead<'de>,
    rest: Option<M>,
}

/// What there is to do after the tag was read ahead of the other members.
#[derive(Debug, Default)]
struct Ahead<'de> {
    /// The first member, whose name is read.
    name: Option<Name<'de>>,
    /// The tag stands further on.
    is_to_come: bool,
}

impl<M> Tagged<'_, M> {
    fn new(tag: &'static str, kept: Extra, rest: Option<M>) -> Self {
        Self { tag, tag_value: None, kept: Kept::new(kept), ahead: Ahead::default(), rest }
    }

    /// Gives the tag as a member, last: for a variant that has one only when the peer wrote it.
    pub fn with_tag(mut self, value: &'static str) -> Self {
        self.tag_value = Some(value);
        self
    }
}

impl<'de, M: Members<'de>> Members<'de> for Tagged<'de, M> {
    type Error = M::Error;

    fn next_name(&mut self) -> Result<Option<Name<'de>>, M::Error> {
        if let Some(name) = self.kept.next_name() {
            return Ok(Some(Name::Owned(name)));
        }
        if let Some(name) = self.ahead.name.take() {
            return Ok(Some(name));
        }
        while let Some(rest) = &mut self.rest {
            match rest.next_name()? {
                Some(name) if name.as_str() == self.tag => {
                    if !core::mem::take(&mut self.ahead.is_to_come) {
                        return Err(de::Error::duplicate_field(self.tag));
                    }
                    rest.next_value::<IgnoredAny>()?;
                }
                Some(name) => return Ok(Some(name)),
                None => break,
            }
        }
        let Some(value) = self.tag_value.take() else { return Ok(None) };
        self.kept.value =
            Some((self.tag.into(), Raw::from_value(value).map_err(de::Error::custom)?));
        Ok(Some(Name::Borrowed(self.tag)))
    }

    fn next_value<T: DeserializeOwned>(&mut self) -> Result<T, M::Error> {
        match (self.kept.next_value(), &mut self.rest) {
            (Some(value), _) => value,
            (None, Some(rest)) => rest.next_value(),
            (None, None) => Err(de::Error::custom(OUT_OF_TURN)),
        }
    }
}

/// Reads an object's members out of ones that were kept.
pub(super) fn read_kept<T: Object, E: de::Error>(kept: Extra) -> Result<T, E> {
    T::read_members(OnlyKept(Kept::new(kept), PhantomData))
}

struct OnlyKept<E>(Kept, PhantomData<E>);

impl<'de, E: de::Error> Members<'de> for OnlyKept<E> {
    type Error = E;

    fn next_name(&mut self) -> Result<Option<Name<'de>>, E> {
        Ok(self.0.next_name().map(Name::Owned))
    }

    fn next_value<T: DeserializeOwned>(&mut self) -> Result<T, E> {
        self.0.next_value().unwrap_or_else(|| Err(de::Error::custom(OUT_OF_TURN)))
    }
}

const OUT_OF_TURN: &str = "a member's value was asked for before its name";

#[derive(Debug)]
struct Kept {
    members: vec::IntoIter<(Box<str>, Raw)>,
    value: Option<(Box<str>, Raw)>,
}

impl Kept {
    fn new(members: Extra) -> Self {
        Self { members: members.into_members(), value: None }
    }

    fn next_name(&mut self) -> Option<Box<str>> {
        let (name, value) = self.members.next()?;
        self.value = Some((name.clone(), value));
        Some(name)
    }

    fn next_value<T: DeserializeOwned, E: de::Error>(&mut self) -> Option<Result<T, E>> {
        let (name, value) = self.value.take()?;
        let value = value.decode();
        Some(value.map_err(|error| de::Error::custom(Carried(error.below(&name)))))
    }
}
