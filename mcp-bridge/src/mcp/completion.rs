//! Completion of arguments.
//!
//! Spec: [Completion](https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion)
use super::base::ResultType;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::Extra;
use jsonrpc_core::{object, open_union};
use serde_json::Number;

object! {
    /// The params of `completion/complete`.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    #[doc(alias = "completion/complete")]
    pub struct CompleteRequestParams {
        /// The prompt or resource template that the argument belongs to.
        r#ref: CompletionReference = "ref",
        /// The argument to complete.
        argument: CompletionArgument = "argument",
    }
    optional {
        /// Arguments that are already known. Since 2025-06-18.
        context: CompletionContext = "context",
    }
    and "_meta"
}

open_union! {
    /// The subject of a completion.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub enum CompletionReference by "type" {
        /// A prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A resource template.
        Resource(ResourceTemplateReference) = "ref/resource",
    }
}

object! {
    /// A reference to a prompt.
    ///
    /// Spec: [`PromptReference`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptreference)
    pub struct PromptReference {
        /// Name of the prompt.
        name: String = "name",
    }
    optional {
        /// Human-readable name.
        title: String = "title",
    }
}

object! {
    /// A reference to a resource template.
    ///
    /// Spec: [`ResourceTemplateReference`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplatereference)
    pub struct ResourceTemplateReference {
        /// The URI or the URI template.
        uri: String = "uri",
    }
}

object! {
    /// An argument to complete.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub struct CompletionArgument {
        /// Name of the argument.
        name: String = "name",
        /// The text entered so far.
        value: String = "value",
    }
}

object! {
    /// Context of a completion.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub struct CompletionContext {}
    optional {
        /// Known values of other arguments, by name. The values are strings.
        arguments: Extra = "arguments",
    }
}

object! {
    /// The result of `completion/complete`.
    ///
    /// Spec: [`CompleteResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult)
    #[doc(alias = "completion/complete")]
    pub struct CompleteResult {
        /// The suggested values.
        completion: Completion = "completion",
    }
    optional {
        /// `complete`. Required since 2026-07-28.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// Suggested values for an argument.
    ///
    /// Spec: [`CompleteResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult)
    pub struct Completion {
        /// The values, best match first, at most 100.
        values: Vec<String> = "values",
    }
    optional {
        /// Total number of matches.
        total: Number = "total",
        /// Whether there are more matches than `values`.
        has_more: bool = "hasMore",
    }
}
