//! Answers the questions of a call, in as many rounds as its tool has.
use super::ask::Ask;
use super::journal::{Journal, Outcome};
use super::turn::{SessionError, Turn};
use alloc::string::String;
use alloc::vec::Vec;
use core::future::Future;
use futures::FutureExt;
use futures::future::join_all;

/// Answers the questions of a call and resumes it, until it ends or has no question that `answer`
/// answers.
///
/// `answer` returns `None` for a question that others answer; with no other question, the turn is
/// returned. The answers to the questions of one turn are awaited together. `resume` takes the state
/// of the turn and the answers by key, and resumes the call where it is: with
/// [`PluginHost::resume`](super::PluginHost::resume), or in another program.
///
/// A call has at most [`Journal::MAX_ENTRIES`] questions, which is also the maximum number of
/// rounds: an answer that is too large for the journal leaves its question open. After that, the
/// turn is returned with its questions.
///
/// ```
/// # use core::time::Duration;
/// # use jsonrpc_core::wire::Raw;
/// # use mcp_bridge::plugin::{
/// #     NoElicitations, MemoryStore, NewCall, PluginContext, PluginHost, PluginTool, SuspendPolicy,
/// # };
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// # use std::sync::Arc;
/// use mcp_bridge::mcp::dispatch::ServerRequest;
/// use mcp_bridge::mcp::sampling::CreateMessageRequestParams;
/// use mcp_bridge::plugin::{Ask, Outcome, Resumption, Turn, answer_asks};
///
/// # #[derive(Deserialize, JsonSchema)]
/// # struct Translate {}
/// # let translate = PluginTool::builder("translate", "1").elicits::<NoElicitations>().execute(
/// #     |_: Translate, context: PluginContext<NoElicitations>| async move {
/// #         let request = CreateMessageRequestParams::new([], 100);
/// #         Ok(context.sample("translate", request).await?.model)
/// #     },
/// # )?;
/// # let store = Arc::new(MemoryStore::default());
/// # let clock = Arc::new(|| Duration::ZERO);
/// # let host = PluginHost::new([translate], SuspendPolicy::Replay, store, "7f3a", clock);
/// # futures::executor::block_on(async {
/// # let tool = "translate";
/// # let principal = "ada";
/// # let session_id = "9c41";
/// # let arguments = Raw::from_text("{}")?;
/// # let call = NewCall { session_id, call_id: "call_1", tool, arguments, principal, meta: None };
/// let message = r#"{"role":"assistant","model":"m","content":{"type":"text","text":"Tee"}}"#;
/// let message = Raw::from_text(message)?;
/// let answer = |ask: &Ask| match &ask.request {
///     ServerRequest::CreateMessage(_) => Some(async { Outcome::Value(message.clone()) }),
///     _ => None,
/// };
/// let host = &host;
/// let resume = |state: String, answers| async move {
///     let state = &state;
///     let resumption = Resumption { state, tool, arguments: None, principal, answers };
///     host.resume(resumption, None).await
/// };
/// let turn = host.call(call, None).await;
/// let turn = answer_asks(turn, answer, resume).await?;
/// assert!(matches!(turn, Turn::Done(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of `turn` and of `resume`.
pub async fn answer_asks<Answer, NextTurn>(
    mut turn: Result<Turn, SessionError>,
    answer: impl Fn(&Ask) -> Option<Answer>,
    resume: impl Fn(String, Vec<(String, Outcome)>) -> NextTurn,
) -> Result<Turn, SessionError>
where
    Answer: Future<Output = Outcome>,
    NextTurn: Future<Output = Result<Turn, SessionError>>,
{
    for _ in 0..Journal::MAX_ENTRIES {
        let Ok(Turn::Asks { state, asks }) = turn else { return turn };
        let answers = asks.iter().filter_map(|ask| {
            let key = ask.key.clone();
            answer(ask).map(|answer| answer.map(|outcome| (key, outcome)))
        });
        let answers = join_all(answers).await;
        if answers.is_empty() {
            return Ok(Turn::Asks { state, asks });
        }
        turn = resume(state, answers).await;
    }
    turn
}
