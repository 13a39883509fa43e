//! Tools that the conformance suite calls as tasks.
use jsonrpc_core::{ErrorCode, ErrorObject};
use mcp_bridge::elicitations;
use mcp_bridge::mcp::tools::TaskSupport;
use mcp_bridge::plugin::DefinitionError;
use mcp_bridge::plugin::{ElicitResponse, NoElicitations, PluginContext, PluginError, PluginTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Duration of a failing job.
const JOB: Duration = Duration::from_millis(500);

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// Duration in seconds.
    seconds: u64,
    label: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct NoArguments {}

#[derive(Serialize, Deserialize, JsonSchema)]
struct File {
    filename: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Confirmation {
    confirm: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Empty {}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct NameArguments {
    user_name: Name,
}

elicitations! {
    /// Questions of the tool `confirm_delete`.
    Deleting handled by DeletingHandlers {
        /// Confirmation of the deletion.
        confirm: Confirm = "confirm" (File => Confirmation),
    }
}

elicitations! {
    /// Concurrent questions.
    Both handled by BothHandlers {
        /// The name.
        who: Who = "who" (Empty => Name),
        /// A confirmation.
        really: Really = "really" (Empty => Confirmation),
    }
}

pub(crate) fn task_tools() -> Result<[PluginTool; 6], DefinitionError> {
    let tool = |name, description, support| {
        PluginTool::builder(name, "1").description(description).task_support(support)
    };
    let optional = TaskSupport::Optional;
    let required = TaskSupport::Required;
    Ok([
        tool("slow_compute", "Takes its time", optional.clone())
            .elicits::<NoElicitations>()
            .execute(slow)?,
        tool("failing_job", "Fails", required.clone()).elicits::<NoElicitations>().execute(
            |_: NoArguments, _| async {
                tokio::time::sleep(JOB).await;
                Err::<(), _>(PluginError::failed("this job always fails"))
            },
        )?,
        tool("protocol_error_job", "Breaks", optional.clone())
            .elicits::<NoElicitations>()
            .execute(|_: NoArguments, _| async {
                tokio::time::sleep(JOB).await;
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "this job always breaks");
                Err::<(), _>(PluginError::Protocol(error))
            })?,
        tool("confirm_delete", "Deletes nothing, if that is confirmed", optional.clone())
            .elicits::<Deleting>()
            .execute(delete)?,
        tool("multi_input", "Asks two things at once", optional).elicits::<Both>().execute(both)?,
        tool("greet_later", "Greets, after a while", required)
            .elicits::<NoElicitations>()
            .execute(|asked: NameArguments, _| async move {
                tokio::time::sleep(JOB).await;
                Ok(format!("Hello, {}!", asked.user_name.name))
            })?,
    ])
}

async fn slow(slow: Slow, _: PluginContext<NoElicitations>) -> Result<String, PluginError> {
    tokio::time::sleep(Duration::from_secs(slow.seconds)).await;
    Ok(format!("{} took {} s", slow.label.as_deref().unwrap_or("it"), slow.seconds))
}

async fn delete(file: File, ctx: PluginContext<Deleting>) -> Result<String, PluginError> {
    let message = format!("Delete {}?", file.filename);
    Ok(match ctx.elicit::<Confirm>(&message, &file).await? {
        ElicitResponse::Accept(Confirmation { confirm: true }) => {
            format!("{} is gone", file.filename)
        }
        _ => format!("{} stays", file.filename),
    })
}

async fn both(_: NoArguments, ctx: PluginContext<Both>) -> Result<String, PluginError> {
    let who = ctx.elicit::<Who>("Who?", &Empty {});
    let really = ctx.elicit::<Really>("Really?", &Empty {});
    let (who, really) = tokio::join!(who, really);
    Ok(match (who?, really?) {
        (ElicitResponse::Accept(who), ElicitResponse::Accept(Confirmation { confirm: true })) => {
            who.name
        }
        _ => "nobody".to_owned(),
    })
}
