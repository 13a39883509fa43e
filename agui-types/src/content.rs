//! What messages and tool results hold: a text, or parts.
//!
//! Spec: [Messages, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#messages),
//! [Result content, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#result-content)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{object, open_union};

/// The `content` of user messages, tool messages and tool results: a text, or a list of parts.
///
/// ```
/// use agui_types::content::{Content, ContentPart, TextPart};
///
/// let given = r#"[{"type":"text","text":"Look: "},{"type":"image","source":{"type":"url","value":"https://a.b/c"}}]"#;
/// let content: Content = serde_json::from_str(given)?;
/// let Content::Parts(parts) = &content else { panic!("not parts") };
/// assert_eq!(parts[0], ContentPart::Text(TextPart::new("Look: ")));
/// assert_eq!(content.text(), "Look: ");
/// assert_eq!(serde_json::to_string(&content)?, given);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Spec: [`UserMessage.content`, 1.0](https://ag-ui.com/spec/1.0/schema#usermessage)
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// The text alone: that of the text parts, joined in order. Other parts are left out.
    ///
    /// Spec: [Result content, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#result-content), the rule for peers
    /// that can only hold a string
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => parts.iter().filter_map(ContentPart::as_text).collect(),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Content {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Content".into()
    }

    fn schema_id() -> alloc::borrow::Cow<'static, str> {
        concat!(module_path!(), "::Content").into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let parts = generator.subschema_for::<Vec<ContentPart>>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, parts] })
    }
}

impl Wire for Content {
    fn blank() -> Self {
        Self::Text(String::new())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match reader.next_byte() {
            b'"' => *self = Self::Text(reader.string()?.into_owned()),
            b'[' => {
                let mut parts = Vec::blank();
                parts.read(reader)?;
                *self = Self::Parts(parts);
            }
            _ => return Err(reader.expected("a string or a list of content parts")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        match self {
            Self::Text(text) => text.view(),
            Self::Parts(parts) => parts.view(),
        }
    }
}

object! { @serde Content }

open_union! {
    /// A part of a user message or of a tool result.
    ///
    /// Spec: [`ContentPart`, 1.0](https://ag-ui.com/spec/1.0/schema#contentpart)
    pub enum ContentPart by "type" {
        /// A text.
        Text(TextPart) = "text",
        /// A picture.
        Image(ImagePart) = "image",
        /// A recording.
        Audio(AudioPart) = "audio",
        /// A film.
        Video(VideoPart) = "video",
        /// Any other file.
        Document(DocumentPart) = "document",
        /// A file as 0.x clients send it; 1.0 has no such part.
        Binary(BinaryPart) = "binary",
    }
}

impl ContentPart {
    /// The text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }
}

object! {
    /// A text.
    ///
    /// Spec: [`TextPart`, 1.0](https://ag-ui.com/spec/1.0/schema#textpart)
    pub struct TextPart {
        /// The text.
        text: String = "text",
    }
    optional {
        /// Names the part.
        id: String = "id",
        /// Whatever the producer wants to add.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A picture.
    ///
    /// Spec: [`ImagePart`, 1.0](https://ag-ui.com/spec/1.0/schema#imagepart)
    pub struct ImagePart {
        /// Where its bytes are.
        source: PartSource = "source",
    }
    optional {
        /// Names the part.
        id: String = "id",
        /// Whatever the producer wants to add.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A recording.
    ///
    /// Spec: [`AudioPart`, 1.0](https://ag-ui.com/spec/1.0/schema#audiopart)
    pub struct AudioPart {
        /// Where its bytes are.
        source: PartSource = "source",
    }
    optional {
        /// Names the part.
        id: String = "id",
        /// Whatever the producer wants to add.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A film.
    ///
    /// Spec: [`VideoPart`, 1.0](https://ag-ui.com/spec/1.0/schema#videopart)
    pub struct VideoPart {
        /// Where its bytes are.
        source: PartSource = "source",
    }
    optional {
        /// Names the part.
        id: String = "id",
        /// Whatever the producer wants to add.
        metadata: Raw = "metadata",
    }
}

object! {
    /// Any other file.
    ///
    /// Spec: [`DocumentPart`, 1.0](https://ag-ui.com/spec/1.0/schema#documentpart)
    pub struct DocumentPart {
        /// Where its bytes are.
        source: PartSource = "source",
    }
    optional {
        /// Names the part.
        id: String = "id",
        /// Whatever the producer wants to add.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A file as 0.x clients send it, by value, by address or by an identifier of the application's.
    ///
    /// [`modern`](Self::modern) gives what 1.0 has in its place.
    ///
    /// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
    pub struct BinaryPart {
        /// Its media type.
        mime_type: String = "mimeType",
    }
    optional {
        /// Its bytes, in base64.
        data: String = "data",
        /// Its address.
        url: String = "url",
        /// Names it in a way that only the application knows.
        id: String = "id",
        /// Its name.
        filename: String = "filename",
    }
}

impl BinaryPart {
    /// The part of 1.0 that says the same: by media type an image, audio, video or document, with the name as
    /// `filename` of its metadata.
    ///
    /// There is none for a part with neither data nor an address. Members that the type does not know are left out.
    ///
    /// ```
    /// use agui_types::content::{BinaryPart, ContentPart};
    ///
    /// let mut old = BinaryPart::new("image/png");
    /// assert_eq!(old.modern(), None);
    /// old.data = Some("AAAA".into());
    /// assert!(matches!(old.modern(), Some(ContentPart::Image(_))));
    /// ```
    pub fn modern(&self) -> Option<ContentPart> {
        let source = match (&self.data, &self.url) {
            (Some(data), _) => {
                PartSource::Data(DataSource::new(data.clone(), self.mime_type.clone()))
            }
            (None, Some(url)) => {
                let mut source = UrlSource::new(url.clone());
                source.mime_type = Some(self.mime_type.clone());
                PartSource::Url(source)
            }
            (None, None) => return None,
        };
        let metadata = self.filename.as_ref().and_then(|filename| {
            let mut metadata = Extra::new();
            metadata.insert("filename", Raw::from_value(filename).ok()?);
            Raw::from_value(&metadata).ok()
        });
        let (id, kind) = (self.id.clone(), self.mime_type.split('/').next());
        Some(match kind {
            Some("image") => {
                ContentPart::Image(ImagePart { id, metadata, ..ImagePart::new(source) })
            }
            Some("audio") => {
                ContentPart::Audio(AudioPart { id, metadata, ..AudioPart::new(source) })
            }
            Some("video") => {
                ContentPart::Video(VideoPart { id, metadata, ..VideoPart::new(source) })
            }
            _ => ContentPart::Document(DocumentPart { id, metadata, ..DocumentPart::new(source) }),
        })
    }
}

open_union! {
    /// Where the bytes of a part are.
    ///
    /// Spec: [`PartSource`, 1.0](https://ag-ui.com/spec/1.0/schema#partsource)
    pub enum PartSource by "type" {
        /// Here.
        Data(DataSource) = "data",
        /// At an address.
        Url(UrlSource) = "url",
        /// At a model provider.
        File(FileSource) = "file",
    }
}

object! {
    /// Bytes.
    ///
    /// Spec: [`DataSource`, 1.0](https://ag-ui.com/spec/1.0/schema#datasource)
    pub struct DataSource {
        /// The bytes, in base64.
        value: String = "value",
        /// Their media type.
        mime_type: String = "mimeType",
    }
}

object! {
    /// An address. It comes from a peer: whoever fetches it decides which hosts may be asked.
    ///
    /// Spec: [`UrlSource`, 1.0](https://ag-ui.com/spec/1.0/schema#urlsource)
    pub struct UrlSource {
        /// The address.
        value: String = "value",
    }
    optional {
        /// The media type of what is there.
        mime_type: String = "mimeType",
    }
}

object! {
    /// A file that a model provider holds. Its name there is opaque: not to be fetched, not to be parsed.
    ///
    /// Spec: [Provider file handles, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#provider-file-handles)
    pub struct FileSource {
        /// The provider's name for it.
        value: String = "value",
    }
    optional {
        /// The vendor's identifier, in lower case.
        provider: String = "provider",
        /// The media type of the file.
        mime_type: String = "mimeType",
    }
}
