//! Tools that ask while they run.
use super::context::{Body, PluginContext, PluginError, Run, Shared};
use super::elicits::Elicitations;
use super::journal::{Journal, digest};
use super::turn::NoticeSink;
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::tools::{CallToolResult, TaskSupport, Tool};
use crate::schema::Violation;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use jsonrpc_core::wire::{Presence, Raw};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A tool that may ask while it runs.
#[derive(Clone)]
pub struct PluginTool {
    tool: Tool,
    fingerprint: String,
    task_support: TaskSupport,
    body: Arc<dyn Fn(Raw, Arc<Shared>) -> Body + Send + Sync>,
}

impl PluginTool {
    /// A tool. `version` names its code: it has to change whenever what the tool asks, or the order in which it asks,
    /// does, so that a call that waits is not answered to other code.
    ///
    /// What a tool asks has to be declared before it can be written, even if it asks nothing:
    ///
    /// ```
    /// use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Add {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// let add = PluginTool::builder("add", "1")
    ///     .elicits::<NoElicitations>()
    ///     .execute(|add: Add, _: PluginContext<NoElicitations>| async move { Ok(add.a + add.b) })?;
    /// assert_eq!(add.tool().name, "add");
    /// # Ok::<(), mcp_bridge::schema::Violation>(())
    /// ```
    ///
    /// ```compile_fail,E0599
    /// use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
    ///
    /// let tool = PluginTool::builder("nothing", "1").execute(|_: (), _: PluginContext<NoElicitations>| async move { Ok(()) });
    /// ```
    ///
    /// It may ask nothing else:
    ///
    /// ```compile_fail,E0271
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Nothing {}
    /// use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
    ///
    /// mcp_bridge::elicitations! {
    ///     /// What another tool asks.
    ///     Others handled by OthersHandlers {
    ///         /// Really?
    ///         confirm: Confirm = "confirm" (Nothing => Nothing),
    ///     }
    /// }
    ///
    /// let tool = PluginTool::builder("nothing", "1").elicits::<NoElicitations>().execute(
    ///     |_: Nothing, ctx: PluginContext<NoElicitations>| async move {
    ///         ctx.elicit::<Confirm>("Really?", &Nothing {}).await?;
    ///         Ok(())
    ///     },
    /// );
    /// ```
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> PluginToolBuilder {
        PluginToolBuilder {
            name: name.into(),
            version: version.into(),
            description: None,
            task_support: TaskSupport::Forbidden,
        }
    }

    /// The tool as a server lists it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Names its code: another version, other arguments or other questions give another one.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Whether a call of it can be a [task](crate::mcp::tasks).
    pub fn task_support(&self) -> &TaskSupport {
        &self.task_support
    }

    pub(super) fn run(&self, arguments: Raw, journal: Journal, sink: Option<NoticeSink>) -> Run {
        Run::new(journal, sink, |shared| (self.body)(arguments, shared))
    }
}

impl fmt::Debug for PluginTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginTool")
            .field("tool", &self.tool)
            .field("fingerprint", &self.fingerprint)
            .finish_non_exhaustive()
    }
}

/// A tool of which it is not said yet what it asks.
#[derive(Clone, Debug)]
pub struct PluginToolBuilder {
    name: String,
    version: String,
    description: Option<String>,
    task_support: TaskSupport,
}

impl PluginToolBuilder {
    /// Says whether a call can be a [task](crate::mcp::tasks), for clients of 2026-07-28 on that know of them: none can unless
    /// this says so. A tool that has to be one is refused to all others. Where nothing is kept of its calls, as with
    /// [`Token`](super::SuspendPolicy::Token), it is called as any other.
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.task_support = support;
        self
    }

    /// What the tool does, for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares what the tool asks.
    pub fn elicits<E: Elicitations>(self) -> PluginToolWithElicits<E> {
        PluginToolWithElicits { builder: self, elicits: PhantomData }
    }
}

/// A tool of which it is said what it asks.
#[derive(Clone, Debug)]
pub struct PluginToolWithElicits<E> {
    builder: PluginToolBuilder,
    elicits: PhantomData<fn() -> E>,
}

impl<E: Elicitations> PluginToolWithElicits<E> {
    /// Says what the tool does. What it gives becomes its structured content, and text for models that read only that.
    ///
    /// # Errors
    /// The answer to a question has no form.
    pub fn execute<P, R, F>(
        self,
        body: impl Fn(P, PluginContext<E>) -> F + Send + Sync + 'static,
    ) -> Result<PluginTool, Violation>
    where
        P: DeserializeOwned + JsonSchema,
        R: Serialize,
        F: Future<Output = Result<R, PluginError>> + Send + 'static,
    {
        let PluginToolBuilder { name, version, description, task_support } = self.builder;
        let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<P>();
        let schema = Raw::from_value(&schema).map_err(|_| Violation::new("", "an object"))?;
        let mut texts = alloc::vec![name.clone(), version, schema.as_str().to_string()];
        for (key, form) in E::forms()? {
            texts.extend([key.to_string(), form.requested_schema().as_str().to_string()]);
        }
        let fingerprint = format!("{:016x}", digest(texts.iter().map(String::as_str)));
        let mut tool = Tool::new(name, schema);
        tool.description = description;
        let body = Arc::new(body);
        let body = move |arguments: Raw, shared| -> Body {
            let body = Arc::clone(&body);
            let arguments = arguments.decode::<P>();
            match arguments {
                Ok(arguments) => {
                    let running = body(arguments, PluginContext::new(shared));
                    Box::pin(async move { running.await.and_then(|given| result(&given)) })
                }
                Err(error) => Box::pin(core::future::ready(Ok(failed(&error.to_string())))),
            }
        };
        Ok(PluginTool { tool, fingerprint, task_support, body: Arc::new(body) })
    }
}

/// The result of a tool that failed, which the model sees.
pub(super) fn failed(problem: &str) -> CallToolResult {
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(problem))]);
    result.is_error = Some(true);
    result
}

fn result<R: Serialize>(given: &R) -> Result<CallToolResult, PluginError> {
    let given = Raw::from_value(given);
    let given = given.map_err(|_| PluginError::failed("what the tool gave has no JSON form"))?;
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(given.as_str()))]);
    result.structured_content = Presence::Value(given);
    Ok(result)
}
