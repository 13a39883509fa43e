//! Concurrent questions, time limits, and tools that deviate from their journal.
use crate::plugin::value;
use futures::executor::block_on;
use futures::{FutureExt, future};
use jsonrpc_core::wire::Raw;
use mcp_bridge::elicitations;
use mcp_bridge::plugin::{
    ElicitResponse, MemoryStore, NewCall, Outcome, PluginContext, PluginError, PluginHost,
    PluginTool, Resumption, SessionError, SuspendPolicy, Turn,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct NoArguments {}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Text {
    text: String,
}

elicitations! {
    /// Two questions.
    pub(crate) Two handled by TwoHandlers {
        /// The first question.
        left: Left = "left" (NoArguments => Text),
        /// The second question.
        right: Right = "right" (NoArguments => Text),
    }
}

fn text(elicited: ElicitResponse<Text>) -> String {
    match elicited {
        ElicitResponse::Accept(Text { text }) => text,
        ElicitResponse::Decline | ElicitResponse::Cancel => "-".into(),
    }
}

fn host<F>(
    policy: SuspendPolicy,
    time: &Arc<AtomicU64>,
    body: impl Fn(PluginContext<Two>) -> F + Send + Sync + 'static,
) -> PluginHost
where
    F: Future<Output = Result<String, PluginError>> + Send + 'static,
{
    let tool = PluginTool::builder("ask", "1").elicits::<Two>();
    let tool = tool.execute(move |_: NoArguments, ctx| body(ctx)).expect("forms");
    let time = Arc::clone(time);
    let clock = move || Duration::from_secs(time.load(Ordering::SeqCst));
    PluginHost::new([tool], policy, Arc::new(MemoryStore::default()), "a", Arc::new(clock))
}

fn begin(host: &PluginHost) -> Result<Turn, SessionError> {
    let session_id = "9c41";
    let call_id = "call_1";
    let tool = "ask";
    let principal = "ada";
    let arguments = Raw::from_text("{}").expect("JSON");
    block_on(
        host.call(NewCall { session_id, call_id, tool, arguments, principal, meta: None }, None),
    )
}

fn answer(host: &PluginHost, answers: &[(&str, &str)]) -> Result<Turn, SessionError> {
    let accepted = |text| value(&json!({ "action": "accept", "content": { "text": text } }));
    let answers = answers.iter().map(|(key, text)| ((*key).to_owned(), accepted(*text)));
    let answers: Vec<(String, Outcome)> = answers.collect();
    let state = "9c41";
    let tool = "ask";
    let arguments = None;
    let principal = "ada";
    block_on(host.resume(Resumption { state, tool, arguments, principal, answers }, None))
}

fn keys(turn: Result<Turn, SessionError>) -> Vec<String> {
    match turn {
        Ok(Turn::Asks { asks, .. }) => asks.into_iter().map(|ask| ask.key).collect(),
        other => panic!("no question: {other:?}"),
    }
}

/// Returns the text of a completed tool, and whether it failed.
fn end(turn: Result<Turn, SessionError>) -> (String, bool) {
    let Ok(Turn::Done(result)) = turn else { panic!("not done: {turn:?}") };
    let text = serde_json::to_value(&result.content).expect("JSON")[0]["text"].clone();
    (text.as_str().expect("text").into(), result.is_error == Some(true))
}

#[test]
fn concurrent_questions_accept_partial_answers() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let host = host(policy, &Arc::default(), |ctx| async move {
            let left = ctx.elicit::<Left>("Left?", &NoArguments {});
            let right = ctx.elicit::<Right>("Right?", &NoArguments {});
            let (left, right) = future::join(left, right).await;
            Ok(text(left?) + &text(right?))
        });
        assert_eq!(keys(begin(&host)), ["left", "right"]);
        assert_eq!(keys(answer(&host, &[("right", "b"), ("nobody", "x")])), ["left"]);
        assert_eq!(keys(answer(&host, &[("right", "c")])), ["left"]);
        assert_eq!(end(answer(&host, &[("right", "d"), ("left", "a")])), ("ab".into(), false));
        assert_eq!(end(answer(&host, &[("left", "z")])), ("ab".into(), false));
    }
}

#[test]
fn dropped_question_is_not_asked() {
    for policy in [SuspendPolicy::Park, SuspendPolicy::Replay] {
        let host = host(policy, &Arc::default(), |ctx| async move {
            let left = ctx.elicit::<Left>("Left?", &NoArguments {}).boxed();
            let right = ctx.elicit::<Right>("Right?", &NoArguments {}).boxed();
            let (first, other) = future::select(left, right).await.factor_first();
            drop(other);
            let second = ctx.elicit::<Left>("Again?", &NoArguments {}).await?;
            Ok(text(first?) + &text(second))
        });
        assert_eq!(keys(begin(&host)), ["left", "right"]);
        assert_eq!(keys(answer(&host, &[("right", "b")])), ["left#2"]);
        assert_eq!(end(answer(&host, &[("left#2", "c")])), ("bc".into(), false));
    }
}

#[test]
fn replay_that_deviates_fails() {
    let runs = Arc::new(AtomicU64::new(0));
    let host = host(SuspendPolicy::Replay, &Arc::default(), move |ctx| {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        async move {
            let message = format!("Question {run}?");
            // A tool that ignores the error fails as well.
            let elicited = ctx.elicit::<Left>(&message, &NoArguments {}).await;
            Ok(elicited.map(text).unwrap_or_default())
        }
    });
    assert_eq!(keys(begin(&host)), ["left"]);
    let (problem, is_error) = end(answer(&host, &[("left", "a")]));
    assert!(is_error && problem.contains("`left`") && problem.contains("the request is different"));
}

#[test]
fn waiting_time_is_not_running_time() {
    let run = |seconds: u64, waited: u64| {
        let time = Arc::new(AtomicU64::new(0));
        let work = Arc::clone(&time);
        let host = host(SuspendPolicy::Replay, &time, move |ctx| {
            let work = Arc::clone(&work);
            async move {
                ctx.step("work", || async { work.fetch_add(seconds, Ordering::SeqCst) }).await?;
                ctx.elicit::<Left>("Left?", &NoArguments {}).await.map(text)
            }
        });
        match begin(&host) {
            Ok(Turn::Asks { .. }) => {
                time.fetch_add(waited, Ordering::SeqCst);
                end(answer(&host, &[("left", "a")]))
            }
            turn => end(turn),
        }
    };
    assert_eq!(run(300, 3599), ("a".into(), false));
    assert_eq!(run(301, 0), ("the tool exceeded its running time".into(), true));
}
