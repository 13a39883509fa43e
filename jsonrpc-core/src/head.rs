//! The start of a message, for programs that need only its first members.
use crate::envelope::{ERROR, ID, METHOD, PARAMS, RESULT, begin, read_name};
use crate::member_reader::MemberReader;
use crate::scan::Scanner;
use core::ops::Range;

/// The envelope of a message up to the value of its first `params`, `result` or `error`.
///
/// For programs that read a few members of very many messages. No byte after the start of the
/// payload is examined, so later members of the envelope are unknown, skipped values are not
/// validated, and neither is the UTF-8 of the id and the method, which most callers only compare.
/// For messages that are answered, routed or changed, use [`peek()`](crate::peek()).
///
/// ```
/// use jsonrpc_core::{Head, Payload};
///
/// let line = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"text":"and so"#;
/// let mut head = Head::read(line).ok_or("another kind of line")?;
/// assert_eq!((head.id, head.payload), (None, Payload::Params));
/// assert_eq!(head.method, Some(&br#""session/update""#[..]));
/// assert!(head.members.enter());
/// assert_eq!(head.members.next_name()?.as_deref(), Some(&b"sessionId"[..]));
/// assert_eq!(head.members.value()?, r#""s-1""#);
/// assert!(line.get(..head.members.position()).is_some_and(|read| read.ends_with(br#""s-1""#)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The id as JSON text, if it precedes the payload.
    pub id: Option<&'a [u8]>,
    /// The method as JSON text, if it precedes the payload.
    pub method: Option<&'a [u8]>,
    /// Which member the payload is.
    pub payload: Payload,
    /// A reader at the value of the payload.
    pub members: MemberReader<'a>,
}

/// The member with the payload of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC has these three members with a payload")]
pub enum Payload {
    /// `params`, of a request or a notification.
    Params,
    /// `result`, of a response.
    Result,
    /// `error`, of a response.
    Error,
}

impl<'a> Head<'a> {
    /// Reads the start of a line. Returns `None` if it ends or is invalid before the value of a
    /// payload, or has no payload.
    #[inline]
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let mut scanner = Scanner::of_any_depth(line);
        let mut id = None;
        let mut method = None;
        let mut is_more = match begin(&mut scanner) {
            Some(_) => scanner.go_on()?,
            None => scanner.enter()?,
        };
        while is_more {
            let slot = match read_name(&mut scanner)? {
                PARAMS => return Some(Self::new(scanner, id, method, Payload::Params)),
                RESULT => return Some(Self::new(scanner, id, method, Payload::Result)),
                ERROR => return Some(Self::new(scanner, id, method, Payload::Error)),
                ID => &mut id,
                METHOD => &mut method,
                _ => &mut None,
            };
            let Range { start, end } = scanner.value()?;
            *slot = Some(line.get(start..end)?);
            is_more = scanner.go_on()?;
        }
        None
    }

    fn new(
        scanner: Scanner<'a>,
        id: Option<&'a [u8]>,
        method: Option<&'a [u8]>,
        payload: Payload,
    ) -> Self {
        Self { id, method, payload, members: MemberReader::at_value(scanner) }
    }
}
