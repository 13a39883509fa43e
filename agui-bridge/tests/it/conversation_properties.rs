//! Properties of a conversation for any inputs in any order.
use crate::generated::{cases, cursor_update, options as translator_options, update, update_v2};
use crate::thread::{ended, request};
use acp_types::client::Update;
use acp_types::v1::session_setup::{McpServer, McpServerHttp, McpServerStdio};
use agui_bridge::conversation::{
    Conversation, ConversationOptions, PageTools, QuestionKey, SessionNumber, SettingKey, WhenBusy,
};
use agui_bridge::input::{Divergence, SessionScope};
use agui_types::id::{RunId, ToolCallId};
use agui_types::profile::Profile;
use agui_types::verify::Verifier;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

mod checks;
mod inputs;

#[derive(Clone, Debug)]
enum Op {
    /// Number of the run, of the messages of its input, of the answers in it, and whether the page
    /// has tools.
    Run(u8, u8, u8, bool),
    /// A run without a prompt.
    Follow(u8),
    Cancel(u8),
    Connect(u8),
    Connecting,
    Disconnect,
    Fail,
    Session(Box<ScriptStep>),
    /// The same, for a released session.
    Stale(Box<ScriptStep>),
    Answer(u8, u8),
    Call,
    Result(u8),
    Withdraw(u8),
    Question,
    TakeBack(u8),
    Set,
    SetEnded(u8),
    /// Whether the page has tools.
    Prepare(bool),
    /// Whether the agent names the settings of a session.
    Options(bool),
    Wait(u16),
}

#[derive(Clone, Debug)]
enum ScriptStep {
    Opened(bool),
    Refused(u8),
    Update(Value),
    UpdateV2(Value),
    /// A text with a number.
    Said,
    Permission,
    Elicitation,
    Contextual,
    Files,
    Withdrawn(u8),
    Ended(u8),
    Lagged,
}

fn happening() -> impl Strategy<Value = ScriptStep> {
    prop_oneof![
        8 => any::<bool>().prop_map(ScriptStep::Opened),
        1 => (0..4u8).prop_map(ScriptStep::Refused),
        6 => update().prop_map(ScriptStep::Update),
        1 => update_v2().prop_map(ScriptStep::UpdateV2),
        2 => cursor_update().prop_map(ScriptStep::Update),
        3 => Just(ScriptStep::Said),
        2 => state().prop_map(ScriptStep::UpdateV2),
        4 => Just(ScriptStep::Permission),
        1 => Just(ScriptStep::Elicitation),
        1 => Just(ScriptStep::Contextual),
        1 => Just(ScriptStep::Files),
        1 => any::<u8>().prop_map(ScriptStep::Withdrawn),
        4 => (0..9u8).prop_map(ScriptStep::Ended),
        1 => Just(ScriptStep::Lagged),
    ]
}

/// A state of the session in version 2.
fn state() -> impl Strategy<Value = Value> {
    let states = vec![
        json!({"sessionUpdate": "state_update", "state": "running"}),
        json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}),
    ];
    select(states)
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => (0..8u8, any::<u8>(), 0..4u8, any::<bool>()).prop_map(|(a, b, c, d)| Op::Run(a, b, c, d)),
        3 => (0..8u8).prop_map(Op::Follow),
        2 => (0..8u8).prop_map(Op::Cancel),
        2 => any::<u8>().prop_map(Op::Connect),
        1 => Just(Op::Connecting),
        1 => Just(Op::Disconnect),
        1 => Just(Op::Fail),
        20 => happening().prop_map(|it| Op::Session(Box::new(it))),
        1 => happening().prop_map(|it| Op::Stale(Box::new(it))),
        2 => (any::<u8>(), 0..3u8).prop_map(|(a, b)| Op::Answer(a, b)),
        3 => Just(Op::Call),
        1 => any::<u8>().prop_map(Op::Result),
        1 => any::<u8>().prop_map(Op::Withdraw),
        1 => Just(Op::Question),
        1 => any::<u8>().prop_map(Op::TakeBack),
        1 => Just(Op::Set),
        1 => any::<u8>().prop_map(Op::SetEnded),
        2 => any::<bool>().prop_map(Op::Prepare),
        1 => any::<bool>().prop_map(Op::Options),
        4 => select(vec![0, 50, 100, 1_000, 11_000]).prop_map(Op::Wait),
    ]
}

fn options() -> impl Strategy<Value = ConversationOptions> {
    let busy = select(vec![WhenBusy::Reject, WhenBusy::Queue, WhenBusy::Supersede]);
    let divergence = select(vec![
        Divergence::NewSession,
        Divergence::Fork,
        Divergence::Ignore,
        Divergence::Reject,
    ]);
    let tools = select(vec![
        PageTools::Off,
        PageTools::Contextual,
        PageTools::Mcp { servers: vec![], always: false },
        PageTools::Mcp {
            servers: vec![
                McpServer::Http(McpServerHttp::new("ui", "http://127.0.0.1:1/mcp", [])),
                McpServer::Stdio(McpServerStdio::new("ui", "ui-server", [], [])),
            ],
            always: true,
        },
    ]);
    (translator_options(), busy, divergence, tools, any::<bool>(), any::<bool>()).prop_map(
        |(translator, busy, divergence, tools, of_turn, new_alone)| {
            let mut options = ConversationOptions::new("/work");
            options.translator = translator;
            options.when_busy = busy;
            options.rules.divergence = divergence;
            options.rules.session = if of_turn { SessionScope::Turn } else { SessionScope::Thread };
            options.rules.new_alone = new_alone;
            options.page_tools = tools;
            options.queue_wait = Some(Duration::from_secs(5));
            options.max_queued = 2;
            options.max_known_runs = 3;
            options.max_questions = 2;
            options
        },
    )
}

/// The state of the program and of the connection, against which outputs are checked.
struct World {
    thread: Conversation,
    /// Whether the thread is serialized and restored between any two steps.
    is_written: bool,
    now: Duration,
    verifier: Verifier,
    profile: Profile,
    /// Number of acceptances and ends of each run.
    runs: BTreeMap<RunId, (usize, usize)>,
    /// Number of runs that have begun.
    begun: usize,
    interrupts: Vec<String>,
    attached: Option<SessionNumber>,
    left: Option<SessionNumber>,
    is_open: bool,
    /// Whether the agent may repeat the conversation: its session was loaded, and has no prompt yet.
    is_repeating: bool,
    has_turn: bool,
    /// Whether the agent has reported that it works.
    works: bool,
    /// Requests of the agent without a response, by number.
    asked: BTreeSet<u64>,
    requests: u64,
    calls: BTreeSet<ToolCallId>,
    questions: BTreeSet<QuestionKey>,
    settings: BTreeSet<SettingKey>,
    /// Changes of settings that the conversation repeats.
    repeated: BTreeSet<SettingKey>,
    /// Whether the agent has accepted the mode of the user, and has not changed it itself since.
    has_choice: bool,
    /// Whether the session has begun with another mode, and whether that of the user was sent.
    is_other: bool,
    is_set: bool,
    /// The open request for the settings of a session.
    asked_options: Option<SettingKey>,
    /// Whether a preparation has not ended.
    is_preparing: bool,
    /// Number of numbered texts.
    said: usize,
    /// The texts of all runs.
    shown: String,
    out: Vec<String>,
}

impl World {
    fn new(options: ConversationOptions, is_written: bool) -> Self {
        Self {
            profile: options.translator.profile.unwrap_or(Profile::V1),
            thread: Conversation::new(options),
            is_written,
            now: Duration::ZERO,
            verifier: Verifier::strict(),
            runs: BTreeMap::new(),
            begun: 0,
            interrupts: Vec::new(),
            attached: None,
            left: None,
            is_open: false,
            is_repeating: false,
            has_turn: false,
            works: false,
            asked: BTreeSet::new(),
            requests: 0,
            calls: BTreeSet::new(),
            questions: BTreeSet::new(),
            settings: BTreeSet::new(),
            repeated: BTreeSet::new(),
            has_choice: false,
            is_other: false,
            is_set: false,
            asked_options: None,
            is_preparing: false,
            said: 0,
            shown: String::new(),
            out: Vec::new(),
        }
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Each run ends once, requests are answered once, streams are in order, and memory is bounded,
    /// for any order of inputs.
    #[test]
    fn conversation_is_valid_for_any_inputs(
        options in options(),
        steps in proptest::collection::vec(op(), 0..60),
    ) {
        let mut world = World::new(options, false);
        // Most runs have an agent.
        world.play(&Op::Connect(11))?;
        for op in &steps {
            world.play(op)?;
        }
        world.finish()?;
    }

    /// Serialization between any two inputs does not change the outputs.
    #[test]
    fn serialized_conversation_continues(
        options in options(),
        steps in proptest::collection::vec(op(), 0..30),
    ) {
        let mut one = World::new(options.clone(), false);
        let mut other = World::new(options, true);
        for op in &steps {
            one.play(op)?;
            other.play(op)?;
        }
        prop_assert_eq!(one.out, other.out);
    }
}
