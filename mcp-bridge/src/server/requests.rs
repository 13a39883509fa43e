//! Requests of the client. Each is answered or becomes an event.
use super::received::ReadParams;
use super::{CallId, ClientContext, OpenCall, Server, ServerEvent, Session, ToolCall, adapt};
use crate::mcp::base::{
    CacheScope, EmptyResult, Era, PaginatedRequestParams, ProtocolVersion, RequestMetaObject,
    ResultMetaObject, ResultType, page,
};
use crate::mcp::capabilities::{Implementation, ListChangedCapability, ServerCapabilities};
use crate::mcp::discover::DiscoverResult;
use crate::mcp::dispatch::ClientRequest;
use crate::mcp::error::{UNSUPPORTED_PROTOCOL_VERSION, UnsupportedProtocolVersionData};
use crate::mcp::lifecycle::{InitializeRequestParams, InitializeResult};
use crate::mcp::methods::{self, Receiver};
use crate::mcp::tools::{CallToolRequestParams, ListToolsResult, Tool};
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use jsonrpc_core::wire::{DecodeError, Extra, Meta, Raw};
use jsonrpc_core::{ErrorCode, ErrorObject, Request, RequestId};
use serde_json::Number;

/// Default time for which clients may cache lists: five minutes, in milliseconds.
pub const DEFAULT_TTL_MS: u64 = 5 * 60 * 1000;

/// Identity, capabilities and limits of a [`Server`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerOptions {
    /// Name and version of the server.
    pub server_info: Implementation,
    /// Usage instructions for the model.
    pub instructions: Option<String>,
    /// Capabilities to declare. Initially tools and logging.
    pub capabilities: ServerCapabilities,
    /// The offered tools, in order.
    pub tools: Arc<[Tool]>,
    /// Number of tools in one page of the list. `None` disables pagination.
    pub page_size: Option<usize>,
    /// How long clients may cache lists, in milliseconds. Since 2026-07-28.
    pub ttl_ms: u64,
    /// Scope in which lists may be cached. Since 2026-07-28.
    pub cache_scope: CacheScope,
    /// Maximum number of times that the tool of an open call runs. It may request input one time
    /// less.
    pub max_rounds: u32,
    /// The offered skills. See [`offer_skills`](Self::offer_skills).
    #[cfg(feature = "skills")]
    pub(super) skills: Option<super::offered_skills::OfferedSkills>,
}

impl ServerOptions {
    /// Default of [`max_rounds`](Self::max_rounds). Clients of 2026-07-28 repeat a call at most ten
    /// times.
    pub const DEFAULT_MAX_ROUNDS: u32 = 16;

    /// Creates the options of a tool server.
    pub fn new(server_info: Implementation, tools: impl Into<Arc<[Tool]>>) -> Self {
        let mut list_changed = ListChangedCapability::new();
        list_changed.list_changed = Some(true);
        let mut capabilities = ServerCapabilities::new();
        capabilities.tools = Some(list_changed);
        capabilities.logging = Some(Extra::new());
        Self {
            server_info,
            instructions: None,
            capabilities,
            tools: tools.into(),
            page_size: None,
            ttl_ms: DEFAULT_TTL_MS,
            cache_scope: CacheScope::Private,
            max_rounds: Self::DEFAULT_MAX_ROUNDS,
            #[cfg(feature = "skills")]
            skills: None,
        }
    }
}

/// The supported versions, latest first.
const VERSIONS: [ProtocolVersion; 5] = [
    ProtocolVersion::V20260728,
    ProtocolVersion::V20251125,
    ProtocolVersion::V20250618,
    ProtocolVersion::V20250326,
    ProtocolVersion::V20241105,
];

impl Server {
    pub(super) fn handle_request(
        &mut self,
        request: &Request<'_>,
        params: Result<ReadParams, DecodeError>,
    ) -> Result<(), ErrorObject> {
        let id = &request.id;
        let ReadParams { request: decoded, meta } = params.map_err(invalid)?;
        // Invalid params matter only if the version defines the method.
        let version = self.version_of(meta.as_ref().ok());
        if version.is_some_and(|version| !is_known(&request.method, version)) {
            return Err(not_found(&request.method));
        }
        let decoded = match decoded {
            Ok(ClientRequest::Initialize(params)) => {
                self.initialize(id, *params);
                return Ok(());
            }
            Ok(ClientRequest::Ping(_)) => {
                self.answer_with(id, &EmptyResult::new());
                return Ok(());
            }
            decoded => decoded.map_err(invalid)?,
        };
        let meta = meta.map_err(invalid)?;
        self.handle_decoded(id, decoded, meta)
    }

    fn handle_decoded(
        &mut self,
        id: &RequestId,
        decoded: ClientRequest,
        meta: RequestMetaObject,
    ) -> Result<(), ErrorObject> {
        let context = self.context(meta)?;
        match decoded {
            ClientRequest::Discover(_) => self.discover(id),
            ClientRequest::ListTools(params) => {
                let version = context.version;
                self.list_tools(id, &params, &version)?;
            }
            ClientRequest::CallTool(params) => {
                let call = self.call(*params, context)?;
                self.open(id, call)?;
            }
            ClientRequest::SetLevel(params) => {
                if let Some(session) = &mut self.session {
                    session.log_level = Some(params.level);
                }
                self.answer_with(id, &EmptyResult::new());
            }
            ClientRequest::SubscriptionsListen(params) => self.listen(id, *params),
            ClientRequest::Subscribe(params) if self.offers_resource_changes() => {
                self.subscribe(params.uri)?;
                self.answer_with(id, &EmptyResult::new());
            }
            ClientRequest::Unsubscribe(params) if self.offers_resource_changes() => {
                self.unsubscribe(&params.uri);
                self.answer_with(id, &EmptyResult::new());
            }
            ClientRequest::Other { method, .. } => return Err(not_found(&method)),
            request if is_about_tasks(&request) && context.version.era() != Some(Era::Legacy) => {
                self.check_task_request(&request, &context.capabilities)?;
                self.pass_on(id, request, Era::Modern);
            }
            request => {
                #[cfg(feature = "skills")]
                if let Some(skills) = &self.options.skills
                    && let Some(result) = skills.answer(&request, context.version.era())?
                {
                    self.answer(id, Ok(&result));
                    return Ok(());
                }
                self.pass_on(id, request, context.version.era().unwrap_or(Era::Modern));
            }
        }
        Ok(())
    }

    fn pass_on(&mut self, id: &RequestId, request: ClientRequest, era: Era) {
        let event = ServerEvent::Request { id: id.clone(), request: Box::new(request), era };
        self.events.push_back(event);
    }

    fn initialize(&mut self, id: &RequestId, params: InitializeRequestParams) {
        let is_legacy = params.protocol_version.era() == Some(Era::Legacy);
        let wanted = Some(params.protocol_version).filter(|_| is_legacy);
        let version = wanted.unwrap_or(ProtocolVersion::LATEST_LEGACY);
        self.session = Some(Session {
            version: version.clone(),
            capabilities: params.capabilities,
            client_info: Some(params.client_info),
            log_level: None,
        });
        let ServerOptions { capabilities, server_info, instructions, .. } = &self.options;
        // Extensions belong to the newer generation.
        let mut capabilities = capabilities.clone();
        capabilities.extensions = None;
        let mut result = InitializeResult::new(version, capabilities, server_info.clone());
        result.instructions.clone_from(instructions);
        self.answer_with(id, &result);
    }

    /// Returns the version of a request, if it is known.
    fn version_of<'a>(
        &'a self,
        meta: Option<&'a RequestMetaObject>,
    ) -> Option<&'a ProtocolVersion> {
        let said = meta.and_then(|meta| meta.protocol_version.as_ref());
        let said = said.filter(|version| version.era() == Some(Era::Modern));
        said.or(self.session.as_ref().map(|session| &session.version))
    }

    /// Returns what the client declared, in this request or in the handshake.
    fn context(&self, mut meta: RequestMetaObject) -> Result<ClientContext<'_>, ErrorObject> {
        match (meta.protocol_version.take(), &self.session) {
            (Some(version), _) if version.era() == Some(Era::Modern) => {
                let capabilities = meta.client_capabilities.take();
                let capabilities = capabilities.ok_or_else(|| missing("clientCapabilities"))?;
                let client_info = meta.client_info.take();
                let capabilities = Cow::Owned(capabilities);
                Ok(ClientContext { version, capabilities, client_info, meta })
            }
            (Some(version), _) => Err(unsupported(&version)),
            (None, Some(session)) => Ok(ClientContext {
                version: session.version.clone(),
                capabilities: Cow::Borrowed(&session.capabilities),
                client_info: session.client_info.clone(),
                meta,
            }),
            (None, None) => Err(missing("protocolVersion")),
        }
    }

    fn discover(&mut self, id: &RequestId) {
        let ServerOptions { capabilities, instructions, ttl_ms, cache_scope, .. } = &self.options;
        let mut result = DiscoverResult::new(VERSIONS, capabilities.clone());
        result.instructions.clone_from(instructions);
        result.ttl_ms = Some(Number::from(*ttl_ms));
        result.cache_scope = Some(cache_scope.clone());
        result.result_type = Some(ResultType::Complete);
        result.meta = Some(self.result_meta());
        self.answer_with(id, &result);
    }

    /// Returns the `_meta` of results of the newer generation.
    fn result_meta(&self) -> Meta {
        let mut meta = ResultMetaObject::new();
        meta.server_info = Some(self.options.server_info.clone());
        meta.to_meta()
    }

    fn list_tools(
        &mut self,
        id: &RequestId,
        params: &PaginatedRequestParams,
        version: &ProtocolVersion,
    ) -> Result<(), ErrorObject> {
        let tools = Arc::clone(&self.options.tools);
        let (page, next) = page(&tools, params.cursor.as_deref(), self.options.page_size)?;
        let page: Vec<_> = page.iter().map(|tool| adapt::tool_for(tool, version)).collect();
        let mut result = ListToolsResult::new(page);
        result.next_cursor = next;
        if version.era() != Some(Era::Legacy) {
            result.ttl_ms = Some(Number::from(self.options.ttl_ms));
            result.cache_scope = Some(self.options.cache_scope.clone());
            result.result_type = Some(ResultType::Complete);
            result.meta = Some(self.result_meta());
        }
        self.answer_with(id, &result);
        Ok(())
    }

    fn call(
        &self,
        params: CallToolRequestParams,
        context: ClientContext<'_>,
    ) -> Result<ToolCall, ErrorObject> {
        if !self.options.tools.iter().any(|tool| tool.name == params.name) {
            let problem = alloc::format!("unknown tool: {}", params.name);
            return Err(ErrorObject::new(ErrorCode::INVALID_PARAMS, problem));
        }
        let arguments = params.arguments.or_else(|| Raw::from_text("{}").ok());
        let arguments = arguments.filter(|arguments| arguments.as_str().starts_with('{'));
        let arguments = arguments.ok_or_else(|| {
            ErrorObject::new(ErrorCode::INVALID_PARAMS, "at /arguments: expected an object")
        })?;
        // Clients of the older generation do not support these members.
        let is_modern = context.version.era() != Some(Era::Legacy);
        let of_session = self.session.as_ref().filter(|_| !is_modern);
        let of_session = of_session.and_then(|session| session.log_level.clone());
        let responses = params.input_responses.filter(|_| is_modern).unwrap_or_default();
        let responses = responses.iter().map(|(key, value)| (key.into(), Ok(value.clone())));
        Ok(ToolCall {
            id: CallId(self.next_call),
            name: params.name,
            arguments,
            meta: params.meta,
            version: context.version,
            capabilities: context.capabilities.into_owned(),
            client_info: context.client_info,
            progress_token: context.meta.progress_token,
            log_level: context.meta.log_level.filter(|_| is_modern).or(of_session),
            request_state: params.request_state.filter(|_| is_modern),
            responses: responses.collect(),
        })
    }

    fn open(&mut self, request: &RequestId, call: ToolCall) -> Result<(), ErrorObject> {
        if self.calls.len() >= Self::MAX_CALLS {
            return Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "too many open calls"));
        }
        self.next_call += 1;
        let open = OpenCall {
            request: request.clone(),
            call: call.clone(),
            rounds: 1,
            waiting: BTreeMap::new(),
            answers: Vec::new(),
        };
        self.calls.insert(call.id, open);
        self.events.push_back(ServerEvent::Call(Box::new(call)));
        Ok(())
    }
}

fn is_about_tasks(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::GetTask(_) | ClientRequest::UpdateTask(_) | ClientRequest::CancelTask(_)
    )
}

/// Returns whether clients of a version send a method.
fn is_known(method: &str, version: &ProtocolVersion) -> bool {
    methods::find(Receiver::Server, method).is_some_and(|method| method.is_sent_in(version))
}

fn invalid(error: DecodeError) -> ErrorObject {
    ErrorObject::new(ErrorCode::INVALID_PARAMS, error.to_string())
}

fn missing(member: &str) -> ErrorObject {
    let problem = alloc::format!(
        "at /_meta/io.modelcontextprotocol~1{member}: expected a value, or `initialize` before"
    );
    ErrorObject::new(ErrorCode::INVALID_PARAMS, problem)
}

pub(super) fn not_found(method: &str) -> ErrorObject {
    ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, alloc::format!("unknown method: {method}"))
}

fn unsupported(version: &ProtocolVersion) -> ErrorObject {
    let mut error = ErrorObject::new(UNSUPPORTED_PROTOCOL_VERSION, "unsupported protocol version");
    let data = UnsupportedProtocolVersionData::new(VERSIONS, version.as_str());
    error.data = Raw::from_value(&data).ok();
    error
}
