//! Lists of names that may be extended.
use alloc::boxed::Box;

/// A name that this version does not know. Only decoding and `From<&str>` of an open enum create
/// it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnknownName(Box<str>);

impl UnknownName {
    #[doc(hidden)]
    pub fn __new(name: &str) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Defines an enum of the names in a specification that keeps unknown names.
///
/// Besides the variants it defines `Unknown(UnknownName)`, `NAMES`, `as_str`, `is_known`,
/// `From<&str>`, `Display` and serde's traits. `UnknownName` has no public constructor, so a name
/// that becomes known later breaks no `match`.
///
/// ```
/// jsonrpc_core::open_enum! {
///     /// The reason for which a turn ended.
///     pub enum StopReason {
///         /// The model finished.
///         EndTurn = "end_turn",
///         /// The client cancelled.
///         Cancelled = "cancelled",
///     }
/// }
///
/// let reason: StopReason = serde_json::from_str(r#""out_of_credits""#)?;
/// assert_eq!(reason.as_str(), "out_of_credits");
/// assert!(!reason.is_known());
/// assert_eq!(StopReason::from("end_turn"), StopReason::EndTurn);
/// assert_eq!(StopReason::NAMES, ["end_turn", "cancelled"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! open_enum {
    (
        $(#[$attr:meta])*
        pub enum $Name:ident {
            $( $(#[$vattr:meta])* $Variant:ident = $wire:literal, )+
        }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$vattr])* $Variant, )+
            /// A name that this version does not know, kept verbatim.
            Unknown($crate::wire::UnknownName),
        }

        const _: () = $crate::wire::private::assert_distinct_names($Name::NAMES);

        impl $Name {
            /// The known names, in the specification's order.
            pub const NAMES: &'static [&'static str] = &[$($wire),+];

            /// Returns the name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$Variant => $wire, )+
                    Self::Unknown(name) => name.as_str(),
                }
            }

            /// Returns whether this version knows the name.
            pub fn is_known(&self) -> bool {
                !::core::matches!(self, Self::Unknown(_))
            }
        }

        $crate::__json_schema! { $Name, _generator => {
            $crate::wire::schema::open_enum(Self::NAMES)
        } }

        impl From<&str> for $Name {
            fn from(name: &str) -> Self {
                match name {
                    $( $wire => Self::$Variant, )+
                    other => Self::Unknown($crate::wire::UnknownName::__new(other)),
                }
            }
        }

        $crate::open_enum! { @string $Name Self::Unknown($crate::wire::UnknownName::__new("")) }
    };
    (@string $Name:ident $blank:expr) => {
        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl $crate::wire::private::Wire for $Name {
            fn blank() -> Self {
                $blank
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
    };
    ($(#[$attr:meta])* pub enum $Name:ident { $($variants:tt)* }) => {
        $crate::__check_variants! { name $Name $($variants)* }
    };
}
