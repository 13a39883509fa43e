//! What [`v1::borrowed`](crate::v1::borrowed) and [`v2::borrowed`](crate::v2::borrowed) share: blocks of content, and how
//! members are gathered while a line is read.
use crate::line::{LineError, is_method};
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Presence, decode};
use jsonrpc_core::{JsonStr, Kind, Peek, Reader, peek_member, peek_params, read_json};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

/// An object whose tag says what it is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OtherRef<'a> {
    /// The tag.
    pub tag: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// A block of content.
///
/// Spec: `ContentBlock` of [version 1](https://agentclientprotocol.com/protocol/v1/schema#contentblock) and
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#contentblock)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ContentBlockRef<'a> {
    /// Text, plain or Markdown.
    Text(TextContentRef<'a>),
    /// An image.
    Image(ImageContentRef<'a>),
    /// Anything else, known or not.
    Other(OtherRef<'a>),
}

impl<'a> ContentBlockRef<'a> {
    /// The whole, as JSON text.
    pub fn json(&self) -> &'a str {
        match self {
            Self::Text(text) => text.json,
            Self::Image(image) => image.json,
            Self::Other(other) => other.json,
        }
    }
}

/// Text, plain or Markdown.
///
/// Spec: `TextContent` of [version 1](https://agentclientprotocol.com/protocol/v1/schema#textcontent) and
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#textcontent)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TextContentRef<'a> {
    /// The text.
    pub text: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// An image.
///
/// Spec: `ImageContent` of [version 1](https://agentclientprotocol.com/protocol/v1/schema#imagecontent) and
/// [version 2](https://agentclientprotocol.com/protocol/v2/schema#imagecontent)
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ImageContentRef<'a> {
    /// Its bytes in base64.
    pub data: JsonStr<'a>,
    /// Its media type.
    pub mime_type: JsonStr<'a>,
    /// The whole, as JSON text.
    pub json: &'a str,
}

/// Members on their way, as JSON text: what is made of them, all of them say at last.
pub(crate) trait Slots<'a>: Default {
    /// What they are the members of.
    type Made;

    /// Reads a value, and keeps the members that count. Nothing where it is not JSON.
    fn read(&mut self, value: &mut Reader<'_, 'a>) -> Option<()>;

    /// Nothing where the members do not say what it is, or are not as their types say.
    fn build(&mut self) -> Option<Self::Made>;
}

/// Reads the parameters of a message of this kind and method; nothing where the line is another message. `T` is the type
/// that says what is wrong with them.
#[inline(always)]
pub(crate) fn from_line<'a, S: Slots<'a>, T: DeserializeOwned>(
    line: &'a str,
    kind: Kind,
    method: &str,
) -> Result<Option<(Peek<'a>, S::Made)>, LineError> {
    let mut slots = S::default();
    let peek = peek_params(line, |params| slots.read(params))?;
    if !is_method(&peek, kind, method) {
        return Ok(None);
    }
    match slots.build() {
        Some(made) => Ok(Some((peek, made))),
        None => Err(unusual::<T>(peek.params().unwrap_or("{}")).into()),
    }
}

/// Reads parameters. `T` is the type that says what is wrong with them.
#[inline(always)]
pub(crate) fn from_params<'a, S: Slots<'a>, T: DeserializeOwned>(
    params: &'a str,
) -> Result<S::Made, DecodeError> {
    let mut slots = S::default();
    let read = read_json(params, |reader| slots.read(reader));
    read.and_then(|()| slots.build()).ok_or_else(|| unusual::<T>(params))
}

/// Finds out what is wrong with parameters.
#[cold]
fn unusual<T: DeserializeOwned>(params: &str) -> DecodeError {
    match decode::<T>(params) {
        Err(error) => error,
        Ok(_) => match decode::<Never>(params) {
            Err(error) => error,
            Ok(never) => match never {},
        },
    }
}

/// What no text is.
enum Never {}

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("expected what can be read in one go, got something else"))
    }
}

/// The text of a member that was there.
pub(crate) type Slot<'a> = Option<&'a str>;

/// Where the value of a member is in the text of its object, in half the room of a [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    start: u32,
    end: u32,
}

impl Place {
    /// It is somewhere in a text that is too long for this.
    const FAR: Self = Self { start: u32::MAX, end: u32::MAX };

    /// Where `slot` is in `json`.
    #[inline]
    pub(crate) fn new(json: &str, slot: Slot<'_>) -> Self {
        let Some(value) = slot else { return Self { start: 0, end: 0 } };
        let start = value.as_ptr().addr().wrapping_sub(json.as_ptr().addr());
        let place = (u32::try_from(start), u32::try_from(start.wrapping_add(value.len())));
        let (Ok(start), Ok(end)) = place else { return Self::FAR };
        Self { start, end }
    }

    /// The value of the member `name` of `json`.
    pub(crate) fn value<'a>(&self, json: &'a str, name: &str) -> Slot<'a> {
        if *self == Self::FAR {
            return peek_member(json, name).ok().flatten();
        }
        let place = usize::try_from(self.start).ok()?..usize::try_from(self.end).ok()?;
        json.get(place).filter(|value| !value.is_empty())
    }
}

/// Takes the value of a member that may come once.
#[inline(always)]
pub(crate) fn take<'a>(
    slot: &mut Slot<'a>,
    repeated: &mut bool,
    value: &mut Reader<'_, 'a>,
) -> Option<()> {
    *repeated |= slot.replace(value.value()?).is_some();
    Some(())
}

/// Passes over a value.
#[inline(always)]
pub(crate) fn skip(value: &mut Reader<'_, '_>) -> Option<()> {
    value.value().map(|_| ())
}

/// A string that may be absent or `null`; nothing where it is of another kind.
#[inline(always)]
pub(crate) fn string(slot: Slot<'_>) -> Option<Presence<JsonStr<'_>>> {
    match slot {
        None => Some(Presence::Absent),
        Some("null") => Some(Presence::Null),
        Some(text) => JsonStr::new(text).map(Presence::Value),
    }
}

/// Whether a value is absent, `null`, or begins so.
#[inline(always)]
pub(crate) fn may_begin(slot: Slot<'_>, with: char) -> bool {
    slot.is_none_or(|text| text.starts_with(with) || text == "null")
}

/// The members of the parameters of an update.
#[derive(Default)]
pub(crate) struct NotificationSlots<'a, U> {
    json: &'a str,
    session_id: Slot<'a>,
    update: U,
    has_update: bool,
    is_repeated: bool,
}

/// The session, its update, and the whole as JSON text.
pub(crate) struct Notified<'a, U> {
    pub(crate) session_id: JsonStr<'a>,
    pub(crate) update: U,
    pub(crate) json: &'a str,
}

impl<'a, U: Slots<'a>> Slots<'a> for NotificationSlots<'a, U> {
    type Made = Notified<'a, U::Made>;

    #[inline(always)]
    fn read(&mut self, params: &mut Reader<'_, 'a>) -> Option<()> {
        if params.next_byte() != b'{' {
            return skip(params);
        }
        let Self { session_id, update, has_update, is_repeated, .. } = self;
        self.json = params.object(|name, value| match name {
            "sessionId" => take(session_id, is_repeated, value),
            "update" => {
                *is_repeated |= core::mem::replace(has_update, true);
                update.read(value)
            }
            _ => skip(value),
        })?;
        Some(())
    }

    #[inline(always)]
    fn build(&mut self) -> Option<Self::Made> {
        if self.is_repeated {
            return None;
        }
        let session_id = JsonStr::new(self.session_id?)?;
        Some(Notified { session_id, update: self.update.build()?, json: self.json })
    }
}

/// The members of a block of content.
#[derive(Default)]
pub(crate) struct BlockSlots<'a> {
    pub(crate) json: &'a str,
    tag: Slot<'a>,
    text: Slot<'a>,
    data: Slot<'a>,
    mime_type: Slot<'a>,
    uri: Slot<'a>,
    annotations: Slot<'a>,
    is_repeated: bool,
}

impl<'a> Slots<'a> for BlockSlots<'a> {
    type Made = ContentBlockRef<'a>;

    #[inline(always)]
    fn read(&mut self, block: &mut Reader<'_, 'a>) -> Option<()> {
        let mut repeated = false;
        self.json = block.object(|name, value| match name {
            "type" => take(&mut self.tag, &mut repeated, value),
            "text" => take(&mut self.text, &mut repeated, value),
            "data" => take(&mut self.data, &mut repeated, value),
            "mimeType" => take(&mut self.mime_type, &mut repeated, value),
            "uri" => take(&mut self.uri, &mut repeated, value),
            "annotations" => take(&mut self.annotations, &mut repeated, value),
            _ => skip(value),
        })?;
        self.is_repeated = repeated;
        Some(())
    }

    #[inline(always)]
    fn build(&mut self) -> Option<ContentBlockRef<'a>> {
        let (json, tag) = (self.json, JsonStr::new(self.tag?)?);
        let is_text = tag == "text";
        if !is_text && tag != "image" {
            return Some(ContentBlockRef::Other(OtherRef { tag, json }));
        }
        if self.is_repeated || !may_begin(self.annotations, '{') {
            return None;
        }
        if is_text {
            let text = JsonStr::new(self.text?)?;
            return Some(ContentBlockRef::Text(TextContentRef { text, json }));
        }
        string(self.uri)?;
        let (data, mime_type) = (JsonStr::new(self.data?)?, JsonStr::new(self.mime_type?)?);
        Some(ContentBlockRef::Image(ImageContentRef { data, mime_type, json }))
    }
}

/// The members of the parameters of a prompt.
#[derive(Default)]
pub(crate) struct PromptSlots<'a> {
    json: &'a str,
    session_id: Slot<'a>,
    prompt: Option<Vec<ContentBlockRef<'a>>>,
    is_unusual: bool,
}

/// The session, the blocks, and the whole as JSON text.
pub(crate) struct Prompted<'a> {
    pub(crate) session_id: JsonStr<'a>,
    pub(crate) prompt: Vec<ContentBlockRef<'a>>,
    pub(crate) json: &'a str,
}

impl<'a> Slots<'a> for PromptSlots<'a> {
    type Made = Prompted<'a>;

    fn read(&mut self, params: &mut Reader<'_, 'a>) -> Option<()> {
        if params.next_byte() != b'{' {
            return skip(params);
        }
        let Self { session_id, prompt, is_unusual, .. } = self;
        self.json = params.object(|name, value| match name {
            "sessionId" => take(session_id, is_unusual, value),
            "prompt" => {
                *is_unusual |= prompt.is_some();
                *prompt = blocks(value, is_unusual)?;
                Some(())
            }
            _ => skip(value),
        })?;
        Some(())
    }

    fn build(&mut self) -> Option<Prompted<'a>> {
        if self.is_unusual {
            return None;
        }
        let session_id = JsonStr::new(self.session_id?)?;
        Some(Prompted { session_id, prompt: self.prompt.take()?, json: self.json })
    }
}

/// Reads a list of blocks; nothing inside where it is none.
fn blocks<'a>(
    list: &mut Reader<'_, 'a>,
    is_unusual: &mut bool,
) -> Option<Option<Vec<ContentBlockRef<'a>>>> {
    if list.next_byte() != b'[' {
        return list.value().map(|_| None);
    }
    let mut blocks = Vec::new();
    list.array(|item| {
        if item.next_byte() != b'{' {
            *is_unusual = true;
            return skip(item);
        }
        let mut block = BlockSlots::default();
        block.read(item)?;
        match block.build() {
            Some(block) => blocks.push(block),
            None => *is_unusual = true,
        }
        Some(())
    })?;
    Some(Some(blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_where_it_is_and_where_its_place_has_no_room() {
        let json = r#"{"a":1,"list":[2]}"#;
        let list = peek_member(json, "list").ok().flatten();
        assert_eq!(list, Some("[2]"));
        assert_eq!(Place::new(json, list).value(json, "list"), list);
        assert_eq!(Place::new(json, None).value(json, "list"), None);
        assert_eq!(Place::FAR.value(json, "list"), list);
    }
}
