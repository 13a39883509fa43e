//! Content blocks: text, images, audio and resources.
//!
//! Spec: [Content](https://agentclientprotocol.com/protocol/v2/content)
pub use crate::shared::content::{Annotations, Role, TextContent};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{member_union, object, open_enum, open_union, string_id};

string_id! {
    /// The format of content, such as `image/png`. It is kept verbatim, and not validated.
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
        /// A link to a resource.
        ResourceLink(Box<ResourceLink>) = "resource_link",
        /// An embedded resource.
        Resource(Box<EmbeddedResource>) = "resource",
        /// **Unstable.** A skill that the user invokes. Requires the agent's `session.prompt.skill`.
        Skill(SkillReference) = "skill",
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
        /// The bytes, in base64.
        data: String = "data",
        /// Media type.
        mime_type: MediaType = "mimeType",
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
    /// Spec: [`AudioContent`](https://agentclientprotocol.com/protocol/v2/schema#audiocontent)
    pub struct AudioContent {
        /// The bytes, in base64.
        data: String = "data",
        /// Media type.
        mime_type: MediaType = "mimeType",
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
    /// Spec: [`ResourceLink`](https://agentclientprotocol.com/protocol/v2/schema#resourcelink)
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
        /// Icons of the resource.
        icons: Vec<Icon> = "icons" [default_on_error, skip_invalid_items],
        /// Media type.
        mime_type: MediaType = "mimeType" [default_on_error],
        /// Size in bytes.
        size: u64 = "size" [default_on_error],
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// An icon.
    ///
    /// Spec: [`Icon`](https://agentclientprotocol.com/protocol/v2/schema#icon)
    pub struct Icon {
        /// An `https:` or `data:` URI.
        src: String = "src",
    }
    optional {
        /// Media type.
        mime_type: MediaType = "mimeType" [default_on_error],
        /// Available sizes, each as `48x48`, or `any`.
        sizes: Vec<String> = "sizes" [default_on_error, skip_invalid_items],
        /// The background that the icon is designed for.
        theme: IconTheme = "theme" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// The background that an icon is designed for.
    ///
    /// Spec: [`IconTheme`](https://agentclientprotocol.com/protocol/v2/schema#icontheme)
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

object! {
    /// An embedded resource.
    ///
    /// Spec: [`EmbeddedResource`](https://agentclientprotocol.com/protocol/v2/schema#embeddedresource)
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
        /// URI of the resource.
        uri: String = "uri",
        /// The text.
        text: String = "text",
    }
    optional {
        /// Media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    and "_meta"
}

object! {
    /// The bytes of a resource.
    ///
    /// Spec: [`BlobResourceContents`](https://agentclientprotocol.com/protocol/v2/schema#blobresourcecontents)
    pub struct BlobResourceContents {
        /// URI of the resource.
        uri: String = "uri",
        /// The bytes in base64.
        blob: String = "blob",
    }
    optional {
        /// Media type.
        mime_type: MediaType = "mimeType" [default_on_error],
    }
    and "_meta"
}

object! {
    /// **Unstable.** A reference to a skill that the user invokes with a prompt.
    ///
    /// Spec: [`SkillReference`](https://agentclientprotocol.com/protocol/v2/draft/schema#skillreference)
    pub struct SkillReference {
        /// Name of a skill in the session's list of commands.
        name: String = "name",
    }
    and "_meta"
}
