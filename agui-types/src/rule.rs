//! The rules of the order of events, and their violations.
use alloc::boxed::Box;
use core::fmt;

/// Declares the rules, each with its code, whether it is strict only, its source and its text.
macro_rules! rules {
    ($( $Variant:ident = $code:literal, $strict:ident, $page:literal, $text:literal; )*) => {
        /// A rule of the order of events.
        ///
        /// Only the [strict](crate::verify::Verifier::strict) verifier checks some of them: the
        /// specification binds producers to them, but the first-party client does not check. Three
        /// rules are only implied by the specification, but other implementations enforce them: a
        /// tool's result answers a known call, after its end, once
        /// ([`ToolCallUnknown`](Self::ToolCallUnknown), [`ResultBeforeEnd`](Self::ResultBeforeEnd),
        /// [`ToolCallAnswered`](Self::ToolCallAnswered)). [`TooMuch`](Self::TooMuch) is specific to
        /// this crate.
        ///
        /// ```
        /// use agui_types::verify::Rule;
        ///
        /// let rule = Rule::TextMessageNotOpen;
        /// assert_eq!(rule.as_str(), "text_message_not_open");
        /// assert_eq!(rule.text(), "a text message is opened before it is continued or closed");
        /// assert_eq!(rule.link(), "https://ag-ui.com/spec/1.0/basic/patterns/streaming#open-content-close");
        /// assert!(!rule.is_strict_only());
        /// assert!(Rule::Truncated.is_strict_only());
        /// ```
        ///
        /// Spec: [Event Patterns, 1.0](https://ag-ui.com/spec/1.0/basic/patterns)
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $(
                #[doc = concat!($text, " ([specification](https://ag-ui.com/spec/1.0/", $page, ")).")]
                $Variant,
            )*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),*];

            /// Returns the rule's machine-readable code.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$Variant => $code, )*
                }
            }

            /// Returns the rule's human-readable text.
            pub const fn text(self) -> &'static str {
                match self {
                    $( Self::$Variant => $text, )*
                }
            }

            /// Returns a link to the rule's place in the specification.
            pub const fn link(self) -> &'static str {
                match self {
                    $( Self::$Variant => concat!("https://ag-ui.com/spec/1.0/", $page), )*
                }
            }

            /// Returns whether only the strict verifier checks the rule.
            pub const fn is_strict_only(self) -> bool {
                match self {
                    $( Self::$Variant => rules!(@ $strict), )*
                }
            }
        }
    };
    (@ strict) => { true };
    (@ always) => { false };
}

rules! {
    FirstEvent = "first_event", always, "events/lifecycle#the-run",
        "a stream begins with RUN_STARTED or RUN_ERROR";
    RunActive = "run_active", always, "events/lifecycle#several-runs-on-one-stream",
        "a run ends before the next one starts";
    AfterFinish = "after_finish", always, "events/lifecycle#after-a-run-closes",
        "after RUN_FINISHED only RUN_STARTED or RUN_ERROR follows";
    AfterError = "after_error", always, "events/lifecycle#after-a-run-closes",
        "after RUN_ERROR only RUN_STARTED follows";
    StepsOpen = "steps_open", always, "events/lifecycle#steps",
        "every step is finished before its run";
    TextMessagesOpen = "text_messages_open", always, "basic/patterns/streaming#open-content-close",
        "every text message is closed before its run finishes";
    ReasoningMessagesOpen = "reasoning_messages_open", always, "events/reasoning#reasoning-messages",
        "every reasoning message is closed before its run finishes";
    ReasoningSpansOpen = "reasoning_spans_open", always, "events/reasoning#spans-reasoning_start-and-reasoning_end",
        "every reasoning span is closed before its run finishes";
    ToolCallsOpen = "tool_calls_open", always, "basic/patterns/streaming#open-content-close",
        "every tool call is closed before its run finishes";
    SubagentsOpen = "subagents_open", always, "events/subagents#termination",
        "every subagent ends before its run finishes";
    TextMessageOpen = "text_message_open", always, "basic/patterns/streaming#open-content-close",
        "a text message that is open is not opened again";
    TextMessageNotOpen = "text_message_not_open", always, "basic/patterns/streaming#open-content-close",
        "a text message is opened before it is continued or closed";
    ToolCallOpen = "tool_call_open", always, "basic/patterns/streaming#open-content-close",
        "a tool call that is open is not opened again";
    ToolCallNotOpen = "tool_call_not_open", always, "basic/patterns/streaming#open-content-close",
        "a tool call is opened before it is continued or closed";
    ReasoningSpanOpen = "reasoning_span_open", always, "events/reasoning#spans-reasoning_start-and-reasoning_end",
        "a reasoning span that is open is not opened again";
    ReasoningSpanNotOpen = "reasoning_span_not_open", always, "events/reasoning#spans-reasoning_start-and-reasoning_end",
        "a reasoning span is opened before it is closed";
    ReasoningMessageOpen = "reasoning_message_open", always, "events/reasoning#reasoning-messages",
        "a reasoning message that is open is not opened again";
    ReasoningMessageNotOpen = "reasoning_message_not_open", always, "events/reasoning#reasoning-messages",
        "a reasoning message is opened before it is continued or closed";
    StepOpen = "step_open", always, "events/lifecycle#steps",
        "a step that is open is not started again";
    StepNotOpen = "step_not_open", always, "events/lifecycle#steps",
        "a step is started before it is finished";
    StepOwner = "step_owner", always, "events/subagents#ownership",
        "a step is finished by its owner";
    SubagentActive = "subagent_active", always, "events/subagents#lifecycle",
        "a subagent's invocation that is active is not started again";
    SubagentEnded = "subagent_ended", always, "events/subagents#lifecycle",
        "a subagent's invocation that has ended is not started again in the same run";
    SubagentNotActive = "subagent_not_active", always, "events/subagents#lifecycle",
        "a subagent's invocation is started before it ends";
    SubagentParent = "subagent_parent", always, "events/subagents#nesting-and-parallelism",
        "the invocation that spawned another was started in the same run";
    OwnerMismatch = "owner_mismatch", always, "events/subagents#ownership",
        "an event that continues an item has the item's owner, or none";
    ToolCallParentOwner = "tool_call_parent_owner", always, "events/tool-calls#tool_call_start",
        "a tool call has the owner of the message that holds it";
    ChunkWithoutId = "chunk_without_id", always, "basic/patterns/streaming#the-first-chunk",
        "the first chunk of a message or tool call names it";
    ChunkWithoutName = "chunk_without_name", always, "basic/patterns/streaming#the-first-chunk",
        "the first chunk of a tool call names the tool";
    ChunkConflict = "chunk_conflict", always, "basic/patterns/streaming#continuation-chunks",
        "a chunk repeats the members of the first one, or omits them";
    ChunkAmbiguous = "chunk_ambiguous", always, "basic/patterns/streaming#closing-a-chunk-stream",
        "a chunk without identifier and owner matches exactly one open chunk stream";
    NoInterrupts = "no_interrupts", always, "basic/patterns/interrupt-resume#interrupting",
        "an interrupted run has at least one interrupt";
    UnknownName = "unknown_name", always, "schema",
        "a role or subtype is one of the schema's";
    TooMuch = "too_much", always, "basic/patterns",
        "a stream has no more messages, tool calls, steps and subagents than the verifier's limit";
    UnknownEvent = "unknown_event", strict, "basic/processing#what-a-producer-must-not-do",
        "a producer sends only events that the protocol describes";
    UnknownOutcome = "unknown_outcome", strict, "events/lifecycle#run_finished",
        "a producer sends only outcomes that the protocol describes";
    Truncated = "truncated", strict, "basic/transports#truncation",
        "a stream ends after RUN_FINISHED or RUN_ERROR";
    ProtocolVersion = "protocol_version", strict, "basic/versioning#version-negotiation",
        "RUN_STARTED declares the protocol version, as MAJOR.MINOR";
    ThreadChanged = "thread_changed", strict, "basic/run-input#identity",
        "all runs of a stream belong to the thread of the input";
    RunChanged = "run_changed", strict, "basic/run-input#identity",
        "RUN_FINISHED names the run that RUN_STARTED named";
    RunReused = "run_reused", strict, "basic/run-input#identity",
        "a run's identifier is not used again within its thread";
    RunNotRequested = "run_not_requested", strict, "basic/run-input#identity",
        "the last run of a stream is the one that the input requests";
    MessageIdTaken = "message_id_taken", strict, "schema#basemessage",
        "a message's identifier is unique within its thread";
    ReopenDisagrees = "reopen_disagrees", strict, "events/text-messages#text_message_end",
        "an item that is opened again keeps its owner, role, name and parent";
    SpanOwner = "span_owner", strict, "events/subagents#ownership",
        "a reasoning span is closed by its owner";
    ParentNotAssistant = "parent_not_assistant", strict, "events/tool-calls#tool_call_start",
        "the message that holds a tool call is an assistant message";
    ToolCallUnknown = "tool_call_unknown", strict, "events/tool-calls#tool_call_result",
        "a tool's result answers a call of the conversation";
    ResultBeforeEnd = "result_before_end", strict, "events/tool-calls#tool_call_end",
        "a tool call is complete before it is answered";
    ToolCallAnswered = "tool_call_answered", strict, "events/tool-calls#tool_call_result",
        "a tool call is answered once";
    FrontendToolAnswered = "frontend_tool_answered", strict, "events/tool-calls#frontend-tools",
        "a call of an application tool is answered by the application";
    PendingToolCalls = "pending_tool_calls", strict, "events/tool-calls#frontend-tools",
        "pendingToolCallIds has exactly the run's calls without result, in order";
    InterruptReused = "interrupt_reused", strict, "basic/patterns/interrupt-resume#interrupting",
        "an interrupt's identifier is unique within its run";
    ActivityUnknown = "activity_unknown", strict, "events/activity#activity_delta",
        "an activity is made by a snapshot before it changes";
    SubagentLate = "subagent_late", strict, "events/subagents#lifecycle",
        "a subagent's invocation is started before its events";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An event that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    rule: Rule,
    index: u64,
    event_type: Option<Box<str>>,
    subject: Option<Box<str>>,
}

impl Violation {
    /// Returns the rule.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns the event's index in the stream, from zero; for the end of the stream, the number of
    /// events.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Returns the event's `type`, or `None` for the end of the stream.
    pub fn event_type(&self) -> Option<&str> {
        self.event_type.as_deref()
    }

    /// Returns the identifier or name that breaks the rule, truncated to
    /// [`MAX_SUBJECT_BYTES`](Self::MAX_SUBJECT_BYTES).
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Largest size of a kept identifier or name, in bytes.
    pub const MAX_SUBJECT_BYTES: usize = 128;
}

impl core::error::Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.event_type {
            Some(event_type) => write!(f, "event {} ({event_type}): ", self.index)?,
            None => write!(f, "end of the stream after {} events: ", self.index)?,
        }
        f.write_str(self.rule.text())?;
        match &self.subject {
            Some(subject) => write!(f, "; not so for {subject:?}"),
            None => Ok(()),
        }
    }
}

/// A broken rule, and its subject.
#[derive(Debug)]
pub(crate) struct Breach {
    pub(crate) rule: Rule,
    pub(crate) subject: Option<Box<str>>,
}

impl Breach {
    pub(crate) fn into_violation(self, index: u64, event_type: Option<&str>) -> Violation {
        let Self { rule, subject } = self;
        Violation { rule, index, event_type: event_type.map(Box::from), subject }
    }
}

impl From<Rule> for Breach {
    fn from(rule: Rule) -> Self {
        Self { rule, subject: None }
    }
}

impl Rule {
    /// Returns a breach of the rule by `subject`.
    pub(crate) fn broken_for(self, subject: &str) -> Breach {
        let ends = subject.char_indices().map(|(begin, character)| begin + character.len_utf8());
        let end = ends.take_while(|end| *end <= Violation::MAX_SUBJECT_BYTES).last().unwrap_or(0);
        Breach { rule: self, subject: subject.get(..end).map(Box::from) }
    }

    /// Checks that the rule holds for `subject`.
    pub(crate) fn holds(self, holds: bool, subject: &str) -> Result<(), Breach> {
        if holds { Ok(()) } else { Err(self.broken_for(subject)) }
    }
}
