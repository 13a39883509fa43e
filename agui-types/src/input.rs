//! The input that starts a run.
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
    /// The body of the request that starts a run: the complete context of the agent.
    ///
    /// Input of 0.x clients is accepted: `null` in any optional member, and `binary` parts
    /// ([`BinaryPart`](crate::content::BinaryPart)). Such clients send no `protocolVersion`;
    /// [`Profile::of`](crate::profile::Profile::of) returns their profile, with the events that
    /// they understand.
    ///
    /// ```
    /// use agui_types::input::RunAgentInput;
    /// use agui_types::message::Message;
    /// use agui_types::jsonrpc_core::wire;
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
        /// The run to start.
        run_id: RunId = "runId",
        /// The whole conversation so far, in order.
        messages: Vec<Message> = "messages",
    }
    optional {
        /// Protocol version of the client; absent for clients before 1.0.
        protocol_version: String = "protocolVersion",
        /// The run that started this one.
        parent_run_id: RunId = "parentRunId",
        /// The current state; absent means `{}`.
        state: Raw = "state",
        /// Tools that the application provides; absent means none.
        tools: Vec<Tool> = "tools",
        /// Context for the model; absent means none.
        context: Vec<Context> = "context",
        /// Properties for the agent, passed through unchanged.
        forwarded_props: Raw = "forwardedProps",
        /// Answers to the interrupts of the previous run.
        resume: Vec<ResumeEntry> = "resume",
    }
}

object! {
    /// A piece of context for the model.
    ///
    /// Spec: [`Context`, 1.0](https://ag-ui.com/spec/1.0/schema#context)
    pub struct Context {
        /// Description of the context.
        description: String = "description",
        /// The context.
        value: String = "value",
    }
}
