//! What people, models and tools say: text, images, audio, resources.
//!
//! Spec: [Content](https://agentclientprotocol.com/protocol/v2/content)
pub use crate::shared::content::{Annotations, Role, TextContent};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{member_union, object, open_enum, open_union, string_id};

string_id! {
    /// What format some content has, such as `image/png`. It is kept as it came, and not checked.
    ///
    /// Spec: [`MediaType`](https://agentclientprotocol.com/protocol/v2/schema#mediatype)
    pub struct MediaType;
}

open_union! {
    /// A block of content.
    ///
    /// Spec: [`ContentBlock`](https://agentclientprotocol.com/protocol/v2/schema#contentblock)
    pub enum ContentBlock by "type" {
        /// Text, plain or Markdown.
        Text(TextContent) = "text",
        /// An image.
        Image(Box<ImageContent>) = "image",
        /// Audio.
        Audio(Box<AudioContent>) = "audio",
        /// Where a resource is.
        ResourceLink(Box<ResourceLink>) = "resource_link",
        /// A resource itself.
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
    /// Spec: [`ImageContent`](https://agentclientprotocol.com/protocol/v2/schema#imagecontent)
    pub struct ImageContent {
        /// Its bytes in base64.
        data: String = "data",
        /// Its media type.
        mime_type: MediaType = "mimeType",
    }
    optional {
        /// Where it is from.
        uri: String = "uri" [default_on_error],
        /// How to use and show it.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Audio.
    ///
    /// Spec: [`AudioContent`](https://agentclientprotocol.com/protocol/v2/schema#audiocontent)
    pub struct AudioContent {
        /// Its bytes in base64.
        data: String = "data",
        /// Its media type.
        mime_type: MediaType = "mimeType",
    }
    optional {
        /// How to use and show it.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Where a resource is that the agent can read.
    ///
    /// Spec: [`ResourceLink`](https://agentclientprotocol.com/protocol/v2/schema#resourcelink)
    pub struct ResourceLink {
        /// Its name, for programs.
        name: String = "name",
        /// Where it is.
        uri: String = "uri",
    }
    optional {
        /// Its name, for people.
        title: String = "title" [default_on_error],
        /// What it is.
        description: String = "description" [default_on_error],
        /// Pictures to show for it.
        icons: Vec<Icon> = "icons" [default_on_error, skip_invalid_items],
        /// Its media type.
        mime_type: MediaType = "mimeType" [default_on_error],
        /// Its size in bytes.
        size: u64 = "size" [default_on_error],
        /// How to use and show it.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// A picture to show for something.
    ///
    /// Spec: [`Icon`](https://agentclientprotocol.com/protocol/v2/schema#icon)
    pub struct Icon {
        /// Where it is: an `https:` or a `data:` URI.
        src: String = "src",
    }
    optional {
        /// Its media type.
        mime_type: MediaType = "mimeType" [default_on_error],
        /// The sizes that it has, each as `48x48`, or `any`.
        sizes: Vec<String> = "sizes" [default_on_error, skip_invalid_items],
        /// The background that it is made for.
        theme: IconTheme = "theme" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// The background that a picture is made for.
    ///
    /// Spec: [`IconTheme`](https://agentclientprotocol.com/protocol/v2/schema#icontheme)
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

object! {
    /// A resource itself.
    ///
    /// Spec: [`EmbeddedResource`](https://agentclientprotocol.com/protocol/v2/schema#embeddedresource)
    pub struct EmbeddedResource {
        /// Its contents.
        resource: EmbeddedResourceResource = "resource",
    }
    optional {
        /// How to use and show it.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

member_union! {
    /// The contents of a resource.
    ///
    /// Spec: [`EmbeddedResourceResource`](https://agentclientprotocol.com/protocol/v2/schema#embeddedresourceresource)
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
    /// Spec: [`TextResourceContents`](https://agentclientprotocol.com/protocol/v2/schema#textresourcecontents)
    pub struct TextResourceContents {
        /// Where the resource is.
        uri: String = "uri",
        /// The text.
        text: String = "text",
    }
    optional {
        /// Its media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The bytes of a resource.
    ///
    /// Spec: [`BlobResourceContents`](https://agentclientprotocol.com/protocol/v2/schema#blobresourcecontents)
    pub struct BlobResourceContents {
        /// Where the resource is.
        uri: String = "uri",
        /// The bytes in base64.
        blob: String = "blob",
    }
    optional {
        /// Its media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    and "_meta"
}
