//! Decoding of objects by their tables.
use super::diagnostic::DiagnosticCode;
use super::extra::ReceivedForm;
use super::mode::Mode;
use super::problem::{Fault, Problem, ProblemKind};
use super::raw::Raw;
use super::reader::ValueReader;
use super::table::{Member, OpenObject, OuterNames, OuterType, Table, UnreadTag};
use super::value::{FlatObject, Wire};
use super::walk::Walk;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// An object with a table while it is read.
struct ObjectReader<'r, 's> {
    table: &'static Table,
    slots: &'r mut [&'s mut dyn Wire],
    open: &'r OpenObject<'r>,
    walk: Walk,
    /// Index of the member that usually comes next.
    hint: usize,
    /// A bit for each member that was read.
    names: u64,
    /// A bit for each required member that has its default, since its value is invalid.
    defaults: u64,
    /// Received forms of members; absent without any, so that dropping them costs nothing.
    kept: Option<Vec<(&'static str, ReceivedForm)>>,
}

/// Reads the default of a member into a blank value.
pub fn fill(slot: &mut dyn Wire, default: &str) {
    // A default that its type cannot read leaves the blank value.
    drop(slot.read(&mut ValueReader::new(default, Mode::Strict)));
}

impl<'a> ValueReader<'a> {
    /// Reads an object of the type `name`.
    ///
    /// # Errors
    /// The next value is not an object, or a member is invalid.
    #[inline(never)]
    pub fn object(&mut self, object: &mut dyn FlatObject, name: &'static str) -> Result<(), Fault> {
        self.skips_items = false;
        if self.next_byte() != b'{' {
            return Err(self.fail(self.last, ProblemKind::Object(name)));
        }
        self.enter()?;
        let start = self.last;
        let open = OpenObject { start, at: start, is_first: true, outer: None };
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
        rest: &mut dyn FlatObject,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        self.scanner.go_to(open.at);
        let walk = Walk::at(open.is_first);
        let hint = 0;
        let names = 0;
        let defaults = 0;
        let kept = None;
        let mut reading = ObjectReader { table, slots, open, walk, hint, names, defaults, kept };
        loop {
            if let Some(member) = table.members.get(reading.hint)
                && member.is_plain
                && reading.walk.pass(self, member.quoted)
            {
                let at = reading.hint;
                reading.hint += 1;
                let is_new = reading.names & 1 << at == 0;
                let is_null = member.is_optional && self.scanner.byte_ahead(0) == b'n';
                let is_unmarked = self.mode == Mode::Strict || member.marks.is_none();
                if is_new
                    && is_unmarked
                    && !is_null
                    && open.is_own(member.name)
                    && let Some(slot) = reading.slots.get_mut(at)
                {
                    reading.names |= 1 << at;
                    slot.read(self).or_else(|fault| reading.walk.on_fault(self, fault))?;
                } else {
                    self.named(&mut reading, member.name, at)?;
                }
            } else if !table.is_framed
                && let Some((tag, unread)) = open.outer.and_then(OuterType::unread_tag)
                && reading.walk.pass(self, tag)
            {
                // The value was read before.
                unread.take().into_iter().for_each(|end| self.scanner.go_to(end));
            } else if reading.walk.pass_end(self) || !self.any(&mut reading, rest)? {
                break;
            }
        }
        reading.walk.end()?;
        if reading.names & table.required != table.required {
            return Err(self.missing(table, reading.names, open));
        }
        if table.is_framed {
            let outer = OuterType { names: OuterNames::Table(table), next: open.outer };
            rest.read_flat(self, &OpenObject { outer: Some(&outer), ..*open })?;
        }
        if let Some(kept) = reading.kept
            && let Some(extra) = rest.extra_mut()
        {
            extra.keep(kept);
        }
        self.defaults = reading.defaults;
        Ok(())
    }

    /// Returns the default of a required member, if the value that [`fields`](Self::fields) just
    /// read is invalid.
    #[inline]
    pub fn default_of(&self, table: &'static Table, name: &str) -> Option<&'static str> {
        if self.defaults == 0 {
            return None;
        }
        let at = table.find(name, 0).filter(|at| self.defaults & 1 << at != 0)?;
        table.members.get(at)?.default
    }

    /// Reads the next member of any name. Returns whether there was one.
    #[inline(never)]
    fn any(
        &mut self,
        reading: &mut ObjectReader<'_, '_>,
        rest: &mut dyn FlatObject,
    ) -> Result<bool, Fault> {
        let Some(name) = reading.walk.next(self)? else { return Ok(false) };
        let table = reading.table;
        let open = reading.open;
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
    fn named(
        &mut self,
        reading: &mut ObjectReader<'_, '_>,
        name: &str,
        at: usize,
    ) -> Result<(), Fault> {
        let read = match reading.open.outer.and_then(|outer| outer.find(name)) {
            Some(owner) => self.of_outer(owner, reading.table.is_framed, reading.open),
            None => self.field(reading, at),
        };
        read.or_else(|fault| reading.walk.on_fault(self, fault))
    }

    /// Returns the error of an object without one of its required members.
    #[cold]
    fn missing(&mut self, table: &'static Table, names: u64, open: &OpenObject<'_>) -> Fault {
        let is_missing = |at: &usize| names & 1 << at == 0;
        let missing = (0..table.members.len()).find(is_missing);
        let name = missing.and_then(|at| table.members.get(at)).map_or("", |member| member.name);
        self.problem = Some(Problem { at: open.start, what: ProblemKind::Missing(name) });
        Fault(())
    }

    /// Reads the value of a member into its slot.
    fn field(&mut self, reading: &mut ObjectReader<'_, '_>, at: usize) -> Result<(), Fault> {
        let (Some(member), Some(slot)) = (reading.table.members.get(at), reading.slots.get_mut(at))
        else {
            return Err(Fault(()));
        };
        if reading.names & 1 << at != 0 {
            return Err(self.twice(member.name, reading.open));
        }
        reading.names |= 1 << at;
        if member.is_optional && self.null()? {
            reading.kept.get_or_insert_default().push((member.name, ReceivedForm::Null));
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
        kept: &mut Option<Vec<(&'static str, ReceivedForm)>>,
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
            if let Some(left_out) = left_out {
                kept.get_or_insert_default().push((member.name, ReceivedForm::Items(left_out)));
            }
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
            kept.get_or_insert_default().push((member.name, ReceivedForm::Value(text)));
        }
        Ok(true)
    }

    /// Skips a member of the surrounding object.
    #[inline(never)]
    fn of_outer(
        &mut self,
        owner: Option<UnreadTag<'_>>,
        is_read_again: bool,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        match owner {
            Some((tag, unread)) if !is_read_again && unread.take().is_none() => {
                Err(self.twice(tag, open))
            }
            _ => self.text().map(drop),
        }
    }

    /// Keeps an unknown member.
    #[inline(never)]
    fn unknown(&mut self, name: Cow<'a, str>, rest: &mut dyn FlatObject) -> Result<(), Fault> {
        let text = self.text()?;
        if let Some(extra) = rest.extra_mut() {
            match Raw::of_checked(text) {
                Some(value) => extra.push(name.into(), value),
                None => return Err(self.broken()),
            }
        }
        Ok(())
    }

    /// Returns the error of a repeated member; its second value follows.
    #[cold]
    fn twice(&mut self, name: &'static str, open: &OpenObject<'_>) -> Fault {
        self.problem = Some(Problem { at: open.start, what: ProblemKind::Twice(name) });
        if self.guards > 0 {
            self.next_byte();
            self.go_behind(self.last);
        }
        Fault(())
    }
}
