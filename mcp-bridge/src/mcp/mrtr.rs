//! Results that say what the server needs first, from 2026-07-28 on.
//!
//! A server does not ask the client any more. It ends the request with what it needs; the client gets that, and makes the
//! request again, with the answers and with the state that the server gave it.
//!
//! Spec: [Multi Round-Trip Requests](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
use super::dispatch::{ClientResult, ServerRequest};
use alloc::string::String;
use jsonrpc_core::object;
use jsonrpc_core::wire::{DecodeError, Extra, Raw};

object! {
    /// What a server needs before it can go on. At least one of the two is there.
    ///
    /// On the wire it has a `resultType` of `input_required`, which belongs to the union that it is a variant of, such as
    /// [`CallToolOutcome`](super::tools::CallToolOutcome).
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
    pub struct InputRequiredResult {}
    optional {
        /// What is needed, by key: each an [`InputRequest`], as it came; [`requests`](Self::requests) reads them.
        input_requests: Extra = "inputRequests",
        /// What the client has to give back, to the byte. It means nothing to the client.
        request_state: String = "requestState",
    }
    and "_meta"
}

impl InputRequiredResult {
    /// Reads each request on its own, by its method, with its key.
    pub fn requests(&self) -> impl Iterator<Item = (&str, Result<ServerRequest, DecodeError>)> {
        let requests = self.input_requests.iter().flat_map(Extra::iter);
        requests
            .map(|(key, request)| (key, request.decode().and_then(|it: InputRequest| it.read())))
    }
}

object! {
    /// A request inside of a result: it has no id and no version.
    ///
    /// Spec: [`InputRequest`](https://modelcontextprotocol.io/specification/2026-07-28/schema#inputrequest)
    pub struct InputRequest {
        /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
        method: String = "method",
    }
    optional {
        /// Its params, as they came; [`read`](Self::read) reads them.
        params: Raw = "params",
    }
}

impl InputRequest {
    /// Reads the params by the method.
    ///
    /// # Errors
    /// The method is known and these are not its params. The pointer begins at the params.
    pub fn read(&self) -> Result<ServerRequest, DecodeError> {
        ServerRequest::decode(&self.method, self.params.as_ref().map(AsRef::as_ref))
    }

    /// Reads an answer to it, as it is in the `inputResponses` of the request that is made again.
    ///
    /// # Errors
    /// The method is known and this is not its result. The pointer begins at the result.
    pub fn read_response(&self, response: &Raw) -> Result<ClientResult, DecodeError> {
        ClientResult::decode(&self.method, response.as_ref())
    }
}
