//! Decoding of unions by their tables, with the tag read before other members.
use super::diagnostic::DiagnosticCode;
use super::extra::ReceivedForm;
use super::mode::Mode;
use super::problem::{Fault, Problem, ProblemKind};
use super::raw::Raw;
use super::reader::ValueReader;
use super::table::{OpenObject, OuterNames, OuterType, Selector, Tags};
use super::value::FlatObject;
use super::walk::Walk;
use alloc::vec::Vec;
use core::cell::Cell;

/// A union: one of several objects.
pub trait Choice {
    /// Replaces the value with a blank one of the variant at `index`, or with an unknown one with
    /// this tag.
    fn choose(&mut self, index: usize, tag: &str);

    /// The object of the variant.
    fn payload(&self) -> &dyn FlatObject;

    /// The object of the variant.
    fn payload_mut(&mut self) -> &mut dyn FlatObject;
}

impl ValueReader<'_> {
    /// Reads the members of a union by its tag.
    ///
    /// # Errors
    /// The tag is missing or not a string, or the variant is invalid.
    #[inline(never)]
    pub fn tagged(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        let is_free = open.is_own(tags.name);
        self.scanner.go_to(open.at);
        if !is_free
            || !Walk::at(open.is_first).pass(self, tags.quoted)
            || self.scanner.byte_ahead(0) != b'"'
        {
            return self.tagged_anywhere(tags, union, is_free, open);
        }
        if self.tag(tags, union, open)? {
            // The other members follow the tag.
            self.variant(tags, union, &Cell::new(None), &OpenObject { is_first: false, ..*open })
        } else {
            union.payload_mut().read_flat(self, open)
        }
    }

    /// Reads the tag and chooses its variant. Returns whether the tag is written beside the members
    /// of the variant.
    #[inline(always)]
    fn tag(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        open: &OpenObject<'_>,
    ) -> Result<bool, Fault> {
        let is_beside = |index: usize| Some(index) != tags.untagged;
        if tags.is_plain
            && let Some(index) = self.scanner.pass_one_of(tags.names)
        {
            union.choose(index, "");
            return Ok(is_beside(index));
        }
        let tag = self.string().map_err(|fault| self.leave(open, fault))?;
        let known = tags.names.iter().position(|name| *name == tag);
        union.choose(known.unwrap_or(usize::MAX), &tag);
        Ok(known.is_none_or(is_beside))
    }

    /// As [`tagged`](Self::tagged), for a tag that is not at the usual place, or not a string.
    /// Unless `is_free`, the tag belongs to a surrounding type.
    #[inline(never)]
    fn tagged_anywhere(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        is_free: bool,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        let place = if is_free { self.find_tag(tags, open) } else { None };
        let mut kept = None;
        let is_written = match (place, tags.untagged) {
            (Some(at), untagged) => {
                self.scanner.go_to(at);
                match (self.next_byte(), untagged) {
                    (b'"', _) => self.tag(tags, union, open)?,
                    (byte, Some(untagged))
                        if byte == b'n'
                            || tags.marks.default_on_error && self.mode != Mode::Strict =>
                    {
                        kept = self.replaced_tag(at)?;
                        union.choose(untagged, "");
                        true
                    }
                    _ => {
                        let fault = self.expected("a string");
                        return Err(self.leave(open, fault));
                    }
                }
            }
            (None, Some(untagged)) => {
                union.choose(untagged, "");
                false
            }
            (None, None) => {
                // An invalid name of a member is an error of its own.
                union.choose(usize::MAX, "");
                union.payload_mut().read_flat(self, open)?;
                self.problem =
                    Some(Problem { at: open.start, what: ProblemKind::Missing(tags.name) });
                return Err(self.leave(open, Fault(())));
            }
        };
        if !is_written {
            return union.payload_mut().read_flat(self, open);
        }
        let end = self.scanner.at();
        self.scanner.go_to(open.at);
        self.variant(tags, union, &Cell::new(Some(end)), open)?;
        if let Some(kept) = kept
            && let Some(extra) = union.payload_mut().extra_mut()
        {
            extra.keep(Vec::from([(tags.name, kept)]));
        }
        Ok(())
    }

    /// Reads a tag that is not a string and counts as absent, and returns what is kept of it.
    fn replaced_tag(&mut self, at: usize) -> Result<Option<ReceivedForm>, Fault> {
        if self.null()? {
            return Ok(Some(ReceivedForm::Null));
        }
        self.problem = Some(Problem { at, what: ProblemKind::Expected("a string") });
        self.record(DiagnosticCode::DefaultOnError, at);
        let text = self.text()?;
        Ok(Raw::of_checked(text).filter(|_| self.mode == Mode::Preserve).map(ReceivedForm::Value))
    }

    /// Reads the members of the chosen variant, from the current place; `unread` is the end of the
    /// tag's value unless the tag was passed.
    #[inline]
    fn variant(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        unread: &Cell<Option<usize>>,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        let outer = OuterType { names: OuterNames::Tag(tags, unread), next: open.outer };
        let inner = OpenObject { at: self.scanner.at(), outer: Some(&outer), ..*open };
        union.payload_mut().read_flat(self, &inner)
    }

    /// Moves to the end of an invalid object, if reading continues.
    #[cold]
    fn leave(&mut self, open: &OpenObject<'_>, fault: Fault) -> Fault {
        self.go_behind(open.start);
        fault
    }

    /// Returns the place of the value of `tag`. Other members are not validated.
    fn find_tag(&mut self, tags: &Tags, open: &OpenObject<'_>) -> Option<usize> {
        let mut scanner = self.scanner.clone();
        scanner.go_to(open.at);
        let is_more = if open.is_first { scanner.enter() } else { scanner.go_on() };
        is_more.filter(|is_more| *is_more)?;
        scanner.seek_member(tags.name)?;
        Some(scanner.at())
    }

    /// Reads the members of a union by the first variant with a present member.
    ///
    /// # Errors
    /// The variant is invalid.
    pub fn selected(
        &mut self,
        selectors: &'static [Selector],
        union: &mut dyn Choice,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        self.scanner.go_to(open.at);
        let mut walk = Walk::at(open.is_first);
        let mut chosen = selectors.len();
        while let Some(name) = walk.next(self)? {
            let text = self.text()?;
            let is_meant = |one: &Selector| one.name == name && (text != "null" || one.takes_null);
            let earlier = selectors.get(..chosen).unwrap_or_default();
            if let Some(at) = earlier.iter().position(is_meant)
                && open.is_own(&name)
            {
                chosen = at;
            }
        }
        union.choose(chosen, "");
        union.payload_mut().read_flat(self, open)
    }
}
