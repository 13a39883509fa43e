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
    let identity = match &info.agent_info {
        Some(agent) => IdentityCapabilities::new()
            .with_name(agent.title.as_deref().unwrap_or(&agent.name))
            .with_version(&*agent.version),
        None => IdentityCapabilities::new().with_name(name),
    };
    let prompt = info.agent_capabilities.as_ref().and_then(|it| it.prompt_capabilities.as_ref());
    let input = MultimodalInputCapabilities::new()
        .with_image(prompt.and_then(|prompt| prompt.image).unwrap_or_default())
        .with_audio(prompt.and_then(|prompt| prompt.audio).unwrap_or_default())
        .with_file(prompt.and_then(|prompt| prompt.embedded_context).unwrap_or_default());
    let human = HumanInTheLoopCapabilities::new()
        .with_supported(asks != Answers::Policy)
        .with_approvals(asks != Answers::Policy)
        .with_interrupts(asks == Answers::Interrupts)
        .with_interventions(true);
    AgentCapabilities::new()
        .with_identity(identity.with_type("acp"))
        .with_transport(TransportCapabilities::new().with_streaming(true).with_resumable(true))
        .with_reasoning(ReasoningCapabilities::new().with_supported(true).with_streaming(true))
        .with_multimodal(MultimodalCapabilities::new().with_input(input))
        .with_human_in_the_loop(human)
        .with_state(StateCapabilities::new().with_memory(true))
}
