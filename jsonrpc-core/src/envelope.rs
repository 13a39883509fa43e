//! Reads the members of a message, and decides what kind of message they make.
use crate::RequestId;
use crate::decode_error::{DecodeError, Shape};
use crate::json_str::JsonStr;
use crate::message::{Kind, Message, Version};
use crate::peek::recover;
use alloc::borrow::{Cow, ToOwned};
use alloc::vec::Vec;
use core::fmt;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The names of JSON-RPC, each at the place of its member in [`Members`].
pub(crate) const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

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
    pub(crate) fn new([_, id, method, params, result, error]: [Option<&'a str>; 6]) -> Self {
        // `null` counts as absent, except where it is the result.
        let [params, error] = [params, error].map(|text| text.filter(|text| *text != "null"));
        let result = result.filter(|text| *text != "null" || error.is_none());
        Self { id, method, params, result, error }
    }

    /// The kind of message that has these members.
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
    text.len() <= RequestId::MAX_LEN
        && (text == "null" || text.starts_with(|first: char| "\"-0123456789".contains(first)))
}

/// The members of a message as they came.
#[derive(Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) extra: Vec<(Cow<'a, str>, &'a RawValue)>,
    /// Of those that come twice, the last.
    pub(crate) members: [Option<&'a RawValue>; 6],
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
    pub(crate) error: Option<&'a RawValue>,
    pub(crate) extra: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Envelope<'a> {
    pub(crate) fn decode(text: &'a str) -> Result<Parts<'a>, DecodeError> {
        Self::read(text)?.into_parts()
    }

    pub(crate) fn read(text: &'a str) -> Result<Self, DecodeError> {
        serde_json::from_str(text)
            .map_err(|source| DecodeError::syntax(source, recover(text.as_bytes())))
    }

    pub(crate) fn into_parts(self) -> Result<Parts<'a>, DecodeError> {
        let texts = Members::new(self.members.map(|member| member.map(RawValue::get)));
        let [version, id, method, params, result, error] = self.members;
        let [_, is_id_repeated, ..] = self.repeated;
        let id = id.filter(|_| !is_id_repeated);
        let id = id.and_then(|id| RequestId::from_text(id.get()));
        let method =
            method.map_or(Some(Cow::Borrowed("")), |raw| JsonStr::new(raw.get())?.decode());
        let (problem, kind) = match (self.problem, texts.kind(), method) {
            (Some(problem), kind, _) => (problem, kind.map_or_else(|(_, kind)| kind, Some)),
            (None, Err(problem), _) => problem,
            (None, Ok(_), None) => (Shape::Method, None),
            (None, Ok(kind), _) if texts.id.is_some() && id.is_none() => (Shape::Id, Some(kind)),
            (None, Ok(kind), Some(method)) => {
                let mut extra = self.extra;
                let (params, stray) = match kind {
                    Kind::Request | Kind::Notification => (params, None),
                    Kind::Response => (None, params),
                };
                extra.extend(stray.map(|params| (Cow::Borrowed("params"), params)));
                return Ok(Parts {
                    kind,
                    version: version.map_or(Version::Missing, Version::of),
                    id,
                    method,
                    params: params.filter(|_| texts.params.is_some()),
                    result: result.filter(|_| texts.result.is_some()),
                    error: error.filter(|_| texts.error.is_some()),
                    extra,
                });
            }
        };
        Err(DecodeError::Shape { problem, kind, id })
    }

    fn insert(&mut self, name: Name<'a>, value: &'a RawValue) {
        let problem = match name {
            Name::Known(at) => {
                let slot = self.members.get_mut(at).map(|slot| slot.replace(value));
                let Some(Some(_)) = slot else { return };
                self.repeated.get_mut(at).into_iter().for_each(|repeated| *repeated = true);
                Shape::Duplicate(NAMES.get(at).copied().unwrap_or_default())
            }
            Name::Other(name) if self.extra.len() < Message::MAX_EXTRA => {
                return self.extra.push((name, value));
            }
            Name::Other(_) => Shape::TooManyMembers,
        };
        self.is_overfull |= problem == Shape::TooManyMembers;
        self.problem.get_or_insert(problem);
    }
}

enum Name<'a> {
    Known(usize),
    Other(Cow<'a, str>),
}

impl<'a> Name<'a> {
    fn new(name: Cow<'a, str>) -> Self {
        NAMES.iter().position(|known| *known == name).map_or_else(|| Self::Other(name), Self::Known)
    }
}

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name::new(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name::new(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(NameVisitor)
    }
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EnvelopeVisitor)
    }
}

/// Takes any JSON value: what is no object is a problem of its shape, not of its syntax.
struct EnvelopeVisitor;

impl EnvelopeVisitor {
    fn not<'a, E>(problem: Shape) -> Result<Envelope<'a>, E> {
        Ok(Envelope { problem: Some(problem), ..Envelope::default() })
    }
}

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(name) = members.next_key()? {
            envelope.insert(name, members.next_value()?);
        }
        Ok(envelope)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Envelope<'de>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Self::not(Shape::Batch)
    }

    fn visit_unit<E>(self) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }

    fn visit_str<E>(self, _: &str) -> Result<Envelope<'de>, E> {
        Self::not(Shape::NotAnObject)
    }
}
