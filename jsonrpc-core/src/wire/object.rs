//! The macro of objects, and the tables of objects and unions.
use super::value::Flat;
use core::cell::Cell;

/// Defines a struct for a JSON object of a specification.
///
/// Blocks, in this order, all but the first optional: the required members; `optional` ones (`Option`); `patch` ones
/// ([`Presence`](crate::wire::Presence)); `rest`, one field for a union that is flattened into the object; and `and
/// "_meta"`. Unknown members are kept in `extra` (with a `rest`, in that field's extra). The struct is
/// `#[non_exhaustive]`. `new` takes the required members and the rest, and each optional or `patch` member has a setter
/// `with_*`. For `pub struct Name by name`, with several required members of one type, `NameMembers` replaces `new`: a
/// struct of the required members, for `Name::from(NameMembers { … })`.
///
/// An optional member that is `null` is `None`, and is encoded as `null` again while it is `None`.
///
/// A member that is repeated, invalid, or required and missing is an error. If the specification defines a replacement,
/// the member has annotations after its name. These apply in some [modes](crate::wire::Mode) of
/// [`decode_with`](crate::wire::decode_with), and cost nothing for valid input:
///
/// | annotation | an error in the member | replacement |
/// |---|---|---|
/// | `default_on_error` | any | absent |
/// | `default_on_null` | it is `null`, which is invalid | absent |
/// | `skip_invalid_items` | one in an item of a list | a list without the item |
///
/// A required member cannot be absent, so it has the JSON text of its default after the annotations: `args: Vec<String>
/// = "args" [default_on_null] or "[]"`.
///
/// ```
/// use jsonrpc_core::wire::Raw;
///
/// jsonrpc_core::object! {
///     /// A place in a file.
///     pub struct Location {
///         /// Path of the file.
///         path: String = "path",
///     }
///     optional {
///         /// The line, counted from 1.
///         line: u32 = "line",
///     }
///     and "_meta"
/// }
///
/// let mut place = Location::new("/tmp/a.rs").with_line(3_u32);
/// place.extra.insert("column", Raw::from_value(&7)?);
/// assert_eq!(serde_json::to_string(&place)?, r#"{"path":"/tmp/a.rs","line":3,"column":7}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! object {
    (
        $(#[$attr:meta])*
        pub struct $Name:ident $(by $how:ident)? { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        $(patch { $($patch:tt)* })?
        rest { $(#[$restattr:meta])* $rest:ident : $Rest:ty $(,)? }
        $(and $meta:literal)?
    ) => {
        $crate::object! { @define
            [$(#[$attr])*] $Name [$($how)?] { $($required)* } { $($($optional)*)? } { $($($patch)*)? }
            [$(#[$restattr])*] $rest: $Rest, ($rest: impl ::core::convert::Into<$Rest>), ($rest.into()),
            $(meta: $meta)?
        }
    };
    (
        $(#[$attr:meta])*
        pub struct $Name:ident $(by $how:ident)? { $($required:tt)* }
        $(optional { $($optional:tt)* })?
        $(patch { $($patch:tt)* })?
        $(and $meta:literal)?
    ) => {
        $crate::object! { @define
            [$(#[$attr])*] $Name [$($how)?] { $($required)* } { $($($optional)*)? } { $($($patch)*)? }
            [
                /// Unknown members, kept verbatim and in order.
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
        [$($attr:tt)*] $Name:ident [$($how:ident)?]
        { $( $(#[$rattr:meta])* $req:ident : $Req:ty = $rwire:literal
            $([$($rmark:ident),+] or $rdefault:literal)? ),* $(,)? }
        { $( $(#[$oattr:meta])* $opt:ident : $Opt:ty = $owire:literal $([$($omark:ident),+])? ),* $(,)? }
        { $( $(#[$pattr:meta])* $pat:ident : $Pat:ty = $pwire:literal $([$($pmark:ident),+])? ),* $(,)? }
        [$($restattr:tt)*] $rest:ident : $Rest:ty, ($($param:tt)*), ($init:expr),
        $(meta: $meta:literal)?
    ) => {
        $crate::__check_fields! { [$($meta)?] $rest $Name $($req)* $($opt)* $($pat)* }

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

        $crate::object! {
            @new [$($how)?] $Name { $( [$(#[$rattr])*] $req: $Req, )* } ($($param)*) {
                $( $opt: ::core::option::Option::None, )*
                $( $pat: $crate::wire::Presence::Absent, )*
                $( meta: $crate::object!(@none $meta), )?
                $rest: $init,
            }
        }

        $crate::wire::private::pastey::paste! {
            impl $Name {
                $(
                    #[doc = ::core::concat!("Sets `", $owire, "`.")]
                    #[must_use]
                    pub fn [<with_ $opt>](mut self, $opt: impl ::core::convert::Into<$Opt>) -> Self {
                        self.$opt = ::core::option::Option::Some($opt.into());
                        self
                    }
                )*
                $(
                    #[doc = ::core::concat!("Sets `", $pwire, "`.")]
                    #[must_use]
                    pub fn [<with_ $pat>](
                        mut self,
                        $pat: impl ::core::convert::Into<$crate::wire::Presence<$Pat>>,
                    ) -> Self {
                        self.$pat = $pat.into();
                        self
                    }
                )*
                $(
                    #[doc = ::core::concat!("Sets `", $meta, "`.")]
                    #[must_use]
                    pub fn with_meta(mut self, meta: impl ::core::convert::Into<$crate::wire::Meta>) -> Self {
                        self.meta = ::core::option::Option::Some(meta.into());
                        self
                    }
                )?
            }
        }

        const _: () = {
            use $crate::wire::private as __wire;

            static TABLE: __wire::Table = __wire::Table::new(
                &[
                    $( __wire::Member::required($rwire, ::core::concat!(",\"", $rwire, "\":"))
                        $( $(.with_mark($crate::object!(@mark $rmark $rwire)))+ .or($rdefault) )?, )*
                    $( __wire::Member::optional($owire, ::core::concat!(",\"", $owire, "\":"))
                        $( $(.with_mark($crate::object!(@mark $omark $owire)))+ )?, )*
                    $( __wire::Member::patch($pwire, ::core::concat!(",\"", $pwire, "\":"))
                        $( $(.with_mark($crate::object!(@mark $pmark $pwire)))+ )?, )*
                    $( __wire::Member::optional($meta, ::core::concat!(",\"", $meta, "\":")), )?
                ],
                !<$Rest as __wire::Object>::TAKES_ALL,
            );

            $crate::object! {
                @object $Name
                Self {
                    $( $req: <$Req as __wire::Wire>::blank(), )*
                    $( $opt: ::core::option::Option::None, )*
                    $( $pat: $crate::wire::Presence::Absent, )*
                    $( meta: $crate::object!(@none $meta), )?
                    $rest: <$Rest as __wire::Wire>::blank(),
                }
            }

            impl __wire::Members for $Name {
                fn write_members(&self, out: &mut __wire::Entries<'_>) {
                    out.fields(&TABLE, &[
                        $( ::core::option::Option::Some(&self.$req), )*
                        $( __wire::optional(&self.$opt), )*
                        $( __wire::present(&self.$pat), )*
                        $( __wire::optional($crate::object!(@meta $meta self)), )?
                    ]);
                    __wire::Members::write_members(&self.$rest, out);
                }

                fn extra(&self) -> ::core::option::Option<&$crate::wire::Extra> {
                    __wire::Members::extra(&self.$rest)
                }
            }

            impl __wire::Flat for $Name {
                fn read_flat(
                    &mut self,
                    reader: &mut __wire::ValueReader<'_>,
                    open: &__wire::Open<'_>,
                ) -> ::core::result::Result<(), __wire::Fault> {
                    let _defaults = reader.fields(
                        &TABLE,
                        &mut [
                            $( &mut self.$req, )*
                            $( &mut self.$opt, )*
                            $( &mut self.$pat, )*
                            $( $crate::object!(@meta_mut $meta self), )?
                        ],
                        &mut self.$rest,
                        open,
                    )?;
                    $( $crate::object! { @take_default self $req $rwire _defaults $($rdefault)? } )*
                    ::core::result::Result::Ok(())
                }

                fn extra_mut(&mut self) -> ::core::option::Option<&mut $crate::wire::Extra> {
                    __wire::Flat::extra_mut(&mut self.$rest)
                }
            }
        };

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
    (
        @new [] $Name:ident { $( [$($attr:tt)*] $req:ident : $Req:ty, )* } ($($param:tt)*) { $($others:tt)* }
    ) => {
        impl $Name {
            /// Creates a value with its required members only.
            #[allow(clippy::too_many_arguments, reason = "as many as the specification requires")]
            pub fn new($($req: impl ::core::convert::Into<$Req>,)* $($param)*) -> Self {
                Self { $( $req: $req.into(), )* $($others)* }
            }
        }
    };
    (
        @new [name] $Name:ident { $( [$($attr:tt)*] $req:ident : $Req:ty, )* } () { $($others:tt)* }
    ) => {
        $crate::wire::private::pastey::paste! {
            #[doc = ::core::concat!("The required members of [`", ::core::stringify!($Name), "`].")]
            #[derive(Clone, Debug, PartialEq)]
            #[allow(clippy::exhaustive_structs, reason = "another required member changes what a caller has to give")]
            pub struct [<$Name Members>] {
                $( $($attr)* pub $req: $Req, )*
            }

            /// Creates a value with its required members only.
            impl ::core::convert::From<[<$Name Members>]> for $Name {
                fn from(members: [<$Name Members>]) -> Self {
                    Self { $( $req: members.$req, )* $($others)* }
                }
            }
        }
    };
    (@new [$how:ident] $Name:ident $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "`by ", ::core::stringify!($how), "` of `", ::core::stringify!($Name),
            "` is unknown, or beside `rest`: expected `by name`, or nothing",
        ));
    };
    (@take_default $self:ident $req:ident $wire:literal $defaults:ident) => {};
    (@take_default $self:ident $req:ident $wire:literal $defaults:ident $default:literal) => {
        if let ::core::option::Option::Some(default) = $defaults.get($wire) {
            $self.$req = default;
        }
    };
    (@schema $Type:ty, $generator:ident) => {
        (&$crate::wire::schema::Probe::<$Type>::NEW).schema($generator)
    };
    (@mark default_on_error $wire:literal) => { __wire::Mark::DefaultOnError };
    (@mark default_on_null $wire:literal) => { __wire::Mark::DefaultOnNull };
    (@mark skip_invalid_items $wire:literal) => { __wire::Mark::SkipInvalidItems };
    (@mark $mark:ident $wire:literal) => {
        ::core::compile_error!(::core::concat!(
            "the mark `", ::core::stringify!($mark), "` of `", $wire,
            "` is unknown: expected `default_on_error`, `default_on_null` or `skip_invalid_items`",
        ))
    };
    (@object $Name:ident $blank:expr) => {
        impl $crate::wire::private::Wire for $Name {
            fn blank() -> Self {
                $blank
            }

            fn read(
                &mut self,
                reader: &mut $crate::wire::private::ValueReader<'_>,
            ) -> ::core::result::Result<(), $crate::wire::private::Fault> {
                reader.object(self, <Self as $crate::wire::private::Object>::NAME)
            }

            fn view(&self) -> $crate::wire::private::View<'_> {
                $crate::wire::private::View::Object(self)
            }
        }

        impl $crate::wire::private::Object for $Name {
            const NAME: &'static str = ::core::stringify!($Name);
        }
    };
    (@none $meta:literal) => { ::core::option::Option::None };
    (@meta $meta:literal $self:ident) => { &$self.meta };
    (@meta_mut $meta:literal $self:ident) => { &mut $self.meta };
    (@serde $Name:ident) => {
        impl $crate::wire::private::serde::Serialize for $Name {
            fn serialize<S: $crate::wire::private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $crate::wire::private::serialize(self, serializer)
            }
        }

        impl<'de> $crate::wire::private::serde::Deserialize<'de> for $Name {
            fn deserialize<D: $crate::wire::private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $crate::wire::private::deserialize(deserializer)
            }
        }
    };
    (@define [$($attr:tt)*] $Name:ident [$($how:tt)*] {$($required:tt)*} {$($optional:tt)*} {$($patch:tt)*} $($rest:tt)*) => {
        $crate::__check_members! { required $Name $($required)* }
        $crate::__check_members! { optional $Name $($optional)* }
        $crate::__check_members! { patch $Name $($patch)* }
    };
    (@$($internal:tt)*) => {
        ::core::compile_error!(::core::concat!("cannot read `", ::core::stringify!($($internal)*), "`"));
    };
    ($(#[$attr:meta])* pub struct $Name:ident $(by $how:ident)? { $($required:tt)* } $($blocks:tt)*) => {
        $crate::__check_blocks! { [optional patch rest and] $Name $($blocks)* }
    };
    ($(#[$attr:meta])* $vis:vis struct $Name:ident $($other:tt)*) => {
        ::core::compile_error!(::core::concat!("`", ::core::stringify!($Name), "` is not `pub struct Name { … }`"));
    };
}

/// Names the first member that `object!` cannot read.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_members {
    ($block:ident $Name:ident) => {};
    (
        required $Name:ident $(#[$attr:meta])* $field:ident : $Type:ty = $wire:literal
        $([$($mark:ident),+] or $default:literal)? $(, $($others:tt)*)?
    ) => {
        $crate::__check_members! { required $Name $($($others)*)? }
    };
    (
        required $Name:ident $(#[$attr:meta])* $field:ident : $Type:ty = $wire:literal
        [$($mark:ident),+] $(, $($others:tt)*)?
    ) => {
        ::core::compile_error!(::core::concat!(
            "the required member `", ::core::stringify!($field), "` of `", ::core::stringify!($Name),
            "` has a mark and no default: expected `or \"JSON\"` behind the marks",
        ));
    };
    (
        optional $Name:ident $(#[$attr:meta])* $field:ident : $Type:ty = $wire:literal
        $([$($mark:ident),+])? $(, $($others:tt)*)?
    ) => {
        $crate::__check_members! { optional $Name $($($others)*)? }
    };
    (
        patch $Name:ident $(#[$attr:meta])* $field:ident : $Type:ty = $wire:literal
        $([$($mark:ident),+])? $(, $($others:tt)*)?
    ) => {
        $crate::__check_members! { patch $Name $($($others)*)? }
    };
    ($block:ident $Name:ident $(#[$attr:meta])* $field:ident $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "the ", ::core::stringify!($block), " member `", ::core::stringify!($field), "` of `",
            ::core::stringify!($Name), "` is not `member: Type = \"name\"`, or `member: Type = \"name\" [mark]`",
        ));
    };
    ($block:ident $Name:ident $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected a member of `", ::core::stringify!($Name), "`, got `", ::core::stringify!($($others)*), "`",
        ));
    };
}

/// Names the block of `object!` that is not in order.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_blocks {
    ([optional patch rest and] $Name:ident optional { $($members:tt)* } $($others:tt)*) => {
        $crate::__check_blocks! { [patch rest and] $Name $($others)* }
    };
    ([$(optional)? patch rest and] $Name:ident patch { $($members:tt)* } $($others:tt)*) => {
        $crate::__check_blocks! { [rest and] $Name $($others)* }
    };
    ([$(optional)? $(patch)? rest and] $Name:ident rest { $($field:tt)* } $($others:tt)*) => {
        $crate::__check_blocks! { [and] $Name $($others)* }
    };
    ([$($expected:ident)*] $Name:ident $block:tt $($others:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "the block `", ::core::stringify!($block), "` of `", ::core::stringify!($Name),
            "` cannot be there: expected, in this order and each at most once, `optional { … }`, `patch { … }`, \
             `rest { field: Type }` and `and \"_meta\"`",
        ));
    };
    ([$($expected:ident)*] $Name:ident) => {
        ::core::compile_error!(::core::concat!(
            "`rest` of `", ::core::stringify!($Name), "` is not `rest { field: Type }`",
        ));
    };
}

/// Rejects fields that the macro itself adds.
#[doc(hidden)]
#[macro_export]
macro_rules! __check_fields {
    ([] extra $Name:ident $($field:ident)*) => { $( $crate::__check_fields! { @extra $Name $field } )* };
    ([] $rest:ident $Name:ident $($field:ident)*) => {};
    ([$meta:literal] $rest:ident $Name:ident $($field:ident)*) => {
        $( $crate::__check_fields! { @meta $Name $field } )*
        $crate::__check_fields! { [] $rest $Name $($field)* }
    };
    (@extra $Name:ident extra) => { $crate::__check_fields! { @taken $Name extra } };
    (@meta $Name:ident meta) => { $crate::__check_fields! { @taken $Name meta } };
    (@taken $Name:ident $field:ident) => {
        ::core::compile_error!(::core::concat!(
            "`", ::core::stringify!($Name), "` cannot have a field `", ::core::stringify!($field),
            "`: `object!` adds one of this name",
        ));
    };
    (@$which:ident $Name:ident $field:ident) => {};
}

/// The members of an object in encoding order, the required ones first.
#[derive(Debug)]
pub struct Table {
    pub(super) members: &'static [Member],
    /// A bit for each required member.
    pub(super) required: u64,
    /// Whether the other members belong to a union that is flattened into the object.
    pub(super) is_framed: bool,
}

impl Table {
    /// Creates a table. Fails compilation for a repeated name, and for more than 63 members.
    pub const fn new(members: &'static [Member], is_framed: bool) -> Self {
        assert!(members.len() < 64, "an object has at most 63 members");
        let (mut required, mut bit, mut rest) = (0, 1, members);
        while let [member, others @ ..] = rest {
            let mut others_left = others;
            while let [other, left @ ..] = others_left {
                assert_different(member.name, other.name);
                others_left = left;
            }
            if member.is_required {
                required |= bit;
            }
            (bit, rest) = (bit << 1, others);
        }
        Self { members, required, is_framed }
    }

    /// Returns the index of a member in the table; `hint` is its usual index.
    #[inline]
    pub(super) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.members.get(hint).is_some_and(|member| member.name == name) {
            return Some(hint);
        }
        self.members.iter().position(|member| member.name == name)
    }
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub(super) name: &'static str,
    /// A comma, the name as a JSON string, and a colon; used if the name needs no escapes.
    pub(super) quoted: &'static str,
    pub(super) is_plain: bool,
    pub(super) is_required: bool,
    /// Whether the field is an `Option`.
    pub(super) is_optional: bool,
    pub(super) marks: Marks,
    /// The JSON text that replaces a required member.
    pub(super) default: Option<&'static str>,
}

/// The specification's treatment of an invalid member.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub(super) default_on_error: bool,
    pub(super) default_on_null: bool,
    pub(super) skip_invalid_items: bool,
}

/// One of the [`Marks`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Mark {
    /// Any error counts as absence.
    DefaultOnError,
    /// `null` counts as absence.
    DefaultOnNull,
    /// An invalid item is left out of its list.
    SkipInvalidItems,
}

impl Marks {
    /// No annotations.
    pub const NONE: Self =
        Self { default_on_error: false, default_on_null: false, skip_invalid_items: false };

    pub(super) fn is_none(self) -> bool {
        !(self.default_on_error | self.default_on_null | self.skip_invalid_items)
    }

    /// Adds an annotation.
    pub const fn with(mut self, mark: Mark) -> Self {
        match mark {
            Mark::DefaultOnError => self.default_on_error = true,
            Mark::DefaultOnNull => self.default_on_null = true,
            Mark::SkipInvalidItems => self.skip_invalid_items = true,
        }
        self
    }
}

impl Member {
    const fn new(name: &'static str, quoted: &'static str) -> Self {
        Self {
            name,
            quoted,
            is_plain: is_plain(name.as_bytes()),
            is_required: false,
            is_optional: false,
            marks: Marks::NONE,
            default: None,
        }
    }

    /// A required member.
    pub const fn required(name: &'static str, quoted: &'static str) -> Self {
        Self { is_required: true, ..Self::new(name, quoted) }
    }

    /// An optional member.
    pub const fn optional(name: &'static str, quoted: &'static str) -> Self {
        Self { is_optional: true, ..Self::new(name, quoted) }
    }

    /// An optional member with a distinct meaning of `null`.
    pub const fn patch(name: &'static str, quoted: &'static str) -> Self {
        Self::new(name, quoted)
    }

    /// Adds an annotation.
    pub const fn with_mark(mut self, mark: Mark) -> Self {
        self.marks = self.marks.with(mark);
        self
    }

    /// Sets the default, as JSON text.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }
}

const fn is_plain(mut name: &[u8]) -> bool {
    while let [byte, rest @ ..] = name {
        if *byte < b' ' || *byte == b'"' || *byte == b'\\' {
            return false;
        }
        name = rest;
    }
    true
}

/// Fails compilation for a union or an enum with a repeated name.
pub const fn assert_distinct_names(names: &[&str]) {
    let mut rest = names;
    while let [name, others @ ..] = rest {
        let mut others_left = others;
        while let [other, left @ ..] = others_left {
            assert_different(name, other);
            others_left = left;
        }
        rest = others;
    }
}

/// Fails with the repeated name in the message.
const fn assert_different(one: &str, other: &str) {
    let (mut a, mut b) = (one.as_bytes(), other.as_bytes());
    while let ([first, a_left @ ..], [second, b_left @ ..]) = (a, b) {
        if *first != *second {
            return;
        }
        (a, b) = (a_left, b_left);
    }
    if a.is_empty() && b.is_empty() {
        fail_repeated(one);
    }
}

#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler alone")]
const fn fail_repeated(name: &str) -> ! {
    let (mut message, mut length) = ([0; 256], 0);
    let mut parts: &[&str] = &["the name `", name, "` is repeated"];
    while let [part, parts_left @ ..] = parts {
        let mut bytes = part.as_bytes();
        while let [byte, bytes_left @ ..] = bytes {
            message[length] = *byte;
            (length, bytes) = (length + 1, bytes_left);
        }
        parts = parts_left;
    }
    match core::str::from_utf8(message.split_at(length).0) {
        Ok(message) => panic!("{}", message),
        Err(_) => panic!("{}", name),
    }
}

/// The tags of a union.
#[derive(Debug)]
pub struct Tags {
    /// The member that selects the variant; it needs no escapes.
    pub name: &'static str,
    /// A comma, the name as a JSON string, and a colon.
    pub quoted: &'static str,
    /// The known tags. A named variant without a required tag is the last.
    pub names: &'static [&'static str],
    /// The index of the variant without a tag.
    pub untagged: Option<usize>,
    /// The annotations of the tag.
    pub marks: Marks,
}

/// A member that selects a variant by its presence.
#[derive(Debug)]
pub struct Selector {
    /// The name of the member.
    pub name: &'static str,
    /// Whether `null` selects the variant as well.
    pub takes_null: bool,
}

/// A union: one of several objects.
pub trait Choice {
    /// Replaces the value with a blank one of the variant at `index`, or with an unknown one with this tag.
    fn choose(&mut self, index: usize, tag: &str);

    /// The object of the variant.
    fn payload(&self) -> &dyn Flat;

    /// The object of the variant.
    fn payload_mut(&mut self) -> &mut dyn Flat;
}

/// An object during reading.
#[derive(Clone, Copy, Debug)]
pub struct Open<'o> {
    /// Start of the object.
    pub(super) start: usize,
    /// Where reading of its members begins.
    pub(super) at: usize,
    /// Whether that is before the first member.
    pub(super) is_first: bool,
    /// The surrounding types in the same object.
    pub(super) outer: Option<&'o Outer<'o>>,
}

impl Open<'_> {
    /// Returns whether a member does not belong to a surrounding type.
    #[inline(always)]
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.outer.is_none_or(|outer| outer.find(name).is_none())
    }
}

#[derive(Debug)]
pub(super) struct Outer<'o> {
    pub(super) names: OuterNames<'o>,
    pub(super) next: Option<&'o Outer<'o>>,
}

#[derive(Debug)]
pub(super) enum OuterNames<'o> {
    /// The members of an object.
    Table(&'static Table),
    /// The tag of a union, and whether it was read.
    Tag(&'static str, &'o Cell<bool>),
}

impl<'o> Outer<'o> {
    /// Returns whether a member belongs to a surrounding type, and the tag if it is one.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<Option<(&'static str, &'o Cell<bool>)>> {
        let mut outer = Some(self);
        while let Some(Outer { names, next }) = outer {
            match *names {
                OuterNames::Tag(tag, is_seen) if tag == name => return Some(Some((tag, is_seen))),
                OuterNames::Table(table) if table.find(name, 0).is_some() => return Some(None),
                _ => outer = *next,
            }
        }
        None
    }
}
