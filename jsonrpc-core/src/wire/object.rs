use super::extra::Extra;
use super::open_union::read_kept;
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use serde::de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type that is a JSON object on the wire, and can share that object with a tag or with an outer type's members.
///
/// [`object!`](crate::object) and [`open_union!`](crate::open_union) implement it; write it by hand only for shapes
/// that neither can express.
pub trait Object: Sized {
    /// The type's name in the specification, for errors.
    const NAME: &'static str;

    /// Reads the members that are left in `members`, to the end of the object.
    ///
    /// # Errors
    /// A member has a wrong type, is missing, or comes twice.
    fn read_members<'de, M: Members<'de>>(members: M) -> Result<Self, M::Error>;

    /// Writes the members into an object that is open.
    ///
    /// # Errors
    /// Those of the serialiser.
    fn write_members<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error>;

    /// Reads the members out of ones that were kept.
    ///
    /// # Errors
    /// As [`read_members`](Self::read_members).
    fn from_extra<E: de::Error>(extra: Extra) -> Result<Self, E> {
        read_kept(extra)
    }
}

impl<T: Object> Object for Box<T> {
    const NAME: &'static str = T::NAME;

    fn read_members<'de, M: Members<'de>>(members: M) -> Result<Self, M::Error> {
        T::read_members(members).map(Box::new)
    }

    fn write_members<M: SerializeMap>(&self, out: &mut M) -> Result<(), M::Error> {
        (**self).write_members(out)
    }
}

/// The members of an object that is being read, one after the other: a name, then its value.
///
/// Every [`MapAccess`] is one. It is not one itself so that members which were read before it was known what they belong
/// to (those that stand before a tag) can be given again.
pub trait Members<'de> {
    /// What goes wrong.
    type Error: de::Error;

    /// The next member's name; nothing at the end of the object.
    ///
    /// # Errors
    /// Those of the deserialiser.
    fn next_name(&mut self) -> Result<Option<Name<'de>>, Self::Error>;

    /// The next member's name, and a tag where that is asked for and can be told before its turn. `ask` is [`ASK`] and the
    /// tag's name. A tag that is told comes again in its turn.
    ///
    /// # Errors
    /// Those of the deserialiser.
    #[doc(hidden)]
    fn next_name_and_tag(
        &mut self,
        _ask: &'static str,
    ) -> Result<Option<NameAndTag<'de>>, Self::Error> {
        Ok(self.next_name()?.map(|name| (name, None)))
    }

    /// The value of the member whose name was read last.
    ///
    /// # Errors
    /// The value is not a `T`.
    fn next_value<T: DeserializeOwned>(&mut self) -> Result<T, Self::Error>;
}

impl<'de, A: MapAccess<'de>> Members<'de> for A {
    type Error = A::Error;

    fn next_name(&mut self) -> Result<Option<Name<'de>>, A::Error> {
        self.next_key()
    }

    #[inline]
    fn next_name_and_tag(
        &mut self,
        ask: &'static str,
    ) -> Result<Option<NameAndTag<'de>>, A::Error> {
        self.next_key_seed(Asked(ask))
    }

    fn next_value<T: DeserializeOwned>(&mut self) -> Result<T, A::Error> {
        MapAccess::next_value(self)
    }
}

/// What the question for a tag begins with: the name of a newtype that no type can have, which a deserialiser of names
/// that can look ahead answers with two strings, and all others with the name alone.
pub(super) const ASK: &str = "$wire::tag ";

/// The name of a member, and the tag if it was told.
#[doc(hidden)]
pub type NameAndTag<'de> = (Name<'de>, Option<Name<'de>>);

/// Reads a name, and asks for a tag.
struct Asked(&'static str);

impl<'de> DeserializeSeed<'de> for Asked {
    type Value = NameAndTag<'de>;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<NameAndTag<'de>, D::Error> {
        struct AskedVisitor;

        impl<'de> Visitor<'de> for AskedVisitor {
            type Value = NameAndTag<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<NameAndTag<'de>, E> {
                Ok((Name::Borrowed(name), None))
            }

            fn visit_str<E>(self, name: &str) -> Result<NameAndTag<'de>, E> {
                Ok((Name::Owned(name.into()), None))
            }

            fn visit_newtype_struct<D: Deserializer<'de>>(
                self,
                name: D,
            ) -> Result<NameAndTag<'de>, D::Error> {
                Name::deserialize(name).map(|name| (name, None))
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut told: A,
            ) -> Result<NameAndTag<'de>, A::Error> {
                let name = told.next_element()?.ok_or_else(|| de::Error::custom("no name"))?;
                Ok((name, told.next_element()?))
            }
        }

        deserializer.deserialize_newtype_struct(self.0, AskedVisitor)
    }
}

/// Defines a struct for a JSON object of a specification.
///
/// Blocks, in this order, all but the first optional: the required members; `optional` ones (`Option`, `null` reads as
/// absent); `patch` ones ([`Presence`](crate::wire::Presence)); `rest`, one field for a union that lies flat in the
/// same object; `and "_meta"`. Members that the type does not know are kept in its `extra` (or, where there is a
/// `rest`, in the extra of that). The struct is `#[non_exhaustive]`; `new` takes the required members and the rest.
///
/// A member that comes twice, is of a wrong type, or is required and missing is an error. Where the specification says
/// what to do instead, the member has marks behind its name, which count in some [modes](crate::wire::Mode) of
/// [`decode_with`](crate::wire::decode_with) and cost nothing while there is no error:
///
/// | mark | an error in the member | is taken as |
/// |---|---|---|
/// | `default_on_error` | any | absent |
/// | `default_on_null` | it is `null`, and may not be | absent |
/// | `skip_invalid_items` | one in an item of a list | a list without the item |
///
/// A required member cannot be absent, so that it has the JSON text of another default behind its marks:
/// `args: Vec<String> = "args" [default_on_null] or "[]"`.
///
/// ```
/// use jsonrpc_core::wire::Raw;
///
/// jsonrpc_core::object! {
///     /// A place in a file.
///     pub struct Location {
///         /// Where the file is.
///         path: String = "path",
///     }
///     optional {
///         /// The line, counted from one.
///         line: u32 = "line",
///     }
///     and "_meta"
/// }
///
/// let mut place = Location::new("/tmp/a.rs");
/// place.line = Some(3);
/// place.extra.insert("column", Raw::from_value(&7)?);
/// assert_eq!(serde_json::to_string(&place)?, r#"{"path":"/tmp/a.rs","line":3,"column":7}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! object {
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        $(patch { $($patch:tt)* })?
        rest { $(#[$restattr:meta])* $rest:ident : $Rest:ty $(,)? }
        $(and $meta:literal)?
    ) => {
        $crate::object! { @define
            [$(#[$attr])*] $Name { $($required)* } { $($($optional)*)? } { $($($patch)*)? }
            [$(#[$restattr])*] $rest: $Rest, ($rest: impl ::core::convert::Into<$Rest>), ($rest.into()),
            $(meta: $meta)?
        }
    };
    (
        $(#[$attr:meta])*
        pub struct $Name:ident { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        $(patch { $($patch:tt)* })?
        $(and $meta:literal)?
    ) => {
        $crate::object! { @define
            [$(#[$attr])*] $Name { $($required)* } { $($($optional)*)? } { $($($patch)*)? }
            [
                /// Members that this version does not know.
            ] extra: $crate::wire::Extra, (), ($crate::wire::Extra::new()),
            $(meta: $meta)?
        }
        $crate::object! { @default $Name { $($required)* } }
    };
    (@default $Name:ident {}) => {
        impl ::core::default::Default for $Name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@default $Name:ident { $($required:tt)+ }) => {};
    (@define
        [$($attr:tt)*] $Name:ident
        { $( $(#[$rattr:meta])* $req:ident : $Req:ty = $rwire:literal
            $([$($rmark:ident),+] or $rdefault:literal)? ),* $(,)? }
        { $( $(#[$oattr:meta])* $opt:ident : $Opt:ty = $owire:literal $([$($omark:ident),+])? ),* $(,)? }
        { $( $(#[$pattr:meta])* $pat:ident : $Pat:ty = $pwire:literal $([$($pmark:ident),+])? ),* $(,)? }
        [$($restattr:tt)*] $rest:ident : $Rest:ty, ($($param:tt)*), ($init:expr),
        $(meta: $meta:literal)?
    ) => {
        $($attr)*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$rattr])* pub $req: $Req, )*
            $( $(#[$oattr])* pub $opt: ::core::option::Option<$Opt>, )*
            $( $(#[$pattr])* pub $pat: $crate::wire::Presence<$Pat>, )*
            $(
                #[doc = ::core::concat!("`", $meta, "`: what peers agreed on outside the protocol.")]
                pub meta: ::core::option::Option<$crate::wire::Meta>,
            )?
            $($restattr)*
            pub $rest: $Rest,
        }

        impl $Name {
            /// What the specification requires, and nothing else.
            #[allow(clippy::too_many_arguments, reason = "as many as the specification requires")]
            pub fn new($($req: impl ::core::convert::Into<$Req>,)* $($param)*) -> Self {
                Self {
                    $( $req: $req.into(), )*
                    $( $opt: ::core::option::Option::None, )*
                    $( $pat: $crate::wire::Presence::Absent, )*
                    $( meta: $crate::object!(@none $meta), )?
                    $rest: $init,
                }
            }
        }

        const _: () = $crate::wire::private::assert_distinct(
            &[$($rwire,)* $($owire,)* $($pwire,)* $($meta,)?],
        );

        impl $crate::wire::Object for $Name {
            const NAME: &'static str = ::core::stringify!($Name);

            fn read_members<'de, M: $crate::wire::Members<'de>>(
                mut members: M,
            ) -> $crate::wire::private::Result<Self, M::Error> {
                $( let mut $req: ::core::option::Option<$Req> = ::core::option::Option::None; )*
                $( let mut $opt: ::core::option::Option<::core::option::Option<$Opt>> = ::core::option::Option::None; )*
                $( let mut $pat: ::core::option::Option<$crate::wire::Presence<$Pat>> = ::core::option::Option::None; )*
                $( let mut meta: ::core::option::Option<::core::option::Option<$crate::wire::Meta>> =
                    $crate::object!(@none $meta); )?
                let mut unknown = $crate::wire::Extra::new();
                while let ::core::option::Option::Some(name) = members.next_name()? {
                    match name.as_str() {
                        $( $rwire => $crate::object! { @read $req $rwire members $([$($rmark)+] $rdefault)? }, )*
                        $( $owire => $crate::object! { @read $opt $owire members $([$($omark)+] "")? }, )*
                        $( $pwire => $crate::object! { @read $pat $pwire members $([$($pmark)+] "")? }, )*
                        $( $meta => $crate::wire::private::read_once(&mut meta, $meta, &mut members)?, )?
                        _ => unknown.read(name, &mut members)?,
                    }
                }
                $crate::wire::private::Result::Ok(Self {
                    $( $req: $crate::wire::private::required($req, $rwire)?, )*
                    $( $opt: $crate::wire::private::optional($opt), )*
                    $( $pat: $pat.unwrap_or_default(), )*
                    $( meta: $crate::object!(@flatten $meta meta), )?
                    $rest: <$Rest as $crate::wire::Object>::from_extra(unknown)?,
                })
            }

            fn write_members<M: $crate::wire::private::serde::ser::SerializeMap>(
                &self,
                out: &mut M,
            ) -> $crate::wire::private::Result<(), M::Error> {
                $( out.serialize_entry($rwire, &self.$req)?; )*
                $( if let ::core::option::Option::Some(value) = &self.$opt {
                    out.serialize_entry($owire, value)?;
                } )*
                $( if !self.$pat.is_absent() {
                    out.serialize_entry($pwire, &self.$pat)?;
                } )*
                $( if let ::core::option::Option::Some(value) = &self.meta {
                    out.serialize_entry($meta, value)?;
                } )?
                <$Rest as $crate::wire::Object>::write_members(&self.$rest, out)
            }
        }

        $crate::__json_schema! { $Name, generator => {
            let mut object = $crate::wire::schema::ObjectSchema::default();
            $( object.required(
                $rwire, $crate::object!(@schema $Req, generator), &[$($(::core::stringify!($rmark)),+)?],
            ); )*
            $( object.optional(
                $owire,
                $crate::object!(@schema ::core::option::Option<$Opt>, generator),
                &[$($(::core::stringify!($omark)),+)?],
            ); )*
            $( object.optional(
                $pwire,
                $crate::object!(@schema $crate::wire::Presence<$Pat>, generator),
                &[$($(::core::stringify!($pmark)),+)?],
            ); )*
            $( object.optional(
                $meta, $crate::object!(@schema ::core::option::Option<$crate::wire::Meta>, generator), &[],
            ); )?
            object.with_rest($crate::object!(@schema $Rest, generator))
        } }

        $crate::object! { @serde $Name }
    };
    (@schema $Type:ty, $generator:ident) => {
        (&$crate::wire::schema::Probe::<$Type>::NEW).schema($generator)
    };
    (@read $slot:ident $wire:literal $members:ident) => {
        $crate::wire::private::read_once(&mut $slot, $wire, &mut $members)?
    };
    (@read $slot:ident $wire:literal $members:ident [$($mark:ident)+] $default:literal) => {{
        $crate::object! { @define_mark [$($mark)+] $default }
        $crate::wire::private::read_marked::<Mark, _, _>(&mut $slot, $wire, &mut $members)?
    }};
    (@define_mark [$($mark:ident)+] $default:literal) => {
        struct Mark;
        impl $crate::wire::private::Mark for Mark {
            const NAME: &'static str = ::core::concat!(
                "$wire::marked", $( $crate::object! { @mark $mark }, )+ " = ", $default
            );
        }
    };
    (@mark default_on_error) => { " default_on_error" };
    (@mark default_on_null) => { " default_on_null" };
    (@mark skip_invalid_items) => { " skip_invalid_items" };
    (@none $meta:literal) => { ::core::option::Option::None };
    (@flatten $meta:literal $slot:ident) => { $crate::wire::private::optional($slot) };
    (@serde $Name:ident) => {
        impl $crate::wire::private::serde::Serialize for $Name {
            fn serialize<S: $crate::wire::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> $crate::wire::private::Result<S::Ok, S::Error> {
                $crate::wire::private::serialize(self, serializer)
            }
        }

        impl<'de> $crate::wire::private::serde::Deserialize<'de> for $Name {
            fn deserialize<D: $crate::wire::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> $crate::wire::private::Result<Self, D::Error> {
                $crate::wire::private::deserialize(deserializer)
            }
        }
    };
}

/// Reads an object from a deserialiser.
pub fn deserialize<'de, T: Object, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(PhantomData<T>);

    impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "an object ({})", T::NAME)
        }

        fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
            T::read_members(members)
        }
    }

    deserializer.deserialize_map(ObjectVisitor(PhantomData))
}

/// Writes an object to a serialiser.
pub fn serialize<T: Object, S: Serializer>(object: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut out = serializer.serialize_map(None)?;
    object.write_members(&mut out)?;
    out.end()
}

/// Reads a value that may come once.
pub fn read_once<'de, M: Members<'de>, T: DeserializeOwned>(
    slot: &mut Option<T>,
    name: &'static str,
    members: &mut M,
) -> Result<(), M::Error> {
    if slot.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *slot = Some(members.next_value()?);
    Ok(())
}

/// The value of a member that must have come.
pub fn required<T, E: de::Error>(slot: Option<T>, name: &'static str) -> Result<T, E> {
    slot.ok_or_else(|| E::missing_field(name))
}

/// The value of a member that may have come, and may have been `null`.
pub fn optional<T>(slot: Option<Option<T>>) -> Option<T> {
    slot.flatten()
}

/// Stops the compiler at a type that has a name twice.
pub const fn assert_distinct(names: &[&str]) {
    let mut rest = names;
    while let [name, others @ ..] = rest {
        let mut others_left = others;
        while let [other, left @ ..] = others_left {
            assert!(!is_same(name.as_bytes(), other.as_bytes()), "a name on the wire comes twice");
            others_left = left;
        }
        rest = others;
    }
}

const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, one_left @ ..], [b, other_left @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (one_left, other_left);
    }
    one.is_empty() && other.is_empty()
}

/// A string on its way into a type: borrowed from the text unless an escape had to be undone.
#[derive(Debug)]
pub enum Name<'de> {
    /// As it stands in the text.
    Borrowed(&'de str),
    /// With its escapes undone.
    Owned(Box<str>),
}

impl Name<'_> {
    /// The string.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Borrowed(name) => name,
            Self::Owned(name) => name,
        }
    }

    pub(super) fn into_boxed(self) -> Box<str> {
        match self {
            Self::Borrowed(name) => name.into(),
            Self::Owned(name) => name,
        }
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name::Borrowed(name))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name::Owned(name.into()))
            }
        }

        deserializer.deserialize_str(NameVisitor)
    }
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
