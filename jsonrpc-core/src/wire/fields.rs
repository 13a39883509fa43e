//! Decoding of objects and unions by their tables, with the tag read before other members.
use super::decode::Mode;
use super::diagnostic::DiagnosticCode;
use super::extra::{Extra, Kept};
use super::object::{Choice, Member, Open, Outer, OuterNames, Selector, Table, Tags};
use super::raw::Raw;
use super::reader::{Fault, Problem, ValueReader, Walk, What};
use super::value::{Flat, Wire};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::cell::Cell;

/// An object with a table while it is read.
struct Reading<'r, 's> {
    table: &'static Table,
    slots: &'r mut [&'s mut dyn Wire],
    open: &'r Open<'r>,
    walk: Walk,
    /// Index of the member that usually comes next.
    hint: usize,
    /// A bit for each member that was read.
    names: u64,
    /// A bit for each member that has its default.
    defaults: u64,
    kept: Vec<(&'static str, Kept)>,
}

/// The required members that have their default, since their values are invalid.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    table: &'static Table,
    which: u64,
}

impl Defaults {
    /// Returns the default of a member, if it has that.
    #[inline]
    pub fn get<T: Wire>(self, name: &str) -> Option<T> {
        if self.which == 0 {
            return None;
        }
        let at = self.table.find(name, 0)?;
        let text = self.table.members.get(at).filter(|_| self.which & 1 << at != 0)?.default?;
        let mut value = T::blank();
        value.read(&mut ValueReader::new(text, Mode::Strict)).ok()?;
        Some(value)
    }
}

impl<'a> ValueReader<'a> {
    /// Reads an object of the type `name`.
    ///
    /// # Errors
    /// The next value is not an object, or a member is invalid.
    #[inline(never)]
    pub fn object(&mut self, object: &mut dyn Flat, name: &'static str) -> Result<(), Fault> {
        self.skips_items = false;
        if self.next_byte() != b'{' {
            return Err(self.fail(self.last, What::Object(name)));
        }
        self.enter()?;
        let start = self.last;
        let open = Open { start, at: start, is_first: true, outer: None };
        let read = object.read_flat(self, &open);
        self.depth -= 1;
        read
    }

    /// Reads the members of an object with a table: each into its slot, others into `rest`.
    ///
    /// # Errors
    /// A member is invalid, missing or repeated.
    #[inline(never)]
    pub fn fields(
        &mut self,
        table: &'static Table,
        slots: &mut [&mut dyn Wire],
        rest: &mut dyn Flat,
        open: &Open<'_>,
    ) -> Result<Defaults, Fault> {
        self.scanner.go_to(open.at);
        let walk = Walk::at(open.is_first);
        let (hint, names, defaults, kept) = (0, 0, 0, Vec::new());
        let mut reading = Reading { table, slots, open, walk, hint, names, defaults, kept };
        loop {
            if let Some(member) = table.members.get(reading.hint)
                && member.is_plain
                && reading.walk.pass(self, member.quoted)
            {
                let at = reading.hint;
                reading.hint += 1;
                let is_new = reading.names & 1 << at == 0;
                let is_null = member.is_optional && self.scanner.byte_ahead(0) == b'n';
                let is_strict = self.mode == Mode::Strict && open.is_own(member.name);
                if is_new
                    && is_strict
                    && !is_null
                    && let Some(slot) = reading.slots.get_mut(at)
                {
                    reading.names |= 1 << at;
                    slot.read(self)?;
                } else {
                    self.named(&mut reading, member.name, at)?;
                }
            } else if reading.walk.pass_end(self) || !self.any(&mut reading, rest)? {
                break;
            }
        }
        reading.walk.end()?;
        if reading.names & table.required != table.required {
            return Err(self.missing(table, reading.names, open));
        }
        if table.is_framed {
            let outer = Outer { names: OuterNames::Table(table), next: open.outer };
            rest.read_flat(self, &Open { outer: Some(&outer), ..*open })?;
        }
        if !reading.kept.is_empty()
            && let Some(extra) = rest.extra_mut()
        {
            extra.keep(reading.kept);
        }
        Ok(Defaults { table, which: reading.defaults })
    }

    /// Reads the next member of any name. Returns whether there was one.
    #[inline(never)]
    fn any(&mut self, reading: &mut Reading<'_, '_>, rest: &mut dyn Flat) -> Result<bool, Fault> {
        let Some(name) = reading.walk.next(self)? else { return Ok(false) };
        let (table, open) = (reading.table, reading.open);
        let found = table.find(&name, reading.hint);
        if let Some(at) = found {
            self.named(reading, &name, at)?;
            reading.hint = at + 1;
            return Ok(true);
        }
        let read = match open.outer.and_then(|outer| outer.find(&name)) {
            Some(owner) => self.of_outer(owner, table.is_framed, open),
            None if table.is_framed => self.text().map(drop),
            None => self.unknown(name, rest),
        };
        read.or_else(|fault| reading.walk.on_fault(self, fault)).map(|()| true)
    }

    /// Reads the value of the member at `at` in the table, unless it belongs to a surrounding type.
    #[inline(never)]
    fn named(&mut self, reading: &mut Reading<'_, '_>, name: &str, at: usize) -> Result<(), Fault> {
        let read = match reading.open.outer.and_then(|outer| outer.find(name)) {
            Some(owner) => self.of_outer(owner, reading.table.is_framed, reading.open),
            None => self.field(reading, at),
        };
        read.or_else(|fault| reading.walk.on_fault(self, fault))
    }

    /// Returns the error of an object without one of its required members.
    #[cold]
    fn missing(&mut self, table: &'static Table, names: u64, open: &Open<'_>) -> Fault {
        let is_missing = |at: &usize| names & 1 << at == 0;
        let missing = (0..table.members.len()).find(is_missing);
        let name = missing.and_then(|at| table.members.get(at)).map_or("", |member| member.name);
        self.problem = Some(Problem { at: open.start, what: What::Missing(name) });
        Fault(())
    }

    /// Reads the value of a member into its slot.
    fn field(&mut self, reading: &mut Reading<'_, '_>, at: usize) -> Result<(), Fault> {
        let (Some(member), Some(slot)) = (reading.table.members.get(at), reading.slots.get_mut(at))
        else {
            return Err(Fault(()));
        };
        if reading.names & 1 << at != 0 {
            return Err(self.twice(member.name, reading.open));
        }
        reading.names |= 1 << at;
        if member.is_optional && self.null()? {
            reading.kept.push((member.name, Kept::Null));
            return Ok(());
        }
        if self.mode == Mode::Strict || member.marks.is_none() {
            return slot.read(self);
        }
        if self.marked(member, *slot, &mut reading.kept)? && member.default.is_some() {
            reading.defaults |= 1 << at;
        }
        Ok(())
    }

    /// Reads the value of a member with annotations, and returns whether these replace it.
    #[inline(never)]
    fn marked(
        &mut self,
        member: &'static Member,
        slot: &mut dyn Wire,
        kept: &mut Vec<(&'static str, Kept)>,
    ) -> Result<bool, Fault> {
        let byte = self.next_byte();
        let start = self.last;
        self.guards += 1;
        self.skips_items = member.marks.skip_invalid_items;
        let read = slot.read(self);
        self.skips_items = false;
        self.guards -= 1;
        let left_out = self.left_out.take().filter(|left_out| !left_out.is_empty());
        let Err(fault) = read else {
            kept.extend(left_out.map(|left_out| (member.name, Kept::Items(left_out))));
            return Ok(false);
        };
        let code = if self.is_broken {
            return Err(fault);
        } else if member.marks.default_on_null && byte == b'n' {
            DiagnosticCode::DefaultOnNull
        } else if member.marks.default_on_error {
            DiagnosticCode::DefaultOnError
        } else {
            return Err(fault);
        };
        self.record(code, start);
        if self.mode == Mode::Preserve
            && let Some(text) = Raw::of_checked(self.text_since(start))
        {
            kept.push((member.name, Kept::Value(text)));
        }
        Ok(true)
    }

    /// Skips a member of the surrounding object.
    #[inline(never)]
    fn of_outer(
        &mut self,
        owner: Option<(&'static str, &Cell<bool>)>,
        is_read_again: bool,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        match owner {
            Some((tag, is_seen)) if !is_read_again && is_seen.replace(true) => {
                Err(self.twice(tag, open))
            }
            _ => self.text().map(drop),
        }
    }

    /// Keeps an unknown member.
    #[inline(never)]
    fn unknown(&mut self, name: Cow<'a, str>, rest: &mut dyn Flat) -> Result<(), Fault> {
        let text = self.text()?;
        if let Some(extra) = rest.extra_mut() {
            match Raw::of_checked(text) {
                Some(value) => extra.push(name.into(), value),
                None => return Err(self.broken()),
            }
        }
        Ok(())
    }

    /// Reads all members into `extra`.
    ///
    /// # Errors
    /// The text is not JSON.
    pub(super) fn all_members(&mut self, extra: &mut Extra, open: &Open<'_>) -> Result<(), Fault> {
        self.scanner.go_to(open.at);
        let mut walk = Walk::at(open.is_first);
        while let Some(name) = walk.next(self)? {
            let read = match open.outer.and_then(|outer| outer.find(&name)) {
                Some(owner) => self.of_outer(owner, false, open),
                None => self.unknown(name, extra),
            };
            if let Err(fault) = read {
                walk.on_fault(self, fault)?;
            }
        }
        walk.end()
    }

    /// Returns the error of a repeated member; its second value follows.
    #[cold]
    fn twice(&mut self, name: &'static str, open: &Open<'_>) -> Fault {
        self.problem = Some(Problem { at: open.start, what: What::Twice(name) });
        if self.guards > 0 {
            self.next_byte();
            self.go_behind(self.last);
        }
        Fault(())
    }

    /// Reads the members of a union by its tag.
    ///
    /// # Errors
    /// The tag is missing or not a string, or the variant is invalid.
    #[inline(never)]
    pub fn tagged(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        let is_free = open.is_own(tags.name);
        self.scanner.go_to(open.at);
        if !is_free
            || !Walk::at(open.is_first).pass(self, tags.quoted)
            || self.scanner.byte_ahead(0) != b'"'
        {
            return self.tagged_anywhere(tags, union, is_free, open);
        }
        let is_written = {
            let tag = self.string().map_err(|fault| self.leave(open, fault))?;
            choose(tags, union, &tag)
        };
        if is_written {
            // The other members follow the tag.
            self.variant(tags, union, &Cell::new(true), &Open { is_first: false, ..*open })
        } else {
            union.payload_mut().read_flat(self, open)
        }
    }

    /// Does the same for a tag that is not at the usual place, or not a string. Unless `is_free`, the tag belongs to a
    /// surrounding type.
    #[inline(never)]
    fn tagged_anywhere(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        is_free: bool,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        let place = if is_free { self.find_tag(tags, open)? } else { None };
        let mut kept = None;
        let is_written = match (place, tags.untagged) {
            (Some((at, _)), untagged) => {
                self.scanner.go_to(at);
                match (self.next_byte(), untagged) {
                    (b'"', _) => {
                        let tag = self.string().map_err(|fault| self.leave(open, fault))?;
                        choose(tags, union, &tag)
                    }
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
                self.problem = Some(Problem { at: open.start, what: What::Missing(tags.name) });
                return Err(self.leave(open, Fault(())));
            }
        };
        if !is_written {
            return union.payload_mut().read_flat(self, open);
        }
        // A leading tag has been read; the other members follow it.
        let is_read = place.is_some_and(|(_, is_first)| is_first) && kept.is_none();
        if !is_read {
            self.scanner.go_to(open.at);
        }
        let is_first = open.is_first && !is_read;
        self.variant(tags, union, &Cell::new(is_read), &Open { is_first, ..*open })?;
        if let Some(kept) = kept
            && let Some(extra) = union.payload_mut().extra_mut()
        {
            extra.keep(Vec::from([(tags.name, kept)]));
        }
        Ok(())
    }

    /// Reads a tag that is not a string and counts as absent, and returns what is kept of it.
    fn replaced_tag(&mut self, at: usize) -> Result<Option<Kept>, Fault> {
        if self.null()? {
            return Ok(Some(Kept::Null));
        }
        self.problem = Some(Problem { at, what: What::Expected("a string") });
        self.record(DiagnosticCode::DefaultOnError, at);
        let text = self.text()?;
        Ok(Raw::of_checked(text).filter(|_| self.mode == Mode::Preserve).map(Kept::Value))
    }

    /// Reads the members of the chosen variant, from the current place; `is_seen` is whether the tag was read.
    #[inline]
    fn variant(
        &mut self,
        tags: &'static Tags,
        union: &mut dyn Choice,
        is_seen: &Cell<bool>,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        let outer = Outer { names: OuterNames::Tag(tags.name, is_seen), next: open.outer };
        let inner = Open { at: self.scanner.at(), outer: Some(&outer), ..*open };
        union.payload_mut().read_flat(self, &inner)
    }

    /// Moves to the end of an invalid object, if reading continues.
    #[cold]
    fn leave(&mut self, open: &Open<'_>, fault: Fault) -> Fault {
        self.go_behind(open.start);
        fault
    }

    /// Returns the place of the value of `tag`, and whether it is the first member.
    fn find_tag(&mut self, tags: &Tags, open: &Open<'_>) -> Result<Option<(usize, bool)>, Fault> {
        self.scanner.go_to(open.at);
        let (tag, mut walk) = (tags.name, Walk::at(open.is_first));
        let Some(first) = walk.next(self)? else { return Ok(None) };
        let at = self.scanner.at();
        if first == tag {
            return Ok(Some((at, true)));
        }
        if matches!(first, Cow::Borrowed(_)) {
            let mut scanner = self.scanner.clone();
            let found = scanner.find_member(tag);
            self.scanner.remember(&scanner);
            if found.is_some() {
                return Ok(Some((scanner.at(), false)));
            }
        }
        // A name with escapes is found by reading all names.
        let mut name = Some(first);
        while let Some(found) = name {
            if found == tag {
                return Ok(Some((self.scanner.at(), false)));
            }
            self.text()?;
            name = walk.next(self)?;
        }
        Ok(None)
    }

    /// Reads the members of a union by the first variant with a present member.
    ///
    /// # Errors
    /// The variant is invalid.
    pub fn selected(
        &mut self,
        selectors: &'static [Selector],
        union: &mut dyn Choice,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        self.scanner.go_to(open.at);
        let (mut walk, mut chosen) = (Walk::at(open.is_first), selectors.len());
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

/// Chooses the variant with this tag, and returns whether the tag is written beside the members of the variant.
#[inline]
fn choose(tags: &Tags, union: &mut dyn Choice, tag: &str) -> bool {
    let known = tags.names.iter().position(|name| *name == tag);
    union.choose(known.unwrap_or(usize::MAX), tag);
    known.is_none() || known != tags.untagged
}
