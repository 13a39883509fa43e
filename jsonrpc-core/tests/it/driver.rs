//! Connections that run by themselves: whatever happens in whatever order, none hangs.
mod batch;
mod executor;
mod model;
mod values;

use executor::{Tasks, yields};
use futures::channel::oneshot;
use futures::{FutureExt, SinkExt, StreamExt};
use jsonrpc_core::driver::{
    Client, Context, Driver, Handler, LocalHandler, Options, RequestError, Stray,
};
use jsonrpc_core::framing::Frame;
use jsonrpc_core::memory::{self, Reader, Writer};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{CancelMethod, ErrorCode, ErrorObject, Limits, Notification, Request};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

fn raw(text: &str) -> Raw {
    Raw::from_text(text).expect("JSON")
}

fn options() -> Options {
    Options::new(CancelMethod::ACP)
}

/// Writes down what happens, and does what the method says.
#[derive(Default)]
struct Scripted {
    log: RefCell<Vec<String>>,
    /// What `wait` waits for, by the text of its params.
    gates: RefCell<BTreeMap<String, oneshot::Receiver<()>>>,
    answers: RefCell<Vec<Result<Raw, RequestError>>>,
}

impl Scripted {
    fn note(&self, what: &str) {
        self.log.borrow_mut().push(what.to_owned());
    }

    fn log(&self) -> String {
        self.log.borrow_mut().drain(..).collect::<Vec<_>>().join(", ")
    }

    /// Makes `wait` with these params wait until the sender is used.
    fn gate(&self, params: &str) -> oneshot::Sender<()> {
        let (open, gate) = oneshot::channel();
        self.gates.borrow_mut().insert(params.into(), gate);
        open
    }
}

#[async_trait::async_trait(?Send)]
impl LocalHandler for Scripted {
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        let params = request.params.map_or("", |params| params.get());
        self.note(&format!("{}{params} begins", request.method));
        let cancelled = || Err(ErrorObject::new(ErrorCode::REQUEST_CANCELLED, "stopped"));
        let outcome = match &*request.method {
            "wait" => {
                let gate = self.gates.borrow_mut().remove(params).expect("a gate");
                gate.await.expect("the gate is opened");
                Ok(raw("true"))
            }
            "until_cancelled" => {
                assert!(!context.is_cancelled());
                context.cancelled().await;
                assert!(context.is_cancelled());
                cancelled()
            }
            _ => Ok(raw("0")),
        };
        self.note(&format!("{}{params} ends", request.method));
        outcome
    }

    async fn notification(&self, notification: Notification<'_>, client: Client) {
        let params = notification.params.map_or("", |params| params.get()).to_owned();
        match &*notification.method {
            "ask" => {
                let answer = client.request("q", None).await;
                self.answers.borrow_mut().push(answer);
            }
            "slow" => yields(5).await,
            "wait" => {
                let gate = self.gates.borrow_mut().remove(&params);
                if let Some(gate) = gate {
                    gate.await.expect("the gate is opened");
                }
            }
            _ => {}
        }
        self.note(&format!("{}{params}", notification.method));
    }

    fn stray(&self, stray: Stray<'_>) {
        self.note(match stray {
            Stray::Malformed(_) => "malformed",
            Stray::Unmatched(_) => "unmatched",
            Stray::Refused(_) => "refused",
            Stray::Late(_) => "late",
            _ => "else",
        });
    }
}

/// A driver, and the other end by hand.
struct Bench {
    tasks: Tasks<'static>,
    handler: Rc<Scripted>,
    client: Client,
    reader: Reader,
    writer: Writer,
    /// What the driver ended with.
    end: Rc<Cell<Option<std::io::Result<()>>>>,
    driver: usize,
}

impl Bench {
    fn new(options: Options, capacity: usize) -> Self {
        let (handler, end) = (Rc::new(Scripted::default()), Rc::new(Cell::new(None)));
        let ((reads, writes), (reader, writer)) = memory::duplex(capacity);
        let (driver, client) = Driver::new(reads, writes, handler.clone(), options);
        let mut tasks = Tasks::default();
        let kept = end.clone();
        let driver = tasks.spawn(driver.map(move |ended| kept.set(Some(ended))));
        Self { tasks, handler, client, reader, writer, end, driver }
    }

    /// Gives the driver a message, unless the way is full; then lets it work as far as it can.
    fn put(&mut self, text: &str) -> bool {
        let is_sent = self.writer.feed(Frame::from(text)).now_or_never().is_some();
        self.tasks.run_until_idle();
        is_sent
    }

    /// What the driver has written.
    fn take(&mut self) -> Option<String> {
        self.tasks.run_until_idle();
        let frame = self.reader.next().now_or_never()??.expect("it does not fail");
        Some(frame.expect("a frame").text().expect("text").to_owned())
    }

    /// Asks the other end; the outcome stands in the cell when it is there.
    fn ask(&mut self, method: &'static str) -> Rc<Cell<Option<Result<Raw, RequestError>>>> {
        let (outcome, client) = (Rc::new(Cell::new(None)), self.client.clone());
        let kept = outcome.clone();
        self.tasks.spawn(async move { kept.set(Some(client.request(method, None).await)) });
        self.tasks.run_until_idle();
        outcome
    }
}

#[test]
fn messages_are_taken_in_the_order_they_came() {
    let mut bench = Bench::new(options(), 16);
    for text in [
        r#"{"id":1,"method":"until_cancelled"}"#,
        r#"{"method":"slow","params":[1]}"#,
        r#"{"method":"fast","params":[2]}"#,
        r#"{"id":2,"method":"quick"}"#,
        r#"{"method":"fast","params":[3]}"#,
        r#"{"method":"$/cancel_request","params":{"requestId":1}}"#,
    ] {
        bench.writer.feed(Frame::from(text)).now_or_never().expect("room").expect("open");
    }
    bench.tasks.run_until_idle();
    let expected = "until_cancelled begins, quick begins, quick ends, until_cancelled ends, \
        slow[1], fast[2], fast[3]";
    assert_eq!(bench.handler.log(), expected);
    assert_eq!(bench.take().as_deref(), Some(r#"{"jsonrpc":"2.0","id":2,"result":0}"#));
    let cancelled = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"stopped"}}"#;
    assert_eq!(bench.take().as_deref(), Some(cancelled));
}

#[test]
fn whoever_needs_notifications_handled_waits_for_them() {
    let mut bench = Bench::new(options(), 16);
    let (client, handler, seen) =
        (bench.client.clone(), bench.handler.clone(), Rc::new(Cell::new(None)));
    let kept = seen.clone();
    bench.tasks.spawn(async move {
        client.request("q", None).await.expect("a result");
        let before = handler.log();
        client.caught_up().await;
        kept.set(Some((before, handler.log())));
    });
    bench.tasks.run_until_idle();
    for text in [r#"{"method":"slow"}"#, r#"{"method":"fast"}"#, r#"{"id":1,"result":{}}"#] {
        bench.writer.feed(Frame::from(text)).now_or_never().expect("room").expect("open");
    }
    // Who asked gets its turn first.
    bench.tasks.run(|ready| ready - 1);
    assert_eq!(seen.take(), Some((String::new(), "slow, fast".into())));
}

#[test]
fn slow_handlers_do_not_hold_up_cancelling() {
    let mut options = options();
    options.handlers = 1;
    let mut bench = Bench::new(options, 4);
    bench.put(r#"{"id":1,"method":"until_cancelled"}"#);
    for id in 2..6 {
        bench.put(&format!(r#"{{"id":{id},"method":"quick","params":[{id}]}}"#));
    }
    // One that waits for its place is answered at once, and never begins.
    bench.put(r#"{"method":"$/cancel_request","params":{"requestId":3}}"#);
    let cancelled = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"cancelled"}}"#;
    assert_eq!(bench.take().as_deref(), Some(cancelled));
    assert_eq!(bench.handler.log(), "until_cancelled begins");
    bench.put(r#"{"method":"$/cancel_request","params":{"requestId":1.0}}"#);
    let expected = "until_cancelled ends, quick[2] begins, quick[2] ends, quick[4] begins, \
        quick[4] ends, quick[5] begins, quick[5] ends";
    assert_eq!(bench.handler.log(), expected);
}

#[test]
fn reading_stops_while_all_that_may_be_open_is() {
    let mut options = options();
    options.handlers = 2;
    options.limits = Limits { ours: 4, theirs: 5 };
    let mut bench = Bench::new(options, 0);
    let gates: Vec<_> = (0..20).map(|id| bench.handler.gate(&format!("[{id}]"))).collect();
    let request = |id: usize| format!(r#"{{"id":{id},"method":"wait","params":[{id}]}}"#);
    // Five are open, and one is on the way.
    let sent = (0..20).take_while(|id| bench.put(&request(*id))).count();
    assert_eq!(sent, 6);
    assert_eq!(bench.handler.log(), "wait[0] begins, wait[1] begins");

    // With a request of ours open the response has to come through; others are refused meanwhile.
    let outcome = bench.ask("q");
    assert_eq!(bench.take().as_deref(), Some(r#"{"jsonrpc":"2.0","id":1,"method":"q"}"#));
    assert!(bench.put(&request(6)));
    let refused = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"too many open requests"}}}}"#
        )
    };
    assert_eq!(bench.take(), Some(refused(5)));
    assert_eq!(bench.take(), Some(refused(6)));
    assert!(bench.put(r#"{"id":1,"result":[]}"#));
    assert!(matches!(outcome.take(), Some(Ok(answer)) if answer.as_str() == "[]"));
    // The request of ours gave one place more.
    assert_eq!(bench.handler.log(), "wait[2] begins, refused, refused");

    // Nothing that was taken is lost.
    gates.into_iter().for_each(|gate| gate.send(()).unwrap_or_default());
    let mut answered = Vec::new();
    while let Some(text) = bench.take() {
        answered.push(text);
    }
    answered.sort();
    let expected = (0..5).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":true}}"#));
    assert_eq!(answered, Vec::from_iter(expected));
}

#[test]
fn a_peer_that_asks_and_does_not_read_is_held_back() {
    let mut options = options();
    options.limits.theirs = 5;
    let mut bench = Bench::new(options, 0);
    let _open = bench.ask("q");
    let is_sent = |id: &usize| bench.put(&format!(r#"{{"id":{id},"method":"quick"}}"#));
    let sent = (0..100).take_while(is_sent).count();
    assert!(sent < 10, "{sent}");
    let expected: Vec<_> =
        (0..sent).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#)).collect();
    assert!(bench.take().is_some_and(|asked| asked.contains("method")));
    assert_eq!(Vec::from_iter(std::iter::from_fn(|| bench.take())), expected);
}

#[test]
fn a_notification_may_ask_even_when_many_are_behind_it() {
    let mut options = options();
    options.notifications = 3;
    let mut bench = Bench::new(options, 0);
    bench.put(r#"{"method":"ask"}"#);
    bench.put(r#"{"method":"fast"}"#);
    assert!(bench.take().is_some_and(|asked| asked.contains(r#""id":1"#)));
    bench.put(r#"{"id":1,"result":7}"#);
    assert_eq!(bench.handler.log(), "ask, fast");
    assert!(
        matches!(bench.handler.answers.take().as_slice(), [Ok(answer)] if answer.as_str() == "7")
    );

    // Nobody else waits longer than for that.
    let other = bench.ask("other");
    bench.put(r#"{"method":"ask"}"#);
    for _ in 0..9 {
        assert!(bench.put(r#"{"method":"fast"}"#));
    }
    assert!(matches!(bench.handler.answers.take().as_slice(), [Err(RequestError::Congested)]));
    assert!(other.take().is_none());
    assert_eq!(bench.handler.log().matches("fast").count(), 9);
    assert!(bench.put(r#"{"id":2,"result":8}"#));
    assert!(matches!(other.take(), Some(Ok(answer)) if answer.as_str() == "8"));
    assert!(bench.put(r#"{"id":3,"result":9}"#));
    assert_eq!(bench.handler.log(), "unmatched");
}

#[test]
fn slow_notifications_hold_the_peer_back() {
    let mut options = options();
    options.notifications = 3;
    let mut bench = Bench::new(options, 0);
    // A request that somebody else made gives no leave to read on.
    let outcome = bench.ask("q");
    let gate = bench.handler.gate("[0]");
    let told = |number| format!(r#"{{"method":"wait","params":[{number}]}}"#);
    let sent = (0..20).take_while(|number| bench.put(&told(*number))).count();
    // One is being handled, three wait, one is on the way.
    assert_eq!(sent, 5);
    gate.send(()).expect("somebody waits");
    bench.tasks.run_until_idle();
    assert!(bench.put(r#"{"id":1,"result":0}"#));
    assert!(matches!(outcome.take(), Some(Ok(_))));
    assert_eq!(bench.handler.log(), "wait[0], wait[1], wait[2], wait[3], wait[4]");
}

#[test]
fn what_is_dropped_is_taken_back() {
    let mut bench = Bench::new(options(), 4);
    drop(bench.client.send_request("q", None).now_or_never().expect("room").expect("open"));
    assert!(bench.take().is_some_and(|asked| asked.contains(r#""method":"q""#)));
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#;
    assert_eq!(bench.take().as_deref(), Some(cancel));
    bench.put(r#"{"id":1,"result":7}"#);
    assert_eq!(bench.handler.log(), "unmatched");

    let reply = bench.client.send_request("q", None).now_or_never().expect("room").expect("open");
    reply.cancel();
    reply.cancel();
    assert!(bench.take().is_some_and(|asked| asked.contains(r#""method":"q""#)));
    assert!(bench.take().is_some_and(|cancel| cancel.contains(r#"{"requestId":2}"#)));
    assert_eq!(bench.take(), None);
    bench.put(r#"{"id":2,"result":7}"#);
    assert!(matches!(reply.now_or_never(), Some(Ok(answer)) if answer.as_str() == "7"));
    assert_eq!(bench.take(), None);
}

#[test]
fn bad_messages_end_what_they_answer_and_nothing_else() {
    let mut bench = Bench::new(options(), 4);
    let (first, second) = (bench.ask("a"), bench.ask("b"));
    assert!(bench.take().is_some() && bench.take().is_some());
    bench.put("nonsense");
    assert!(bench.take().is_some_and(|reply| reply.contains("-32700")));
    bench.put(r#"{"id":2,"result":"#);
    assert!(matches!(second.take(), Some(Err(RequestError::Malformed(_)))));
    bench.put(r#"{"id":1,"error":{"code":-1,"message":"no"}}"#);
    assert!(
        matches!(first.take(), Some(Err(RequestError::Answered(error))) if error.code == ErrorCode(-1))
    );
    assert_eq!(bench.handler.log(), "malformed");
    assert_eq!(bench.take(), None);
}

#[test]
fn requests_end_with_the_stream_and_answers_leave_nevertheless() {
    let mut bench = Bench::new(options(), 4);
    let gate = bench.handler.gate("[1]");
    bench.put(r#"{"id":"x","method":"wait","params":[1]}"#);
    let outcome = bench.ask("q");
    assert!(bench.take().is_some());
    bench.writer.close().now_or_never().expect("room").expect("open");
    bench.tasks.run_until_idle();
    assert!(matches!(outcome.take(), Some(Err(RequestError::Closed))));
    assert!(matches!(
        bench.client.request("q", None).now_or_never(),
        Some(Err(RequestError::Closed))
    ));
    assert!(bench.end.take().is_none());
    gate.send(()).expect("somebody waits");
    assert_eq!(bench.take().as_deref(), Some(r#"{"jsonrpc":"2.0","id":"x","result":true}"#));
    assert!(matches!(bench.end.take(), Some(Ok(()))));
    assert!(bench.reader.next().now_or_never().is_some_and(|end| end.is_none()));
    let sent = bench.client.notify("n", None).now_or_never();
    assert!(matches!(sent, Some(Err(RequestError::Closed))));
}

#[test]
fn requests_end_with_the_driver() {
    let mut bench = Bench::new(options(), 4);
    bench.put(r#"{"id":1,"method":"until_cancelled"}"#);
    let outcome = bench.ask("q");
    bench.tasks.drop_task(bench.driver);
    bench.tasks.run_until_idle();
    assert!(matches!(outcome.take(), Some(Err(RequestError::Closed))));
}

#[test]
fn requests_end_when_nothing_can_be_written() {
    let mut bench = Bench::new(options(), 4);
    let outcome = bench.ask("q");
    let Bench { reader, mut tasks, client, end, .. } = bench;
    drop(reader);
    assert!(client.notify("n", None).now_or_never().is_some());
    tasks.run_until_idle();
    assert!(matches!(outcome.take(), Some(Err(RequestError::Closed))));
    let end = end.take().and_then(Result::err).map(|error| error.kind());
    assert_eq!(end, Some(std::io::ErrorKind::BrokenPipe));
}

#[test]
fn shutting_down_waits_for_what_is_open() {
    let mut bench = Bench::new(options(), 4);
    let gate = bench.handler.gate("[1]");
    bench.put(r#"{"id":1,"method":"wait","params":[1]}"#);
    let outcome = bench.ask("q");
    bench.client.shut_down();
    bench.put(r#"{"id":2,"method":"quick"}"#);
    assert!(bench.take().is_some_and(|asked| asked.contains("method")));
    assert!(bench.take().is_some_and(|refused| refused.contains("connection closing")));
    gate.send(()).expect("somebody waits");
    assert!(bench.take().is_some_and(|answer| answer.contains(r#""id":1,"result""#)));
    assert!(bench.end.take().is_none());
    bench.put(r#"{"id":1,"result":0}"#);
    assert!(matches!(outcome.take(), Some(Ok(_))));
    assert!(bench.reader.next().now_or_never().is_some_and(|end| end.is_none()));
    // What is still on its way is not lost.
    assert!(bench.put(r#"{"method":"fast"}"#));
    assert!(bench.handler.log().ends_with("refused, wait[1] ends, fast"));
    assert!(bench.end.take().is_none());
    bench.writer.close().now_or_never().expect("room").expect("open");
    bench.tasks.run_until_idle();
    assert!(matches!(bench.end.take(), Some(Ok(()))));
}

#[test]
fn too_many_requests_of_ours_are_refused() {
    let mut options = options();
    options.limits.ours = 2;
    let mut bench = Bench::new(options, 4);
    let (first, _second, third) = (bench.ask("a"), bench.ask("b"), bench.ask("c"));
    assert!(matches!(third.take(), Some(Err(RequestError::Full))));
    bench.put(r#"{"id":1,"result":0}"#);
    assert!(matches!(first.take(), Some(Ok(_))));
    assert!(bench.ask("d").take().is_none());
}

#[test]
fn clients_wait_for_room() {
    let mut options = options();
    options.outgoing = 2;
    let mut bench = Bench::new(options, 0);
    let (sent, client) = (Rc::new(Cell::new(0)), bench.client.clone());
    let count = sent.clone();
    bench.tasks.spawn(async move {
        for _ in 0..10 {
            client.notify("n", None).await.expect("open");
            count.set(count.get() + 1);
        }
    });
    bench.tasks.run_until_idle();
    // One is in the pipe, two wait.
    assert_eq!(sent.get(), 3);
    let taken = std::iter::from_fn(|| bench.take()).count();
    assert_eq!((taken, sent.get()), (10, 10));
}

/// What a runtime with threads needs.
#[test]
fn a_driver_may_move_between_threads() {
    struct Nothing;

    #[async_trait::async_trait]
    impl Handler for Nothing {
        async fn request(&self, _: Request<'_>, _: Context) -> Result<Raw, ErrorObject> {
            Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "unknown method"))
        }
    }

    fn takes(_: impl Send + 'static) {}
    let ((reads, writes), _) = memory::duplex(1);
    let (driver, client) = Driver::new(reads, writes, Arc::new(Nothing), options());
    let request = async move { client.request("q", None).await };
    takes(driver);
    takes(request);
}
