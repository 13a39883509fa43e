//! The one reader of envelopes: where the members of a message are, and which kind of message they make.
use crate::RequestId;
use crate::decode_error::Shape;
use crate::message::{Kind, Message};
use crate::scan::Scanner;
use core::ops::Range;

/// The names of JSON-RPC, each at the place of its member in [`Envelope`].
pub(crate) const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

pub(crate) const ID: usize = 1;
pub(crate) const METHOD: usize = 2;
pub(crate) const PARAMS: usize = 3;
pub(crate) const RESULT: usize = 4;
pub(crate) const ERROR: usize = 5;
/// The place of all other names.
pub(crate) const UNKNOWN: usize = NAMES.len();

/// The members of an envelope.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Each at the place of its name in [`NAMES`]; of those that come twice, the last.
    places: [Option<Range<usize>>; 6],
    /// Which of [`NAMES`] come twice.
    pub(crate) repeated: [bool; 6],
    /// Which members have a name and the start of a value.
    begun: [bool; 6],
    /// Number of members unknown to JSON-RPC.
    pub(crate) unknown: usize,
    /// What is wrong with the envelope as such, the first of several.
    pub(crate) problem: Option<Shape>,
}

impl Envelope {
    /// Reads a whole text; `None` if it is not JSON. Unless `CHECKED`, the values of `params`, `result` and `error` are
    /// only passed over: their brackets and strings decide where they end, and nothing else of them is looked at.
    #[inline]
    pub(crate) fn read<const CHECKED: bool>(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        match scanner.next_token() {
            b'{' => self.run::<CHECKED>(scanner)?,
            first => {
                scanner.value()?;
                let problem = if first == b'[' { Shape::Batch } else { Shape::NotAnObject };
                self.problem = Some(problem);
            }
        }
        scanner.end()
    }

    /// Reads an object as far as it goes; `None` if it breaks off.
    #[inline]
    fn run<const CHECKED: bool>(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut is_more = match begin(scanner) {
            Some(version) => {
                let [place, ..] = &mut self.places;
                *place = Some(version);
                scanner.go_on()?
            }
            None => scanner.enter()?,
        };
        while is_more {
            let member = read_name(scanner)?;
            self.note_begun(member, scanner);
            let is_payload = matches!(member, PARAMS | RESULT | ERROR);
            let value =
                if is_payload { read_payload::<CHECKED>(scanner)? } else { scanner.value()? };
            // Where the text broke off, or is broken, a number may be only the start of one.
            if matches!(scanner.next_token(), b',' | b'}') {
                self.insert(member, value);
            }
            is_more = scanner.go_on()?;
        }
        Some(())
    }

    #[inline(always)]
    fn note_begun(&mut self, at: usize, scanner: &mut Scanner<'_>) {
        if let Some(begun) = self.begun.get_mut(at) {
            // An error that is `null` counts as absent, so that the name alone does not make a response.
            *begun = at != ERROR || !matches!(scanner.next_token(), b'n' | 0);
        }
    }

    #[inline(always)]
    fn insert(&mut self, at: usize, value: Range<usize>) {
        let Some(place) = self.places.get_mut(at) else {
            self.unknown += 1;
            if self.unknown > Message::MAX_EXTRA {
                self.problem.get_or_insert(Shape::TooManyMembers);
            }
            return;
        };
        if place.replace(value).is_some() {
            self.repeated.get_mut(at).into_iter().for_each(|repeated| *repeated = true);
            let name = NAMES.get(at).copied().unwrap_or_default();
            self.problem.get_or_insert(Shape::Duplicate(name));
        }
    }

    /// The JSON text of each member in the text that was read.
    #[inline(always)]
    pub(crate) fn texts<'a>(&self, text: &'a str) -> [Option<&'a str>; 6] {
        let mut texts = [None; 6];
        for (text_of, place) in texts.iter_mut().zip(&self.places) {
            if let Some(place) = place {
                *text_of = text.get(place.start..place.end);
            }
        }
        texts
    }
}

/// Passes over how nearly all messages start, up to the version and no further. Returns where the version is.
#[inline(always)]
pub(crate) fn begin(scanner: &mut Scanner<'_>) -> Option<Range<usize>> {
    let start = scanner.literal(br#"{"jsonrpc":"2.0""#)?;
    Some(start + 11..start + 16)
}

/// Reads a member's name, and up to its value. Returns the place of the name in [`NAMES`], or [`UNKNOWN`].
#[inline(always)]
pub(crate) fn read_name(scanner: &mut Scanner<'_>) -> Option<usize> {
    scanner.next_token();
    // As nearly all names are written.
    let usual = match scanner.byte_ahead(1) {
        b'm' => scanner.literal(br#""method":"#).map(|_| METHOD),
        b'p' => scanner.literal(br#""params":"#).map(|_| PARAMS),
        b'i' => scanner.literal(br#""id":"#).map(|_| ID),
        b'r' => scanner.literal(br#""result":"#).map(|_| RESULT),
        _ => None,
    };
    if let Some(place) = usual {
        scanner.next_token();
        return Some(place);
    }
    let name = scanner.name()?;
    Some(NAMES.iter().position(|known| name.is(known)).unwrap_or(UNKNOWN))
}

/// The members that decide the kind of a message, as JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) params: Option<&'a str>,
    pub(crate) result: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

/// What is wrong with a message, and what kind of message it would have been.
pub(crate) type Problem = (Shape, Option<Kind>);

impl<'a> Parts<'a> {
    /// Reads a message in the form that nearly all programs write, and returns its kind: no space outside the payload,
    /// `jsonrpc` first, `id` before the method or behind the payload, no other members. Returns `None` for all other lines:
    /// those are for [`Envelope::read`], which gives the same for this form.
    #[inline(always)]
    pub(crate) fn read_frequent<const CHECKED: bool>(line: &'a str) -> Option<(Kind, Self)> {
        let mut scanner = Scanner::of_any_depth(line.as_bytes());
        scanner.literal(br#"{"jsonrpc":"2.0",""#)?;
        let mut parts = Self::default();
        if scanner.literal(br#"id":"#).is_some() {
            parts.id = Some(read_id(line, &mut scanner)?);
            scanner.literal(br#",""#)?;
        }
        let mut is_call = false;
        if scanner.literal(br#"method":"#).is_some() {
            is_call = true;
            parts.method = line.get(scanner.plain_text()?);
            if scanner.literal(br#","params":"#).is_some() {
                if !matches!(scanner.byte_ahead(0), b'{' | b'[') {
                    return None;
                }
                parts.params = line.get(read_payload::<CHECKED>(&mut scanner)?);
            }
        } else if scanner.literal(br#"result":"#).is_some() {
            parts.result = line.get(read_payload::<CHECKED>(&mut scanner)?);
        } else {
            scanner.literal(br#"error":"#)?;
            // `null` counts as absent.
            if scanner.byte_ahead(0) != b'{' {
                return None;
            }
            parts.error = line.get(read_payload::<CHECKED>(&mut scanner)?);
        }
        if parts.id.is_none() && scanner.literal(br#","id":"#).is_some() {
            parts.id = Some(read_id(line, &mut scanner)?);
        }
        scanner.literal(b"}")?;
        scanner.end()?;
        let kind = match (is_call, parts.id) {
            (true, Some(_)) => Kind::Request,
            (true, None) => Kind::Notification,
            (false, Some(_)) => Kind::Response,
            (false, None) => return None,
        };
        Some((kind, parts))
    }

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
            // The method is unknown, and so is whether it was a notification.
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

/// Reads the value of a payload, or passes over it.
#[inline(always)]
fn read_payload<const CHECKED: bool>(scanner: &mut Scanner<'_>) -> Option<Range<usize>> {
    if CHECKED { scanner.value() } else { scanner.pass() }
}

#[inline(always)]
fn read_id<'a>(line: &'a str, scanner: &mut Scanner<'_>) -> Option<&'a str> {
    match scanner.small_number() {
        Some(place) => line.get(place),
        None => line.get(scanner.value()?).filter(|id| is_id(id)),
    }
}

fn is_id(text: &str) -> bool {
    let first = text.as_bytes().first();
    text.len() <= RequestId::MAX_LEN
        && (matches!(first, Some(b'"' | b'-' | b'0'..=b'9')) || text == "null")
}

/// What is known of a message from the part of it that could be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recovered {
    pub(crate) kind: Option<Kind>,
    pub(crate) id: Option<RequestId>,
}

/// Recovers kind and id of a message that broke off, or broke.
///
/// The id counts only where it is clear which peer's it is: both number their requests, often alike.
pub(crate) fn recover(bytes: &[u8]) -> Recovered {
    let mut envelope = Envelope::default();
    let is_whole = envelope.run::<true>(&mut Scanner::of_any_depth(bytes)).is_some();
    let ([_, id, ..], [_, is_id_repeated, ..]) = (envelope.places, envelope.repeated);
    let id = id
        .filter(|_| !is_id_repeated)
        .and_then(|place| core::str::from_utf8(bytes.get(place)?).ok())
        .and_then(RequestId::from_text);
    let [_, has_id, is_call, _, has_result, has_error] = envelope.begun;
    let kind = match (is_call, has_result || has_error) {
        (false, true) => Some(Kind::Response),
        (true, false) if id.is_some() => Some(Kind::Request),
        (true, false) if is_whole && !has_id => Some(Kind::Notification),
        _ => None,
    };
    Recovered { id: id.filter(|_| kind.is_some()), kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn frequent(line: &str) -> Option<String> {
        Parts::read_frequent::<true>(line).map(|seen| format!("{seen:?}"))
    }

    /// The same in the way of all lines.
    fn any(line: &str) -> Option<String> {
        let mut envelope = Envelope::default();
        envelope.read::<true>(&mut Scanner::of_any_depth(line.as_bytes()))?;
        let parts = Parts::new(envelope.texts(line));
        let kind = parts.kind().ok().filter(|_| envelope.problem.is_none())?;
        Some(format!("{:?}", (kind, parts)))
    }

    #[test]
    fn frequent_forms_are_read_in_one_go() {
        for line in [
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1,"\"x"]}}"#,
            r#"{"jsonrpc":"2.0","id":-7,"method":"m","params":[ 1 ]}"#,
            r#"{"jsonrpc":"2.0","id":"\u0061","method":"$/m"}"#,
            r#"{"jsonrpc":"2.0","id":4,"error":{}}"#,
            r#"{"jsonrpc":"2.0","error":{"code":[1]},"id":0}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":[],"id":1.0}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":null}"#,
            r#"{"jsonrpc":"2.0","result":"text","id":9}  "#,
        ] {
            assert!(frequent(line).is_some(), "{line}");
            assert_eq!(frequent(line), any(line), "{line}");
        }
    }

    /// Members of all kinds in all orders: a line that is read as a frequent form is read so by the other function.
    #[test]
    fn frequent_forms_are_read_as_all_others() {
        const PARTS: &[&str] = &[
            r#""jsonrpc":"2.0""#,
            r#""id":1"#,
            r#""id":{}"#,
            r#""id":01"#,
            r#""id":"\ud800""#,
            r#""method":"m""#,
            r#""method":"\u006d""#,
            r#""method":1"#,
            r#""params":{}"#,
            r#""params":null"#,
            r#""params":"x""#,
            r#""result":1"#,
            r#""error":{"code":1,"message":"no"}"#,
            r#""x":[1"#,
            r#""x":1"#,
            "",
            " ",
        ];
        let mut count = 0;
        for at in 0..PARTS.len().pow(4) {
            let part = |power| PARTS.get(at / PARTS.len().pow(power) % PARTS.len()).copied();
            let parts: Vec<_> = (0..4).filter_map(part).collect();
            // An empty part at the end makes one member less.
            let line = format!("{{{}}}", parts.join(",").trim_end_matches(','));
            if let Some(peeked) = frequent(&line) {
                count += 1;
                assert_eq!(Some(peeked), any(&line), "{line}");
            }
        }
        assert!(count > 8, "{count}");
    }
}
