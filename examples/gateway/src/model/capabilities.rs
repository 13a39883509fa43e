//! The capabilities of a model with tools, in the form for AG-UI clients.
use agui_bridge::hybrid_tools::BackendTool;
use agui_types::capabilities::{
    AgentCapabilities, IdentityCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    ReasoningCapabilities, ToolsCapabilities, TransportCapabilities,
};
use agui_types::tool::Tool;

/// Returns the capabilities of a model with these tools. `model` is its name at its endpoint.
pub(crate) fn capabilities(
    name: &str,
    model: Option<&str>,
    tools: &[BackendTool],
) -> AgentCapabilities {
    let items = tools.iter().map(|offered| {
        let mut tool = Tool::new(&*offered.name, &*offered.description);
        tool.parameters.clone_from(&offered.parameters);
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
