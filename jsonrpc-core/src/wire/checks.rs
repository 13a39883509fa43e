//! Errors of the macros for invalid definitions, which name the item at fault.

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
pub(super) const fn assert_different(one: &str, other: &str) {
    let mut a = one.as_bytes();
    let mut b = other.as_bytes();
    while let ([first, a_left @ ..], [second, b_left @ ..]) = (a, b) {
        if *first != *second {
            return;
        }
        a = a_left;
        b = b_left;
    }
    if a.is_empty() && b.is_empty() {
        fail_repeated(one);
    }
}

#[allow(clippy::panic, clippy::indexing_slicing, reason = "runs in the compiler alone")]
const fn fail_repeated(name: &str) -> ! {
    let mut message = [0; 256];
    let mut length = 0;
    let mut parts: &[&str] = &["the name `", name, "` is repeated"];
    while let [part, parts_left @ ..] = parts {
        let mut bytes = part.as_bytes();
        while let [byte, bytes_left @ ..] = bytes {
            message[length] = *byte;
            length = length + 1;
            bytes = bytes_left;
        }
        parts = parts_left;
    }
    match core::str::from_utf8(message.split_at(length).0) {
        Ok(message) => panic!("{}", message),
        Err(_) => panic!("{}", name),
    }
}
