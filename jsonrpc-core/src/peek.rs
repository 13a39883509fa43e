use crate::RequestId;
use crate::decode_error::Shape;
use crate::envelope::{Members, NAMES};
use crate::json_str::JsonStr;
use crate::message::{Kind, Message};
use crate::scan::{Fault, MAX_DEPTH, Scanner};
use core::ops::Range;

/// What a line is, without reading what it carries.
///
/// One pass over the bytes, no memory: for programs that route, count or pass lines on. Where [`Message::decode`] gives
/// a message this gives its kind, id and method; the whole line is checked, so a duplicate member at its end is seen.
///
/// ```
/// use jsonrpc_core::{JsonStr, Kind, peek, peek_member};
///
/// let line = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{}}}"#;
/// let peek = peek(line)?;
/// assert_eq!(peek.kind(), Kind::Notification);
/// assert!(peek.method().is_some_and(|method| method == "session/update"));
/// let session = peek_member(peek.params().unwrap_or_default(), "sessionId")?;
/// assert_eq!(session.and_then(JsonStr::new).and_then(|id| id.as_plain()), Some("s-1"));
/// # Ok::<(), jsonrpc_core::PeekError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Peek<'a> {
    kind: Kind,
    members: Members<'a>,
}

impl<'a> Peek<'a> {
    /// Whether it is a request, a notification or a response.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The id, as JSON text.
    pub fn id(&self) -> Option<&'a str> {
        self.members.id
    }

    /// The id, to be kept or compared. Allocates where the id is a string.
    pub fn request_id(&self) -> Option<RequestId> {
        RequestId::from_text(self.members.id?)
    }

    /// The method of a request or a notification.
    pub fn method(&self) -> Option<JsonStr<'a>> {
        JsonStr::new(self.members.method?)
    }

    /// The params of a request or a notification, as JSON text: an object or an array.
    pub fn params(&self) -> Option<&'a str> {
        self.members.params.filter(|_| self.kind != Kind::Response)
    }

    /// The result of a response that has no error, as JSON text.
    pub fn result(&self) -> Option<&'a str> {
        self.members.result
    }

    /// The error of a response, as JSON text; whether it is an error object has not been looked at.
    pub fn error(&self) -> Option<&'a str> {
        self.members.error
    }
}

/// A line is not a message, or cannot be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeekError {
    /// It is not UTF-8.
    #[error("not valid UTF-8 from byte {at}")]
    Utf8 {
        /// Where the first wrong byte is.
        at: usize,
    },
    /// It is not JSON.
    #[error("not valid JSON at byte {at}")]
    Syntax {
        /// Where reading ended.
        at: usize,
    },
    /// A member has more than 1024 arrays and objects inside each other.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The member that was asked for comes twice.
    #[error("expected one member of this name, got two")]
    Duplicate,
    /// It is JSON, and not a message.
    #[error("not a JSON-RPC message: {0}")]
    Shape(Shape),
}

impl From<Fault> for PeekError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Syntax { at } => Self::Syntax { at },
            Fault::TooDeep => Self::TooDeep,
        }
    }
}

/// Says what a line is; see [`Peek`].
///
/// # Errors
/// The line is not a message, as [`Message::decode`] sees it, or is nested too deep. Two things only `decode` sees: the
/// `error` of a response that is no error object, and half a surrogate pair in the method, the id or a member's name.
pub fn peek(line: &[u8]) -> Result<Peek<'_>, PeekError> {
    let text =
        core::str::from_utf8(line).map_err(|error| PeekError::Utf8 { at: error.valid_up_to() })?;
    let mut scanner = Scanner::new(line);
    let mut scan = EnvelopeScan::default();
    match scanner.next_token() {
        Some(b'{') => scan.run(&mut scanner).ok_or_else(|| scanner.fault())?,
        first => {
            scanner.value().ok_or_else(|| scanner.fault())?;
            let shape = if first == Some(b'[') { Shape::Batch } else { Shape::NotAnObject };
            scan.problem = Some(shape);
        }
    }
    scanner.end().ok_or_else(|| scanner.fault())?;
    let members = Members::new(scan.members.map(|range| text.get(range?)));
    match (scan.problem, members.kind()) {
        (None, Ok(kind)) => Ok(Peek { kind, members }),
        (Some(shape), _) | (None, Err((shape, _))) => Err(PeekError::Shape(shape)),
    }
}

/// The value of a member of a JSON object, as JSON text; `object` is one that was read before, such as
/// [`Peek::params`]. An array, string, number, boolean or `null` has no members.
///
/// # Errors
/// `object` is not JSON, or has the member twice.
pub fn peek_member<'a>(object: &'a str, name: &str) -> Result<Option<&'a str>, PeekError> {
    let mut scanner = Scanner::new(object.as_bytes());
    if scanner.next_token() != Some(b'{') {
        return Ok(None);
    }
    let mut found = None;
    let mut member = scanner.first_name().ok_or_else(|| scanner.fault())?;
    while let Some(text) = member {
        let value = scanner.value().ok_or_else(|| scanner.fault())?;
        if text.is(name) {
            if found.is_some() {
                return Err(PeekError::Duplicate);
            }
            found = object.get(value);
        }
        member = scanner.next_name().ok_or_else(|| scanner.fault())?;
    }
    Ok(found)
}

/// What is known of a message from the part of it that could be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovered {
    pub(crate) kind: Option<Kind>,
    pub(crate) id: Option<RequestId>,
}

/// Finds out what can be told of a message that broke off, or broke.
///
/// The id counts only where it is clear whose it is: both peers number their requests, often alike.
pub(crate) fn recover(bytes: &[u8]) -> Recovered {
    let mut scan = EnvelopeScan::default();
    let is_whole = scan.run(&mut Scanner::new(bytes)).is_some();
    let [_, id, ..] = scan.members;
    let id = id
        .filter(|_| scan.problem != Some(Shape::Duplicate("id")))
        .and_then(|range| core::str::from_utf8(bytes.get(range)?).ok())
        .and_then(RequestId::from_text);
    let [_, has_id, is_call, _, has_result, has_error] = scan.is_begun;
    let kind = match (is_call, has_result || has_error) {
        (false, true) => Some(Kind::Response),
        (true, false) if id.is_some() => Some(Kind::Request),
        (true, false) if is_whole && !has_id => Some(Kind::Notification),
        _ => None,
    };
    Recovered { id: id.filter(|_| kind.is_some()), kind }
}

/// Where the members of an envelope are.
#[derive(Default)]
struct EnvelopeScan {
    members: [Option<Range<usize>>; 6],
    is_begun: [bool; 6],
    extra: usize,
    problem: Option<Shape>,
}

impl EnvelopeScan {
    fn run(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut name = scanner.first_name()?;
        while let Some(text) = name {
            let member = NAMES.iter().position(|known| text.is(known));
            if let Some(is_begun) = member.and_then(|at| self.is_begun.get_mut(at)) {
                // An error that is `null` counts as absent, so that the name alone does not make a response.
                *is_begun = !text.is("error") || !matches!(scanner.next_token(), Some(b'n') | None);
            }
            let value = scanner.value()?;
            // Where the text broke off, or is broken, a number may be only the start of one.
            if matches!(scanner.next_token(), Some(b',' | b'}')) {
                self.insert(member, value);
            }
            name = scanner.next_name()?;
        }
        Some(())
    }

    fn insert(&mut self, member: Option<usize>, value: Range<usize>) {
        let problem = match member {
            Some(at) => match self.members.get_mut(at) {
                Some(slot @ None) => {
                    *slot = Some(value);
                    return;
                }
                _ => Shape::Duplicate(NAMES.get(at).copied().unwrap_or_default()),
            },
            None if self.extra < Message::MAX_EXTRA => {
                self.extra += 1;
                return;
            }
            None => Shape::TooManyMembers,
        };
        self.problem.get_or_insert(problem);
    }
}
