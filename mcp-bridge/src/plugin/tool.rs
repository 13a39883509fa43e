//! Definition of tools: name, arguments, questions and body.
use super::context::PluginContext;
use super::elicits::Elicitations;
use super::error::PluginError;
use super::input::{InputSchema, output_schema};
use super::journal::digest;
use super::notice::NoticeSink;
use super::sampling::Sampling;
use super::session::SessionRecord;
use super::shared::{Body, Run, SharedState};
use crate::mcp::capabilities::Icon;
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::tools::{CallToolResult, TaskSupport, Tool, ToolAnnotations};
use crate::schema::SchemaViolation;
use crate::schema::declared::fields_at;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::type_name;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use jsonrpc_core::wire::{self, Meta, Presence, Raw};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A tool that can ask questions while it runs.
#[derive(Clone)]
pub struct PluginTool {
    tool: Tool,
    fingerprint: String,
    task_support: TaskSupport,
    sampling: Option<Arc<Sampling>>,
    body: Arc<dyn Fn(Raw, Arc<SharedState>) -> Body + Send + Sync>,
}

impl PluginTool {
    /// Starts the definition of a tool. `version` identifies the code of the tool. Change it
    /// whenever the questions or their order change, so that an answer never reaches different
    /// code.
    ///
    /// Questions are declared first. A tool without questions declares
    /// [`NoElicitations`](super::NoElicitations):
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
    /// # Ok::<(), mcp_bridge::plugin::DefinitionError>(())
    /// ```
    ///
    /// A missing declaration is a compile error:
    ///
    /// ```compile_fail,E0277
    /// use mcp_bridge::plugin::{PluginContext, PluginTool, UndeclaredElicitations};
    ///
    /// let tool = PluginTool::builder("nothing", "1").execute(|(), _: PluginContext<UndeclaredElicitations>| async move { Ok(()) });
    /// ```
    ///
    /// A tool cannot ask a question that it does not declare:
    ///
    /// ```compile_fail,E0271
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize, JsonSchema)]
    /// # struct Nothing {}
    /// use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
    ///
    /// mcp_bridge::elicitations! {
    ///     /// Questions of another tool.
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
            // The schema is set with the body.
            tool: Tool::new(name, RawValue::NULL),
            version: version.into(),
            task_support: TaskSupport::Forbidden,
            sampling: None,
            output: None,
            elicits: PhantomData,
        }
    }

    /// Returns the tool as a server lists it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the fingerprint of the code. It depends on the version, the arguments and the
    /// questions.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns whether a call can be a [task](crate::mcp::tasks).
    pub fn task_support(&self) -> &TaskSupport {
        &self.task_support
    }

    /// Starts the tool. `sampling` is the configuration of the host.
    pub(super) fn run(
        &self,
        record: &SessionRecord,
        sink: Option<NoticeSink>,
        sampling: Option<&Arc<Sampling>>,
    ) -> Run {
        let sampling = self.sampling.iter().chain(sampling).cloned().collect();
        Run::new(record, sink, sampling, |shared| (self.body)(record.arguments.clone(), shared))
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

/// Builder of a [`PluginTool`]. `E` is the set of its questions.
#[derive(Clone, Debug)]
pub struct PluginToolBuilder<E = UndeclaredElicitations> {
    /// The tool as a server lists it, without the schema of its arguments.
    tool: Tool,
    version: String,
    task_support: TaskSupport,
    sampling: Option<Arc<Sampling>>,
    /// Name of the type that the output schema describes.
    output: Option<&'static str>,
    elicits: PhantomData<fn() -> E>,
}

/// The set of questions of a tool that has not declared any set yet.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a type without values")]
pub enum UndeclaredElicitations {}

/// An error in the definition of a tool.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The name is invalid.
    #[error(
        "invalid tool name `{0}`: expected 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `-` and `.`"
    )]
    Name(String),
    /// The type of the arguments is not an object.
    #[error(
        "the arguments of the tool `{tool}` are of the type {actual}, and have to be an object: write a struct with a field for \
        each argument, such as `struct Arguments {{ value: i64 }}`, or `()` for none"
    )]
    Arguments {
        /// Name of the tool.
        tool: String,
        /// The type in the JSON Schema.
        actual: String,
    },
    /// The body returns another type than the output schema describes.
    #[error("the tool `{tool}` declares the output `{declared}`, but returns `{actual}`")]
    Output {
        /// Name of the tool.
        tool: String,
        /// The declared type.
        declared: &'static str,
        /// The type that the body returns.
        actual: &'static str,
    },
    /// The answer type of a question has no form.
    #[error(transparent)]
    Form(#[from] SchemaViolation),
}

impl<E> PluginToolBuilder<E> {
    /// Sets whether a call can be a [task](crate::mcp::tasks), for clients since 2026-07-28 that
    /// declare tasks. The default is [`TaskSupport::Forbidden`]. A tool that requires tasks rejects
    /// other clients. Policies without a store, such as [`Token`](super::SuspendPolicy::Token),
    /// ignore the setting.
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.task_support = support;
        self
    }

    /// Sets the configuration of the tool's requests to a model.
    #[must_use]
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = Some(Arc::new(sampling));
        self
    }

    /// Sets the description for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.tool.description = Some(description.into());
        self
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Sets hints about the behavior, such as that the tool does not modify anything.
    #[must_use]
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.tool.icons = Some(icons.into_iter().collect());
        self
    }

    /// Sets the `_meta` of the tool in the list.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.tool.meta = Some(meta);
        self
    }

    /// Sets the output schema: that of `R`, the type that the body returns. Clients up to
    /// 2025-11-25 receive it if `R` is an object.
    #[must_use]
    pub fn output<R: JsonSchema + DeserializeOwned>(mut self) -> Self {
        self.tool.output_schema =
            schema_of::<R>().ok().map(|schema| output_schema(schema, fields_at::<R>(&[])));
        self.output = Some(type_name::<R>());
        self
    }

    /// Declares the questions of the tool.
    pub fn elicits<D: Elicitations>(self) -> PluginToolBuilder<D> {
        let Self { tool, version, task_support, sampling, output, .. } = self;
        PluginToolBuilder { tool, version, task_support, sampling, output, elicits: PhantomData }
    }

    /// Sets the body of the tool. Its value becomes the structured content of the result, and also
    /// text content for models that read only text: a string unchanged, any other value as JSON.
    ///
    /// The arguments are an object: a struct, a map, or `()` for no arguments. Properties keep the
    /// order of their declaration.
    ///
    /// # Errors
    /// Returns an error if the name or the arguments are invalid, the value is not of the declared
    /// [output](Self::output), or the answer type of a question has no form.
    pub fn execute<P, R, F>(
        self,
        body: impl Fn(P, PluginContext<E>) -> F + Send + Sync + 'static,
    ) -> Result<PluginTool, DefinitionError>
    where
        E: Elicitations,
        P: DeserializeOwned + JsonSchema,
        R: Serialize,
        F: Future<Output = Result<R, PluginError>> + Send + 'static,
    {
        let actual = type_name::<R>();
        if let Some(declared) = self.output.filter(|declared| *declared != actual) {
            return Err(DefinitionError::Output { tool: self.tool.name, declared, actual });
        }
        self.execute_with_result(move |arguments, context| {
            let running = body(arguments, context);
            async move { running.await.and_then(|given| result(&given)) }
        })
    }

    /// Sets the body of a tool that creates its result: content such as images, audio, resources
    /// and links, and structured content, which has to conform to the declared
    /// [output](Self::output).
    ///
    /// ```
    /// use mcp_bridge::mcp::content::{ContentBlock, MediaContent};
    /// use mcp_bridge::mcp::tools::CallToolResult;
    /// use mcp_bridge::plugin::{NoElicitations, PluginContext, PluginTool};
    ///
    /// let dot = PluginTool::builder("dot", "1").elicits::<NoElicitations>().execute_with_result(
    ///     |(), _: PluginContext<NoElicitations>| async move {
    ///         let image = MediaContent::new("R0lGODlhAQABAAAAACwAAAAAAQABAAAC", "image/gif");
    ///         Ok(CallToolResult::new([ContentBlock::Image(image)]))
    ///     },
    /// )?;
    /// assert_eq!(dot.tool().name, "dot");
    /// # Ok::<(), mcp_bridge::plugin::DefinitionError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the name or the arguments are invalid, or the answer type of a question
    /// has no form.
    pub fn execute_with_result<P, F>(
        self,
        body: impl Fn(P, PluginContext<E>) -> F + Send + Sync + 'static,
    ) -> Result<PluginTool, DefinitionError>
    where
        E: Elicitations,
        P: DeserializeOwned + JsonSchema,
        F: Future<Output = Result<CallToolResult, PluginError>> + Send + 'static,
    {
        let Self { mut tool, version, task_support, sampling, .. } = self;
        if !is_valid_name(&tool.name) {
            return Err(DefinitionError::Name(tool.name));
        }
        let input = InputSchema::new(schema_of::<P>()?, fields_at::<P>(&[]))
            .map_err(|actual| DefinitionError::Arguments { tool: tool.name.clone(), actual })?;
        let mut texts: Vec<String> =
            [&*tool.name, &*version, input.schema.as_str()].map(String::from).into();
        for (key, form) in E::forms()? {
            texts.extend([key.to_string(), form.requested_schema().as_str().to_string()]);
        }
        let fingerprint = format!("{:016x}", digest(texts.iter().map(String::as_str)));
        tool.input_schema = input.schema;
        let takes_nothing = input.is_empty;
        let body = move |arguments: Raw, shared| -> Body {
            let arguments = match takes_nothing {
                true => wire::decode_serde::<P>("null"),
                false => arguments.decode_serde::<P>(),
            };
            match arguments {
                Ok(arguments) => Box::pin(body(arguments, PluginContext::new(shared))),
                Err(error) => Box::pin(core::future::ready(Ok(failed(&error.to_string())))),
            }
        };
        Ok(PluginTool { tool, fingerprint, task_support, sampling, body: Arc::new(body) })
    }
}

fn schema_of<T: JsonSchema>() -> Result<Raw, SchemaViolation> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    Raw::from_value(&schema).map_err(|_| SchemaViolation::new("", "an object"))
}

/// Returns whether a tool name is valid.
///
/// Spec: [Tool
/// Names](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names)
fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(is_valid)
}

/// Returns an error result for the model.
pub(super) fn failed(problem: &str) -> CallToolResult {
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(problem))]);
    result.is_error = Some(true);
    result
}

fn result<R: Serialize>(given: &R) -> Result<CallToolResult, PluginError> {
    let given = Raw::from_value(given);
    let given = given.map_err(|_| PluginError::failed("the value of the tool has no JSON form"))?;
    let text = given.decode::<String>().unwrap_or_else(|_| given.as_str().into());
    let mut result = CallToolResult::new([ContentBlock::Text(TextContent::new(text))]);
    result.structured_content = Presence::Value(given);
    Ok(result)
}
