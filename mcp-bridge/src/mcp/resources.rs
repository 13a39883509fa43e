//! Resources that a server offers.
//!
//! Spec: [Resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources)
use super::base::{CacheScope, ResultType, list_result};
use super::capabilities::Icon;
use super::content::{Annotations, ResourceContents};
use super::mrtr::InputRequiredResult;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};
use serde_json::Number;

list_result! {
    /// The result of `resources/list`, and of `resources/directory/read` of the extension
    /// [`skills`](super::skills).
    ///
    /// Spec: [`ListResourcesResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcesresult)
    #[doc(alias("resources/list", "resources/directory/read"))]
    pub struct ListResourcesResult { raw_resources = "resources", resources: Resource }
}

object! {
    /// A resource, as listed or as linked by content.
    ///
    /// Spec: [`Resource`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resource),
    /// [`ResourceLink`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcelink)
    #[doc(alias = "ResourceLink")]
    pub struct Resource {
        /// URI of the resource.
        uri: String = "uri",
        /// Programmatic name.
        name: String = "name",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Description of the resource.
        description: String = "description",
        /// The media type.
        mime_type: String = "mimeType",
        /// Size in bytes, before any encoding.
        size: Number = "size",
        /// Intended audience and importance.
        annotations: Annotations = "annotations",
        /// Icons for user interfaces. Since 2025-11-25.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

list_result! {
    /// The result of `resources/templates/list`.
    ///
    /// Spec: [`ListResourceTemplatesResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcetemplatesresult)
    #[doc(alias = "resources/templates/list")]
    pub struct ListResourceTemplatesResult { raw_resource_templates = "resourceTemplates", resource_templates: ResourceTemplate }
}

object! {
    /// A template of resource URIs.
    ///
    /// Spec: [`ResourceTemplate`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplate)
    pub struct ResourceTemplate {
        /// URI template, see [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570).
        uri_template: String = "uriTemplate",
        /// Programmatic name.
        name: String = "name",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
        /// Description of the template.
        description: String = "description",
        /// The common media type of the resources, if they have one.
        mime_type: String = "mimeType",
        /// Intended audience and importance.
        annotations: Annotations = "annotations",
        /// Icons for user interfaces. Since 2025-11-25.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

object! {
    /// The params of `resources/read`.
    ///
    /// Spec: [`ReadResourceRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourcerequestparams)
    #[doc(alias = "resources/read")]
    pub struct ReadResourceRequestParams {
        /// URI of the resource.
        uri: String = "uri",
    }
    optional {
        /// Responses to the input requests of the server, by key. Since 2026-07-28.
        input_responses: Extra = "inputResponses",
        /// The `requestState` of the server, returned byte for byte. Since 2026-07-28.
        request_state: String = "requestState",
    }
    and "_meta"
}

open_union! {
    /// The outcome of `resources/read`.
    ///
    /// Spec: [`ReadResourceResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresultresponse)
    #[doc(alias = "resources/read")]
    pub enum ReadResourceOutcome by "resultType" {
        /// The server requires input first. Since 2026-07-28.
        InputRequired(Box<InputRequiredResult>) = "input_required",
    }
    untagged {
        /// The contents.
        Complete(Box<ReadResourceResult>) = "complete",
    }
}

object! {
    /// Contents of a resource.
    ///
    /// Spec: [`ReadResourceResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresult)
    pub struct ReadResourceResult {
        /// The contents. A folder may have several.
        contents: Vec<ResourceContents> = "contents",
    }
    optional {
        /// How long the result may be cached, in milliseconds. Required since 2026-07-28.
        ttl_ms: Number = "ttlMs",
        /// Scope in which the result may be cached. Required since 2026-07-28.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required since 2026-07-28.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// The params of `resources/subscribe`, `resources/unsubscribe`,
    /// `notifications/resources/updated` and `skills/get`.
    ///
    /// Spec: [`SubscribeRequestParams`](https://modelcontextprotocol.io/specification/2025-11-25/schema#subscriberequestparams),
    /// [`ResourceUpdatedNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourceupdatednotificationparams)
    #[doc(alias(
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/resources/updated",
        "skills/get"
    ))]
    pub struct ResourceRequestParams {
        /// URI of the resource.
        uri: String = "uri",
    }
    and "_meta"
}
