//! Things that a server lets others read.
//!
//! Spec: [Resources](https://modelcontextprotocol.io/specification/2026-07-28/server/resources)
use super::base::{CacheScope, ResultType};
use super::capabilities::Icon;
use super::content::{Annotations, ResourceContents};
use super::mrtr::InputRequiredResult;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};
use jsonrpc_core::{object, open_union};
use serde_json::Number;

object! {
    /// The answer to `resources/list`.
    ///
    /// Each resource stays text until [`resources`](Self::resources) reads it, so that a bad one does not lose the others.
    ///
    /// Spec: [`ListResourcesResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcesresult)
    pub struct ListResourcesResult {
        /// The resources, as they came.
        raw_resources: Vec<Raw> = "resources",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// How long the answer may be kept, in milliseconds. Required from 2026-07-28 on.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required from 2026-07-28 on.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

impl ListResourcesResult {
    /// Reads each resource on its own, with its index in the list.
    pub fn resources(&self) -> impl Iterator<Item = (usize, Result<Resource, DecodeError>)> {
        self.raw_resources.iter().map(Raw::decode).enumerate()
    }
}

object! {
    /// Something that a server lets others read.
    ///
    /// Spec: [`Resource`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resource)
    pub struct Resource {
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
    /// The answer to `resources/templates/list`.
    ///
    /// Each template stays text until [`resource_templates`](Self::resource_templates) reads it.
    ///
    /// Spec: [`ListResourceTemplatesResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#listresourcetemplatesresult)
    pub struct ListResourceTemplatesResult {
        /// The templates, as they came.
        raw_resource_templates: Vec<Raw> = "resourceTemplates",
    }
    optional {
        /// Where the next page begins.
        next_cursor: String = "nextCursor",
        /// How long the answer may be kept, in milliseconds. Required from 2026-07-28 on.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required from 2026-07-28 on.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

impl ListResourceTemplatesResult {
    /// Reads each template on its own, with its index in the list.
    pub fn resource_templates(
        &self,
    ) -> impl Iterator<Item = (usize, Result<ResourceTemplate, DecodeError>)> {
        self.raw_resource_templates.iter().map(Raw::decode).enumerate()
    }
}

object! {
    /// Things that a server lets others read, by a template of where they are.
    ///
    /// Spec: [`ResourceTemplate`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplate)
    pub struct ResourceTemplate {
        /// Where they are, as [RFC 6570](https://www.rfc-editor.org/rfc/rfc6570) has it.
        uri_template: String = "uriTemplate",
        /// Its name, for programs.
        name: String = "name",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
        /// What it is for.
        description: String = "description",
        /// Their media type, if they have one in common.
        mime_type: String = "mimeType",
        /// For whom, and how important.
        annotations: Annotations = "annotations",
        /// Pictures of it. From 2025-11-25 on.
        icons: Vec<Icon> = "icons",
    }
    and "_meta"
}

object! {
    /// The params of `resources/read`.
    ///
    /// Spec: [`ReadResourceRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourcerequestparams)
    pub struct ReadResourceRequestParams {
        /// Which resource.
        uri: String = "uri",
    }
    optional {
        /// Answers to what the server needed, by key. From 2026-07-28 on.
        input_responses: Extra = "inputResponses",
        /// The state that came with the need, to the byte. From 2026-07-28 on.
        request_state: String = "requestState",
    }
    and "_meta"
}

open_union! {
    /// What came of `resources/read`.
    ///
    /// Spec: [`ReadResourceResultResponse`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresultresponse)
    pub enum ReadResourceOutcome by "resultType" {
        /// The server needs something first. From 2026-07-28 on.
        InputRequired(Box<InputRequiredResult>) = "input_required",
    }
    untagged {
        /// The contents.
        Complete(Box<ReadResourceResult>) = "complete",
    }
}

object! {
    /// What a resource holds.
    ///
    /// Spec: [`ReadResourceResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#readresourceresult)
    pub struct ReadResourceResult {
        /// The contents; several for a folder.
        contents: Vec<ResourceContents> = "contents",
    }
    optional {
        /// How long the answer may be kept, in milliseconds. Required from 2026-07-28 on.
        ttl_ms: Number = "ttlMs",
        /// Who may be given it meanwhile. Required from 2026-07-28 on.
        cache_scope: CacheScope = "cacheScope",
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// The params of `resources/subscribe`, `resources/unsubscribe` and `notifications/resources/updated`.
    ///
    /// Spec: [`SubscribeRequestParams`](https://modelcontextprotocol.io/specification/2025-11-25/schema#subscriberequestparams),
    /// [`ResourceUpdatedNotificationParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourceupdatednotificationparams)
    pub struct ResourceRequestParams {
        /// Which resource.
        uri: String = "uri",
    }
    and "_meta"
}
