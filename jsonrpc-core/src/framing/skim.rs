//! Looks for the id of a message that is too long to be kept, while its bytes go past.
use super::FrameError;
use crate::RequestId;
use crate::json_str::JsonStr;
use crate::message::Kind;
use alloc::boxed::Box;
use alloc::vec::Vec;
use memchr::memchr2;

/// A message that is too long, until it has been told of.
#[derive(Debug)]
pub(super) struct TooLong {
    limit: usize,
    /// How much of what may be kept is still to come: all of that is looked at, and of the rest what is needed.
    head: usize,
    skim: Box<Skim>,
}

impl TooLong {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, head: limit, skim: Box::default() }
    }

    /// Looks at what comes next of the message.
    pub(super) fn pass(&mut self, bytes: &[u8]) {
        let (head, behind) = bytes.split_at(bytes.len().min(self.head));
        self.head -= head.len();
        self.skim.pass(head, false);
        self.skim.pass(behind, true);
    }

    /// The error, once nothing more can be learnt: it is clear whom to tell, or never will be, or the message has ended.
    pub(super) fn tell(&self, is_end: bool) -> Option<FrameError> {
        let is_decided = self.head == 0 && self.skim.is_decided();
        (is_end || is_decided).then(|| {
            let (kind, id) = self.skim.recovered();
            FrameError::TooLong { limit: self.limit, kind, id }
        })
    }
}

/// Reads the names of an object's members and the value of one of them, and passes over the rest.
///
/// Brackets and strings are followed exactly; what stands between them inside of members is not looked at.
#[derive(Debug, Default)]
struct Skim {
    place: Place,
    /// Which member is read.
    member: Member,
    /// The name or the id that is read, with its quotes.
    kept: Vec<u8>,
    /// Which of the brackets that are open in a member are those of objects, as bits.
    open: [u64; MAX_DEPTH / 64],
    depth: usize,
    id: Option<RequestId>,
    has_id: bool,
    is_call: bool,
    has_outcome: bool,
}

/// How deep a member may be.
const MAX_DEPTH: usize = 1024;

/// How long a name may be to be known, in bytes: all of its characters may be escapes.
const MAX_NAME: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Start,
    /// Before the first name, or the end.
    First,
    /// Before a name.
    Name,
    /// In a string: a name, or one in a value.
    String {
        is_name: bool,
        is_escaped: bool,
    },
    Colon,
    Value,
    /// In a number or a word.
    Scalar,
    /// Between strings and brackets inside a member.
    Inside,
    /// Behind a value.
    Behind,
    /// Behind the object.
    End,
    /// What comes is no message, or tells nothing.
    Lost,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Member {
    Id,
    Method,
    Result,
    Error,
    #[default]
    Other,
}

impl Skim {
    /// Whether nothing that comes can tell more.
    fn is_decided(&self) -> bool {
        let is_clear = self.id.is_some() && self.is_call != self.has_outcome;
        is_clear || matches!(self.place, Place::End | Place::Lost)
    }

    fn recovered(&self) -> (Option<Kind>, Option<RequestId>) {
        let kind = match (self.is_call, self.has_outcome) {
            (false, true) => Some(Kind::Response),
            (true, false) if self.id.is_some() => Some(Kind::Request),
            (true, false) if self.place == Place::End && !self.has_id => Some(Kind::Notification),
            _ => None,
        };
        (kind, self.id.clone().filter(|_| kind.is_some()))
    }

    /// Looks at some bytes; if told so, no further than to where it is decided.
    fn pass(&mut self, bytes: &[u8], stops: bool) {
        let mut rest = bytes;
        while !(stops && self.is_decided()) {
            if let Place::String { is_escaped: false, .. } = self.place {
                let plain = memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                let (string, behind) = rest.split_at(plain);
                self.keep(string);
                rest = behind;
            }
            let Some((&byte, behind)) = rest.split_first() else { return };
            // A byte that ends a number is one of what stands around it.
            while self.take(byte) {}
            rest = behind;
        }
    }

    /// Takes a byte; whether it has to be looked at again, from another place.
    fn take(&mut self, byte: u8) -> bool {
        let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match (self.place, byte) {
            (Place::String { is_name, is_escaped }, _) => self.string(byte, is_name, is_escaped),
            (Place::Scalar, b',' | b'}' | b']') => return self.end_value(),
            (Place::Scalar, _) if is_space => return self.end_value(),
            (Place::Scalar, _) => self.keep(&[byte]),
            (Place::Inside, b'"') => self.place = STRING,
            (Place::Inside, b'{' | b'[') => self.open(byte == b'{'),
            (Place::Inside, b'}' | b']') => self.close(byte == b'}'),
            (Place::Inside | Place::Lost, _) => {}
            _ if is_space => {}
            (Place::Start, b'{') => self.place = Place::First,
            (Place::First | Place::Name, b'"') => {
                self.kept.clear();
                self.keep(b"\"");
                self.place = Place::String { is_name: true, is_escaped: false };
            }
            (Place::First | Place::Behind, b'}') => self.place = Place::End,
            (Place::Behind, b',') => self.place = Place::Name,
            (Place::Colon, b':') => self.place = Place::Value,
            (Place::Value, _) => self.begin_value(byte),
            _ => self.place = Place::Lost,
        }
        false
    }

    fn string(&mut self, byte: u8, is_name: bool, is_escaped: bool) {
        self.keep(&[byte]);
        match byte {
            _ if is_escaped => self.place = Place::String { is_name, is_escaped: false },
            b'\\' => self.place = Place::String { is_name, is_escaped: true },
            _ if is_name => self.end_name(),
            _ if self.depth > 0 => self.place = Place::Inside,
            _ => {
                self.end_value();
            }
        }
    }

    fn end_name(&mut self) {
        let name = core::str::from_utf8(&self.kept).ok().and_then(JsonStr::new);
        let is = |known: &str| name.is_some_and(|name| name == known);
        self.member = match () {
            () if self.kept.len() > MAX_NAME => Member::Other,
            () if is("id") => Member::Id,
            () if is("method") => Member::Method,
            () if is("result") => Member::Result,
            () if is("error") => Member::Error,
            () => Member::Other,
        };
        self.kept.clear();
        self.place = Place::Colon;
    }

    fn begin_value(&mut self, byte: u8) {
        match self.member {
            Member::Id if self.has_id => {
                (self.id, self.place) = (None, Place::Lost);
                return;
            }
            Member::Id => self.has_id = true,
            Member::Method => self.is_call = true,
            Member::Result => self.has_outcome = true,
            // An error that is `null` counts as absent.
            Member::Error => self.has_outcome |= byte != b'n',
            Member::Other => {}
        }
        match byte {
            b'{' | b'[' => self.open(byte == b'{'),
            b'"' => self.place = STRING,
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.place = Place::Scalar,
            _ => self.place = Place::Lost,
        }
        self.keep(&[byte]);
    }

    /// Ends the value of a member.
    fn end_value(&mut self) -> bool {
        self.place = Place::Behind;
        if self.member == Member::Id {
            self.id = serde_json::from_slice(&self.kept).ok();
            if self.id.is_none() {
                self.place = Place::Lost;
            }
        }
        true
    }

    fn open(&mut self, is_object: bool) {
        let bit = 1 << (self.depth % 64);
        match self.open.get_mut(self.depth / 64) {
            Some(open) if is_object => *open |= bit,
            Some(open) => *open &= !bit,
            None => return self.place = Place::Lost,
        }
        self.depth += 1;
        self.place = Place::Inside;
    }

    fn close(&mut self, is_object: bool) {
        let depth = self.depth.saturating_sub(1);
        let open = self.open.get(depth / 64).copied().unwrap_or_default();
        if (open >> (depth % 64) & 1 == 1) != is_object {
            return self.place = Place::Lost;
        }
        self.depth = depth;
        if depth == 0 {
            self.end_value();
        }
    }

    /// Keeps what may be a name or an id, as far as that makes a difference.
    fn keep(&mut self, bytes: &[u8]) {
        let longest = match (self.place, self.member) {
            (Place::String { is_name: true, .. } | Place::First | Place::Name, _) => MAX_NAME,
            (_, Member::Id) => RequestId::MAX_LEN,
            _ => return,
        };
        // One byte more shows that it is longer.
        let room = (longest + 1).saturating_sub(self.kept.len());
        self.kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

/// The start of a string that is no name.
const STRING: Place = Place::String { is_name: false, is_escaped: false };
