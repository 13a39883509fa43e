//! Two drivers, and programs that ask each other, in random order.
use super::executor::{Tasks, yields};
use super::{options, raw};
use futures::channel::oneshot;
use futures::future::{Either, join_all, select};
use jsonrpc_core::driver::{
    Client, Context, Driver, Handler, LocalHandler, Options, RequestError, Stray,
};
use jsonrpc_core::memory::{self, End};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorCode, ErrorObject, Notification, Request};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

/// What a handler does: works in pieces, tells, and asks the other side in turn. Its answer is the size of all that.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Plan {
    work: usize,
    tells: usize,
    asks: Vec<Plan>,
    /// One more to ask, that is nested so often.
    depth: usize,
}

impl Plan {
    fn size(&self) -> usize {
        1 + self.depth + self.asks.iter().map(Plan::size).sum::<usize>()
    }
}

/// What a program does beside handling.
#[derive(Clone, Debug)]
enum Step {
    Ask(Plan),
    /// Stops waiting after a while.
    AskAndDrop(Plan, usize),
    /// Asks to stop after a while, and waits for the answer.
    AskAndCancel(Plan, usize),
    Tell(Plan),
    CatchUp,
}

/// A notification: who sent it, as its how manyth, and what its handler does.
#[derive(Serialize, Deserialize)]
struct Told {
    sender: usize,
    number: usize,
    plan: Plan,
}

/// One side.
#[derive(Debug, Default)]
struct Account {
    senders: usize,
    sent: usize,
    /// The last number of each sender.
    received: BTreeMap<usize, usize>,
    taken: usize,
    begun: usize,
    ended: usize,
    /// Requests of ours that may be open.
    asking: usize,
    dropped: usize,
    unmatched: usize,
}

struct Side {
    account: Mutex<Account>,
    handlers: usize,
}

impl Side {
    fn with<T>(&self, what: impl FnOnce(&mut Account) -> T) -> T {
        what(&mut self.account.lock().expect("not poisoned"))
    }

    fn sender(&self) -> usize {
        self.with(|account| {
            account.senders += 1;
            account.senders
        })
    }

    async fn ask(&self, client: &Client, plan: &Plan) -> Result<Raw, RequestError> {
        let params = to_raw_value(plan).expect("JSON");
        self.with(|account| account.asking += 1);
        let answer = client.request("plan", &*params).await;
        self.with(|account| account.asking -= 1);
        answer
    }

    async fn tell(
        &self,
        client: &Client,
        (sender, number): (usize, usize),
        plan: Plan,
    ) -> Result<(), RequestError> {
        let told = to_raw_value(&Told { sender, number, plan }).expect("JSON");
        let sent = client.notify("told", &*told).await;
        self.with(|account| account.sent += usize::from(sent.is_ok()));
        sent
    }

    async fn follow(&self, plan: &Plan, client: &Client) -> Result<usize, RequestError> {
        yields(plan.work).await;
        let sender = self.sender();
        for number in 1..=plan.tells {
            self.tell(client, (sender, number), Plan::default()).await?;
        }
        let mut size = 1;
        let deep = plan.depth.checked_sub(1).map(|depth| Plan { depth, ..Plan::default() });
        for plan in plan.asks.iter().chain(&deep) {
            let answer = self.ask(client, plan).await?;
            size += answer.decode::<usize>().expect("a number");
        }
        Ok(size)
    }

    async fn serve(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        self.with(|account| {
            assert!(account.begun - account.ended < self.handlers + account.asking);
            account.begun += 1;
        });
        let plan: Plan =
            serde_json::from_str(request.params.expect("a plan").get()).expect("a plan");
        let cancelled = ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "cancelled");
        let outcome = match self.follow(&plan, context.client()).await {
            _ if context.is_cancelled() => Err(cancelled),
            Ok(size) => Ok(raw(&size.to_string())),
            Err(error) => Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, error.to_string())),
        };
        self.with(|account| account.ended += 1);
        outcome
    }

    async fn hear(&self, notification: Notification<'_>, client: Client) {
        let told: Told =
            serde_json::from_str(notification.params.expect("params").get()).expect("params");
        let last = self.with(|account| account.received.insert(told.sender, told.number));
        assert!(told.number == last.unwrap_or(0) + 1, "out of order");
        let followed = self.follow(&told.plan, &client).await;
        assert!(
            matches!(
                followed,
                Ok(_)
                    | Err(RequestError::Congested
                        | RequestError::Closed
                        | RequestError::Answered(_))
            ),
            "{followed:?}"
        );
        self.with(|account| account.taken += 1);
    }

    fn stray(&self, stray: Stray<'_>) {
        match stray {
            Stray::Unmatched(_) => self.with(|account| account.unmatched += 1),
            Stray::Refused(_) | Stray::Late(_) => {}
            other => panic!("{other:?}"),
        }
    }

    async fn run(&self, steps: Vec<Step>, client: Client) {
        let (sender, mut number) = (self.sender(), 0);
        for step in steps {
            match step {
                Step::Ask(plan) => {
                    let answer = self.ask(&client, &plan).await.expect("an answer");
                    assert_eq!(answer.decode::<usize>().ok(), Some(plan.size()));
                }
                Step::AskAndDrop(plan, after) => {
                    let params = to_raw_value(&plan).expect("JSON");
                    self.with(|account| (account.asking += 1, account.dropped += 1));
                    let request = Box::pin(client.request("plan", &*params));
                    match select(request, Box::pin(yields(after))).await {
                        Either::Left((answer, _)) => {
                            answer.expect("an answer");
                        }
                        Either::Right(((), request)) => drop(request),
                    }
                    self.with(|account| account.asking -= 1);
                }
                Step::AskAndCancel(plan, after) => {
                    let params = to_raw_value(&plan).expect("JSON");
                    self.with(|account| account.asking += 1);
                    let reply = client.send_request("plan", &*params).await.expect("room");
                    yields(after).await;
                    reply.cancel();
                    match reply.await {
                        Ok(answer) => {
                            assert_eq!(answer.decode::<usize>().ok(), Some(plan.size()));
                        }
                        Err(RequestError::Answered(error)) => {
                            assert_eq!(error.code, ErrorCode::REQUEST_CANCELLED);
                        }
                        Err(error) => panic!("{error:?}"),
                    }
                    self.with(|account| account.asking -= 1);
                }
                Step::Tell(plan) => {
                    number += 1;
                    self.tell(&client, (sender, number), plan).await.expect("room");
                }
                Step::CatchUp => client.caught_up().await,
            }
        }
    }
}

struct AnyThread(Arc<Side>);

#[async_trait::async_trait]
impl Handler for AnyThread {
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        self.0.serve(request, context).await
    }

    async fn notification(&self, notification: Notification<'_>, client: Client) {
        self.0.hear(notification, client).await;
    }

    fn stray(&self, stray: Stray<'_>) {
        self.0.stray(stray);
    }
}

struct OneThread(Arc<Side>);

#[async_trait::async_trait(?Send)]
impl LocalHandler for OneThread {
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        self.0.serve(request, context).await
    }

    async fn notification(&self, notification: Notification<'_>, client: Client) {
        self.0.hear(notification, client).await;
    }

    fn stray(&self, stray: Stray<'_>) {
        self.0.stray(stray);
    }
}

/// Runs both sides to their end; `choices` say who is next. Both sides' accounts.
fn run(
    programs: [Vec<Vec<Step>>; 2],
    options: Options,
    capacity: usize,
    mut choices: impl FnMut(usize) -> usize,
) -> [Account; 2] {
    let handlers = options.handlers;
    let side = || Arc::new(Side { account: Mutex::default(), handlers });
    let (left, right): (End, End) = memory::duplex(capacity);
    let sides = [side(), side()];
    let any = Arc::new(AnyThread(sides[0].clone()));
    let one = Rc::new(OneThread(sides[1].clone()));
    let (driver, left_client) = Driver::new(left.0, left.1, any, options.clone());
    let (other, right_client) = Driver::new(right.0, right.1, one, options);
    let mut tasks = Tasks::default();
    tasks.spawn(async move { driver.await.expect("it does not fail") });
    tasks.spawn(async move { other.await.expect("it does not fail") });
    let mut ends = Vec::new();
    let clients = [left_client, right_client];
    for ((side, client), programs) in sides.iter().zip(&clients).zip(programs) {
        for steps in programs {
            let (side, client, (ended, end)) = (side.clone(), client.clone(), oneshot::channel());
            tasks.spawn(async move {
                side.run(steps, client).await;
                ended.send(()).expect("somebody waits");
            });
            ends.push(end);
        }
    }
    tasks.spawn(async move {
        join_all(ends).await;
        clients.iter().for_each(Client::shut_down);
    });
    let left = tasks.run(&mut choices);
    assert_eq!(left, 0, "tasks hang");
    drop(tasks);
    sides.map(|side| {
        Arc::into_inner(side).expect("all others are gone").account.into_inner().expect("whole")
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    let leaf = (0..4_usize, 0..3_usize, 0..4_usize).prop_map(|(work, tells, depth)| Plan {
        work,
        tells,
        asks: Vec::new(),
        depth,
    });
    leaf.prop_recursive(4, 8, 2, |inner| {
        (0..3_usize, 0..2_usize, prop::collection::vec(inner, 0..3))
            .prop_map(|(work, tells, asks)| Plan { work, tells, asks, depth: 0 })
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => plan().prop_map(Step::Ask),
        1 => (plan(), 0..30_usize).prop_map(|(plan, after)| Step::AskAndDrop(plan, after)),
        1 => (plan(), 0..30_usize).prop_map(|(plan, after)| Step::AskAndCancel(plan, after)),
        3 => plan().prop_map(Step::Tell),
        1 => Just(Step::CatchUp),
    ]
}

fn programs() -> impl Strategy<Value = Vec<Vec<Step>>> {
    prop::collection::vec(prop::collection::vec(step(), 0..6), 0..4)
}

/// A sequence that follows from `seed`.
fn choices(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |most| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % most
    }
}

proptest! {
    /// In whatever order both sides get their turns, each request ends once with its own answer, each notification is
    /// handled in its place, no more is handled at a time than may be, and both sides come to their end.
    #[test]
    fn nothing_hangs(
        left in programs(),
        right in programs(),
        handlers in 1..4_usize,
        notifications in 1..5_usize,
        outgoing in 1..4_usize,
        capacity in 0..3_usize,
        seed in any::<u64>(),
    ) {
        let mut options = options();
        (options.handlers, options.notifications, options.outgoing) = (handlers, notifications, outgoing);
        let [left, right] = run([left, right], options, capacity, choices(seed));
        for (from, to) in [(&left, &right), (&right, &left)] {
            prop_assert_eq!(from.sent, to.taken);
            prop_assert_eq!(from.begun, from.ended);
            prop_assert_eq!(from.asking, 0);
        }
    }
}

#[test]
fn requests_ask_each_other_to_any_depth() {
    let deep = Plan { depth: 100, ..Plan::default() };
    let mut options = options();
    (options.handlers, options.outgoing) = (1, 1);
    let [left, right] = run([vec![vec![Step::Ask(deep)]], Vec::new()], options, 0, |_| 0);
    assert_eq!((left.begun, right.begun), (50, 51));
}
