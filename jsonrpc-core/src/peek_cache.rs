use crate::peek::{Peek, PeekError};
use crate::peek_members::{Found, Places, Seen, text};
use crate::scan::{string, token};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use memchr::memchr;

/// Peeks at lines of a stream in which most differ from an earlier one in one string: the tokens of a model.
///
/// It gives what [`peek_members`](crate::peek_members) gives, for any line, and for such lines several times faster: two
/// lines that differ in one string are a shape, and in a line that has the shape only that string is read. It keeps
/// [`MAX_SHAPES`](Self::MAX_SHAPES) shapes, of [`MAX_LINE`](Self::MAX_LINE) bytes each.
///
/// ```
/// use jsonrpc_core::PeekCache;
///
/// let mut cache = PeekCache::new([&["update", "sessionUpdate"]]);
/// for word in ["Once", " upon", " a \\\"time\\\""] {
///     let line = format!(
///         r#"{{"method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","text":"{word}"}}}}}}"#
///     );
///     let (peek, [kind]) = cache.peek(line.as_bytes())?;
///     assert!(peek.method().is_some_and(|method| method == "session/update"));
///     assert_eq!(kind?, Some(r#""agent_message_chunk""#));
/// }
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PeekCache<const N: usize> {
    paths: [&'static [&'static str]; N],
    shapes: Vec<Shape<N>>,
    /// The shape that was used last.
    recent: usize,
    /// How many lines had a shape.
    uses: u64,
    /// The last line that had no shape.
    last: Vec<u8>,
}

/// A line up to the inside of a string, and from its end on.
#[derive(Clone, Debug)]
struct Shape<const N: usize> {
    head: Box<[u8]>,
    tail: Box<[u8]>,
    /// Where the parts are, in the line that it was learnt from.
    places: Places<N>,
    /// Where the string ends in that line.
    end: usize,
    /// [`PeekCache::uses`] when it was used last.
    used: u64,
}

impl<const N: usize> PeekCache<N> {
    /// How many shapes are kept.
    pub const MAX_SHAPES: usize = 8;

    /// Up to how many bytes a line may have to become a shape. A line of that shape may have any length.
    pub const MAX_LINE: usize = 4096;

    /// Looks for members at these paths of the params, as [`peek_members`](crate::peek_members) does.
    pub fn new(paths: [&'static [&'static str]; N]) -> Self {
        Self { paths, shapes: Vec::new(), recent: 0, uses: 0, last: Vec::new() }
    }

    /// Says what a line is, and finds members.
    ///
    /// # Errors
    /// As [`peek_members`](crate::peek_members).
    pub fn peek<'a>(&mut self, line: &'a [u8]) -> Result<(Peek<'a>, [Found<'a>; N]), PeekError> {
        let text = text(line)?;
        if let Some(shape) = self.shape_of(line) {
            return Ok(shape.peek(text));
        }
        let mut seen = Seen::new(self.paths);
        let peek = seen.look(text)?;
        let found = seen.found(text);
        self.learn(line, seen.into_places(&peek));
        Ok((peek, found))
    }

    #[inline]
    fn shape_of(&mut self, line: &[u8]) -> Option<&Shape<N>> {
        self.uses += 1;
        let is_recent = self.shapes.get(self.recent).is_some_and(|shape| shape.fits(line));
        if !is_recent {
            self.recent = self.find(line)?;
        }
        let shape = self.shapes.get_mut(self.recent)?;
        shape.used = self.uses;
        Some(shape)
    }

    #[inline(never)]
    fn find(&self, line: &[u8]) -> Option<usize> {
        self.shapes.iter().position(|shape| shape.fits(line))
    }

    fn learn(&mut self, line: &[u8], places: Places<N>) {
        if line.len() > Self::MAX_LINE {
            return;
        }
        if let Some(shape) = Shape::learn(&self.last, line, places) {
            let shape = Shape { used: self.uses, ..shape };
            let is_full = self.shapes.len() >= Self::MAX_SHAPES;
            let oldest = self.shapes.iter_mut().min_by_key(|shape| shape.used);
            match oldest.filter(|_| is_full) {
                Some(oldest) => *oldest = shape,
                None => self.shapes.push(shape),
            }
        }
        self.last.clear();
        self.last.extend_from_slice(line);
    }
}

impl<const N: usize> Shape<N> {
    /// The shape of a line, if it differs from the one before in one string.
    fn learn(before: &[u8], line: &[u8], places: Places<N>) -> Option<Self> {
        let same = common_start(before, line);
        let (rest_before, rest) = (before.get(same..)?, line.get(same..)?);
        if rest_before.is_empty() && rest.is_empty() {
            return None;
        }
        let changed = same..line.len() - common_end(rest_before, rest);
        // What was changed is not in one string; or in one with a quote, that another line will not have.
        if memchr(b'"', line.get(changed.clone())?).is_some() {
            return None;
        }
        let Range { start, end } = string_around(line, changed)?;
        // An id may not have any length.
        if places.id().is_some_and(|id| id.contains(&start)) {
            return None;
        }
        Some(Self {
            head: line.get(..start)?.into(),
            tail: line.get(end..)?.into(),
            places,
            end,
            used: 0,
        })
    }

    #[inline(always)]
    fn fits(&self, line: &[u8]) -> bool {
        let (start, quote) = (self.head.len(), line.len().wrapping_sub(self.tail.len()));
        line.len() >= start + self.tail.len()
            && line.starts_with(&self.head)
            && line.ends_with(&self.tail)
            && string(line, start) == Ok(quote + 1)
    }

    #[inline]
    fn peek<'a>(&self, text: &'a str) -> (Peek<'a>, [Found<'a>; N]) {
        let (learnt, now) = (self.end, text.len() - self.tail.len());
        let moved = now.wrapping_sub(learnt);
        let shift = |at: usize| at.wrapping_add(if at < learnt { 0 } else { moved });
        let shift = |range: &Range<usize>| shift(range.start)..shift(range.end);
        self.places.read(text, shift)
    }
}

/// How many bytes the two have in common before they differ.
fn common_start(one: &[u8], other: &[u8]) -> usize {
    let (blocks, _) = one.as_chunks::<16>();
    let (other_blocks, _) = other.as_chunks();
    let whole = 16 * equal(blocks.iter(), other_blocks.iter());
    let (rest, other_rest) = (one.iter().skip(whole), other.iter().skip(whole));
    whole + equal(rest, other_rest)
}

/// How many bytes the two have in common at their ends.
fn common_end(one: &[u8], other: &[u8]) -> usize {
    let (_, blocks) = one.as_rchunks::<16>();
    let (_, other_blocks) = other.as_rchunks();
    let whole = 16 * equal(blocks.iter().rev(), other_blocks.iter().rev());
    let (rest, other_rest) = (one.iter().rev().skip(whole), other.iter().rev().skip(whole));
    whole + equal(rest, other_rest)
}

fn equal<T: PartialEq>(one: impl Iterator<Item = T>, other: impl Iterator<Item = T>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// What stands between the quotes of the value around some bytes of a JSON text, if that is a string.
fn string_around(json: &[u8], bytes: Range<usize>) -> Option<Range<usize>> {
    let mut at = 0;
    loop {
        let start = at + memchr(b'"', json.get(at..)?)? + 1;
        at = string(json, start).ok()?;
        let quote = at - 1;
        if quote >= bytes.start {
            let (behind, _) = token(json, at);
            let is_inside = start <= bytes.start && bytes.end <= quote;
            return (is_inside && behind != b':').then_some(start..quote);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn what_differs_in_one_string_is_a_shape() {
        let mut cache = PeekCache::new([]);
        let line = |text| format!(r#"{{"method":"m","params":{{"s":"one","text":"{text}"}}}}"#);
        for text in ["first", " and", r#"a \"third\" \ud83d"#, ""] {
            assert!(cache.peek(line(text).as_bytes()).is_ok());
        }
        assert_eq!(cache.shapes.len(), 1);
        let fits = |text| cache.shapes.iter().any(|shape| shape.fits(line(text).as_bytes()));
        assert!(fits(r"any \u0000"));
        assert!(!fits(r#"x","text":"y"#) && !fits("\n") && !fits("\\") && !fits(r"\u00"));
    }

    #[test]
    fn a_cache_is_bounded() {
        let mut cache = PeekCache::new([]);
        for shape in 0..100 {
            for text in ["a", "b"] {
                let line = format!(r#"{{"method":"m{shape}","params":["{text}"]}}"#);
                assert!(cache.peek(line.as_bytes()).is_ok());
            }
            let long = format!(r#"{{"method":"m","params":[{}{shape}]}}"#, " ".repeat(5000));
            assert!(cache.peek(long.as_bytes()).is_ok());
        }
        assert_eq!(cache.shapes.len(), PeekCache::<0>::MAX_SHAPES);
        assert!(cache.last.capacity() <= 2 * PeekCache::<0>::MAX_LINE);
    }
}
