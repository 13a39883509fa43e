//! Definition of tools: name, arguments, questions and body.
use super::context::{Body, PluginContext, PluginError, Run, Shared};
use super::elicits::Elicitations;
use super::journal::{Journal, digest};
use super::turn::NoticeSink;
use crate::mcp::content::{ContentBlock, TextContent};
use crate::mcp::tools::{CallToolResult, TaskSupport, Tool};
use crate::schema::Violation;
use crate::schema::declared::fields_at;
use crate::schema::keywords::{get, open};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use jsonrpc_core::wire::{self, Extra, Presence, Raw};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum number of references that are followed in alternatives of a schema.
const MAX_REFERENCES: usize = 64;

/// A tool that can ask questions while it runs.
#[derive(Clone)]
pub struct PluginTool {
    tool: Tool,
    fingerprint: String,
    task_support: TaskSupport,
    body: Arc<dyn Fn(Raw, Arc<Shared>) -> Body + Send + Sync>,
}

impl PluginTool {
    /// Starts the definition of a tool. `version` identifies the code of the tool. Change it whenever the questions or
    /// their order change, so that an answer never reaches different code.
    ///
    /// Questions are declared first. A tool without questions declares [`NoElicitations`](super::NoElicitations):
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
    /// use mcp_bridge::plugin::{PluginTool, Undeclared, PluginContext};
    ///
    /// let tool = PluginTool::builder("nothing", "1").execute(|(), _: PluginContext<Undeclared>| async move { Ok(()) });
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
            name: name.into(),
            version: version.into(),
            description: None,
            task_support: TaskSupport::Forbidden,
            elicits: PhantomData,
        }
    }

    /// Returns the tool as a server lists it.
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// Returns the fingerprint of the code. It depends on the version, the arguments and the questions.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns whether a call can be a [task](crate::mcp::tasks).
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

/// Builder of a [`PluginTool`]. `E` is the set of its questions.
#[derive(Clone, Debug)]
pub struct PluginToolBuilder<E = Undeclared> {
    name: String,
    version: String,
    description: Option<String>,
    task_support: TaskSupport,
    elicits: PhantomData<fn() -> E>,
}

/// The set of questions of a tool that has not declared any set yet.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a type without values")]
pub enum Undeclared {}

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
    /// The answer type of a question has no form.
    #[error(transparent)]
    Form(#[from] Violation),
}

impl<E> PluginToolBuilder<E> {
    /// Sets whether a call can be a [task](crate::mcp::tasks), for clients since 2026-07-28 that declare tasks. The
    /// default is [`TaskSupport::Forbidden`]. A tool that requires tasks rejects other clients. Policies without a
    /// store, such as [`Token`](super::SuspendPolicy::Token), ignore the setting.
    #[must_use]
    pub fn task_support(mut self, support: TaskSupport) -> Self {
        self.task_support = support;
        self
    }

    /// Sets the description for the model.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares the questions of the tool.
    pub fn elicits<D: Elicitations>(self) -> PluginToolBuilder<D> {
        let Self { name, version, description, task_support, .. } = self;
        PluginToolBuilder { name, version, description, task_support, elicits: PhantomData }
    }

    /// Sets the body of the tool. Its value becomes the structured content of the result, and also text content for
    /// models that read only text: a string unchanged, any other value as JSON.
    ///
    /// The arguments are an object: a struct, a map, or `()` for no arguments. Properties keep the order of their
    /// declaration.
    ///
    /// # Errors
    /// Returns an error if the name or the arguments are invalid, or the answer type of a question has no form.
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
        let Self { name, version, description, task_support, .. } = self;
        if !is_valid_name(&name) {
            return Err(DefinitionError::Name(name));
        }
        let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<P>();
        let schema = Raw::from_value(&schema).map_err(|_| Violation::new("", "an object"))?;
        let input = InputSchema::new(schema, fields_at::<P>(&[]))
            .map_err(|actual| DefinitionError::Arguments { tool: name.clone(), actual })?;
        let mut texts = alloc::vec![name.clone(), version, input.schema.as_str().to_string()];
        for (key, form) in E::forms()? {
            texts.extend([key.to_string(), form.requested_schema().as_str().to_string()]);
        }
        let fingerprint = format!("{:016x}", digest(texts.iter().map(String::as_str)));
        let mut tool = Tool::new(name, input.schema);
        tool.description = description;
        let (body, takes_nothing) = (Arc::new(body), input.is_empty);
        let body = move |arguments: Raw, shared| -> Body {
            let body = Arc::clone(&body);
            let arguments = match takes_nothing {
                true => wire::decode_serde::<P>("null"),
                false => arguments.decode_serde::<P>(),
            };
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

/// Returns whether a tool name is valid.
///
/// Spec: [Tool Names](https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names)
fn is_valid_name(name: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    (1..=128).contains(&name.len()) && name.bytes().all(is_valid)
}

/// The schema of arguments in a form that clients accept.
struct InputSchema {
    schema: Raw,
    /// Whether the type accepts `null` instead of an object.
    is_empty: bool,
}

impl InputSchema {
    /// Completes the schema of a type. Returns the type as an error if it is not an object.
    fn new(schema: Raw, fields: Option<&[&str]>) -> Result<Self, String> {
        let given: Extra = schema.decode().map_err(|_| "any value")?;
        let kind: Option<String> = get(&given, "type");
        match kind.as_deref() {
            Some("null") => {
                let schema = Raw::from_text(r#"{"type":"object","properties":{}}"#);
                return schema
                    .map(|schema| Self { schema, is_empty: true })
                    .map_err(|error| error.to_string());
            }
            Some("object") => {}
            None if has_objects_only(&given) => {}
            Some(other) => return Err(format!("`{other}`")),
            None => return Err("of several kinds".into()),
        }
        let mut members = Extra::new();
        for (keyword, value) in given.iter() {
            members.insert(keyword, value.clone());
        }
        if kind.is_none() {
            members.insert("type", Raw::from_value("object").map_err(|error| error.to_string())?);
        }
        if let (Some(fields), Some(properties)) = (fields, get::<Extra>(&given, "properties")) {
            let mut ordered = Extra::new();
            let declared = fields.iter().filter_map(|name| Some((*name, properties.get(name)?)));
            declared.chain(properties.iter()).for_each(|(name, property)| {
                ordered.insert(name, property.clone());
            });
            let ordered = Raw::from_value(&ordered).map_err(|error| error.to_string())?;
            members.insert("properties", ordered);
        }
        let schema = Raw::from_value(&members).map_err(|error| error.to_string())?;
        Ok(Self { schema, is_empty: false })
    }
}

/// Returns whether all alternatives of a schema, such as that of a tagged enum, are objects.
fn has_objects_only(schema: &Extra) -> bool {
    let keyword = ["oneOf", "anyOf"].into_iter().find(|keyword| schema.get(keyword).is_some());
    let alternatives = keyword.and_then(|keyword| get::<alloc::vec::Vec<Raw>>(schema, keyword));
    alternatives.is_some_and(|alternatives| {
        alternatives.iter().all(|alternative| {
            let opened = open(schema, alternative, "", &mut MAX_REFERENCES.clone());
            opened.is_ok_and(|opened| get::<String>(&opened, "type").as_deref() == Some("object"))
        })
    })
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
