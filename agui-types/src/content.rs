//! Content of messages and tool results: a string, or a list of parts.
//!
//! Spec: [Messages, 1.0](https://ag-ui.com/spec/1.0/basic/run-input#messages),
//! [Result content, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#result-content)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{Extra, Fault, Raw, ValueReader, View, Wire};
use jsonrpc_core::{object, open_union};

/// The `content` of user messages, tool messages and tool results.
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
#[expect(clippy::exhaustive_enums, reason = "the schema has these two forms")]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Content parts, in order.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// Returns the text: the text parts joined in order. Other parts are left out.
    ///
    /// Spec: [Result content, 1.0](https://ag-ui.com/spec/1.0/events/tool-calls#result-content),
    /// the rule for peers that can only hold a string
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
        /// Text.
        Text(TextPart) = "text",
        /// An image.
        Image(ImagePart) = "image",
        /// Audio.
        Audio(AudioPart) = "audio",
        /// Video.
        Video(VideoPart) = "video",
        /// Any other file.
        Document(DocumentPart) = "document",
        /// A file as 0.x clients send it. AG-UI 1.0 has no such part.
        Binary(BinaryPart) = "binary",
    }
}

impl ContentPart {
    /// Returns the text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(part) => Some(&part.text),
            _ => None,
        }
    }
}

object! {
    /// A text part.
    ///
    /// Spec: [`TextPart`, 1.0](https://ag-ui.com/spec/1.0/schema#textpart)
    pub struct TextPart {
        /// The text.
        text: String = "text",
    }
    optional {
        /// Identifier of the part.
        id: String = "id",
        /// Metadata of the producer.
        metadata: Raw = "metadata",
    }
}

object! {
    /// An image part.
    ///
    /// Spec: [`ImagePart`, 1.0](https://ag-ui.com/spec/1.0/schema#imagepart)
    pub struct ImagePart {
        /// Location of the bytes.
        source: PartSource = "source",
    }
    optional {
        /// Identifier of the part.
        id: String = "id",
        /// Metadata of the producer.
        metadata: Raw = "metadata",
    }
}

object! {
    /// An audio part.
    ///
    /// Spec: [`AudioPart`, 1.0](https://ag-ui.com/spec/1.0/schema#audiopart)
    pub struct AudioPart {
        /// Location of the bytes.
        source: PartSource = "source",
    }
    optional {
        /// Identifier of the part.
        id: String = "id",
        /// Metadata of the producer.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A video part.
    ///
    /// Spec: [`VideoPart`, 1.0](https://ag-ui.com/spec/1.0/schema#videopart)
    pub struct VideoPart {
        /// Location of the bytes.
        source: PartSource = "source",
    }
    optional {
        /// Identifier of the part.
        id: String = "id",
        /// Metadata of the producer.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A part with any other file.
    ///
    /// Spec: [`DocumentPart`, 1.0](https://ag-ui.com/spec/1.0/schema#documentpart)
    pub struct DocumentPart {
        /// Location of the bytes.
        source: PartSource = "source",
    }
    optional {
        /// Identifier of the part.
        id: String = "id",
        /// Metadata of the producer.
        metadata: Raw = "metadata",
    }
}

object! {
    /// A file as 0.x clients send it: inline, by URL, or by an identifier of the application.
    ///
    /// [`modern`](Self::modern) returns the equivalent part of AG-UI 1.0.
    ///
    /// Spec: [Versioning, 1.0](https://ag-ui.com/spec/1.0/basic/versioning)
    pub struct BinaryPart {
        /// Media type.
        mime_type: String = "mimeType",
    }
    optional {
        /// The bytes, in base64.
        data: String = "data",
        /// URL of the file.
        url: String = "url",
        /// Identifier that only the application can resolve.
        id: String = "id",
        /// File name.
        filename: String = "filename",
    }
}

impl BinaryPart {
    /// Returns the equivalent part of AG-UI 1.0: image, audio, video or document by media type,
    /// with the file name as `filename` of its metadata.
    ///
    /// Returns `None` if the part has neither data nor a URL. Unknown members are left out.
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
        let id = self.id.clone();
        let kind = self.mime_type.split('/').next();
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
    /// The location of a part's bytes.
    ///
    /// Spec: [`PartSource`, 1.0](https://ag-ui.com/spec/1.0/schema#partsource)
    pub enum PartSource by "type" {
        /// Inline bytes.
        Data(DataSource) = "data",
        /// A URL.
        Url(UrlSource) = "url",
        /// A file at a model provider.
        File(FileSource) = "file",
    }
}

object! {
    /// Inline bytes.
    ///
    /// Spec: [`DataSource`, 1.0](https://ag-ui.com/spec/1.0/schema#datasource)
    pub struct DataSource {
        /// The bytes, in base64.
        value: String = "value",
        /// Media type of the bytes.
        mime_type: String = "mimeType",
    }
}

object! {
    /// A URL. It comes from a peer: before fetching it, check its host against an allowlist.
    ///
    /// Spec: [`UrlSource`, 1.0](https://ag-ui.com/spec/1.0/schema#urlsource)
    pub struct UrlSource {
        /// The URL.
        value: String = "value",
    }
    optional {
        /// Media type of the content.
        mime_type: String = "mimeType",
    }
}

object! {
    /// A file stored by a model provider. Its name is opaque: do not fetch or parse it.
    ///
    /// Spec: [Provider file handles,
    /// 1.0](https://ag-ui.com/spec/1.0/basic/run-input#provider-file-handles)
    pub struct FileSource {
        /// The provider's name of the file.
        value: String = "value",
    }
    optional {
        /// Identifier of the vendor, in lower case.
        provider: String = "provider",
        /// Media type of the file.
        mime_type: String = "mimeType",
    }
}
