//! Tools that ask questions while they run. A waiting call is kept in memory, in a store, or in a
//! token.
//!
//! A tool is one async function that can ask the user and the model. How it waits is
//! [configured](SuspendPolicy) on the host, not in the tool:
//!
//! | policy | state of a waiting call | program that can resume it | code of the tool |
//! |---|---|---|---|
//! | [`Park`](SuspendPolicy::Park) | future in memory | this program, while it runs | any |
//! | [`ParkOrReplay`](SuspendPolicy::ParkOrReplay) | future in memory, and [`Journal`] in a [`SessionStore`] | any program with the store | as for `Replay` |
//! | [`Replay`](SuspendPolicy::Replay) | [`Journal`] in a [`SessionStore`] | any program with the store | runs again from the start, deterministically |
//! | [`Token`](SuspendPolicy::Token) | sealed journal, carried by the client | any program with the key | as for `Replay` |
//!
//! | state of a session | status | result of further answers |
//! |---|---|---|
//! | running | [`Running`](SessionStatus::Running) | [`Turn::Taken`]; the answers are stored |
//! | waiting | [`AwaitingElicit`](SessionStatus::AwaitingElicit), [`AwaitingSample`](SessionStatus::AwaitingSample) | the next [`Turn`] |
//! | ended with a result | [`Completed`](SessionStatus::Completed), [`Failed`](SessionStatus::Failed) | the same result again |
//! | aborted | [`Aborted`](SessionStatus::Aborted) | [`SessionError::Aborted`] |
//! | waited too long | [`Expired`](SessionStatus::Expired) | [`SessionError::Expired`] |
//! | parked in a program that ended | [`Lost`](SessionStatus::Lost) | [`SessionError::NotFound`] |
//!
//! The host has no clock, source of randomness or runtime of its own. They are arguments.
//! A program that reaches the user or the model itself, and not through an MCP client, answers
//! questions with [`answer_asks`].
//!
//! ```
//! use core::time::Duration;
//! use jsonrpc_core::wire::Raw;
//! use mcp_bridge::plugin::{
//!     ElicitResponse, MemoryStore, NewCall, Outcome, PluginContext, PluginHost, PluginTool, Resumption, SuspendPolicy, Turn,
//! };
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use std::sync::Arc;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! pub struct Greet {}
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! pub struct Name {
//!     name: String,
//! }
//!
//! mcp_bridge::elicitations! {
//!     /// Questions of the tool `greet`.
//!     pub Greeting handled by GreetingHandlers {
//!         /// What is the user's name?
//!         ask_name: AskName = "askName" (Greet => Name),
//!     }
//! }
//!
//! let greet = PluginTool::builder("greet", "1").elicits::<Greeting>().execute(
//!     |_: Greet, ctx: PluginContext<Greeting>| async move {
//!         match ctx.elicit::<AskName>("What is your name?", &Greet {}).await? {
//!             ElicitResponse::Accept(Name { name }) => Ok(format!("Hello {name}")),
//!             ElicitResponse::Decline | ElicitResponse::Cancel => Ok("Hello".to_owned()),
//!         }
//!     },
//! )?;
//! let store = Arc::new(MemoryStore::default());
//! let host = PluginHost::new([greet], SuspendPolicy::Replay, store, "7f3a", Arc::new(|| Duration::ZERO));
//! # futures::executor::block_on(async {
//! let (tool, principal) = ("greet", "ada");
//! let arguments = Raw::from_text("{}")?;
//! let call = NewCall { session_id: "9c41", call_id: "call_1", tool, arguments, principal, meta: None };
//! let Turn::Asks { state, asks } = host.call(call, None).await? else { panic!("it asks") };
//! assert_eq!(asks[0].key, "askName");
//!
//! let answer = Outcome::Value(Raw::from_text(r#"{"action":"accept","content":{"name":"Ada"}}"#)?);
//! let answers = vec![("askName".to_owned(), answer)];
//! let resumption = Resumption { state: &state, tool, arguments: None, principal, answers };
//! let Turn::Done(result) = host.resume(resumption, None).await? else { panic!("done") };
//! assert_eq!(serde_json::to_value(&result)?["structuredContent"], "Hello Ada");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod ask;
mod context;
mod elicits;
mod error;
mod events;
mod forward;
mod host;
mod in_result;
mod input;
mod journal;
mod notice;
mod rounds;
mod sampling;
mod serve;
mod session;
mod shared;
mod store;
mod tasks;
mod tool;
mod turn;

pub use ask::Ask;
pub use context::{MAX_ASKED_AGAIN, PluginContext};
pub use elicits::{
    ElicitKey, ElicitResponse, Elicitations, HandleError, NoElicitations, Question, key_name,
};
pub use error::PluginError;
pub use events::{
    PluginAbort, PluginElicitRequestEvent, PluginElicitResponse, PluginEvent, PluginInterrupt,
    PluginRequestExtensions, PluginSessionErrorEvent,
};
pub use forward::{ForwardedResumption, ForwardedTurn};
pub use host::PluginHost;
pub use in_result::{
    ANSWER_TOOL, AnswerArguments, AsksInResult, QuestionInResult, answer_tool, ask_in_result,
};
pub use journal::{AnswerOutcome, EntryKind, Journal, Outcome, ReplayMismatch};
pub use notice::{Notice, NoticeSink};
pub use rounds::answer_asks;
pub use sampling::{Sampling, SamplingContext};
pub use serve::{outcome, resumption, send_notice};
pub use session::{SessionLimits, SessionRecord, SessionStatus};
pub use store::{MemoryStore, SessionStore, StoreError, StoreLimits, StoreMemory};
pub use tasks::{StartedTask, TaskView};
pub use tool::{DefinitionError, PluginTool, PluginToolBuilder, UndeclaredElicitations};
pub use turn::{
    Clock, NewCall, PluginSessionErrorCode, Resumption, SessionError, SuspendPolicy, Turn,
};

#[doc(hidden)]
pub mod __private {
    pub use alloc::vec::Vec;
}
