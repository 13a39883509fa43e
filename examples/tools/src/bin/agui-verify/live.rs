//! Checks a live agent.
use crate::check::{Checker, Form, Strictness};
use crate::cli::Cli;
use agui_types::client::{Agent, MissingAnswers};
use agui_types::input::RunAgentInput;
use agui_types::message::{Message, UserMessage};
use agui_types::transport::BodyEncoding;
use agui_types::{proto, sse};
use display_error_chain::ErrorChainExt;
use rustls::crypto::ring::default_provider;

/// An error requesting a stream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LiveError {
    #[error("invalid header {0:?}: expected NAME: VALUE")]
    Header(String),
    #[error("{0}")]
    Asked(#[from] MissingAnswers),
    #[error("cannot reach the agent: {}", .0.chain())]
    Http(#[from] reqwest::Error),
    #[error("the agent responded with HTTP {status}: {body}")]
    Status { status: u16, body: String },
}

/// Maximum length of an error body that is shown, in characters.
const MAX_SHOWN: usize = 400;

/// The default input. Its ids are unique to each run of the program.
pub(crate) fn greeting(prompt: &str) -> Result<RunAgentInput, MissingAnswers> {
    let mut agent = Agent::new(format!("agui-verify-{}", std::process::id()));
    agent.messages.push(Message::User(UserMessage::new("user-1", prompt)));
    let request = agent.request(format!("run-{}", std::process::id()), Vec::new())?;
    Ok(request.input().clone())
}

/// Posts the input and checks the response.
pub(crate) async fn check(
    url: &str,
    cli: &Cli,
    input: &RunAgentInput,
) -> Result<Checker, LiveError> {
    let strictness = Strictness::from(cli.profile);
    let accepted = match cli.form.map(Form::from) {
        Some(Form::Protobuf) => proto::CONTENT_TYPE,
        _ => sse::CONTENT_TYPE,
    };
    // The client panics without a default provider.
    let _ = default_provider().install_default();
    let mut request = reqwest::Client::new().post(url).header("accept", accepted).json(input);
    for header in &cli.headers {
        let (name, value) =
            header.split_once(':').ok_or_else(|| LiveError::Header(header.clone()))?;
        request = request.header(name.trim(), value.trim());
    }
    let mut response = request.send().await?;
    let status = response.status();
    if !status.is_success() {
        let body = response.text().await?.chars().take(MAX_SHOWN).collect();
        return Err(LiveError::Status { status: status.as_u16(), body });
    }
    let content_type = response.headers().get("content-type").and_then(|it| it.to_str().ok());
    let form = match BodyEncoding::of_content_type(content_type) {
        BodyEncoding::Protobuf => Form::Protobuf,
        _ => Form::Sse,
    };
    let mut checker = Checker::new(strictness, Some(form), Some(input), cli.context);
    while let Some(bytes) = response.chunk().await? {
        if !checker.push(&bytes) {
            return Ok(checker);
        }
    }
    checker.finish();
    Ok(checker)
}
