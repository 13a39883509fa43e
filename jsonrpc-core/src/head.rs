//! The start of a message, for programs that need no more of most.
use crate::envelope::{ERROR, ID, METHOD, PARAMS, RESULT, begin, read_name};
use crate::member_reader::MemberReader;
use crate::scan::Scanner;
use core::ops::Range;

/// What the envelope of a message says before the value of its first `params`, `result` or `error`.
///
/// For programs that look at a few members of very many messages, and count: no byte behind the payload's start is looked
/// at, so no member behind it is known, and nothing is checked that is passed over. Messages that are answered, routed or
/// changed are for [`peek()`](crate::peek()).
///
/// ```
/// use jsonrpc_core::{Head, Payload};
///
/// let line = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"text":"and so"#;
/// let mut head = Head::read(line).ok_or("another kind of line")?;
/// assert_eq!((head.id, head.method, head.payload), (None, Some(r#""session/update""#), Payload::Params));
/// assert!(head.members.enter());
/// assert_eq!(head.members.next_name()?.as_deref(), Some(&b"sessionId"[..]));
/// assert_eq!(head.members.value()?, r#""s-1""#);
/// assert!(line.get(..head.members.position()).is_some_and(|read| read.ends_with(br#""s-1""#)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Head<'a> {
    /// The id, as JSON text, where it stands before the payload.
    pub id: Option<&'a str>,
    /// The method, as JSON text, where it stands before the payload.
    pub method: Option<&'a str>,
    /// Which member the payload is.
    pub payload: Payload,
    /// The members of the message, at the value of the payload.
    pub members: MemberReader<'a>,
}

/// The member of a message that carries what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Payload {
    /// `params`, of a request or a notification.
    Params,
    /// `result`, of a response.
    Result,
    /// `error`, of a response.
    Error,
}

impl<'a> Head<'a> {
    /// Reads the start of a line. Returns `None` where it ends, or is not JSON, before the value of a payload, and where a
    /// message has none.
    #[inline]
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let mut scanner = Scanner::of_any_depth(line);
        let (mut id, mut method) = (None, None);
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
            *slot = core::str::from_utf8(line.get(start..end)?).ok();
            is_more = scanner.go_on()?;
        }
        None
    }

    fn new(
        scanner: Scanner<'a>,
        id: Option<&'a str>,
        method: Option<&'a str>,
        payload: Payload,
    ) -> Self {
        Self { id, method, payload, members: MemberReader::at_value(scanner) }
    }
}
