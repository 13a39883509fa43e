//! The iteration over the members of an object.
use super::problem::{Fault, Problem, ProblemKind};
use super::reader::ValueReader;
use alloc::borrow::Cow;

impl<'a> ValueReader<'a> {
    /// Reads an object by `each`, which receives each name and reads its value.
    ///
    /// # Errors
    /// The next value is not an object, or `each` fails.
    #[allow(clippy::type_complexity, reason = "the type of one closure, which is used once")]
    pub fn members(
        &mut self,
        what: &'static str,
        each: &mut dyn FnMut(Cow<'a, str>, &mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.skips_items = false;
        if self.next_byte() != b'{' {
            return Err(self.expected(what));
        }
        self.enter()?;
        let mut walk = Walk::at(true);
        while let Some(name) = walk.next(self)? {
            if let Err(fault) = each(name, self) {
                walk.on_fault(self, fault)?;
            }
        }
        self.depth -= 1;
        walk.end()
    }
}

/// The iteration over the members of an object. It continues after an invalid one if annotations
/// may permit that.
pub(super) struct Walk {
    /// The byte before the next member.
    before: u8,
}

const FIRST: u8 = b'{';
const LATER: u8 = b',';
/// In an object with an invalid member, names are not compared: no UTF-8 text has this byte.
const FAILED: u8 = 0xff;

impl Walk {
    /// Begins before the opening bracket if `is_first`, otherwise after a member.
    pub(super) fn at(is_first: bool) -> Self {
        Self { before: if is_first { FIRST } else { LATER } }
    }

    /// Returns the name of the next member; `None` at the end of the object.
    #[inline(never)]
    pub(super) fn next<'a>(
        &mut self,
        reader: &mut ValueReader<'a>,
    ) -> Result<Option<Cow<'a, str>>, Fault> {
        loop {
            let scanner = &mut reader.scanner;
            let is_more = if self.before == FIRST {
                self.before = LATER;
                scanner.enter()
            } else {
                scanner.go_on()
            };
            match is_more {
                Some(true) => {}
                Some(false) => return Ok(None),
                None => return Err(reader.broken()),
            }
            let Some((place, has_escapes)) = scanner.name_place() else {
                return Err(reader.broken());
            };
            if self.before == FAILED {
                reader.text()?;
                continue;
            }
            let name = reader.json.get(place).unwrap_or_default();
            return if has_escapes {
                unescaped(reader, name)
            } else {
                Ok(Some(Cow::Borrowed(name)))
            };
        }
    }

    /// Skips the name of the next member if it is this one, without white space before it. `quoted`
    /// is the name as a JSON string between a comma and a colon. Returns whether it was skipped.
    #[inline(always)]
    pub(super) fn pass(&mut self, reader: &mut ValueReader<'_>, quoted: &str) -> bool {
        let [_, name @ ..] = quoted.as_bytes() else { return false };
        let is_next = reader.scanner.pass_text(self.before, name);
        if is_next {
            self.before = LATER;
        }
        is_next
    }

    /// Skips the end of the object if it follows the last value without white space.
    #[inline(always)]
    pub(super) fn pass_end(&self, reader: &mut ValueReader<'_>) -> bool {
        self.before != FIRST && reader.scanner.literal(b"}").is_some()
    }

    /// Skips the rest of the object before reporting the fault.
    #[cold]
    pub(super) fn on_fault(&mut self, reader: &ValueReader<'_>, fault: Fault) -> Result<(), Fault> {
        self.before = FAILED;
        if reader.goes_on() { Ok(()) } else { Err(fault) }
    }

    #[inline]
    pub(super) fn end(&self) -> Result<(), Fault> {
        if self.before == FAILED { Err(Fault(())) } else { Ok(()) }
    }
}

#[cold]
fn unescaped<'a>(
    reader: &mut ValueReader<'a>,
    name: &'a str,
) -> Result<Option<Cow<'a, str>>, Fault> {
    match crate::JsonStr::between_quotes(name).decode() {
        Some(name) => Ok(Some(name)),
        None => {
            let what = "expected member names of Unicode characters, got a lone surrogate";
            reader.problem =
                Some(Problem { at: reader.last, what: ProblemKind::Message(what.into()) });
            // No annotation permits it.
            reader.is_broken = true;
            Err(Fault(()))
        }
    }
}
