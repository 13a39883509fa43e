//! Who a peer is, and what it can do.
//!
//! Spec: [Capability Negotiation](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#capability-negotiation)
//! (2025-11-25), [`ClientCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities)
//! (2026-07-28)
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_enum};

object! {
    /// A program, by name and version.
    ///
    /// Spec: [`Implementation`](https://modelcontextprotocol.io/specification/2026-07-28/schema#implementation)
    pub struct Implementation {
        /// Its name, for programs.
        name: String = "name",
        /// Its version.
        version: String = "version",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// Pictures of it.
        icons: Vec<Icon> = "icons",
        /// Where more about it is.
        website_url: String = "websiteUrl",
    }
}

object! {
    /// A picture of something.
    ///
    /// Spec: [`Icon`](https://modelcontextprotocol.io/specification/2026-07-28/schema#icon)
    pub struct Icon {
        /// Where it is: an `https:` or `data:` URL.
        src: String = "src",
    }
    optional {
        /// Its media type.
        mime_type: String = "mimeType",
        /// For which sizes it is, such as `48x48` or `any`.
        sizes: Vec<String> = "sizes",
        /// On which background it is seen.
        theme: IconTheme = "theme",
    }
}

open_enum! {
    /// On which background an icon is seen.
    ///
    /// Spec: [`Icon`](https://modelcontextprotocol.io/specification/2026-07-28/schema#icon)
    pub enum IconTheme {
        /// A light one.
        Light = "light",
        /// A dark one.
        Dark = "dark",
    }
}

object! {
    /// What a client can do.
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
        /// It shows questions to the user. From 2025-06-18 on.
        elicitation: ElicitationCapability = "elicitation",
        /// It asks its model. Deprecated in 2026-07-28.
        sampling: SamplingCapability = "sampling",
        /// It lists its roots. Deprecated in 2026-07-28.
        roots: ListChangedCapability = "roots",
        /// It makes tasks out of requests. In 2025-11-25 only.
        tasks: Extra = "tasks",
        /// Extensions by name, each with its settings: an object. From 2026-07-28 on.
        extensions: Extra = "extensions",
        /// Experiments by name, each with its settings: an object.
        experimental: Extra = "experimental",
    }
}

impl ClientCapabilities {
    /// Whether the client shows forms: it says so, or says nothing about modes.
    pub fn takes_forms(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
    }

    /// Whether the client sends the user to pages.
    pub fn takes_urls(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|it| it.url.is_some())
    }

    /// Whether the client has an extension, in the place of either generation.
    pub fn has_extension(&self, name: &str) -> bool {
        [&self.extensions, &self.experimental]
            .into_iter()
            .flatten()
            .any(|it| it.get(name).is_some())
    }
}

object! {
    /// Which questions a client shows. An empty one means forms.
    ///
    /// Spec: [Capabilities](https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities)
    pub struct ElicitationCapability {}
    optional {
        /// Forms. From 2025-11-25 on.
        form: Extra = "form",
        /// Pages. From 2025-11-25 on.
        url: Extra = "url",
    }
}

object! {
    /// How a client asks its model.
    ///
    /// Spec: [Capabilities](https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#capabilities)
    pub struct SamplingCapability {}
    optional {
        /// With the context of servers. Deprecated. From 2025-11-25 on.
        context: Extra = "context",
        /// With tools. From 2025-11-25 on.
        tools: Extra = "tools",
    }
}

object! {
    /// Something that a peer lists.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ListChangedCapability {}
    optional {
        /// It tells when the list changes.
        list_changed: bool = "listChanged",
    }
}

object! {
    /// Resources that a server lists.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ResourcesCapability {}
    optional {
        /// It tells when a resource changes.
        subscribe: bool = "subscribe",
        /// It tells when the list changes.
        list_changed: bool = "listChanged",
    }
}

object! {
    /// What a server can do.
    ///
    /// Spec: [`ServerCapabilities`](https://modelcontextprotocol.io/specification/2026-07-28/schema#servercapabilities)
    pub struct ServerCapabilities {}
    optional {
        /// It has tools.
        tools: ListChangedCapability = "tools",
        /// It has prompts.
        prompts: ListChangedCapability = "prompts",
        /// It has resources.
        resources: ResourcesCapability = "resources",
        /// It completes arguments. From 2025-03-26 on.
        completions: Extra = "completions",
        /// It tells what it does. Deprecated in 2026-07-28.
        logging: Extra = "logging",
        /// It makes tasks out of requests. In 2025-11-25 only.
        tasks: Extra = "tasks",
        /// Extensions by name, each with its settings: an object. From 2026-07-28 on.
        extensions: Extra = "extensions",
        /// Experiments by name, each with its settings: an object.
        experimental: Extra = "experimental",
    }
}
