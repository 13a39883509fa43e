//! Agents and a server of MCP for the tests of the proxy, selected by the first argument.

use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::{env, thread};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let agent = arguments.next();
    let argument = arguments.next();
    let number = || argument.as_deref().and_then(|argument| argument.parse::<i32>().ok());
    match agent.as_deref() {
        Some("demo") => return demo_agent::run_stdio(),
        Some("echo") => echo(),
        Some("ask-terminal") => ask_terminal(),
        Some("mcp") => serve_mcp(),
        Some("exit") => std::process::exit(number().unwrap_or(1)),
        Some("arguments") => {
            say(&format!("{:?}\n", argument.into_iter().chain(arguments).collect::<Vec<_>>()))
        }
        Some("complain") => {
            eprintln!("something is wrong");
            Ok(())
        }
        Some("stay") => stay(),
        Some("leave-a-child") => leave_a_child(),
        #[cfg(windows)]
        Some("leave-a-caller") => windows::leave_a_caller(argument.as_deref()),
        #[cfg(windows)]
        Some("call") => windows::call(argument.as_deref()),
        #[cfg(unix)]
        Some("close-stdout") => unix::close_stdout(),
        #[cfg(unix)]
        Some("ignore-term") => unix::ignore_term(),
        #[cfg(unix)]
        Some("raise") => unix::raise_signal(number()),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Echoes the input without buffering.
fn echo() -> io::Result<()> {
    let mut stdin = io::stdin().lock();
    let mut stdout = io::stdout().lock();
    loop {
        let bytes = stdin.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        stdout.write_all(bytes)?;
        stdout.flush()?;
        let length = bytes.len();
        stdin.consume(length);
    }
}

/// Requests a terminal, and writes the response to standard error.
fn ask_terminal() -> io::Result<()> {
    say(concat!(
        r#"{"jsonrpc":"2.0","id":7,"method":"terminal/create","params":"#,
        r#"{"sessionId":"s","command":"rm","args":["-r","x"]}}"#,
        "\n"
    ))?;
    let mut response = String::new();
    io::stdin().read_line(&mut response)?;
    eprint!("response: {response}");
    Ok(())
}

/// Serves MCP with three tools: `add` succeeds, `fail` fails, and `ask` asks the user first.
fn serve_mcp() -> io::Result<()> {
    let mut waiting_call = None;
    for line in io::stdin().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        let text = |pointer| message.pointer(pointer).and_then(Value::as_str);
        let id = message.get("id").cloned();
        let content = |text: &str| json!([{ "type": "text", "text": text }]);
        let call = (text("/method"), text("/params/name"));
        let (id, mut answer) = match call {
            (Some("initialize"), _) => {
                let version = text("/params/protocolVersion");
                let server = json!({ "name": "test", "version": "1" });
                let result =
                    json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": server });
                (id, json!({ "result": result }))
            }
            (Some("tools/call"), Some("add")) => {
                (id, json!({ "result": { "content": content("3") } }))
            }
            (Some("tools/call"), Some("fail")) => {
                (id, json!({ "result": { "content": content("no"), "isError": true } }))
            }
            (Some("tools/call"), Some("ask")) => {
                waiting_call = id;
                let schema = json!({ "type": "object", "properties": {} });
                let question = json!({ "message": "Which?", "requestedSchema": schema });
                (Some("q".into()), json!({ "method": "elicitation/create", "params": question }))
            }
            (Some(_), _) => (id, json!({ "error": { "code": -32601, "message": "unknown" } })),
            (None, _) => (waiting_call.take(), json!({ "result": { "content": content("this") } })),
        };
        if let (Some(id), Some(answer)) = (id, answer.as_object_mut()) {
            answer.insert("jsonrpc".to_owned(), "2.0".into());
            answer.insert("id".to_owned(), id);
            say(&format!("{}\n", json!(answer)))?;
        }
    }
    Ok(())
}

/// Continues after the end of the input.
fn stay() -> io::Result<()> {
    say("ready\n")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    loop {
        thread::park();
    }
}

/// Exits, leaving a child process that holds its output and standard error.
fn leave_a_child() -> io::Result<()> {
    Command::new(env::current_exe()?).arg("stay").stdin(Stdio::null()).spawn()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn say(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())?;
    io::stdout().flush()
}

/// Agents for Unix: signals, and closing of standard output.
#[cfg(unix)]
mod unix {
    use super::{say, stay};
    use nix::sys::signal::{Signal, raise};
    use std::fs::File;
    use std::io::{self, Read};
    use tokio::signal::unix::{SignalKind, signal};

    pub(super) fn raise_signal(number: Option<i32>) -> io::Result<()> {
        let signal = Signal::try_from(number.unwrap_or_default())?;
        Ok(raise(signal)?)
    }

    /// Ignores SIGTERM.
    pub(super) fn ignore_term() -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let _context = runtime.enter();
        let _handled = signal(SignalKind::terminate())?;
        stay()
    }

    /// Closes its output, but runs until the end of its input.
    pub(super) fn close_stdout() -> io::Result<()> {
        say("last words\n")?;
        nix::unistd::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
        io::stdin().read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

/// Agents for Windows: jobs.
#[cfg(windows)]
mod windows {
    use std::io::{self, Read};
    use std::net::TcpStream;
    use std::os::windows::process::CommandExt;
    use std::process::{Command, Stdio};

    /// Spec: [Process Creation
    /// Flags](https://learn.microsoft.com/windows/win32/procthread/process-creation-flags)
    const CREATE_BREAKAWAY_FROM_JOB: u32 = 0x0100_0000;

    /// Exits, leaving a process outside its job.
    pub(super) fn leave_a_caller(address: Option<&str>) -> io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("call").args(address).creation_flags(CREATE_BREAKAWAY_FROM_JOB);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        io::stdin().read_to_end(&mut Vec::new())?;
        Ok(())
    }

    /// Echoes the data of a connection until it is closed.
    pub(super) fn call(address: Option<&str>) -> io::Result<()> {
        let mut caller = TcpStream::connect(address.unwrap_or_default())?;
        io::copy(&mut caller.try_clone()?, &mut caller)?;
        Ok(())
    }
}
