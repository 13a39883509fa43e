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

/// The members of an object read so far.
#[derive(Default)]
struct Seen {
    /// A bit for each member of the table.
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
        let mut walk = Walk::at(open.is_first);
        let (mut seen, mut hint) = (Seen::default(), 0);
        loop {
            let is_usual = |member: &&Member| {
                member.is_plain && open.outer.is_none_or(|outer| outer.find(member.name).is_none())
            };
            let usual = table.members.get(hint).filter(is_usual);
            let read = if usual.is_some_and(|member| walk.pass(self, member.quoted)) {
                hint += 1;
                self.field(table, slots, hint - 1, &mut seen, open)
            } else {
                let Some(name) = walk.next(self)? else { break };
                match open.outer.and_then(|outer| outer.find(&name)) {
                    Some(owner) => self.of_outer(owner, table.is_framed, open),
                    None => match table.find(&name, hint) {
                        Some(at) => {
                            hint = at + 1;
                            self.field(table, slots, at, &mut seen, open)
                        }
                        None if table.is_framed => self.text().map(drop),
                        None => self.unknown(name, rest),
                    },
                }
            };
            if let Err(fault) = read {
                walk.on_fault(self, fault)?;
            }
        }
        walk.end()?;
        let Seen { names, defaults, kept } = seen;
        let required = table.required();
        if names & required != required {
            let is_missing = |at: &usize| names & 1 << at == 0;
            let missing = (0..table.members.len()).find(is_missing);
            let name =
                missing.and_then(|at| table.members.get(at)).map_or("", |member| member.name);
            self.problem = Some(Problem { at: open.start, what: What::Missing(name) });
            return Err(Fault(()));
        }
        if table.is_framed {
            let outer = Outer { names: OuterNames::Table(table), next: open.outer };
            rest.read_flat(self, &Open { outer: Some(&outer), ..*open })?;
        }
        if !kept.is_empty()
            && let Some(extra) = rest.extra_mut()
        {
            extra.keep(kept);
        }
        Ok(Defaults { table, which: defaults })
    }

    /// Reads the value of a member into its slot.
    #[inline(always)]
    fn field(
        &mut self,
        table: &'static Table,
        slots: &mut [&mut dyn Wire],
        at: usize,
        seen: &mut Seen,
        open: &Open<'_>,
    ) -> Result<(), Fault> {
        let (Some(member), Some(slot)) = (table.members.get(at), slots.get_mut(at)) else {
            return Err(Fault(()));
        };
        if seen.names & 1 << at != 0 {
            return Err(self.twice(member.name, open));
        }
        seen.names |= 1 << at;
        if member.is_optional && self.null()? {
            seen.kept.push((member.name, Kept::Null));
            return Ok(());
        }
        if member.marks.is_none() || self.mode == Mode::Strict {
            return slot.read(self);
        }
        if self.marked(member, *slot, &mut seen.kept)? && member.default.is_some() {
            seen.defaults |= 1 << at;
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
        let place = if open.outer.is_some_and(|outer| outer.find(tags.name).is_some()) {
            None
        } else {
            self.find_tag(tags, open)?
        };
        let mut kept = None;
        let mut tag = None;
        if let Some((at, _)) = place {
            self.scanner.go_to(at);
            match self.next_byte() {
                b'n' if tags.untagged.is_some() => kept = Some(Kept::Null),
                b'"' => tag = Some(self.string().map_err(|fault| self.leave(open, fault))?),
                _ if tags.untagged.is_some()
                    && tags.marks.default_on_error
                    && self.mode != Mode::Strict =>
                {
                    self.problem = Some(Problem { at, what: What::Expected("a string") });
                    self.record(DiagnosticCode::DefaultOnError, at);
                    let text = self.text()?;
                    if self.mode == Mode::Preserve {
                        kept = Raw::of_checked(text).map(Kept::Value);
                    }
                }
                _ => {
                    let fault = self.expected("a string");
                    return Err(self.leave(open, fault));
                }
            }
        }
        let (index, written) = match &tag {
            Some(tag) => {
                let known = tags.names.iter().position(|name| name == tag);
                (known.unwrap_or(usize::MAX), known.is_none() || known != tags.untagged)
            }
            None => match tags.untagged {
                Some(untagged) => (untagged, place.is_some()),
                None => {
                    let what = What::Missing(tags.name);
                    self.problem = Some(Problem { at: open.start, what });
                    return Err(self.leave(open, Fault(())));
                }
            },
        };
        union.choose(index, tag.as_deref().unwrap_or_default());
        if !written {
            return union.payload_mut().read_flat(self, open);
        }
        // A leading tag has been read; the other members follow it.
        let is_read = place.is_some_and(|(_, is_first)| is_first) && kept.is_none();
        let is_seen = Cell::new(is_read);
        let outer = Outer { names: OuterNames::Tag(tags.name, &is_seen), next: open.outer };
        let at = if is_read { self.scanner.at() } else { open.at };
        let inner = Open { at, is_first: open.is_first && !is_read, outer: Some(&outer), ..*open };
        union.payload_mut().read_flat(self, &inner)?;
        if let Some(kept) = kept
            && let Some(extra) = union.payload_mut().extra_mut()
        {
            extra.keep(Vec::from([(tags.name, kept)]));
        }
        Ok(())
    }

    /// Moves to the end of an invalid object, if reading continues.
    #[cold]
    fn leave(&mut self, open: &Open<'_>, fault: Fault) -> Fault {
        self.go_behind(open.start);
        fault
    }

    /// Returns the place of the value of `tag`, and whether it is the first member.
    #[inline]
    fn find_tag(&mut self, tags: &Tags, open: &Open<'_>) -> Result<Option<(usize, bool)>, Fault> {
        self.scanner.go_to(open.at);
        let (tag, mut walk) = (tags.name, Walk::at(open.is_first));
        if walk.pass(self, tags.quoted) {
            return Ok(Some((self.scanner.at(), true)));
        }
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
                && open.outer.is_none_or(|outer| outer.find(&name).is_none())
            {
                chosen = at;
            }
        }
        union.choose(chosen, "");
        union.payload_mut().read_flat(self, open)
    }
}
