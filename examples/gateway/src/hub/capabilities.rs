//! The capabilities of an ACP agent in the form for AG-UI clients, and those that an agent is
//! offered.
use acp_types::client;
use acp_types::v1::initialization::{
    AuthCapabilities, ClientCapabilities, ClientSessionCapabilities, ElicitationCapabilities,
    ElicitationFormCapabilities, ElicitationUrlCapabilities, Implementation, InitializeRequest,
    PromptSuggestionsCapabilities, ProtocolVersion, SessionCursorsCapabilities,
};
use agui_bridge::PermissionMode;
use agui_bridge::conversation::{AgentFeatures, ConversationOptions};
use agui_types::capabilities::{
    AgentCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities, MultimodalCapabilities,
    MultimodalInputCapabilities, ReasoningCapabilities, StateCapabilities, TransportCapabilities,
};
use host::workspace::Access;
use jsonrpc_core::wire::{Extra, Raw};

/// Returns the `initialize` request with the name and the capabilities of the program. `elicits`
/// states whether a person answers forms, and `has_terminal` whether a user can run the agent in a
/// terminal to log in.
pub(crate) fn initialize(
    program: Implementation,
    elicits: bool,
    access: Option<&Access>,
    has_terminal: bool,
) -> InitializeRequest {
    let mut capabilities = ClientCapabilities::new();
    if has_terminal {
        let mut auth = AuthCapabilities::new();
        auth.terminal = Some(true);
        capabilities.auth = Some(auth);
    }
    if elicits {
        let mut elicitation = ElicitationCapabilities::new();
        elicitation.form = Some(ElicitationFormCapabilities::new());
        elicitation.url = Some(ElicitationUrlCapabilities::new());
        capabilities.elicitation = Some(elicitation);
    }
    let mut session = ClientSessionCapabilities::new();
    session.prompt_suggestions = Some(PromptSuggestionsCapabilities::new());
    session.cursors = Some(SessionCursorsCapabilities::new());
    capabilities.session = Some(session);
    if let Some(access) = access {
        access.declare(&mut capabilities);
    }
    let mut initialize = InitializeRequest::new(ProtocolVersion::V1);
    initialize.client_info = Some(program);
    initialize.client_capabilities = Some(capabilities);
    initialize
}

/// Returns the capabilities of an agent from its `initialize` response, for conversations with
/// these options. `custom` has the member `acp`: the `cwd` of new sessions, the `protocolVersion`
/// of the agent, and from the response the `agentCapabilities` of version 1 or the `capabilities`
/// of version 2.
pub fn capabilities(
    name: &str,
    info: &client::InitializeResponse,
    conversation: &ConversationOptions,
) -> AgentCapabilities {
    let features = match info {
        client::InitializeResponse::V1(info) => AgentFeatures::from(&**info),
        client::InitializeResponse::V2(info) => AgentFeatures::from(&**info),
        _ => AgentFeatures::default(),
    };
    let identity = match &features.info {
        Some(agent) => IdentityCapabilities::new()
            .with_name(agent.title.as_deref().unwrap_or(&agent.name))
            .with_version(&*agent.version),
        None => IdentityCapabilities::new().with_name(name),
    };
    let prompt = features.prompt;
    let input = MultimodalInputCapabilities::new()
        .with_image(prompt.image.unwrap_or_default())
        .with_audio(prompt.audio.unwrap_or_default())
        .with_file(prompt.embedded_context.unwrap_or_default());
    let permission = &conversation.translator.permission;
    let is_asked = !matches!(permission, PermissionMode::Policy(_));
    let human = HumanInTheLoopCapabilities::new()
        .with_supported(is_asked)
        .with_approvals(is_asked)
        .with_interrupts(matches!(permission, PermissionMode::Interrupt))
        .with_interventions(true);
    AgentCapabilities::new()
        .with_identity(identity.with_type("acp"))
        .with_transport(TransportCapabilities::new().with_streaming(true).with_resumable(true))
        .with_reasoning(ReasoningCapabilities::new().with_supported(true).with_streaming(true))
        .with_multimodal(MultimodalCapabilities::new().with_input(input))
        .with_human_in_the_loop(human)
        .with_state(StateCapabilities::new().with_memory(true))
        .with_custom(custom(&conversation.cwd, info))
}

/// Returns the facts that AG-UI's capabilities have no members for.
fn custom(cwd: &String, info: &client::InitializeResponse) -> Extra {
    let mut acp = Extra::new();
    acp.insert("cwd", Raw::of(cwd));
    let (version, name, capabilities) = match info {
        client::InitializeResponse::V1(info) => {
            (1, "agentCapabilities", info.agent_capabilities.as_ref().map(|it| Raw::of(it)))
        }
        client::InitializeResponse::V2(info) => {
            (2, "capabilities", info.capabilities.as_ref().map(|it| Raw::of(it)))
        }
        _ => (0, "capabilities", None),
    };
    if version > 0 {
        acp.insert("protocolVersion", Raw::of(&version));
    }
    if let Some(capabilities) = capabilities {
        acp.insert(name, capabilities);
    }
    let mut custom = Extra::new();
    custom.insert("acp", Raw::of(&acp));
    custom
}
