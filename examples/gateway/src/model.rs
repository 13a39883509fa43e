//! Agents that are not ACP: a model, and tools of the gateway's. The page's tools are the model's as well.
use crate::settings::{AgentSettings, Permission, SettingsError};
use crate::telemetry::{Traced, TracedModel};
use crate::toolbox::Toolbox;
use agui_bridge::hybrid_tools::runner::{Backend, Model, run};
use agui_bridge::hybrid_tools::{BackendTool, HybridLoop, LoopOptions, ToolRequest};
use agui_types::content::Content;
use agui_types::event::Event;
use async_trait::async_trait;
use jsonrpc_core::wire;
use serde_json::json;
use std::fmt::Display;
use std::sync::Arc;

mod endpoint;
mod script;

use endpoint::Endpoint;
use script::Script;

/// The script of the agent that is built in.
const BUILT_IN: &str = include_str!("../scripts/hybrid.toml");

/// A model with tools.
#[derive(Debug)]
pub(crate) struct ModelAgent {
    kind: Kind,
    pub(crate) tools: Vec<BackendTool>,
    /// Whether clients before 1.0 are asked what tools ask.
    pub(crate) legacy_interrupts: bool,
    toolbox: Arc<Toolbox>,
}

#[derive(Debug)]
enum Kind {
    Script(Script),
    Endpoint(Endpoint),
}

impl ModelAgent {
    /// The agent of these settings, when they are a model's.
    pub(crate) fn new(
        name: &str,
        agent: &AgentSettings,
        permission: Permission,
        toolbox: &Arc<Toolbox>,
    ) -> Result<Option<Self>, SettingsError> {
        let Some(model) = &agent.model else { return Ok(None) };
        if agent.command.is_some() || agent.url.is_some() {
            return Err(SettingsError::TwoWays(name.to_owned()));
        }
        let wrong = |why: &dyn Display| SettingsError::Agent {
            agent: name.to_owned(),
            why: why.to_string(),
        };
        if agent.token.is_some() || agent.token_file.is_some() || agent.token_variable.is_some() {
            return Err(wrong(&"a model has its key in `model.key-variable`, not a `token`"));
        }
        let kind = match (&model.script, &model.url) {
            (Some(_), Some(_)) => {
                return Err(wrong(&"model: expected `script` or `url`, got both"));
            }
            (Some(script), None) => {
                Kind::Script(Script::read(script).map_err(|error| wrong(&error))?)
            }
            (None, Some(url)) => {
                Kind::Endpoint(Endpoint::new(url, model).map_err(|error| wrong(&error))?)
            }
            (None, None) => Kind::Script(Script::parse(BUILT_IN).map_err(|error| wrong(&error))?),
        };
        let legacy_interrupts = permission == Permission::AskByInterrupt;
        let tools = toolbox.for_models();
        Ok(Some(Self { kind, tools, legacy_interrupts, toolbox: toolbox.clone() }))
    }

    /// The model, for one run.
    pub(crate) fn open<'a>(&'a self, traced: &'a Traced) -> TracedModel<'a> {
        let name = match &self.kind {
            Kind::Script(_) => None,
            Kind::Endpoint(endpoint) => Some(endpoint.model()),
        };
        TracedModel::new(self.open_untraced(), name, traced)
    }

    fn open_untraced(&self) -> Box<dyn Model + '_> {
        match &self.kind {
            Kind::Script(script) => Box::new(script.open()),
            Kind::Endpoint(endpoint) => Box::new(endpoint.open()),
        }
    }

    pub(crate) fn toolbox(&self) -> &Toolbox {
        &self.toolbox
    }

    /// What the model says to a text, without tools.
    pub(crate) async fn say(&self, text: &str) -> Result<String, String> {
        let message = json!({ "id": "u", "role": "user", "content": text });
        let input = json!({ "threadId": "sampling", "runId": "sampling", "messages": [message] });
        let input = wire::decode(&input.to_string()).map_err(|error| error.to_string())?;
        let mut events: Vec<Event> = Vec::new();
        let mut hybrid = HybridLoop::begin(&input, &[], LoopOptions::new());
        let ran = run(&mut hybrid, &mut *self.open_untraced(), &NoTools, &mut events).await;
        ran.map_err(|error| error.to_string())?;
        let mut said = String::new();
        for event in events {
            match event {
                Event::TextMessageContent(content) => said.push_str(&content.delta),
                Event::RunError(error) => return Err(error.message.to_string()),
                _ => {}
            }
        }
        Ok(said)
    }
}

/// For a model that is asked for words alone.
struct NoTools;

#[async_trait]
impl Backend for NoTools {
    async fn call(&self, request: &ToolRequest) -> Result<Content, String> {
        Err(format!("there is no tool `{}`", request.name))
    }
}
