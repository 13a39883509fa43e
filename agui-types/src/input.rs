//! What the application sends to start a run.
//!
//! Spec: [Run Input, 1.0](https://ag-ui.com/spec/1.0/basic/run-input)
use crate::id::{RunId, ThreadId};
use crate::interrupt::ResumeEntry;
use crate::message::Message;
use crate::tool::Tool;
use alloc::string::String;
use alloc::vec::Vec;
use jsonrpc_core::object;
use jsonrpc_core::wire::Raw;

object! {
    /// The body of the request that starts a run: all that the agent learns of the conversation.
    ///
    /// What 0.x clients post is read as well: `null` in any optional member, and `binary` parts
    /// ([`BinaryPart`](crate::content::BinaryPart)). Such clients send no `protocolVersion`, and
    /// [`Profile::of`](crate::profile::Profile::of) tells what they can be answered with.
    ///
    /// ```
    /// use agui_types::input::RunAgentInput;
    /// use agui_types::message::Message;
    /// use jsonrpc_core::wire;
    ///
    /// let input: RunAgentInput = wire::decode(
    ///     r#"{"threadId":"t1","runId":"r1","state":null,"messages":[{"id":"u1","role":"user","content":"Hi"}],
    ///         "tools":[],"context":[],"forwardedProps":{}}"#,
    /// )?;
    /// assert!(matches!(&input.messages[..], [Message::User(_)]));
    /// assert_eq!((input.protocol_version, input.state), (None, None));
    ///
    /// let error = wire::decode::<RunAgentInput>(r#"{"threadId":"t1","runId":7,"messages":[]}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "at /runId: expected a string, got number");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Spec: [`RunAgentInput`, 1.0](https://ag-ui.com/spec/1.0/schema#runagentinput)
    pub struct RunAgentInput {
        /// The conversation.
        thread_id: ThreadId = "threadId",
        /// The run to be started.
        run_id: RunId = "runId",
        /// The whole conversation so far, in order.
        messages: Vec<Message> = "messages",
    }
    optional {
        /// What the client speaks; absent from clients before 1.0.
        protocol_version: String = "protocolVersion",
        /// The run that spawned this one.
        parent_run_id: RunId = "parentRunId",
        /// Where the state stands; absent means `{}`.
        state: Raw = "state",
        /// Tools that the application offers; absent means none.
        tools: Vec<Tool> = "tools",
        /// What the model should know; absent means nothing.
        context: Vec<Context> = "context",
        /// For the agent alone, to be handed on untouched.
        forwarded_props: Raw = "forwardedProps",
        /// Answers to what the run before asked for.
        resume: Vec<ResumeEntry> = "resume",
    }
}

object! {
    /// Something that the model should know.
    ///
    /// Spec: [`Context`, 1.0](https://ag-ui.com/spec/1.0/schema#context)
    pub struct Context {
        /// What it is.
        description: String = "description",
        /// What it says.
        value: String = "value",
    }
}
