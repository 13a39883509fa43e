//! An AG-UI client over reqwest: the core of `agui-types` says what to send and what came.
use agui_types::client::{Agent, Failure, Received, Response, Unanswered};
use agui_types::id::RunId;
use agui_types::interrupt::ResumeEntry;

/// A run that was not answered, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The last run asked for something.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The answer cannot be read on.
    #[error(transparent)]
    Answer(#[from] Failure),
}

/// Asks the agent at `url` for a run, gives each event to `on_event` as it comes, and keeps the messages and the state
/// that it makes, also of a run that breaks off. To stop a run, drop the future: the agent sees the connection close.
///
/// # Errors
/// The agent did not answer, or not to the end.
pub async fn run(
    agent: &mut Agent,
    http: &reqwest::Client,
    url: &str,
    run_id: impl Into<RunId>,
    resume: Vec<ResumeEntry>,
    mut on_event: impl FnMut(&Received),
) -> Result<(), RunError> {
    let request = agent.request(run_id, resume)?;
    let mut posted = http.post(url);
    for (name, value) in request.headers {
        posted = posted.header(name, value);
    }
    let mut answer = posted.body(request.body.clone()).send().await?;
    let content_type = answer.headers().get("content-type").and_then(|it| it.to_str().ok());
    let mut response = request.response(answer.status().as_u16(), content_type);
    let read = read(&mut answer, &mut response, &mut on_event).await;
    agent.take(response);
    read
}

async fn read(
    answer: &mut reqwest::Response,
    response: &mut Response,
    on_event: &mut impl FnMut(&Received),
) -> Result<(), RunError> {
    while let Some(bytes) = answer.chunk().await? {
        response.push(&bytes);
        while let Some(received) = response.poll() {
            on_event(&received?);
        }
    }
    response.finish();
    while let Some(received) = response.poll() {
        on_event(&received?);
    }
    Ok(())
}
