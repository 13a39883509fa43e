//! Arguments that a server completes.
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
    pub struct CompleteRequestParams {
        /// What the argument belongs to.
        r#ref: CompletionReference = "ref",
        /// The argument.
        argument: CompletionArgument = "argument",
    }
    optional {
        /// What is known already. From 2025-06-18 on.
        context: CompletionContext = "context",
    }
    and "_meta"
}

open_union! {
    /// What an argument belongs to.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub enum CompletionReference by "type" {
        /// A prompt.
        Prompt(PromptReference) = "ref/prompt",
        /// A template of resources.
        Resource(ResourceTemplateReference) = "ref/resource",
    }
}

object! {
    /// Names a prompt.
    ///
    /// Spec: [`PromptReference`](https://modelcontextprotocol.io/specification/2026-07-28/schema#promptreference)
    pub struct PromptReference {
        /// Its name.
        name: String = "name",
    }
    optional {
        /// Its name, for people.
        title: String = "title",
    }
}

object! {
    /// Names a template of resources.
    ///
    /// Spec: [`ResourceTemplateReference`](https://modelcontextprotocol.io/specification/2026-07-28/schema#resourcetemplatereference)
    pub struct ResourceTemplateReference {
        /// Its URI or template.
        uri: String = "uri",
    }
}

object! {
    /// An argument, as far as it is written.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub struct CompletionArgument {
        /// Its name.
        name: String = "name",
        /// What there is of it.
        value: String = "value",
    }
}

object! {
    /// What is known already.
    ///
    /// Spec: [`CompleteRequestParams`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completerequestparams)
    pub struct CompletionContext {}
    optional {
        /// Other arguments, by name: strings.
        arguments: Extra = "arguments",
    }
}

object! {
    /// The answer to `completion/complete`.
    ///
    /// Spec: [`CompleteResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult)
    pub struct CompleteResult {
        /// What it could be.
        completion: Completion = "completion",
    }
    optional {
        /// `complete`. Required from 2026-07-28 on.
        result_type: ResultType = "resultType",
    }
    and "_meta"
}

object! {
    /// What an argument could be.
    ///
    /// Spec: [`CompleteResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#completeresult)
    pub struct Completion {
        /// The best first, at most 100.
        values: Vec<String> = "values",
    }
    optional {
        /// How many there are in all.
        total: Number = "total",
        /// Whether there are more.
        has_more: bool = "hasMore",
    }
}
