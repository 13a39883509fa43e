//! The reader of envelopes: places of a message's members, and the kind of message.
use crate::RequestId;
use crate::decode_error::Shape;
use crate::message::{Kind, Message};
use crate::scan::Scanner;
use core::ops::Range;

/// The names defined by JSON-RPC, each at the index of its member in [`Envelope`].
pub(crate) const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

pub(crate) const ID: usize = 1;
pub(crate) const METHOD: usize = 2;
pub(crate) const PARAMS: usize = 3;
pub(crate) const RESULT: usize = 4;
pub(crate) const ERROR: usize = 5;
/// The index of all other names.
pub(crate) const UNKNOWN: usize = NAMES.len();

/// The members of an envelope.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Places of the members, at the indices of [`NAMES`]; of a repeated member the last place.
    places: [Option<Range<usize>>; 6],
    /// Repeated members.
    pub(crate) repeated: [bool; 6],
    /// Members with a name and the start of a value.
    begun: [bool; 6],
    /// Number of members unknown to JSON-RPC.
    pub(crate) unknown: usize,
    /// The first defect of the envelope.
    pub(crate) problem: Option<Shape>,
}

impl Envelope {
    /// Reads a whole text; `None` if it is not JSON.
    #[inline]
    pub(crate) fn read(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        match scanner.next_token() {
            b'{' => self.run(scanner)?,
            first => {
                scanner.value()?;
                let problem = if first == b'[' { Shape::Batch } else { Shape::NotAnObject };
                self.problem = Some(problem);
            }
        }
        scanner.end()
    }

    /// Reads an object as far as possible; `None` if it is truncated.
    #[inline]
    fn run(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
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
            let value = scanner.value()?;
            // At the end of truncated or invalid text, a number may be incomplete.
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
            // An error that is `null` counts as absent, so its name alone does not make a response.
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

    /// Returns the JSON text of each member.
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

/// Skips the usual beginning of a message, up to the version. Returns the place of the version.
#[inline(always)]
pub(crate) fn begin(scanner: &mut Scanner<'_>) -> Option<Range<usize>> {
    let start = scanner.literal(br#"{"jsonrpc":"2.0""#)?;
    Some(start + 11..start + 16)
}

/// Reads a member's name, up to its value. Returns the index of the name in [`NAMES`], or
/// [`UNKNOWN`].
#[inline(always)]
pub(crate) fn read_name(scanner: &mut Scanner<'_>) -> Option<usize> {
    scanner.next_token();
    // The usual notation of names.
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

/// The members that determine the kind of a message, as JSON text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts<'a> {
    pub(crate) id: Option<&'a str>,
    pub(crate) method: Option<&'a str>,
    pub(crate) params: Option<&'a str>,
    pub(crate) result: Option<&'a str>,
    pub(crate) error: Option<&'a str>,
}

/// The defect of a message, and the intended kind of message.
pub(crate) type Problem = (Shape, Option<Kind>);

impl<'a> Parts<'a> {
    /// Reads a message in the common form, and returns its kind: no white space outside the
    /// payload, `jsonrpc` first, `id` before the method or after the payload, no other members.
    /// Returns `None` for other lines, which [`Envelope::read`] handles. For this form both have
    /// the same result.
    #[inline(always)]
    pub(crate) fn read_frequent(line: &'a str) -> Option<(Kind, Self)> {
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
                parts.params = line.get(scanner.value()?);
            }
        } else if scanner.literal(br#"result":"#).is_some() {
            parts.result = line.get(scanner.value()?);
        } else {
            scanner.literal(br#"error":"#)?;
            // `null` counts as absent.
            if scanner.byte_ahead(0) != b'{' {
                return None;
            }
            parts.error = line.get(scanner.value()?);
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
        // `null` counts as absent, except as a result.
        let [params, error] = [params, error].map(|text| text.filter(|text| *text != "null"));
        let result = result.filter(|text| *text != "null" || error.is_none());
        Self { id, method, params, result, error }
    }

    /// Returns the kind of message with these members.
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
            // With an id, it is a response of a peer that omits an undefined result.
            (false, false, false) => Err((Shape::Empty, self.id.map(|_| Kind::Response))),
        }
    }
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

/// The known parts of an unreadable message.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageFragment {
    pub(crate) kind: Option<Kind>,
    pub(crate) id: Option<RequestId>,
}

/// Recovers kind and id of a truncated or invalid message.
///
/// The id counts only if the kind of message is known: both peers number their requests, often in
/// the same way.
pub(crate) fn recover(bytes: &[u8]) -> MessageFragment {
    let mut envelope = Envelope::default();
    let is_whole = envelope.run(&mut Scanner::of_any_depth(bytes)).is_some();
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
    MessageFragment { id: id.filter(|_| kind.is_some()), kind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn frequent(line: &str) -> Option<String> {
        Parts::read_frequent(line).map(|seen| format!("{seen:?}"))
    }

    /// Reads the same by the general method.
    fn any(line: &str) -> Option<String> {
        let mut envelope = Envelope::default();
        envelope.read(&mut Scanner::of_any_depth(line.as_bytes()))?;
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

    /// Any members in any order: both functions have the same result for a line in the common form.
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
            // An empty part at the end removes one member.
            let line = format!("{{{}}}", parts.join(",").trim_end_matches(','));
            if let Some(peeked) = frequent(&line) {
                count += 1;
                assert_eq!(Some(peeked), any(&line), "{line}");
            }
        }
        assert!(count > 8, "{count}");
    }
}
