//! The capabilities of a model with tools, in the form for AG-UI clients.
use agent_tools::mcp_bridge::registry::Registry;
use agui_types::capabilities::{
    AgentCapabilities, IdentityCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    ReasoningCapabilities, ToolsCapabilities, TransportCapabilities,
};
use agui_types::tool::Tool;

/// Returns the capabilities of a model with the tools of `registry`.
pub(crate) fn capabilities(name: &str, registry: &Registry) -> AgentCapabilities {
    let mut capabilities = common(name);
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

fn common(name: &str) -> AgentCapabilities {
    let mut capabilities = AgentCapabilities::new();
    let mut identity = IdentityCapabilities::new();
    identity.name = Some(name.to_owned());
    identity.r#type = Some("model".to_owned());
    capabilities.identity = Some(identity);
    let mut transport = TransportCapabilities::new();
    (transport.streaming, transport.resumable) = (Some(true), Some(true));
    capabilities.transport = Some(transport);
    let mut reasoning = ReasoningCapabilities::new();
    (reasoning.supported, reasoning.streaming) = (Some(true), Some(true));
    capabilities.reasoning = Some(reasoning);
    capabilities
}
