//! The tables of objects and unions, and an object during reading.
use super::checks::assert_different;
use core::cell::Cell;

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
        let mut required = 0;
        let mut bit = 1;
        let mut rest = members;
        while let [member, others @ ..] = rest {
            let mut others_left = others;
            while let [other, left @ ..] = others_left {
                assert_different(member.name, other.name);
                others_left = left;
            }
            if member.is_required {
                required |= bit;
            }
            bit = bit << 1;
            rest = others;
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

impl Marks {
    /// No annotations.
    pub const NONE: Self =
        Self { default_on_error: false, default_on_null: false, skip_invalid_items: false };
    /// Any error counts as absence.
    pub const DEFAULT_ON_ERROR: Self = Self { default_on_error: true, ..Self::NONE };
    /// `null` counts as absence.
    pub const DEFAULT_ON_NULL: Self = Self { default_on_null: true, ..Self::NONE };
    /// An invalid item is left out of its list.
    pub const SKIP_INVALID_ITEMS: Self = Self { skip_invalid_items: true, ..Self::NONE };

    pub(super) fn is_none(self) -> bool {
        !(self.default_on_error | self.default_on_null | self.skip_invalid_items)
    }

    /// Returns the annotations of both.
    pub const fn with(self, other: Self) -> Self {
        Self {
            default_on_error: self.default_on_error | other.default_on_error,
            default_on_null: self.default_on_null | other.default_on_null,
            skip_invalid_items: self.skip_invalid_items | other.skip_invalid_items,
        }
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
    pub const fn with_mark(mut self, mark: Marks) -> Self {
        self.marks = self.marks.with(mark);
        self
    }

    /// Sets the default, as JSON text.
    pub const fn or(mut self, default: &'static str) -> Self {
        self.default = Some(default);
        self
    }
}

/// Returns whether none of these names needs escapes.
pub const fn are_plain(mut names: &[&str]) -> bool {
    while let [name, rest @ ..] = names {
        if !is_plain(name.as_bytes()) {
            return false;
        }
        names = rest;
    }
    true
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

/// The tags of a union.
#[derive(Debug)]
pub struct Tags {
    /// The member that selects the variant; it needs no escapes.
    pub name: &'static str,
    /// A comma, the name as a JSON string, and a colon.
    pub quoted: &'static str,
    /// Whether no known tag needs escapes.
    pub is_plain: bool,
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

/// An object during reading.
#[derive(Clone, Copy, Debug)]
pub struct OpenObject<'o> {
    /// Start of the object.
    pub(super) start: usize,
    /// Where reading of its members begins.
    pub(super) at: usize,
    /// Whether that is before the first member.
    pub(super) is_first: bool,
    /// The surrounding types in the same object.
    pub(super) outer: Option<&'o OuterType<'o>>,
}

impl OpenObject<'_> {
    /// Returns whether a member does not belong to a surrounding type.
    #[inline(always)]
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.outer.is_none_or(|outer| outer.find(name).is_none())
    }
}

/// The tag of a union, and the end of its value unless the tag was passed.
pub(super) type UnreadTag<'o> = (&'static str, &'o Cell<Option<usize>>);

#[derive(Debug)]
pub(super) struct OuterType<'o> {
    pub(super) names: OuterNames<'o>,
    pub(super) next: Option<&'o OuterType<'o>>,
}

#[derive(Debug)]
pub(super) enum OuterNames<'o> {
    /// The members of an object.
    Table(&'static Table),
    /// The tag of a union, and the end of its value unless the tag was passed.
    Tag(&'static Tags, &'o Cell<Option<usize>>),
}

impl<'o> OuterType<'o> {
    /// Returns the tag of the union that directly surrounds the object, and the end of its value,
    /// unless it was passed.
    #[inline(always)]
    pub(super) fn unread_tag(&self) -> Option<UnreadTag<'o>> {
        match self.names {
            OuterNames::Tag(tags, unread) if unread.get().is_some() => Some((tags.quoted, unread)),
            _ => None,
        }
    }

    /// Returns whether a member belongs to a surrounding type, and its tag with the end of its
    /// value if it is one.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Option<Option<UnreadTag<'o>>> {
        let mut outer = Some(self);
        while let Some(OuterType { names, next }) = outer {
            match *names {
                OuterNames::Tag(tags, unread) if tags.name == name => {
                    return Some(Some((tags.name, unread)));
                }
                OuterNames::Table(table) if table.find(name, 0).is_some() => return Some(None),
                _ => outer = *next,
            }
        }
        None
    }
}
