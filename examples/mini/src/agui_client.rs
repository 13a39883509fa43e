//! An AG-UI client for a terminal: it posts a prompt, and answers questions of the agent.
//!
//! ```console
//! $ cargo run -p mini --bin mini-agui-client -- http://127.0.0.1:4002/ paint the door
//! ```
//!
//! [`Agent`] holds the conversation: it makes the requests, and applies the events of the
//! responses. A run may end with open questions: calls of the tool `ask_user`, which this client
//! offers, and interrupts. [`converse`] asks the user, and continues with another run until no
//! question is open.
use agui_types::client::{Agent, ReceivedEvent};
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::interrupt::{Interrupt, ResumeEntry, ResumeStatus};
use agui_types::message::{Message, ToolMessage, UserMessage};
use agui_types::reduce::RunEnd;
use agui_types::tool::Tool;
use clap::Parser;
use jsonrpc_core::wire::Raw;
use std::error::Error;
use std::io::{self, BufRead, Write};

/// Name of the tool that this client offers.
const ASK_USER: &str = "ask_user";
/// Largest number of runs for a prompt.
const MAX_RUNS: u32 = 32;

/// Sends a prompt to an AG-UI agent, and prints its answer
///
/// The answer is written to standard output, other events and questions to standard error.
/// Questions are answered on standard input: with JSON, or with text. An empty line or the end of
/// the input cancels a question.
#[derive(Debug, Parser)]
#[command(name = "mini-agui-client", version)]
struct Args {
    /// Address of the agent
    url: reqwest::Url,
    /// The words of the prompt
    #[arg(required = true, value_name = "WORD")]
    prompt: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    // The HTTP client needs a provider of cryptography for `https` URLs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::new();
    let mut agent = Agent::new(random_id()?);
    agent.tools.push(Tool::new(ASK_USER, "Asks the user a question."));
    let prompt = UserMessage::new(random_id()?, args.prompt.join(" "));
    agent.messages.push(Message::User(prompt));
    converse(&mut agent, &http, args.url).await
}

/// Runs the agent until it has no open question.
async fn converse(
    agent: &mut Agent,
    http: &reqwest::Client,
    url: reqwest::Url,
) -> Result<(), Box<dyn Error>> {
    let mut resume = Vec::new();
    for _ in 0..MAX_RUNS {
        let calls = run(agent, http, url.clone(), resume).await?;
        resume = agent.interrupts().iter().map(answer_interrupt).collect::<Result<_, _>>()?;
        if calls.is_empty() && resume.is_empty() {
            return Ok(());
        }
        for call in calls {
            agent.messages.push(answer_call(agent, &call)?);
        }
    }
    Err("the agent has begun too many runs".into())
}

/// Posts the conversation, applies the response, and returns the tool calls that wait for a result.
async fn run(
    agent: &mut Agent,
    http: &reqwest::Client,
    url: reqwest::Url,
    resume: Vec<ResumeEntry>,
) -> Result<Vec<ToolCallId>, Box<dyn Error>> {
    let request = agent.request(random_id()?, resume)?;
    let mut post = http.post(url);
    for (name, value) in request.headers {
        post = post.header(name, value);
    }
    let mut answer = post.body(request.body.clone()).send().await?;
    let content_type = answer.headers().get("content-type").and_then(|value| value.to_str().ok());
    let mut response = request.response(answer.status().as_u16(), content_type);
    while !response.is_finished() {
        match response.poll() {
            Some(received) => print(&received?),
            None => match answer.chunk().await? {
                Some(bytes) => response.push(&bytes),
                None => response.finish(),
            },
        }
    }
    if let Some(RunEnd::Failed(error)) = response.end() {
        return Err(format!("the run failed: {}", error.message).into());
    }
    let calls = response.pending_tool_call_ids().into_iter().cloned().collect();
    agent.take(response);
    Ok(calls)
}

/// Prints an event: text as it is, other events by their names.
fn print(received: &ReceivedEvent) {
    for deviation in &received.deviations {
        eprintln!("({deviation})");
    }
    let mut output = io::stdout().lock();
    let printed = match &received.event {
        Event::TextMessageContent(text) => output.write_all(text.delta.as_bytes()),
        Event::TextMessageEnd(_) => output.write_all(b"\n"),
        Event::ToolCallStart(call) => {
            eprintln!("[{}] {}", received.event.tag(), call.tool_call_name);
            Ok(())
        }
        event => {
            eprintln!("[{}]", event.tag());
            Ok(())
        }
    };
    // The reader of the output may be gone.
    let _ = printed.and_then(|()| output.flush());
}

/// Asks the user for the result of a call.
fn answer_call(agent: &Agent, call: &ToolCallId) -> Result<Message, Box<dyn Error>> {
    let calls = agent.messages.iter().filter_map(|message| match message {
        Message::Assistant(message) => message.tool_calls.as_ref(),
        _ => None,
    });
    let found = calls.flatten().find(|candidate| candidate.id == *call);
    let found = found.ok_or("a call is pending that the agent has not made")?;
    let mut result = ToolMessage::new(random_id()?, "", call.clone());
    if found.function.name == ASK_USER {
        let answer = ask(&format!("The agent asks {}", found.function.arguments))?;
        result.content = answer.unwrap_or_else(|| "The user did not answer.".to_owned()).into();
    } else {
        result.error = Some(format!("there is no tool {}", found.function.name));
    }
    Ok(Message::Tool(result))
}

/// Asks the user for the answer to an interrupt.
fn answer_interrupt(interrupt: &Interrupt) -> Result<ResumeEntry, Box<dyn Error>> {
    let question = interrupt.message.as_ref().unwrap_or(&interrupt.reason);
    if let Some(schema) = &interrupt.response_schema {
        eprintln!("(an answer is JSON that fits {})", Raw::from_value(schema)?.as_str());
    }
    let Some(answer) = ask(question)? else {
        return Ok(ResumeEntry::new(interrupt.id.clone(), ResumeStatus::Cancelled));
    };
    let mut entry = ResumeEntry::new(interrupt.id.clone(), ResumeStatus::Resolved);
    let payload = Raw::from_text(answer.as_str()).or_else(|_| Raw::from_value(&answer))?;
    entry.payload = Some(payload);
    Ok(entry)
}

/// Asks a question, and returns the line of the user, or `None` if it is empty.
fn ask(question: &str) -> io::Result<Option<String>> {
    eprintln!("{question}");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

/// Returns a random identifier.
fn random_id() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}
