//! Reads the members of a message, and decides what kind of message they make.
use crate::decode_error::{DecodeError, Shape};
use crate::json_str::JsonStr;
use crate::message::{Kind, Message, Version};
use crate::peek::recover;
use crate::scan::{Name, Scanner};
use crate::{RequestId, checked};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;
use serde::Deserializer;
use serde::de::{Error as _, IgnoredAny};
use serde_json::value::RawValue;

/// The names of JSON-RPC, each at the place of its member in [`Members`].
pub(crate) const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

const PARAMS: usize = 3;
const ERROR: usize = 5;

/// The JSON text of each member that JSON-RPC knows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Members<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) params: Option<&'a str>,
    pub(crate) result: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

/// What is wrong with a message, and what kind of message it would have been.
pub(crate) type Problem = (Shape, Option<Kind>);

impl<'a> Members<'a> {
    #[inline]
    pub(crate) fn new([_, id, method, params, result, error]: [Option<&'a str>; 6]) -> Self {
        // `null` counts as absent, except where it is the result.
        let [params, error] = [params, error].map(|text| text.filter(|text| *text != "null"));
        let result = result.filter(|text| *text != "null" || error.is_none());
        Self { id, method, params, result, error }
    }

    /// The kind of message that has these members.
    #[inline]
    pub(crate) fn kind(&self) -> Result<Kind, Problem> {
        let kind = self.kind_by_presence();
        let named = kind.map_or_else(|(_, kind)| kind, Some);
        if self.method.is_some_and(|text| !text.starts_with('"')) {
            // What was called cannot be told, nor then whether it was a notification.
            return Err((Shape::Method, None));
        }
        if self.id.is_some_and(|text| !is_id(text)) {
            return Err((Shape::Id, named));
        }
        let is_call = self.method.is_some();
        if is_call && self.params.is_some_and(|text| !text.starts_with(['{', '['])) {
            return Err((Shape::Params, named));
        }
        kind
    }

    #[inline(always)]
    fn kind_by_presence(&self) -> Result<Kind, Problem> {
        match (self.method.is_some(), self.result.is_some(), self.error.is_some()) {
            (true, false, false) if self.id.is_some() => Ok(Kind::Request),
            (true, false, false) => Ok(Kind::Notification),
            (false, true, false) if self.id.is_none() => {
                Err((Shape::ResultWithoutId, Some(Kind::Response)))
            }
            (false, true, false) | (false, false, true) => Ok(Kind::Response),
            (false, true, true) => Err((Shape::Ambiguous, Some(Kind::Response))),
            (true, _, _) => Err((Shape::Ambiguous, None)),
            // With an id it is what a peer sends that leaves out a result which is undefined.
            (false, false, false) => Err((Shape::Empty, self.id.map(|_| Kind::Response))),
        }
    }
}

fn is_id(text: &str) -> bool {
    let first = text.as_bytes().first();
    text.len() <= RequestId::MAX_LEN
        && (matches!(first, Some(b'"' | b'-' | b'0'..=b'9')) || text == "null")
}

/// The members of a message as they came.
#[derive(Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) extra: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// The JSON text of each member, at the place of its name in [`NAMES`]; of those that come twice, the last.
    pub(crate) members: [Option<&'a str>; 6],
    /// Which of [`NAMES`] come twice.
    pub(crate) repeated: [bool; 6],
    /// Whether some of the unknown members were not kept.
    pub(crate) is_overfull: bool,
    /// What is wrong with the envelope as such, the first of several.
    pub(crate) problem: Option<Shape>,
}

/// An envelope that makes a message.
pub(crate) struct Parts<'a> {
    pub(crate) kind: Kind,
    pub(crate) version: Version<'a>,
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) result: Option<&'a RawValue>,
    /// As JSON text.
    pub(crate) error: Option<&'a str>,
    pub(crate) extra: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Envelope<'a> {
    #[inline(always)]
    pub(crate) fn decode(text: &'a str) -> Result<Parts<'a>, DecodeError> {
        Self::read(text)?.into_parts()
    }

    #[inline]
    pub(crate) fn read(text: &'a str) -> Result<Self, DecodeError> {
        let mut extra = Extra { text, members: Vec::new() };
        let mut scan = Scan::default();
        let is_read = scan.read(&mut Scanner::of_any_depth(text.as_bytes()), &mut extra);
        is_read
            .map(|()| Self::new(&scan, extra))
            .ok_or_else(|| DecodeError::syntax(syntax_error(text), recover(text.as_bytes())))
    }

    #[inline]
    fn new(scan: &Scan, Extra { text, members: extra }: Extra<'a>) -> Self {
        let members = scan.texts(text);
        let is_overfull = scan.extra > Message::MAX_EXTRA;
        let (repeated, problem) = (scan.repeated, scan.problem);
        Self { extra, members, repeated, is_overfull, problem }
    }

    #[inline(always)]
    pub(crate) fn into_parts(self) -> Result<Parts<'a>, DecodeError> {
        let texts = Members::new(self.members);
        let [version, id, method, params, ..] = self.members;
        let [_, is_id_repeated, ..] = self.repeated;
        let id = id.filter(|_| !is_id_repeated).and_then(RequestId::from_text);
        let method = method.map_or(Some(Cow::Borrowed("")), |text| JsonStr::new(text)?.decode());
        let (problem, kind) = match (self.problem, texts.kind(), method) {
            (Some(problem), kind, _) => (problem, kind.map_or_else(|(_, kind)| kind, Some)),
            (None, Err(problem), _) => problem,
            (None, Ok(_), None) => (Shape::Method, None),
            (None, Ok(kind), _) if texts.id.is_some() && id.is_none() => (Shape::Id, Some(kind)),
            (None, Ok(kind), Some(method)) => {
                let (mut extra, mut call_params) = (self.extra, None);
                match kind {
                    Kind::Request | Kind::Notification => call_params = texts.params,
                    Kind::Response => {
                        let stray = params.and_then(checked::raw);
                        extra.extend(stray.map(|params| (Cow::Borrowed("params"), params)));
                    }
                }
                return Ok(Parts {
                    kind,
                    version: version.map_or(Version::Missing, Version::of),
                    id,
                    method,
                    params: call_params.and_then(checked::raw),
                    result: texts.result.and_then(checked::raw),
                    error: texts.error,
                    extra,
                });
            }
        };
        Err(DecodeError::Shape { problem, kind, id })
    }
}

/// What serde_json says of a text that is not JSON, or has half a surrogate pair in a member's name.
#[cold]
fn syntax_error(text: &str) -> serde_json::Error {
    let names = || serde_json::Deserializer::from_str(text).deserialize_map(IgnoredAny).err();
    let error = serde_json::from_str::<&RawValue>(text).err().or_else(names);
    error.unwrap_or_else(|| serde_json::Error::custom("expected JSON"))
}

/// The members that JSON-RPC does not know, as far as they are kept.
struct Extra<'a> {
    text: &'a str,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Watch<'a> for Extra<'a> {
    fn other(&mut self, name: Name<'a>, value: Range<usize>) -> Option<()> {
        let name = name.text()?.decode()?;
        if self.members.len() < Message::MAX_EXTRA {
            self.members.push((name, checked::raw(self.text.get(value)?)?));
        }
        Some(())
    }
}

/// Where the members of an envelope are.
#[derive(Default)]
pub(crate) struct Scan {
    /// Each at the place of its name in [`NAMES`]; of those that come twice, the last.
    pub(crate) members: [Option<Range<usize>>; 6],
    pub(crate) repeated: [bool; 6],
    /// Which members have a name and the start of a value.
    pub(crate) is_begun: [bool; 6],
    /// How many members there are that JSON-RPC does not know.
    pub(crate) extra: usize,
    /// What is wrong with the envelope as such, the first of several.
    pub(crate) problem: Option<Shape>,
}

/// What happens on the way to what a [`Scan`] does not look into.
pub(crate) trait Watch<'a> {
    /// Takes a member that JSON-RPC does not know. Reading ends if it gives nothing.
    fn other(&mut self, _name: Name<'a>, _value: Range<usize>) -> Option<()> {
        Some(())
    }

    /// Reads the value of `params`.
    fn params(&mut self, scanner: &mut Scanner<'a>) -> Option<Range<usize>> {
        scanner.value()
    }
}

impl Watch<'_> for () {}

impl Scan {
    /// Reads a whole text; nothing if it is not JSON.
    #[inline]
    pub(crate) fn read<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        watch: &mut impl Watch<'a>,
    ) -> Option<()> {
        match scanner.next_token() {
            b'{' => self.run(scanner, watch)?,
            first => {
                scanner.value()?;
                let problem = if first == b'[' { Shape::Batch } else { Shape::NotAnObject };
                self.problem = Some(problem);
            }
        }
        scanner.end()
    }

    /// Reads an object as far as it goes; nothing if it breaks off.
    #[inline]
    pub(crate) fn run<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        watch: &mut impl Watch<'a>,
    ) -> Option<()> {
        // Nearly all messages start so.
        let mut is_more = match scanner.literal(br#"{"jsonrpc":"2.0""#) {
            Some(start) => {
                let [version, ..] = &mut self.members;
                *version = Some(start + 11..start + 16);
                scanner.go_on()?
            }
            None => scanner.enter()?,
        };
        while is_more {
            let name = Member::read(scanner)?;
            let member = name.place();
            if let Some(is_begun) = member.and_then(|at| self.is_begun.get_mut(at)) {
                // An error that is `null` counts as absent, so that the name alone does not make a response.
                *is_begun = member != Some(ERROR) || !matches!(scanner.next_token(), b'n' | 0);
            }
            let value = match member {
                Some(PARAMS) => watch.params(scanner)?,
                _ => scanner.value()?,
            };
            // Where the text broke off, or is broken, a number may be only the start of one.
            if matches!(scanner.next_token(), b',' | b'}') {
                match name {
                    Member::Known(at) => self.insert(at, value),
                    Member::Other(name) => {
                        watch.other(name, value)?;
                        self.extra += 1;
                        if self.extra > Message::MAX_EXTRA {
                            self.problem.get_or_insert(Shape::TooManyMembers);
                        }
                    }
                }
            }
            is_more = scanner.go_on()?;
        }
        Some(())
    }

    /// The members in the text that was read.
    #[inline(always)]
    pub(crate) fn texts<'a>(&self, text: &'a str) -> [Option<&'a str>; 6] {
        let mut texts = [None; 6];
        for (text_of, range) in texts.iter_mut().zip(&self.members) {
            if let Some(range) = range {
                *text_of = text.get(range.start..range.end);
            }
        }
        texts
    }

    #[inline]
    fn insert(&mut self, at: usize, value: Range<usize>) {
        let Some(member) = self.members.get_mut(at) else { return };
        if member.replace(value).is_some() {
            self.repeated.get_mut(at).into_iter().for_each(|repeated| *repeated = true);
            let name = NAMES.get(at).copied().unwrap_or_default();
            self.problem.get_or_insert(Shape::Duplicate(name));
        }
    }
}

/// The name of a member.
enum Member<'a> {
    /// The one at this place in [`NAMES`].
    Known(usize),
    Other(Name<'a>),
}

impl<'a> Member<'a> {
    /// Reads a name, and up to the value.
    #[inline(always)]
    fn read(scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.next_token();
        // As nearly all names are written.
        let usual = match scanner.byte_ahead(1) {
            b'm' => scanner.literal(br#""method":"#).map(|_| 2),
            b'p' => scanner.literal(br#""params":"#).map(|_| PARAMS),
            b'i' => scanner.literal(br#""id":"#).map(|_| 1),
            b'r' => scanner.literal(br#""result":"#).map(|_| 4),
            _ => None,
        };
        if let Some(place) = usual {
            scanner.next_token();
            return Some(Self::Known(place));
        }
        let name = scanner.name()?;
        Some(NAMES.iter().position(|known| name.is(known)).map_or(Self::Other(name), Self::Known))
    }

    #[inline(always)]
    fn place(&self) -> Option<usize> {
        match self {
            Self::Known(place) => Some(*place),
            Self::Other(_) => None,
        }
    }
}
