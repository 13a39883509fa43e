//! Tools of mcp-bridge as a `ServerHandler` of rmcp, for clients of both generations. Copy this
//! file to add them to a server of rmcp. Log messages and progress of the tools are dropped.
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::Raw;
use mcp_bridge::context::Carriers;
use mcp_bridge::mcp::capabilities::ClientCapabilities;
use mcp_bridge::mcp::dispatch::ServerRequest;
use mcp_bridge::plugin::{Ask, NewCall, Outcome, PluginHost, Resumption, SessionError, Turn};
use mcp_bridge::server::{missing_capability, missing_capability_error};
use mcp_bridge_http::random_id;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, InputRequiredResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ResultType, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The principal of all calls.
const PRINCIPAL: &str = "";

/// The tools of a host.
#[derive(Clone, Debug)]
pub(crate) struct HostHandler(pub(crate) Arc<PluginHost>);

impl ServerHandler for HostHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Vec<_> = self.0.tools().collect();
        // rmcp leaves the type of the result out for clients before 2026-07-28.
        convert(&json!({ "tools": tools, "resultType": "complete" }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = random_id().map_err(internal)?;
        let cancelled = context.ct.clone();
        match cancelled.run_until_cancelled(self.run(request, &context, &session)).await {
            Some(response) => response,
            None => {
                // A call that has not asked yet has no session.
                let _none =
                    self.0.abort(&session, PRINCIPAL, "the client cancelled the call").await;
                Err(internal("the client cancelled the call"))
            }
        }
    }
}

impl HostHandler {
    /// Runs a tool until its result. A client since 2026-07-28 receives questions as a result, and
    /// calls again with the answers.
    async fn run(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        session: &str,
    ) -> Result<CallToolResponse, ErrorData> {
        let is_modern = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let can: ClientCapabilities = convert(&context.client_capabilities().unwrap_or_default())?;
        let tool = &*request.name;
        let arguments = raw(&request.arguments.unwrap_or_default())?;
        let mut turn = match request.request_state {
            Some(state) => {
                let answers = request.input_responses.unwrap_or_default();
                let answers = answers
                    .into_iter()
                    .map(|(key, answer)| Ok((key, Outcome::Value(raw(&answer)?))));
                let answers = answers.collect::<Result<_, ErrorData>>()?;
                let arguments = Some(&arguments);
                let resumption =
                    Resumption { state: &state, tool, arguments, principal: PRINCIPAL, answers };
                self.0.resume(resumption, None).await
            }
            None => {
                let session_id = session;
                let call_id = session;
                let principal = PRINCIPAL;
                let call = NewCall { session_id, call_id, tool, arguments, principal, meta: None };
                self.0.call(call, None).await
            }
        };
        loop {
            let (state, asks) = match turn {
                Ok(Turn::Done(result)) => {
                    let mut result: CallToolResult = convert(&result)?;
                    if is_modern {
                        result.result_type = Some(ResultType::COMPLETE);
                    } else {
                        // Earlier clients accept objects only. The text has the value as well.
                        result.structured_content.take_if(|content| !content.is_object());
                    }
                    return Ok(CallToolResponse::Complete(result));
                }
                Ok(Turn::Asks { state, asks }) => (state, asks),
                Ok(_) => return Ok(failed("another request already runs the call")),
                Err(SessionError::UnknownTool(tool)) => {
                    return Err(ErrorData::invalid_params(format!("unknown tool `{tool}`"), None));
                }
                Err(SessionError::Protocol(error)) => return Err(convert(&error)?),
                Err(error) => return Ok(failed(&error.to_string())),
            };
            let requests = asks.iter().map(|ask| Ok((&*ask.key, question(ask, &can)?)));
            let requests = requests.collect::<Result<Vec<_>, ErrorData>>()?;
            if is_modern {
                let requests: Map<_, _> =
                    requests.into_iter().map(|(key, it)| (key.to_owned(), it)).collect();
                let needed = InputRequiredResult::new(Some(convert(&requests)?), Some(state));
                return Ok(CallToolResponse::InputRequired(needed));
            }
            let mut answers = Vec::new();
            for (key, request) in requests {
                let outcome = match context.peer.send_request(convert(&request)?).await {
                    Ok(answer) => Outcome::Value(raw(&answer)?),
                    Err(error) => Outcome::Error(error.to_string()),
                };
                answers.push((key.to_owned(), outcome));
            }
            let resumption =
                Resumption { state: &state, tool, arguments: None, principal: PRINCIPAL, answers };
            turn = self.0.resume(resumption, None).await;
        }
    }
}

/// Returns a question as a request, if the client supports it.
fn question(ask: &Ask, can: &ClientCapabilities) -> Result<Value, ErrorData> {
    if let Some(missing) = missing_capability(can, &ask.request) {
        let error: ErrorObject = missing_capability_error(&missing);
        return Err(convert(&error)?);
    }
    let request: ServerRequest = ask.to_request(Carriers::for_peer(can)).map_err(internal)?;
    let mut question = json!({ "method": request.method() });
    if let Some(params) = request.to_params().map_err(internal)? {
        question["params"] = convert(&params)?;
    }
    Ok(question)
}

fn failed(problem: &str) -> CallToolResponse {
    CallToolResponse::Complete(CallToolResult::error(vec![ContentBlock::text(problem)]))
}

fn internal(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Converts a type of one crate to the same type of the other.
fn convert<T: DeserializeOwned>(value: &impl Serialize) -> Result<T, ErrorData> {
    serde_json::to_value(value).and_then(serde_json::from_value).map_err(internal)
}

fn raw(value: &impl Serialize) -> Result<Raw, ErrorData> {
    Raw::from_value(value).map_err(internal)
}
