//! What tools and models say: text, images, audio, resources.
//!
//! Spec: [Tool result](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result)
use super::capabilities::Icon;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum, open_union};
use serde_json::Number;

open_union! {
    /// One part of a tool's result or of a message.
    ///
    /// Spec: [`ContentBlock`](https://modelcontextprotocol.io/specification/2026-07-28/schema#contentblock)
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextContent) = "text",
        /// An image.
        Image(MediaContent) = "image" [shared],
        /// A sound.
        Audio(MediaContent) = "audio" [shared],
        /// A resource that can be read elsewhere.
        ResourceLink(ResourceLink) = "resource_link",
        /// A resource with its contents.
        Resource(EmbeddedResource) = "resource",
    }
}

object! {
    /// Text.
    ///
    /// Spec: [`TextContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#textcontent)
    pub struct TextContent {
        /// The text.
        text: String = "text",
    }
    optional {
        /// For whom, and how important.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// An image or a sound.
    ///
    /// Spec: [`ImageContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#imagecontent),
    /// [`AudioContent`](https://modelcontextprotocol.io/specification/2026-07-28/schema#audiocontent)
    pub struct MediaContent {
        /// The bytes in base64; not checked here.
        data: String = "data",
        /// Their media type, such as `image/png`.
        mime_type: String = "mimeType",
    }
    optional {
        /// For whom, and how important.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// A resource that can be read elsewhere.
    ///
    /// Spec: [`ResourceLink`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcelink)
    pub struct ResourceLink {
        /// Where it is.
        uri: String = "uri",
        /// Its name, for programs.
        name: String = "name",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it is.
        description: String = "description",
        /// Its media type.
        mime_type: String = "mimeType",
        /// Its size in bytes, before any encoding.
        size: Number = "size",
        /// For whom, and how important.
        annotations: Annotations = "annotations",
        /// Pictures of it. From 2025-11-25 on.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

object! {
    /// A resource with its contents.
    ///
    /// Spec: [`EmbeddedResource`](https://modelcontextprotocol.io/specification/2026-07-28/schema#embeddedresource)
    pub struct EmbeddedResource {
        /// The resource.
        resource: ResourceContents = "resource",
    }
    optional {
        /// For whom, and how important.
        annotations: Annotations = "annotations",
    }
    and "_meta"
}

object! {
    /// The contents of a resource, as text or as bytes.
    ///
    /// The schema has two types that no tag tells apart; here they are one, with the member that came.
    ///
    /// Spec: [`TextResourceContents`](https://modelcontextprotocol.io/specification/2026-07-28/schema#textresourcecontents),
    /// [`BlobResourceContents`](https://modelcontextprotocol.io/specification/2026-07-28/schema#blobresourcecontents)
    pub struct ResourceContents {
        /// Where it is.
        uri: String = "uri",
    }
    optional {
        /// Its media type.
        mime_type: String = "mimeType",
        /// The contents, if they are text.
        text: String = "text",
        /// The contents in base64, if they are bytes.
        blob: String = "blob",
    }
    and "_meta"
}

object! {
    /// For whom something is, and how important.
    ///
    /// Spec: [`Annotations`](https://modelcontextprotocol.io/specification/2026-07-28/schema#annotations)
    pub struct Annotations {}
    optional {
        /// For whom.
        audience: Vec<Role> = "audience",
        /// From 0, optional, to 1, required.
        priority: Number = "priority",
        /// When it changed last, ISO 8601.
        last_modified: String = "lastModified",
    }
}

open_enum! {
    /// Who speaks, or is spoken to.
    ///
    /// Spec: [`Role`](https://modelcontextprotocol.io/specification/2026-07-28/schema#role)
    pub enum Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
