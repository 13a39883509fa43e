//! A page's tool, called by an ACP agent: the run ends, the page responds, the agent continues.
use acp_types::v1::prompt_turn::{PromptResponse, SessionNotification, StopReason};
use agui_bridge::frontend_tool::{
    Binding, CallError, CallOwner, FrontendToolOptions, FrontendTools, NewCall, Outcome,
};
use agui_bridge::{Options, RunOpen, Translator};
use agui_types::event::Event;
use agui_types::id::ToolCallId;
use agui_types::input::RunAgentInput;
use core::time::Duration;

/// Responses to the agent's calls; an MCP server would send them.
#[derive(Debug, Default)]
pub struct Answers(pub Vec<(ToolCallId, Outcome)>);

impl Binding for Answers {
    fn answer(&mut self, call_id: &ToolCallId, outcome: Outcome) {
        self.0.push((call_id.clone(), outcome));
    }

    fn prefix_prompt(&mut self, _: &ToolCallId, _: &str) {}
}

/// A thread with its agent: the page's events, and the agent's results.
#[derive(Debug)]
pub struct Thread {
    translator: Translator,
    tools: FrontendTools,
    /// Results for the agent.
    pub answers: Answers,
}

impl Default for Thread {
    fn default() -> Self {
        Self {
            translator: Translator::new(Options::new()),
            tools: FrontendTools::new(FrontendToolOptions::new()),
            answers: Answers::default(),
        }
    }
}

impl Thread {
    /// Handles a run's input from the page. A turn that waits for its results continues.
    ///
    /// # Errors
    /// The last run has not ended.
    pub fn post(&mut self, input: &RunAgentInput, now: Duration) -> Result<(), RunOpen> {
        let _begun = self.translator.begin_run(input, &[])?;
        let tools = input.tools.as_deref().unwrap_or_default();
        if self.tools.is_turn_open() {
            self.tools.resume_turn(tools, now);
            self.tools.handle_messages(&input.messages, now);
        } else {
            self.tools.begin_turn(tools, now);
        }
        Ok(())
    }

    /// Handles the agent's MCP call of a tool of the page.
    ///
    /// # Errors
    /// The call is invalid; the error is its result.
    pub fn call(&mut self, call: NewCall, now: Duration) -> Result<ToolCallId, CallError> {
        self.tools.handle_call(call, now)
    }

    /// Handles an ACP update of the agent.
    pub fn update(&mut self, update: SessionNotification, now: Duration) {
        if self.tools.handle_update(&update, now) == CallOwner::Agent {
            self.translator.handle_notification(update);
        }
    }

    /// Handles the agent's response to the prompt.
    pub fn end_turn(&mut self) {
        self.tools.handle_turn_end();
        self.translator.handle_prompt_response(Ok(PromptResponse::new(StopReason::EndTurn)));
    }

    /// Returns the page's events so far.
    pub fn stream(&mut self, now: Duration) -> Vec<Event> {
        self.tools.handle_timeout(now);
        self.tools.drive(&mut self.answers, &mut self.translator);
        core::iter::from_fn(|| self.translator.poll_event()).collect()
    }
}
