//! The capabilities of an ACP agent in the form for AG-UI clients, and those that an agent is offered.
use acp_host::host::Access;
use acp_types::client;
use acp_types::v1::initialization::{
    ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities,
    ElicitationUrlCapabilities, Implementation, InitializeRequest, InitializeResponse,
    ProtocolVersion,
};
use agui_bridge::PermissionMode;
use agui_types::capabilities::{
    AgentCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities, MultimodalCapabilities,
    MultimodalInputCapabilities, ReasoningCapabilities, StateCapabilities, TransportCapabilities,
};

/// Returns the `initialize` request: the program's name, and what it offers the agent. `elicits` is whether a person answers
/// forms.
pub fn initialize(
    program: Implementation,
    elicits: bool,
    access: Option<&Access>,
) -> InitializeRequest {
    let mut capabilities = ClientCapabilities::new();
    if elicits {
        let mut elicitation = ElicitationCapabilities::new();
        elicitation.form = Some(ElicitationFormCapabilities::new());
        elicitation.url = Some(ElicitationUrlCapabilities::new());
        capabilities.elicitation = Some(elicitation);
    }
    if let Some(access) = access {
        access.declare(&mut capabilities);
    }
    let mut initialize = InitializeRequest::new(ProtocolVersion::V1);
    (initialize.client_info, initialize.client_capabilities) = (Some(program), Some(capabilities));
    initialize
}

/// Returns the capabilities of an agent from its `initialize` response. `permission` is the party that answers its requests.
pub fn capabilities(
    name: &str,
    info: &client::InitializeResponse,
    permission: &PermissionMode,
) -> AgentCapabilities {
    let mut capabilities = common(name);
    let other;
    let info = match info {
        client::InitializeResponse::V1(info) => info,
        _ => {
            other = InitializeResponse::new(ProtocolVersion::V1);
            &other
        }
    };
    if let (Some(identity), Some(agent)) = (&mut capabilities.identity, &info.agent_info) {
        identity.name = Some(agent.title.clone().unwrap_or_else(|| agent.name.clone()));
        identity.version = Some(agent.version.clone());
    }
    let prompt = info.agent_capabilities.as_ref().and_then(|it| it.prompt_capabilities.as_ref());
    let mut input = MultimodalInputCapabilities::new();
    input.image = Some(prompt.and_then(|prompt| prompt.image).unwrap_or_default());
    input.audio = Some(prompt.and_then(|prompt| prompt.audio).unwrap_or_default());
    input.file = Some(prompt.and_then(|prompt| prompt.embedded_context).unwrap_or_default());
    let mut multimodal = MultimodalCapabilities::new();
    multimodal.input = Some(input);
    capabilities.multimodal = Some(multimodal);
    let mut human = HumanInTheLoopCapabilities::new();
    human.supported = Some(!matches!(permission, PermissionMode::Policy(_)));
    human.approvals = human.supported;
    human.interrupts = Some(matches!(permission, PermissionMode::Interrupt));
    human.interventions = Some(true);
    capabilities.human_in_the_loop = Some(human);
    let mut state = StateCapabilities::new();
    state.memory = Some(true);
    capabilities.state = Some(state);
    capabilities
}

fn common(name: &str) -> AgentCapabilities {
    let mut capabilities = AgentCapabilities::new();
    let mut identity = IdentityCapabilities::new();
    identity.name = Some(name.to_owned());
    identity.r#type = Some("acp".to_owned());
    capabilities.identity = Some(identity);
    let mut transport = TransportCapabilities::new();
    (transport.streaming, transport.resumable) = (Some(true), Some(true));
    capabilities.transport = Some(transport);
    let mut reasoning = ReasoningCapabilities::new();
    (reasoning.supported, reasoning.streaming) = (Some(true), Some(true));
    capabilities.reasoning = Some(reasoning);
    capabilities
}
