//! Content of tool results and messages: text, images, audio and resources.
//!
//! Spec: [Tool
//! result](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result)
use super::resources::Resource;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

open_union! {
    /// One block of a tool result or of a message.
    ///
    /// Spec: [`ContentBlock`](https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock)
    ///
    /// Blocks of an unknown type are preserved:
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::content::ContentBlock;
    ///
    /// let json = r#"{"type":"hologram","z":3}"#;
    /// let block: ContentBlock = wire::decode(json)?;
    /// assert!(!block.is_known());
    /// assert_eq!(serde_json::to_string(&block).ok().as_deref(), Some(json));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(MediaContent) = "image" [shared],
        /// An audio clip.
        Audio(MediaContent) = "audio" [shared],
        /// A link to a resource.
        ResourceLink(Resource) = "resource_link",
        /// A resource including its contents.
        Resource(EmbeddedResource) = "resource",
    }
}

object! {
    /// Text content.
    ///
    /// Spec: [`TextContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#textcontent)
    pub struct TextContent {
        /// The text.
        text: String = "text",
    }
    optional {
        /// Intended audience and importance.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// An image or an audio clip.
    ///
    /// Spec: [`ImageContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#imagecontent),
    /// [`AudioContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#audiocontent)
    pub struct MediaContent {
        /// The data in base64. Not validated.
        data: String = "data",
        /// The media type, such as `image/png`.
        mime_type: String = "mimeType",
    }
    optional {
        /// Intended audience and importance.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// A resource including its contents.
    ///
    /// Spec: [`EmbeddedResource`](https://modelcontextprotocol.io/specification/2026-07-28/schema#embeddedresource)
    pub struct EmbeddedResource {
        /// The resource.
        resource: ResourceContents = "resource",
    }
    optional {
        /// Intended audience and importance.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// The contents of a resource, as text or as bytes.
    ///
    /// The schema defines two types without a tag. This type represents both and keeps the members
    /// received.
    ///
    /// Spec: [`TextResourceContents`](https://modelcontextprotocol.io/specification/2026-07-28/schema#textresourcecontents),
    /// [`BlobResourceContents`](https://modelcontextprotocol.io/specification/2026-07-28/schema#blobresourcecontents)
    pub struct ResourceContents {
        /// URI of the resource.
        uri: String = "uri",
    }
    optional {
        /// The media type.
        mime_type: String = "mimeType",
        /// The contents, if textual.
        text: String = "text",
        /// The contents in base64, if binary.
        blob: String = "blob",
    }
    and "_meta"
}

object! {
    /// Intended audience and importance of content.
    ///
    /// Spec: [`Annotations`](https://modelcontextprotocol.io/specification/2026-07-28/schema#annotations)
    pub struct Annotations {}
    optional {
        /// The intended audience.
        audience: Vec<Role> = "audience",
        /// Importance from 0 (optional) to 1 (required).
        priority: Number = "priority",
        /// Time of the last change, ISO 8601.
        last_modified: String = "lastModified",
    }
}

open_enum! {
    /// Author or audience of a message.
    ///
    /// Spec: [`Role`](https://modelcontextprotocol.io/specification/2026-07-28/schema#role)
    pub enum Role {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
