//! The macro of objects.
/// Defines a struct for a JSON object of a specification.
///
/// Blocks, in this order, all but the first optional: the required members; `optional` ones
/// (`Option`); `patch` ones ([`Presence`](crate::wire::Presence)); `rest`, one field for a union
/// that is flattened into the object; and `and "_meta"`. Unknown members are kept in `extra` (with
/// a `rest`, in that field's extra). The struct is `#[non_exhaustive]`. `new` takes the required
/// members and the rest, and each optional or `patch` member has a setter `with_*`. For `pub struct
/// Name by name`, with several required members of one type, `NameMembers` replaces `new`: a struct
/// of the required members, for `Name::from(NameMembers { … })`.
///
/// An optional member that is `null` is `None`, and is encoded as `null` again while it is `None`.
///
/// A member that is repeated, invalid, or required and missing is an error. If the specification
/// defines a replacement, the member has annotations after its name. These apply in some
/// [modes](crate::wire::Mode) of [`decode_with`](crate::wire::decode_with), and cost nothing for
/// valid input:
///
/// | annotation | an error in the member | replacement |
/// |---|---|---|
/// | `default_on_error` | any | absent |
/// | `default_on_null` | it is `null`, which is invalid | absent |
/// | `skip_invalid_items` | one in an item of a list | a list without the item |
///
/// A required member cannot be absent, so it has the JSON text of its default after the
/// annotations: `args: Vec<String> = "args" [default_on_null] or "[]"`.
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

            impl __wire::FlatObject for $Name {
                fn read_flat(
                    &mut self,
                    reader: &mut __wire::ValueReader<'_>,
                    open: &__wire::OpenObject<'_>,
                ) -> ::core::result::Result<(), __wire::Fault> {
                    let read = reader.fields(
                        &TABLE,
                        &mut [
                            $( &mut self.$req, )*
                            $( &mut self.$opt, )*
                            $( &mut self.$pat, )*
                            $( $crate::object!(@meta_mut $meta self), )?
                        ],
                        &mut self.$rest,
                        open,
                    );
                    $( $crate::object! { @take_default self $req $rwire reader $($rdefault)? } )*
                    read
                }

                fn extra_mut(&mut self) -> ::core::option::Option<&mut $crate::wire::Extra> {
                    __wire::FlatObject::extra_mut(&mut self.$rest)
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
    (@take_default $self:ident $req:ident $wire:literal $reader:ident) => {};
    (@take_default $self:ident $req:ident $wire:literal $reader:ident $default:literal) => {
        if let ::core::option::Option::Some(default) = $reader.default_of(&TABLE, $wire) {
            $self.$req = __wire::Wire::blank();
            __wire::fill(&mut $self.$req, default);
        }
    };
    (@schema $Type:ty, $generator:ident) => {
        (&$crate::wire::schema::Probe::<$Type>::NEW).schema($generator)
    };
    (@mark default_on_error $wire:literal) => { __wire::Marks::DEFAULT_ON_ERROR };
    (@mark default_on_null $wire:literal) => { __wire::Marks::DEFAULT_ON_NULL };
    (@mark skip_invalid_items $wire:literal) => { __wire::Marks::SKIP_INVALID_ITEMS };
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
