//! Content blocks: text, images, audio and resources.
//!
//! Spec: [Content](https://agentclientprotocol.com/protocol/v1/content), [version
//! 2](https://agentclientprotocol.com/protocol/v2/content)
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum};

object! {
    /// Text, plain or Markdown.
    ///
    /// Spec: [`TextContent`](https://agentclientprotocol.com/protocol/v1/schema#textcontent),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#textcontent)
    pub struct TextContent {
        /// The text.
        text: String = "text",
    }
    optional {
        /// Hints for use and display.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// Hints for the use and display of content.
    ///
    /// Spec: [`Annotations`](https://agentclientprotocol.com/protocol/v1/schema#annotations),
    /// [version 2](https://agentclientprotocol.com/protocol/v2/schema#annotations)
    pub struct Annotations {}
    optional {
        /// Intended audience.
        audience: Vec<Role> = "audience" [default_on_error, skip_invalid_items],
        /// Time of the last modification, an ISO 8601 timestamp.
        last_modified: String = "lastModified" [default_on_error],
        /// Importance, from 0 to 1.
        priority: f64 = "priority" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// The speaker or the audience of a message.
    ///
    /// Spec: [`Role`](https://agentclientprotocol.com/protocol/v1/schema#role), [version
    /// 2](https://agentclientprotocol.com/protocol/v2/schema#role)
    pub enum Role {
        /// The assistant.
        Assistant = "assistant",
        /// The user.
        User = "user",
    }
}
