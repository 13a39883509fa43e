//! Content blocks: text, images, audio and resources.
//!
//! Spec: [Content](https://agentclientprotocol.com/protocol/v1/content)
pub use crate::shared::content::{Annotations, Role, TextContent};
use alloc::boxed::Box;
use alloc::string::String;
use jsonrpc_core::{member_union, object, open_union};

open_union! {
    /// A block of content.
    ///
    /// Spec: [`ContentBlock`](https://agentclientprotocol.com/protocol/v1/schema#contentblock)
    ///
    /// ```
    /// use acp_types::v1::content::ContentBlock;
    ///
    /// let block: ContentBlock =
    ///     serde_json::from_str(r#"{"type":"resource_link","name":"main.rs","uri":"file:///main.rs"}"#)?;
    /// let ContentBlock::ResourceLink(link) = &block else { panic!("another block") };
    /// assert_eq!(link.uri, "file:///main.rs");
    ///
    /// assert_eq!(serde_json::to_string(&ContentBlock::from("Hi"))?, r#"{"type":"text","text":"Hi"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub enum ContentBlock by "type" {
        /// Text, plain or Markdown.
        Text(TextContent) = "text",
        /// An image.
        Image(Box<ImageContent>) = "image",
        /// Audio.
        Audio(Box<AudioContent>) = "audio",
        /// A link to a resource.
        ResourceLink(Box<ResourceLink>) = "resource_link",
        /// An embedded resource.
        Resource(Box<EmbeddedResource>) = "resource",
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::Text(TextContent::new(text))
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::Text(TextContent::new(text))
    }
}

object! {
    /// An image.
    ///
    /// Spec: [`ImageContent`](https://agentclientprotocol.com/protocol/v1/schema#imagecontent)
    pub struct ImageContent {
        /// The bytes, in base64.
        data: String = "data",
        /// Media type.
        mime_type: String = "mimeType",
    }
    optional {
        /// URI of the source.
        uri: String = "uri" [default_on_error],
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Audio.
    ///
    /// Spec: [`AudioContent`](https://agentclientprotocol.com/protocol/v1/schema#audiocontent)
    pub struct AudioContent {
        /// The bytes, in base64.
        data: String = "data",
        /// Media type.
        mime_type: String = "mimeType",
    }
    optional {
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A link to a resource that the agent can read.
    ///
    /// Spec: [`ResourceLink`](https://agentclientprotocol.com/protocol/v1/schema#resourcelink)
    pub struct ResourceLink {
        /// Programmatic name.
        name: String = "name",
        /// URI of the resource.
        uri: String = "uri",
    }
    optional {
        /// Human-readable name.
        title: String = "title" [default_on_error],
        /// Human-readable description.
        description: String = "description" [default_on_error],
        /// Media type.
        mime_type: String = "mimeType" [default_on_error],
        /// Size in bytes.
        size: i64 = "size" [default_on_error],
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An embedded resource.
    ///
    /// Spec: [`EmbeddedResource`](https://agentclientprotocol.com/protocol/v1/schema#embeddedresource)
    pub struct EmbeddedResource {
        /// The contents.
        resource: EmbeddedResourceResource = "resource",
    }
    optional {
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

member_union! {
    /// The contents of a resource.
    ///
    /// Spec: [`EmbeddedResourceResource`](https://agentclientprotocol.com/protocol/v1/schema#embeddedresourceresource)
    pub enum EmbeddedResourceResource {
        /// Text.
        Text(TextResourceContents) has "text",
        /// Bytes.
        Blob(BlobResourceContents) has "blob",
    }
}

object! {
    /// The text of a resource.
    ///
    /// Spec: [`TextResourceContents`](https://agentclientprotocol.com/protocol/v1/schema#textresourcecontents)
    pub struct TextResourceContents {
        /// URI of the resource.
        uri: String = "uri",
        /// The text.
        text: String = "text",
    }
    optional {
        /// Media type.
        mime_type: String = "mimeType" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The bytes of a resource.
    ///
    /// Spec: [`BlobResourceContents`](https://agentclientprotocol.com/protocol/v1/schema#blobresourcecontents)
    pub struct BlobResourceContents {
        /// URI of the resource.
        uri: String = "uri",
        /// The bytes in base64.
        blob: String = "blob",
    }
    optional {
        /// Media type.
        mime_type: String = "mimeType" [default_on_error],
    }
    and "_meta"
}
