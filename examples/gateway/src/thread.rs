//! One conversation: its runs, one after the other, and the agent's session behind them.
use crate::agent::{Agent, FromAgent, Opened, Trouble};
use crate::settings::WhenBusy;
use acp_types::v1::elicitation::ElicitationAction;
use acp_types::v1::initialization::PromptCapabilities;
use agent_tools::FromServer;
use agui_bridge::input::{self, SessionMemory, SessionScope};
use agui_bridge::{AnswerError, Begun, Failure, Options, PermissionAnswer, Response, Translator};
use agui_types::event::Event;
use agui_types::tool::Tool;
use futures::future::BoxFuture;
use jsonrpc_core::wire::Extra;
use run_store::RunLog;
use semconv_map::trace_context::TraceContext;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

mod command;
mod old_session;
mod page_calls;
mod queue;
mod session;
mod tool_questions;
mod turn;
mod wait;

pub(crate) use command::{Command, Reply, Run, StartError, UserAnswer};
pub(crate) use old_session::Remembered;
use old_session::{Loading, load};
pub(crate) use page_calls::{Given, PageCalls, ResultError};
pub(crate) use queue::Queue;
use session::Session;
pub(crate) use session::{Changed, SessionSettings, SessionView, config_value};
use tool_questions::ToolQuestions;
use turn::Asked;
use wait::{Answered, hear, open, wait, wait_until};

type Opening = BoxFuture<'static, Result<Opened, Trouble>>;

/// How far the run is that is going on.
enum Stage {
    /// The agent was asked for a session; the prompt follows.
    Opening { agent: Arc<Agent>, session: Opening, asked: Asked },
    /// The turn of the run before has to end first; the prompt follows.
    Waiting { agent: Arc<Agent>, asked: Asked },
    /// The agent works.
    Working,
    /// The agent was asked to stop, and has until then.
    Stopping(Instant),
}

struct Active {
    log: Arc<RunLog>,
    cancel: CancellationToken,
    span: Option<TraceContext>,
    stage: Stage,
}

/// What a thread goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// How long a cancelled turn may take to end.
    pub(crate) cancel_grace: Duration,
    /// What becomes of a run that comes while there is one.
    pub(crate) when_busy: WhenBusy,
    /// How many may wait.
    pub(crate) queue: usize,
    /// How long a thread without runs is kept.
    pub(crate) idle: Duration,
}

/// What a thread takes notice of.
enum News {
    Shutdown,
    Command(Option<Command>),
    Cancelled,
    GraceOver,
    PageCall(FromServer),
    Heard(Option<FromAgent>),
    Opened(Answered),
    Loaded(Result<Opened, Trouble>),
    Time,
    Idle,
}

pub(crate) struct Thread {
    translator: Translator,
    /// When the time began that the translator is told.
    began: Instant,
    cwd: String,
    rules: Rules,
    session: Option<Session>,
    /// What the session's agent has of the conversation, and how inputs are held against that.
    conversation: SessionMemory,
    input_rules: input::Rules,
    /// Whether the run that is open was refused: its end is none of the agent's.
    is_refused: bool,
    /// The session, for when it has to be loaded.
    remembered: watch::Sender<Option<Remembered>>,
    loading: Option<Loading>,
    active: Option<Active>,
    queue: Queue,
    /// The calls that the agent makes of the page's tools.
    page: PageCalls,
    /// What the gateway's tools ask.
    questions: ToolQuestions,
    /// The page's tools, as the last run brought them.
    tools: Vec<Tool>,
}

impl Thread {
    pub(crate) fn new(
        options: Options,
        cwd: String,
        rules: Rules,
        input_rules: input::Rules,
        page: PageCalls,
        remembered: watch::Sender<Option<Remembered>>,
    ) -> Self {
        Self {
            translator: Translator::new(options),
            began: Instant::now(),
            cwd,
            rules,
            session: None,
            conversation: SessionMemory::new(),
            input_rules,
            is_refused: false,
            remembered,
            loading: None,
            active: None,
            queue: Queue::new(rules),
            page,
            questions: ToolQuestions::default(),
            tools: Vec::new(),
        }
    }

    /// Serves the thread until nobody asks for it any more, or nothing has happened for a while.
    pub(crate) async fn serve(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        shutdown: CancellationToken,
    ) {
        loop {
            let news = self.news(&mut commands, &shutdown).await;
            if self.translator.tick(self.began.elapsed()).is_some() {
                self.leave_session();
            }
            self.page.machine().tick(self.began.elapsed());
            match news {
                News::Shutdown => {
                    return self.fail(Failure::GatewayShutdown, "The gateway is ending.");
                }
                News::Command(Some(command)) => self.command(command),
                News::Command(None) => {
                    // Another gateway has it now, and has ended its run.
                    self.leave_session();
                    return;
                }
                News::Idle => return,
                News::Cancelled => self.stop(),
                News::GraceOver => self.give_up(),
                News::PageCall(call) => self.hear_server(call),
                News::Heard(heard) => self.hear(heard),
                News::Opened(opened) => self.opened(opened),
                News::Loaded(loaded) => self.loaded(loaded),
                News::Time => {}
            }
            self.flush();
            self.begin_next();
        }
    }

    async fn news(
        &mut self,
        commands: &mut mpsc::Receiver<Command>,
        shutdown: &CancellationToken,
    ) -> News {
        let idle = Instant::now() + self.rules.idle;
        let page = self.page.machine().poll_timeout();
        let timeout = self.translator.poll_timeout().into_iter().chain(page).min();
        let timeout = timeout.map(|time| self.began + time);
        let (cancelled, deadline) = match &self.active {
            Some(Active { stage: Stage::Stopping(deadline), .. }) => (None, Some(*deadline)),
            Some(active) => (Some(active.cancel.clone()), None),
            None => (None, None),
        };
        tokio::select! {
            biased;
            () = shutdown.cancelled() => News::Shutdown,
            command = commands.recv() => News::Command(command),
            () = wait(cancelled) => News::Cancelled,
            () = wait_until(deadline) => News::GraceOver,
            call = self.page.next() => News::PageCall(call),
            heard = hear(&mut self.session) => News::Heard(heard),
            opened = open(&mut self.active) => News::Opened(opened),
            loaded = load(&mut self.loading) => News::Loaded(loaded),
            () = wait_until(timeout) => News::Time,
            () = sleep_until(idle), if self.active.is_none() && self.loading.is_none() => News::Idle,
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Run(run, reply) => match (&self.active, &self.loading) {
                (Some(active), _) => self.queue.push(run, reply, &active.cancel),
                (None, Some(loading)) => self.queue.push(run, reply, loading.cancel()),
                (None, None) => self.begin_in_session(run, reply),
            },
            Command::Answer(id, answer, reply) => {
                let _ = reply.send(self.answer(&id, answer));
            }
            Command::Session(reply) => {
                let _ = reply.send(self.session.as_ref().map(Session::view));
            }
            Command::Changed(changed) => {
                if let Some(session) = &mut self.session {
                    session.change(changed);
                }
            }
            Command::ToolResult(id, result, reply) => {
                let _ = reply.send(self.page.complete(&id, result, self.began.elapsed()));
            }
        }
    }

    fn answer(&mut self, id: &str, answer: UserAnswer) -> Result<(), AnswerError> {
        match answer {
            UserAnswer::Permission(answer) => self.translator.answer_permission(id, answer),
            UserAnswer::Elicitation(action) => self.translator.answer_elicitation(id, action),
            UserAnswer::Cancelled => {
                match self.translator.answer_permission(id, PermissionAnswer::Cancelled) {
                    Err(AnswerError::Kind) => {
                        let cancel = ElicitationAction::Cancel(Extra::new());
                        self.translator.answer_elicitation(id, cancel)
                    }
                    answered => answered,
                }
            }
        }
    }

    fn begin_next(&mut self) {
        while self.active.is_none()
            && self.loading.is_none()
            && let Some((run, reply)) = self.queue.pop()
        {
            self.begin_in_session(run, reply);
            self.flush();
        }
    }

    fn begin(&mut self, run: Run) -> Result<(), StartError> {
        let Run { input, agent, log, cancel, span } = run;
        let agent = agent.unwrap_or_else(|| Err(Trouble::lost()));
        let same = |session: &Session| {
            agent.as_ref().is_ok_and(|agent| Arc::ptr_eq(agent, &session.agent))
        };
        if !self.session.as_ref().is_some_and(same) {
            self.drop_session();
        }
        if let Some(run_id) =
            self.translator.resumed_by(input.resume.as_deref().unwrap_or_default())
        {
            return Err(StartError::Resumed(run_id.to_string()));
        }
        let page = &self.page;
        let mut plan =
            self.conversation
                .plan(&input, &self.input_rules, &capabilities(&agent), |call| page.awaits(call))?;
        if plan.diverged.is_some() && input.resume.as_ref().is_some_and(|it| !it.is_empty()) {
            // Who answers questions goes on with what there is.
            plan.prompt = None;
        }
        let blocks = plan.prompt.as_ref().map_or(&[][..], |prompt| &prompt.blocks);
        let begun = self.translator.begin_run(&input, blocks).map_err(|_| StartError::Busy)?;
        self.is_refused = matches!(begun, Begun::Ended);
        if !self.is_refused || plan.prompt.is_none() {
            self.conversation.accept(&input, &plan);
        }
        let asked = Asked::of(plan);
        let stopped = cancel.is_cancelled();
        self.active = Some(Active { log, cancel, span, stage: Stage::Working });
        self.tools = input.tools.clone().unwrap_or_default();
        let now = self.began.elapsed();
        match (&begun, &asked) {
            (Begun::Prompt, Some(_)) => self.page.begin_turn(&input, now),
            (Begun::Prompt | Begun::Ended, _) => self.page.take(&input, now),
            _ => self.page.resume_turn(&input, now),
        }
        match (begun, asked, agent) {
            // It was cancelled while it waited: the agent need not know of it.
            (Begun::Prompt, ..) if stopped => self.translator.handle_stopped(),
            (Begun::Prompt, Some(_), Err(trouble)) => self.trouble(trouble),
            (Begun::Prompt, Some(asked), Ok(agent)) => self.begin_turn(agent, asked),
            (Begun::Prompt, None, _) => self.translator.handle_no_work(),
            (Begun::Wait { cancel }, Some(asked), Ok(agent)) => {
                if cancel {
                    self.page.machine().handle_cancel();
                    self.cancel_turn();
                }
                self.stage(Stage::Waiting { agent, asked });
            }
            // It goes on with the turn of the run before, or has ended already.
            _ => {}
        }
        Ok(())
    }

    /// Sends what the translator has, to both sides.
    fn flush(&mut self) {
        self.page.drive(&mut self.translator);
        if self.translator.poll_prompt()
            && let Some(active) = &mut self.active
            && matches!(active.stage, Stage::Waiting { .. })
            && let Stage::Waiting { agent, asked } = mem::replace(&mut active.stage, Stage::Working)
        {
            self.page.machine().begin_turn(&self.tools, self.began.elapsed());
            self.begin_turn(agent, asked);
        }
        while let Some(Response { request_id, result, .. }) = self.translator.poll_response() {
            if let Some(result) = self.questions.answer(&request_id, result)
                && let Some(session) = &self.session
                && let Err(trouble) = session.agent.answer(request_id, &result)
            {
                tracing::debug!(?trouble, "an answer that the agent does not get");
            }
        }
        let mut fits = true;
        while let Some(event) = self.translator.poll_event() {
            if !(self.is_refused && matches!(event, Event::RunError(_))) {
                self.conversation.handle_event(&event);
            }
            if let Some(active) = &self.active {
                fits &= active.log.push(&event);
            }
        }
        let Some(active) = &self.active else { return };
        if !self.translator.is_running() {
            active.log.end();
            self.active = None;
            self.rest();
        } else if !fits {
            tracing::warn!("the run says more than is kept; ending it");
            self.leave_session();
            self.fail(Failure::LimitExceeded, "The run says more than the gateway keeps.");
        }
    }
}

impl Thread {
    /// A run has ended.
    fn rest(&mut self) {
        if self.translator.is_interrupted() {
            return;
        }
        if self.input_rules.session == SessionScope::Turn {
            // Its end closes it; the next turn is told what was said.
            self.session = None;
        } else {
            self.remember();
        }
    }

    /// The session is gone, and with it what its agent knew.
    fn drop_session(&mut self) {
        self.session = None;
        self.conversation.forget_session();
    }
}

/// What the agent takes; where there is none, anything, so that the run can say why.
fn capabilities(agent: &Result<Arc<Agent>, Trouble>) -> PromptCapabilities {
    match agent {
        Ok(agent) => {
            let capabilities = agent.info.agent_capabilities.as_ref();
            capabilities
                .and_then(|capabilities| capabilities.prompt_capabilities.clone())
                .unwrap_or_default()
        }
        Err(_) => {
            let mut anything = PromptCapabilities::new();
            (anything.image, anything.audio, anything.embedded_context) =
                (Some(true), Some(true), Some(true));
            anything
        }
    }
}
