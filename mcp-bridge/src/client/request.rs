//! Requests other than tool calls: prompts, resources, completions and extensions.
use super::call::CallRequest;
use super::{CallError, Client, ClientEvent, ConnectionState, SendRequestError, UpstreamCall};
use crate::mcp::base::{Era, ResultType};
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::methods::{self, Receiver};
use crate::mcp::mrtr::InputRequiredResult;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Meta, Raw};

/// Members that the client sets itself.
const OWN_MEMBERS: [&str; 3] = ["_meta", "inputResponses", "requestState"];

impl Client {
    /// Sends a request that is no tool call, such as `resources/read`.
    ///
    /// [`ClientEvent::Answered`] or [`ClientEvent::Failed`] reports the outcome, possibly after
    /// [`ClientEvent::Needs`], as for a [call](Self::call). The `_meta` is adapted to the version
    /// of the server, and the answers of an earlier request are left out.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_bridge::client::{Client, ClientEvent, ClientOptions};
    /// use mcp_bridge::mcp::capabilities::{ClientCapabilities, Implementation};
    /// use mcp_bridge::mcp::dispatch::{ClientRequest, ServerResult};
    /// use mcp_bridge::mcp::resources::{ReadResourceOutcome, ReadResourceRequestParams};
    ///
    /// let options = ClientOptions::new(Implementation::new("c", "1"), ClientCapabilities::new());
    /// let mut client = Client::new(options);
    /// client.start(Duration::ZERO);
    /// client.handle_line(Ok(r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#), None);
    /// assert!(matches!(client.poll_event(), Some(ClientEvent::Ready(_))));
    ///
    /// let read = ClientRequest::ReadResource(Box::new(ReadResourceRequestParams::new("file:///a")));
    /// let method = read.method().to_owned();
    /// client.request(&read)?;
    /// client.handle_line(Ok(r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","contents":[]}}"#), None);
    /// let Some(ClientEvent::Answered { result, .. }) = client.poll_event() else { return Err("no result".into()) };
    /// let ServerResult::ReadResource(outcome) = ServerResult::decode(&method, result.as_ref())? else { return Err("other".into()) };
    /// assert!(matches!(*outcome, ReadResourceOutcome::Complete(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the client is not ready, has too many open calls, or the version of the
    /// server does not define the method.
    pub fn request(&mut self, request: &ClientRequest) -> Result<UpstreamCall, SendRequestError> {
        let ConnectionState::Ready { version, .. } = &self.state else {
            return Err(SendRequestError::NotReady);
        };
        let method = methods::find(Receiver::Server, request.method());
        if method.is_some_and(|method| !method.is_sent_in(version)) {
            return Err(SendRequestError::Version);
        }
        let params = request.to_params().ok().flatten();
        let params = params.and_then(|params| params.decode::<Extra>().ok()).unwrap_or_default();
        let meta = params.get("_meta").cloned().map(Meta::from);
        let mut members = Extra::new();
        for (name, value) in params.into_members() {
            if !OWN_MEMBERS.contains(&&*name) {
                members.insert(name, value);
            }
        }
        self.open(CallRequest {
            method: request.method().into(),
            members,
            meta,
            wants_progress: false,
            deadline: None,
            request_state: None,
            responses: Vec::new(),
        })
    }

    pub(super) fn handle_answered(&mut self, call: UpstreamCall, raw: Raw) {
        match self.result_type(&raw) {
            Ok(ResultType::Complete) => {
                self.calls.remove(&call);
                self.events.push_back(ClientEvent::Answered { call, result: raw });
            }
            Ok(ResultType::InputRequired) => match raw.decode::<InputRequiredResult>() {
                Ok(needed) => self.needs(call, &needed, &raw),
                Err(error) => self.fail(call, CallError::Decode { error, raw }),
            },
            Ok(other) => self.fail(call, CallError::ResultType(String::from(other.as_str()))),
            Err(error) => self.fail(call, CallError::Decode { error, raw }),
        }
    }

    /// Returns the type of a result, which the older generation does not state.
    fn result_type(&self, raw: &Raw) -> Result<ResultType, DecodeError> {
        let members: Extra = raw.decode()?;
        let stated = members.get("resultType").filter(|_| self.era() != Some(Era::Legacy));
        stated.map_or(Ok(ResultType::Complete), Raw::decode)
    }
}
