//! A chat model with tools as an AG-UI agent.
//!
//! A [`ChatModel`] is an endpoint or a script. [`run`](run()) executes one input, with the tools of
//! the page and of a [`Toolbox`].
use crate::tools::Toolbox;
use agui_bridge::hybrid_tools::runner::Model;
use agui_types::capabilities::AgentCapabilities;
use endpoint::Endpoint;
pub use endpoint::EndpointError;
pub use run::{ModelRun, run};
use sampling::MAX_TOKENS;
use script::Script;
pub use script::ScriptError;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
pub use traced::RunTelemetry;
use traced::TracedModel;

mod capabilities;
mod endpoint;
mod run;
mod sampling;
mod script;
mod traced;

/// The built-in script.
const BUILT_IN: &str = include_str!("model/hybrid.toml");

/// The location of a model: a script, or an endpoint with the API of OpenAI's chat completions. The
/// built-in script needs neither.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ModelSettings {
    /// A file with the model's answers.
    pub script: Option<PathBuf>,
    /// The URL before `/chat/completions`.
    pub url: Option<String>,
    /// Name of the model at the endpoint.
    pub name: Option<String>,
    /// The environment variable with the key, if one is required.
    pub key_variable: Option<String>,
    /// Instructions for the model.
    pub instructions: Option<String>,
    /// Largest number of tokens of an answer to a tool; by default 4096.
    pub tokens_for_tools: Option<NonZeroU32>,
}

/// An error in the settings of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Both a script and an endpoint are set.
    #[error("model: expected `script` or `url`, got both")]
    Both,
    /// The script is invalid.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The endpoint is invalid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

/// A model with tools.
#[derive(Debug)]
pub struct ChatModel {
    kind: Kind,
    /// Name of the model among the agents.
    name: String,
    /// Whether clients before 1.0 receive interrupts.
    legacy_interrupts: bool,
    toolbox: Arc<Toolbox>,
    /// Largest number of tokens of an answer to a tool.
    tokens_for_tools: u32,
}

#[derive(Debug)]
enum Kind {
    Script(Script),
    Endpoint(Endpoint),
}

impl ChatModel {
    /// Creates a model with the tools of `toolbox` for an agent of this name. With
    /// `legacy_interrupts`, tools also ask the users of clients before 1.0.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(
        name: &str,
        settings: &ModelSettings,
        legacy_interrupts: bool,
        toolbox: Arc<Toolbox>,
    ) -> Result<Self, ModelError> {
        let kind = match (&settings.script, &settings.url) {
            (Some(_), Some(_)) => return Err(ModelError::Both),
            (Some(script), None) => Kind::Script(Script::read(script)?),
            (None, Some(url)) => Kind::Endpoint(Endpoint::new(url, settings)?),
            (None, None) => Kind::Script(Script::parse(BUILT_IN)?),
        };
        let tokens_for_tools = settings.tokens_for_tools.map_or(MAX_TOKENS, NonZeroU32::get);
        Ok(Self { kind, name: name.to_owned(), legacy_interrupts, toolbox, tokens_for_tools })
    }

    /// Returns what the model can do, in the form for AG-UI clients.
    pub async fn capabilities(&self) -> AgentCapabilities {
        self.toolbox.ready().await;
        let tools = self.toolbox.for_models(&self.name);
        capabilities::capabilities(&self.name, self.model(), &tools)
    }

    /// Returns the name of the model; `None` for a script.
    fn model(&self) -> Option<&str> {
        match &self.kind {
            Kind::Script(_) => None,
            Kind::Endpoint(endpoint) => Some(endpoint.model()),
        }
    }

    /// Opens the model for one run.
    fn open<'a>(&'a self, traced: &'a RunTelemetry) -> TracedModel<'a> {
        TracedModel::new(self.open_untraced(), self.model(), traced)
    }

    fn open_untraced(&self) -> Box<dyn Model + '_> {
        match &self.kind {
            Kind::Script(script) => Box::new(script.open()),
            Kind::Endpoint(endpoint) => Box::new(endpoint.open(Map::new())),
        }
    }
}
