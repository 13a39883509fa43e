//! Identity and capabilities of peers.
//!
//! Spec: [Capability
//! Negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation)
//! (2025-11-25),
//! [`ClientCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities)
//! (2026-07-28)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_enum};

object! {
    /// Name and version of a program.
    ///
    /// Spec: [`Implementation`](https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation)
    pub struct Implementation {
        /// Programmatic name.
        name: String = "name",
        /// Version of the program.
        version: String = "version",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Human-readable description of the program.
        description: String = "description",
        /// Icons for user interfaces.
        icons: Vec<Icon> = "icons",
        /// URL of the program's website.
        website_url: String = "websiteUrl",
    }
}

object! {
    /// An icon.
    ///
    /// Spec: [`Icon`](https://modelcontextprotocol.io/specification/2026-07-28/schema#icon)
    pub struct Icon {
        /// An `https:` or `data:` URL.
        src: String = "src",
    }
    optional {
        /// The media type.
        mime_type: String = "mimeType",
        /// Sizes that the icon is designed for, such as `48x48` or `any`.
        sizes: Vec<String> = "sizes",
        /// Color theme that the icon is designed for.
        theme: IconTheme = "theme",
    }
}

open_enum! {
    /// Color theme that an icon is designed for.
    ///
    /// Spec: [`Icon`](https://modelcontextprotocol.io/specification/2026-07-28/schema#icon)
    pub enum IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

object! {
    /// Capabilities of a client.
    ///
    /// Spec: [`ClientCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities)
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::capabilities::ClientCapabilities;
    ///
    /// let old: ClientCapabilities = wire::decode(r#"{"elicitation":{}}"#)?;
    /// assert_eq!((old.takes_forms(), old.takes_urls()), (true, false));
    /// let new: ClientCapabilities = wire::decode(r#"{"elicitation":{"url":{}}}"#)?;
    /// assert_eq!((new.takes_forms(), new.takes_urls()), (false, true));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    pub struct ClientCapabilities {}
    optional {
        /// The client presents elicitations to the user. Since 2025-06-18.
        elicitation: ElicitationCapability = "elicitation",
        /// The client runs sampling requests on its model. Deprecated in 2026-07-28.
        sampling: SamplingCapability = "sampling",
        /// The client lists its roots. Deprecated in 2026-07-28.
        roots: ListChangedCapability = "roots",
        /// The client supports task-augmented requests. In 2025-11-25 only.
        tasks: Extra = "tasks",
        /// Extensions by name, each with an object of settings. Since 2026-07-28.
        extensions: Extra = "extensions",
        /// Experimental capabilities by name, each with an object of settings.
        experimental: Extra = "experimental",
    }
}

impl ClientCapabilities {
    /// Returns whether the client supports forms: it declares them, or declares elicitation without
    /// any mode.
    pub fn takes_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
    }

    /// Returns whether the client supports elicitation by URL.
    pub fn takes_urls(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|it| it.url.is_some())
    }

    /// Returns whether the client declares an extension, in `extensions` or `experimental`.
    pub fn has_extension(&self, name: &str) -> bool {
        [&self.extensions, &self.experimental]
            .into_iter()
            .flatten()
            .any(|it| it.get(name).is_some())
    }
}

object! {
    /// Supported modes of elicitation. An empty object means forms.
    ///
    /// Spec: [Capabilities](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities)
    pub struct ElicitationCapability {}
    optional {
        /// Forms. Since 2025-11-25.
        form: Extra = "form",
        /// URLs that the user opens. Since 2025-11-25.
        url: Extra = "url",
    }
}

object! {
    /// Supported features of sampling.
    ///
    /// Spec: [Capabilities](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#capabilities)
    pub struct SamplingCapability {}
    optional {
        /// Inclusion of context from servers. Deprecated. Since 2025-11-25.
        context: Extra = "context",
        /// Tool use. Since 2025-11-25.
        tools: Extra = "tools",
    }
}

object! {
    /// Capability of a peer that offers a list.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ListChangedCapability {}
    optional {
        /// The peer sends a notification when the list changes.
        list_changed: bool = "listChanged",
    }
}

object! {
    /// Capability of a server that offers resources.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ResourcesCapability {}
    optional {
        /// The server supports subscriptions to single resources.
        subscribe: bool = "subscribe",
        /// The server sends a notification when the list changes.
        list_changed: bool = "listChanged",
    }
}

object! {
    /// Capabilities of a server.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ServerCapabilities {}
    optional {
        /// The server offers tools.
        tools: ListChangedCapability = "tools",
        /// The server offers prompts.
        prompts: ListChangedCapability = "prompts",
        /// The server offers resources.
        resources: ResourcesCapability = "resources",
        /// The server completes arguments. Since 2025-03-26.
        completions: Extra = "completions",
        /// The server sends log messages. Deprecated in 2026-07-28.
        logging: Extra = "logging",
        /// The server supports task-augmented requests. In 2025-11-25 only.
        tasks: Extra = "tasks",
        /// Extensions by name, each with an object of settings. Since 2026-07-28.
        extensions: Extra = "extensions",
        /// Experimental capabilities by name, each with an object of settings.
        experimental: Extra = "experimental",
    }
}
