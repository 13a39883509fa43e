//! What an agent says that it can do, as AG-UI clients ask for it.
use acp_types::v1::initialization::InitializeResponse;
use agui_types::capabilities::{
    AgentCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities, MultimodalCapabilities,
    MultimodalInputCapabilities, ReasoningCapabilities, StateCapabilities, ToolsCapabilities,
    TransportCapabilities,
};
use agui_types::tool::Tool;
use mcp_bridge::registry::Registry;

/// Whom the agent can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A person, by interrupts.
    Interrupts,
    /// A person, in the stream.
    InStream,
    Nobody,
}

/// Of an ACP agent, by what it said when it was greeted.
pub(crate) fn of_acp(name: &str, info: &InitializeResponse, asks: Asks) -> AgentCapabilities {
    let mut capabilities = common(name, "acp");
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
    human.supported = Some(asks != Asks::Nobody);
    human.approvals = human.supported;
    human.interrupts = Some(asks == Asks::Interrupts);
    human.interventions = Some(true);
    capabilities.human_in_the_loop = Some(human);
    let mut state = StateCapabilities::new();
    state.memory = Some(true);
    capabilities.state = Some(state);
    capabilities
}

/// Of a model with the gateway's tools.
pub(crate) fn of_model(name: &str, registry: &Registry) -> AgentCapabilities {
    let mut capabilities = common(name, "model");
    let items = registry.iter().filter(|tool| tool.is_enabled).map(|registered| {
        let description = registered.tool.description.clone().unwrap_or_default();
        let mut tool = Tool::new(&*registered.name, description);
        tool.parameters = Some(registered.tool.input_schema.clone());
        tool
    });
    let mut tools = ToolsCapabilities::new();
    (tools.supported, tools.parallel_calls, tools.client_provided) =
        (Some(true), Some(true), Some(true));
    tools.items = Some(items.collect());
    capabilities.tools = Some(tools);
    let mut input = MultimodalInputCapabilities::new();
    input.image = Some(true);
    let mut multimodal = MultimodalCapabilities::new();
    multimodal.input = Some(input);
    capabilities.multimodal = Some(multimodal);
    capabilities
}

fn common(name: &str, kind: &str) -> AgentCapabilities {
    let mut capabilities = AgentCapabilities::new();
    let mut identity = IdentityCapabilities::new();
    identity.name = Some(name.to_owned());
    identity.r#type = Some(kind.to_owned());
    capabilities.identity = Some(identity);
    let mut transport = TransportCapabilities::new();
    (transport.streaming, transport.resumable) = (Some(true), Some(true));
    capabilities.transport = Some(transport);
    let mut reasoning = ReasoningCapabilities::new();
    (reasoning.supported, reasoning.streaming) = (Some(true), Some(true));
    capabilities.reasoning = Some(reasoning);
    capabilities
}
