//! What people, models and tools say: text, images, audio, resources.
//!
//! Spec: [Content](https://agentclientprotocol.com/protocol/v1/content), [version 2](https://agentclientprotocol.com/protocol/v2/content)
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::{object, open_enum};

object! {
    /// Text, plain or Markdown.
    ///
    /// Spec: [`TextContent`](https://agentclientprotocol.com/protocol/v1/schema#textcontent), [version 2](https://agentclientprotocol.com/protocol/v2/schema#textcontent)
    pub struct TextContent {
        /// The text.
        text: String = "text",
    }
    optional {
        /// How to use and show it.
        annotations: Box<Annotations> = "annotations" [default_on_error],
    }
    and "_meta"
}

object! {
    /// How to use and show a block of content.
    ///
    /// Spec: [`Annotations`](https://agentclientprotocol.com/protocol/v1/schema#annotations), [version 2](https://agentclientprotocol.com/protocol/v2/schema#annotations)
    pub struct Annotations {}
    optional {
        /// Whom it is for.
        audience: Vec<Role> = "audience" [default_on_error, skip_invalid_items],
        /// When it last changed, an ISO 8601 timestamp.
        last_modified: String = "lastModified" [default_on_error],
        /// How much it matters, from 0 to 1.
        priority: f64 = "priority" [default_on_error],
    }
    and "_meta"
}

open_enum! {
    /// Who speaks, or is spoken to.
    ///
    /// Spec: [`Role`](https://agentclientprotocol.com/protocol/v1/schema#role), [version 2](https://agentclientprotocol.com/protocol/v2/schema#role)
    pub enum Role {
        /// The model.
        Assistant = "assistant",
        /// The person.
        User = "user",
    }
}
