//! Multi round-trip requests: results that request input, since 2026-07-28.
//!
//! A server of this generation sends no requests. It ends the request of the client with a list of
//! the required input; the client collects the input and sends the request again, with the
//! responses and the state of the server.
//!
//! Spec: [Multi Round-Trip
//! Requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
use alloc::string::String;
use jsonrpc_core::object;
use jsonrpc_core::wire::{Extra, Raw};

object! {
    /// A result that requests input. At least one of the two members is present.
    ///
    /// On the wire its `resultType` is `input_required`. The tag belongs to the union with this
    /// variant, such as [`CallToolOutcome`](super::tools::CallToolOutcome).
    ///
    /// Spec: [`InputRequiredResult`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequiredresult)
    ///
    /// ```
    /// use jsonrpc_core::wire;
    /// use mcp_bridge::mcp::dispatch::ServerRequest;
    /// use mcp_bridge::mcp::tools::CallToolOutcome;
    ///
    /// let outcome = wire::decode(
    ///     r#"{"resultType":"input_required","requestState":"x","inputRequests":{"seat":{"method":"elicitation/create",
    ///         "params":{"message":"Seat?","requestedSchema":{"type":"object","properties":{}}}},"odd":7}}"#,
    /// )?;
    /// let CallToolOutcome::InputRequired(needed) = outcome else { panic!("complete") };
    /// let mut requests = needed.requests();
    /// let Some(("seat", Ok(ServerRequest::Elicit(question)))) = requests.next() else { panic!("no question") };
    /// assert_eq!(question.message(), Some("Seat?"));
    /// assert!(matches!(requests.next(), Some(("odd", Err(_)))));
    /// # Ok::<(), wire::DecodeError>(())
    /// ```
    #[doc(alias = "input_required")]
    pub struct InputRequiredResult {}
    optional {
        /// The requested input by key, each an [`InputRequest`], as received.
        /// [`requests`](Self::requests) decodes them.
        input_requests: Extra = "inputRequests",
        /// State that the client returns byte for byte. It is opaque to the client.
        request_state: String = "requestState",
    }
    and "_meta"
}

object! {
    /// A request inside a result. It has no id and no `jsonrpc` member.
    ///
    /// Spec: [`InputRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequest)
    pub struct InputRequest {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        method: String = "method",
    }
    optional {
        /// The params as received. [`read`](Self::read) decodes them.
        params: Raw = "params",
    }
}
