use crate::envelope::{Members, Scan, Watch};
use crate::message::Kind;
use crate::peek::{Peek, PeekError};
use crate::scan::{Name, Scanner};
use core::ops::Range;

/// What was found of a member of the params: its value as JSON text, or that it comes twice.
pub type Found<'a> = Result<Option<&'a str>, PeekError>;

/// Says what a line is, as [`peek`](crate::peek()) does, and finds members in the params of a request or a notification
/// on the way: one pass for all of them, no memory.
///
/// A path has the names of a member and of those around it, the outermost first. What is found is what
/// [`peek_member`](crate::peek_member) finds, name by name.
///
/// ```
/// use jsonrpc_core::{Kind, peek_members};
///
/// let line = br#"{"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":[]}}}"#;
/// let (peek, [session, kind]) = peek_members(line, [&["sessionId"], &["update", "sessionUpdate"]])?;
/// assert_eq!(peek.kind(), Kind::Notification);
/// assert_eq!((session?, kind?), (Some(r#""s-1""#), Some(r#""plan""#)));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
///
/// There may be up to 64 paths.
///
/// # Errors
/// As [`peek`](crate::peek()). A member that comes twice is [`PeekError::Duplicate`] at its place, and the rest is there.
pub fn peek_members<'a, const N: usize>(
    line: &'a [u8],
    paths: [&[&str]; N],
) -> Result<(Peek<'a>, [Found<'a>; N]), PeekError> {
    let text = text(line)?;
    let mut seen = Seen::new(paths);
    let peek = seen.look(text)?;
    Ok((peek, seen.found(text)))
}

#[inline]
pub(crate) fn text(line: &[u8]) -> Result<&str, PeekError> {
    core::str::from_utf8(line).map_err(|error| PeekError::Utf8 { at: error.valid_up_to() })
}

/// Where the parts of a message are that is peeked at.
pub(crate) struct Seen<'p, const N: usize> {
    scan: Scan,
    search: Search<'p, N>,
}

impl<'p, const N: usize> Seen<'p, N> {
    #[inline]
    pub(crate) fn new(paths: [&'p [&'p str]; N]) -> Self {
        Self { scan: Scan::default(), search: Search::new(paths) }
    }

    /// Looks at a text, the first one.
    #[inline]
    pub(crate) fn look<'a>(&mut self, text: &'a str) -> Result<Peek<'a>, PeekError> {
        let mut scanner = Scanner::new(text.as_bytes());
        self.scan.read(&mut scanner, &mut self.search).ok_or_else(|| scanner.fault())?;
        let mut members = Members::new(self.scan.texts(text));
        let kind = match (self.scan.problem, members.kind()) {
            (None, Ok(kind)) => kind,
            (Some(shape), _) | (None, Err((shape, _))) => return Err(PeekError::Shape(shape)),
        };
        if kind == Kind::Response {
            members.params = None;
            self.search.found = [const { Place::Nowhere }; N];
        }
        Ok(Peek { kind, members })
    }

    #[inline]
    pub(crate) fn found<'a>(&self, text: &'a str) -> [Found<'a>; N] {
        let mut found = [const { Ok(None) }; N];
        for (found, place) in found.iter_mut().zip(&self.search.found) {
            *found = match place {
                Place::Nowhere => Ok(None),
                Place::At(range) => Ok(text.get(range.clone())),
                Place::Twice => Err(PeekError::Duplicate),
            };
        }
        found
    }
}

/// Where a member is.
#[derive(Clone, Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    At(Range<usize>),
    Twice,
}

/// Finds members on the way through the params.
struct Search<'p, const N: usize> {
    paths: [&'p [&'p str]; N],
    /// How many names of each path were found.
    reached: [usize; N],
    found: [Place; N],
}

/// Some of the paths, as bits.
type Paths = u64;

impl<'p, const N: usize> Search<'p, N> {
    #[inline]
    fn new(paths: [&'p [&'p str]; N]) -> Self {
        const { assert!(N <= Paths::BITS as usize, "more than 64 paths") };
        Self { paths, reached: [0; N], found: [const { Place::Nowhere }; N] }
    }

    /// Reads an object that the first `level` names of some paths lead to. It goes as deep as the longest path.
    fn object(
        &mut self,
        scanner: &mut Scanner<'_>,
        level: usize,
        on_way: Paths,
    ) -> Option<Range<usize>> {
        scanner.object(|scanner| {
            let mut name = scanner.first_name()?;
            while let Some(text) = name {
                let (here, inside) = self.step(text, level, on_way);
                let value = if inside != 0 && scanner.next_token() == b'{' {
                    self.object(scanner, level + 1, inside)?
                } else {
                    scanner.value()?
                };
                if here != 0 {
                    self.keep(here, &value);
                }
                name = scanner.next_name()?;
            }
            Some(())
        })
    }

    /// Which paths end at a member, and which lead into it.
    #[inline]
    fn step(&mut self, name: Name<'_>, level: usize, on_way: Paths) -> (Paths, Paths) {
        let (mut here, mut inside) = (0, 0);
        let states = self.reached.iter_mut().zip(&mut self.found);
        for (at, (path, (reached, found))) in self.paths.iter().zip(states).enumerate() {
            let bit = 1 << at;
            if on_way & bit == 0 || !path.get(level).is_some_and(|wanted| name.is(wanted)) {
                continue;
            }
            if *reached > level {
                *found = Place::Twice;
                continue;
            }
            *reached = level + 1;
            if path.len() == *reached {
                here |= bit;
            } else {
                inside |= bit;
            }
        }
        (here, inside)
    }

    fn keep(&mut self, here: Paths, value: &Range<usize>) {
        for (at, found) in self.found.iter_mut().enumerate() {
            if here & (1 << at) != 0 {
                *found = Place::At(value.clone());
            }
        }
    }
}

impl<'a, const N: usize> Watch<'a> for Search<'_, N> {
    #[inline]
    fn params(&mut self, scanner: &mut Scanner<'a>) -> Option<Range<usize>> {
        if N > 0 && scanner.next_token() == b'{' {
            self.object(scanner, 0, Paths::MAX)
        } else {
            scanner.value()
        }
    }
}
