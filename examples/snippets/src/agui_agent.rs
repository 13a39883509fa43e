//! An AG-UI agent: a model with a tool of its own and a tool of the page.
use agui_bridge::chat_history::ChatToolCall;
use agui_bridge::hybrid_tools::runner::{Backend, Model, ModelRequest, Sink, SinkClosed, run};
use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, ModelEvent, RunFailure};
use agui_types::content::Content;
use agui_types::event::Event;
use agui_types::input::RunAgentInput;
use agui_types::sse;
use async_trait::async_trait;
use std::collections::VecDeque;

/// A model that looks up the paint in stock, asks the page to pick one if it can, and paints.
#[derive(Debug, Default)]
pub struct Painter(VecDeque<ModelEvent>);

#[async_trait]
impl Model for Painter {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure> {
        let results = request.history.iter().rev().map_while(|message| {
            message.tool_call_id.as_ref().map(|call| (call.as_str(), message.text()))
        });
        let asks_page = request.tools.owner("pick").is_some();
        self.0 = match results.last() {
            None => {
                [ModelEvent::Text("Let me look.".into()), ModelEvent::call("stock", "stock", "{}")]
                    .into()
            }
            Some(("stock", paint)) if asks_page => {
                [ModelEvent::call("pick", "pick", format!("{{\"of\":{paint:?}}}"))].into()
            }
            Some((_, paint)) => [ModelEvent::Text(format!("I paint it {paint}."))].into(),
        };
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
        Ok(self.0.pop_front())
    }
}

/// The agent's own tool.
#[derive(Debug)]
pub struct Stock;

#[async_trait]
impl Backend for Stock {
    async fn call(&self, _: &ChatToolCall) -> Result<Content, String> {
        Ok("green".into())
    }
}

/// The body of a response: server-sent events.
#[derive(Debug, Default)]
pub struct Body(pub Vec<u8>);

#[async_trait]
impl Sink for Body {
    async fn send(&mut self, event: Event) -> Result<(), SinkClosed> {
        sse::write_event(&mut self.0, &event).map_err(|_| SinkClosed)
    }
}

/// Handles a request. Returns the whole response at once; a server would stream it.
///
/// # Errors
/// The sink is closed, which cannot occur here.
pub async fn answer(input: &RunAgentInput) -> Result<Vec<u8>, SinkClosed> {
    let tools = [BackendTool::new("stock", "What paint there is.")];
    let mut hybrid = HybridLoop::begin(input, &tools, LoopOptions::new());
    let mut body = Body::default();
    run(&mut hybrid, &mut Painter::default(), &Stock, &mut body).await?;
    Ok(body.0)
}
