//! The word that runs a command.

use crate::script::{Scene, Step, ask};
use crate::talk::say;
use crate::tools::{failed, raw, start, status, text, update};
use acp_types::v1::terminals::{
    CreateTerminalRequest, ReleaseTerminalRequest, TerminalOutputRequest,
    WaitForTerminalExitRequest,
};
use acp_types::v1::tool_calls::{
    Terminal, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use acp_types::v2::prompt_lifecycle::SessionUpdate as UpdateV2;
use acp_types::v2::terminals::{TerminalExitStatus, TerminalOutputChunk, TerminalUpdate};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::wire::Presence;
use serde_json::json;

const COMMAND: &str = "echo";
const ARGUMENTS: [&str; 3] = ["one", "two", "three"];

/// Runs `echo one two three`: in the client's terminal if it has one, otherwise with simulated
/// output; in version 2 in a simulated terminal of the agent.
pub(crate) fn run(scene: &mut Scene) -> Vec<Step> {
    let id = scene.tool_call_id();
    let mut call = ToolCall::new(id.clone(), "echo one two three");
    call.name = Some("run_command".to_owned());
    call.kind = Some(ToolKind::Execute);
    call.status = Some(ToolCallStatus::InProgress);
    call.raw_input = raw(&json!({ "command": COMMAND, "args": ARGUMENTS }));
    let mut steps = vec![start(call)];
    if scene.is_v2 {
        scene.ids += 1;
        steps.extend(own_terminal(&id, &format!("terminal-{}", scene.ids), &scene.cwd));
        steps.extend(say(scene, "The output is made up, as I run no commands. "));
    } else if scene.has_terminal {
        let after = say(scene, "The command has run in your terminal. ");
        steps.push(create(scene, id, after));
    } else {
        steps.extend(made_up(&id));
        steps.extend(say(scene, "The output is made up, as you have no terminal for me. "));
    }
    steps
}

/// Growing output; each update replaces the content before.
fn made_up(id: &ToolCallId) -> Vec<Step> {
    let mut output = format!("$ {COMMAND} {}\n", ARGUMENTS.join(" "));
    let mut steps = Vec::new();
    for word in ARGUMENTS {
        output.push_str(word);
        output.push('\n');
        let mut growing = status(id, ToolCallStatus::InProgress);
        growing.content = vec![text(&output)].into();
        steps.push(update(growing));
    }
    steps.push(update(ended(id, 0, &output)));
    steps
}

/// A terminal of the agent, with its output in chunks.
fn own_terminal(id: &ToolCallId, terminal: &str, cwd: &str) -> Vec<Step> {
    let step = |update| Step::UpdateV2(Box::new(update));
    let mut begins = TerminalUpdate::new(terminal);
    begins.command = format!("{COMMAND} {}", ARGUMENTS.join(" ")).into();
    begins.cwd = Presence::Value(cwd.into());
    let mut shown = status(id, ToolCallStatus::InProgress);
    shown.content = vec![ToolCallContent::Terminal(Terminal::new(terminal))].into();
    let mut steps = vec![step(UpdateV2::TerminalUpdate(Box::new(begins))), update(shown)];
    let mut output = String::new();
    for word in ARGUMENTS {
        let line = format!("{word}\n");
        let chunk = TerminalOutputChunk::new(terminal, STANDARD.encode(&line));
        steps.push(step(UpdateV2::TerminalOutputChunk(Box::new(chunk))));
        output.push_str(&line);
    }
    let mut exit = TerminalExitStatus::new();
    exit.exit_code = Some(0);
    let mut exited = TerminalUpdate::new(terminal);
    exited.exit_status = exit.into();
    steps.push(step(UpdateV2::TerminalUpdate(Box::new(exited))));
    steps.push(update(ended(id, 0, &output)));
    steps
}

/// Ends the command; its output stays.
fn ended(id: &ToolCallId, code: u32, output: &str) -> ToolCallUpdate {
    let went = if code == 0 { ToolCallStatus::Completed } else { ToolCallStatus::Failed };
    let mut ended = status(id, went);
    let result = raw(&json!({ "exitCode": code, "output": output }));
    ended.raw_output = result.map_or(Presence::Absent, Presence::from);
    ended
}

fn create(scene: &Scene, id: ToolCallId, after: Vec<Step>) -> Step {
    let session = scene.session_id.clone();
    let mut request = CreateTerminalRequest::new(session.clone(), COMMAND);
    request.args = Some(ARGUMENTS.map(str::to_owned).into());
    request.cwd = Some(scene.cwd.clone());
    ask(&request, move |answer| {
        let terminal_id = match answer {
            Ok(created) => created.terminal_id,
            Err(error) => return vec![update(failed(&id, &error.message))],
        };
        let mut shown = status(&id, ToolCallStatus::InProgress);
        shown.content = vec![ToolCallContent::Terminal(Terminal::new(terminal_id.clone()))].into();
        let exit = WaitForTerminalExitRequest::new(session.clone(), terminal_id.clone());
        let output = TerminalOutputRequest::new(session.clone(), terminal_id.clone());
        let release = ReleaseTerminalRequest::new(session, terminal_id.clone());
        let exit = ask(&exit, move |answer| {
            let code = answer.ok().and_then(|exit| exit.exit_code).unwrap_or(1);
            let output = ask(&output, move |answer| {
                let output = answer.map(|answer| answer.output).unwrap_or_default();
                vec![update(ended(&id, code, &output))]
            });
            let release = ask(&release, |_| vec![Step::ForgetTerminal]);
            [output, release].into_iter().chain(after).collect()
        });
        vec![Step::UseTerminal(terminal_id), update(shown), exit]
    })
}
