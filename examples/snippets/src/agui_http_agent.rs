//! An AG-UI client over reqwest, on the sans-IO client of `agui-types`.
use agui_types::client::{Agent, Failure, Received, Response, Unanswered};
use agui_types::id::RunId;
use agui_types::interrupt::ResumeEntry;

/// A run without a complete response.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The last run has open interrupts.
    #[error(transparent)]
    Unanswered(#[from] Unanswered),
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// The response is invalid or incomplete.
    #[error(transparent)]
    Answer(#[from] Failure),
}

/// Starts a run of the agent at `url`, passes each event to `on_event` as it arrives, and keeps the resulting messages and
/// state, also of an incomplete run. To stop a run, drop the future: the agent sees the connection close.
///
/// # Errors
/// The response is missing or incomplete.
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
