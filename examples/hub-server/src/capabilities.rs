//! The capabilities of an ACP agent, in the form for AG-UI clients.
use acp_types::v1::initialization::InitializeResponse;
use agui_types::capabilities::{
    AgentCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities, MultimodalCapabilities,
    MultimodalInputCapabilities, ReasoningCapabilities, StateCapabilities, TransportCapabilities,
};

/// Party that answers the questions of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// A person, by interrupts.
    Interrupts,
    /// A person, in the stream.
    InStream,
    /// A policy.
    Policy,
}

/// Returns the capabilities of an agent from its `initialize` response.
pub fn capabilities(name: &str, info: &InitializeResponse, asks: Answers) -> AgentCapabilities {
    let mut capabilities = common(name);
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
    human.supported = Some(asks != Answers::Policy);
    human.approvals = human.supported;
    human.interrupts = Some(asks == Answers::Interrupts);
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
