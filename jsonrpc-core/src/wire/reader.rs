//! The reader of values: one pass over JSON text, with the mode, the diagnostics and the first
//! error.
use super::diagnostic::{DiagnosticCode, MAX_DIAGNOSTICS};
use super::left_out::OmittedItems;
use super::mode::Mode;
use super::problem::{Fault, MAX_DEPTH, Problem, ProblemKind, SkippedValue};
use crate::scan::Scanner;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

/// Reads the values of one JSON text.
///
/// Methods that read a value start at the next value, and end after it.
#[derive(Debug)]
pub struct ValueReader<'a> {
    pub(super) json: &'a str,
    pub(super) scanner: Scanner<'a>,
    pub(super) mode: Mode,
    pub(super) depth: usize,
    /// Start of the last value.
    pub(super) last: usize,
    /// Number of surrounding members with annotations that permit an error.
    pub(super) guards: usize,
    /// Whether the next list leaves out invalid items.
    pub(super) skips_items: bool,
    /// The items that the last such list left out.
    pub(super) left_out: Option<Box<OmittedItems>>,
    /// A bit for each member of the last object that has its default.
    pub(super) defaults: u64,
    pub(super) problem: Option<Problem>,
    /// The text is not JSON.
    pub(super) is_broken: bool,
    pub(super) notes: Vec<SkippedValue>,
    /// Number of notes beyond the limit.
    pub(super) omitted: usize,
}

impl<'a> ValueReader<'a> {
    pub(super) fn new(json: &'a str, mode: Mode) -> Self {
        Self {
            json,
            scanner: Scanner::of_any_depth(json.as_bytes()),
            mode,
            depth: 0,
            last: 0,
            guards: 0,
            skips_items: false,
            left_out: None,
            defaults: 0,
            problem: None,
            is_broken: false,
            notes: Vec::new(),
            omitted: 0,
        }
    }

    /// Returns the first byte of the next value; 0 at the end of the text.
    #[inline]
    pub fn next_byte(&mut self) -> u8 {
        let byte = self.scanner.next_token();
        self.last = self.scanner.at();
        byte
    }

    /// Reads a value of any form, and returns its text.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn text(&mut self) -> Result<&'a str, Fault> {
        self.next_byte();
        let Some(place) = self.scanner.value() else { return Err(self.broken()) };
        Ok(self.json.get(place).unwrap_or_default())
    }

    /// Reads a string.
    ///
    /// # Errors
    /// The next value is not a string.
    #[inline(never)]
    pub fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        if self.next_byte() != b'"' {
            return Err(self.expected("a string"));
        }
        match self.scanner.plain_place() {
            Ok(place) => Ok(Cow::Borrowed(self.json.get(place).unwrap_or_default())),
            Err(escape) => self.unescaped(escape).map(Cow::Owned),
        }
    }

    #[inline(never)]
    fn unescaped(&mut self, escape: usize) -> Result<String, Fault> {
        self.scanner.unescaped(escape).ok_or_else(|| {
            let what = "expected a string of Unicode characters, got a lone surrogate";
            self.fail(self.last, ProblemKind::Message(what.into()))
        })
    }

    /// Reads `null` if it follows.
    ///
    /// # Errors
    /// The text is not JSON.
    #[inline]
    pub fn null(&mut self) -> Result<bool, Fault> {
        if self.next_byte() != b'n' {
            return Ok(false);
        }
        match self.scanner.literal(b"null") {
            Some(_) => Ok(true),
            None => Err(self.broken()),
        }
    }

    /// Reads an integer; `name` is the type's name for errors.
    ///
    /// # Errors
    /// The next value is not an integer, or is out of range.
    pub fn integer<T: FromStr>(&mut self, name: &'static str) -> Result<T, Fault> {
        let text = self.number(name)?;
        text.parse().map_err(|_| self.invalid(name))
    }

    pub(super) fn float(&mut self, name: &'static str) -> Result<f64, Fault> {
        let text = self.number(name)?;
        match text.parse() {
            Ok(number) if f64::is_finite(number) => Ok(number),
            _ => Err(self.invalid(name)),
        }
    }

    #[inline(never)]
    pub(super) fn number(&mut self, name: &'static str) -> Result<&'a str, Fault> {
        if !matches!(self.next_byte(), b'-' | b'0'..=b'9') {
            return Err(self.expected(name));
        }
        let text = self.text()?;
        // A nonnegative integer has no sign.
        Ok(if text == "-0" { "-0.0" } else { text })
    }

    /// Reads an array with `each`, which reads one item.
    ///
    /// # Errors
    /// The next value is not an array, or `each` fails and the item may not be left out.
    #[inline(never)]
    pub fn items(
        &mut self,
        each: &mut dyn FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let skips = core::mem::take(&mut self.skips_items);
        if self.next_byte() != b'[' {
            return Err(self.expected("a sequence"));
        }
        self.enter()?;
        let mut left_out = (skips && self.mode != Mode::Strict).then(Box::<OmittedItems>::default);
        let mut is_first = true;
        let mut is_failed = false;
        let mut index = 0_u32;
        loop {
            match self.scanner.next_item(core::mem::take(&mut is_first)) {
                Some(true) if is_failed => drop(self.text()?),
                Some(true) => {
                    let start = self.scanner.at();
                    if let Err(fault) = each(self) {
                        is_failed = self.leave_out(fault, left_out.as_deref_mut(), index, start)?;
                    }
                    index = index.saturating_add(1);
                }
                Some(false) => break,
                None => return Err(self.broken()),
            }
        }
        self.depth -= 1;
        if is_failed {
            return Err(Fault(()));
        }
        if let Some(left_out) = &mut left_out {
            left_out.keep(self.json);
        }
        self.left_out = left_out;
        Ok(())
    }

    /// Returns how many items of a size to make room for in a full list of `count` items that
    /// begins at `start`. A long list of items that are larger than half their text grows once, by
    /// the number of items that its length permits; doubling would hold several times its final
    /// size.
    pub(super) fn growth(&self, start: usize, count: usize, size: usize) -> usize {
        const SHORT: usize = 64;
        if count < SHORT {
            return count.max(4);
        }
        let at = self.scanner.at();
        let read = at.saturating_sub(start);
        if count.saturating_mul(size) <= read / 2 {
            return count;
        }
        let end = self.scanner.end_of(start).unwrap_or(at);
        let left = end.saturating_sub(at) / (read / count).max(1);
        // Items of different lengths.
        (left + left / 8).max(count / 2)
    }

    /// Decides about an item that cannot be read: it is left out, or the list cannot be read, which
    /// is returned.
    #[cold]
    fn leave_out(
        &mut self,
        fault: Fault,
        left_out: Option<&mut OmittedItems>,
        index: u32,
        start: usize,
    ) -> Result<bool, Fault> {
        if !self.goes_on() {
            return Err(fault);
        }
        let Some(left_out) = left_out else { return Ok(true) };
        self.record(DiagnosticCode::SkippedItem, start);
        if self.mode == Mode::Preserve {
            left_out.push(index, start..self.scanner.at());
        }
        Ok(false)
    }

    /// Returns whether the next value is an array, and its first item is an object with this
    /// member.
    pub fn first_item_has(&self, name: &str) -> bool {
        let mut scanner = self.scanner.clone();
        scanner.next_item(true) == Some(true)
            && scanner.open_object()
            && scanner.seek_member(name).is_some()
    }

    /// Returns whether reading continues after a fault, since annotations may permit it.
    #[inline]
    pub(super) fn goes_on(&self) -> bool {
        self.guards > 0 && !self.is_broken
    }

    /// Enters the array or object at the last place.
    #[inline]
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            return Err(self.fail(self.last, ProblemKind::TooDeep));
        }
        self.depth += 1;
        Ok(())
    }

    /// Returns the text between a place and the current one.
    pub(super) fn text_since(&self, at: usize) -> &'a str {
        self.json.get(at..self.scanner.at()).unwrap_or_default()
    }
}

/// Errors and diagnostics of values.
impl ValueReader<'_> {
    /// Returns the error of the next value, which has another form than `what`.
    #[cold]
    pub fn expected(&mut self, what: &'static str) -> Fault {
        self.next_byte();
        self.fail(self.last, ProblemKind::Expected(what))
    }

    /// Returns the error of the last value, which is not `what`.
    #[cold]
    pub fn invalid(&mut self, what: &'static str) -> Fault {
        self.problem = Some(Problem { at: self.last, what: ProblemKind::Expected(what) });
        Fault(())
    }

    /// Records that the text is not JSON.
    #[cold]
    pub(super) fn broken(&mut self) -> Fault {
        self.is_broken = true;
        Fault(())
    }

    /// Returns the error of the value at `at`. If annotations may permit it, reading continues
    /// after the value.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&mut self, at: usize, what: ProblemKind) -> Fault {
        self.problem = Some(Problem { at, what });
        self.go_behind(at);
        Fault(())
    }

    /// Moves after the value at `at`, if reading continues.
    pub(super) fn go_behind(&mut self, at: usize) {
        if self.guards > 0 {
            self.scanner.go_to(at);
            self.is_broken |= self.scanner.value().is_none();
        }
    }

    /// Records that the value at `at` was not read because of the current error.
    pub(super) fn record(&mut self, code: DiagnosticCode, at: usize) {
        let Some(problem) = self.problem.take() else { return };
        if self.notes.len() < MAX_DIAGNOSTICS {
            self.notes.push(SkippedValue { code, at, problem });
        } else {
            self.omitted += 1;
        }
    }
}
