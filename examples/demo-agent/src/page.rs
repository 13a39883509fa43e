//! Words that call tools of the client's page: from the session's MCP server named `ui`, or from
//! its `_meta`.

use crate::page_tools::{PageTools, SERVER};
use crate::script::{PageCall, Question, Scene, Step};
use crate::talk::{say, words};
use crate::tools::{failed, raw, start, status, update};
use acp_types::v1::tool_calls::{ToolCall, ToolCallStatus};
use jsonrpc_core::wire::Raw;
use serde_json::{Value, json};

/// The method for calls of Jaeger's contextual tools.
const METHOD: &str = "_meta/jaegertracing.io/tools/call";
const PREFIX: &str = "ui_";

/// Asks the user to choose.
pub(crate) fn ask(scene: &mut Scene) -> Vec<Step> {
    let arguments = json!({ "question": "Tea or coffee?", "options": ["tea", "coffee"] });
    call(scene, "choose", arguments, "Your page")
}

/// Makes the page dark.
pub(crate) fn dark(scene: &mut Scene) -> Vec<Step> {
    call(scene, "set_theme", json!({ "theme": "dark" }), "Your page")
}

/// Sets the title of the conversation.
pub(crate) fn title(scene: &mut Scene) -> Vec<Step> {
    call(scene, "set_title", json!({ "title": "A conversation with a name" }), "Your page")
}

/// Books a flight with a tool that asks its user.
pub(crate) fn book(scene: &mut Scene) -> Vec<Step> {
    let arguments = json!({ "from": "Oslo", "destination": "Lisbon" });
    call(scene, "book_flight", arguments, "The tool")
}

/// Calls a tool, and reports its result under a name.
fn call(scene: &mut Scene, tool: &'static str, arguments: Value, who: &'static str) -> Vec<Step> {
    let id = scene.tool_call_id();
    let name = scene.message_id();
    let ended = id.clone();
    let then = move |result: Result<String, String>| {
        let (end, said) = match result {
            Ok(text) => {
                let mut done = status(&ended, ToolCallStatus::Completed);
                done.raw_output = raw(&json!(text)).map_or(Default::default(), Into::into);
                (done, format!("{who} says: {text}. "))
            }
            Err(error) => (failed(&ended, &error), format!("{who} does not do it: {error}. ")),
        };
        let mut steps = vec![update(end)];
        steps.extend(words(&name, &said));
        steps
    };
    let title = match &scene.page {
        PageTools::None => return say(scene, "I was given no tools of a page. "),
        PageTools::Server(_) => format!("mcp__{SERVER}__{tool}"),
        PageTools::Extension => format!("{PREFIX}{tool}"),
    };
    let mut announced = ToolCall::new(id.clone(), title);
    announced.status = Some(ToolCallStatus::InProgress);
    announced.raw_input = raw(&arguments);
    let step = match &scene.page {
        PageTools::Server(server) => Step::CallPage(PageCall {
            server: server.clone(),
            id: id.to_string(),
            tool,
            arguments,
            then: Box::new(then),
        }),
        _ => {
            let name = format!("{PREFIX}{tool}");
            let session = &scene.session_id;
            let params = json!({ "sessionId": session, "name": name, "args": arguments });
            let Some(params) = raw(&params) else { return Vec::new() };
            let then = Box::new(move |answer: Result<Raw, _>| match answer {
                Ok(_) => then(Ok("it was told".to_owned())),
                Err(error) => {
                    let error: jsonrpc_core::ErrorObject = error;
                    then(Err(error.message))
                }
            });
            Step::Ask(Question { method: METHOD, params, then })
        }
    };
    vec![start(announced), step]
}
