//! The capabilities of a model with tools, in the form for AG-UI clients.
use agent_tools::mcp_bridge::registry::Registry;
use agui_types::capabilities::{
    AgentCapabilities, IdentityCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    ReasoningCapabilities, ToolsCapabilities, TransportCapabilities,
};
use agui_types::tool::Tool;

/// Returns the capabilities of a model with the tools of `registry`. `model` is its name at its endpoint.
pub(crate) fn capabilities(
    name: &str,
    model: Option<&str>,
    registry: &Registry,
) -> AgentCapabilities {
    let items = registry.iter().filter(|tool| tool.is_enabled).map(|registered| {
        let description = registered.tool.description.clone().unwrap_or_default();
        let mut tool = Tool::new(&*registered.name, description);
        tool.parameters = Some(registered.tool.input_schema.clone());
        tool
    });
    let tools = ToolsCapabilities::new()
        .with_supported(true)
        .with_parallel_calls(true)
        .with_client_provided(true)
        .with_items(items.collect::<Vec<_>>());
    let input = MultimodalInputCapabilities::new().with_image(true);
    let mut identity = IdentityCapabilities::new().with_name(name).with_type("model");
    identity.description = model.map(str::to_owned);
    AgentCapabilities::new()
        .with_identity(identity)
        .with_transport(TransportCapabilities::new().with_streaming(true).with_resumable(true))
        .with_reasoning(ReasoningCapabilities::new().with_supported(true).with_streaming(true))
        .with_tools(tools)
        .with_multimodal(MultimodalCapabilities::new().with_input(input))
}
