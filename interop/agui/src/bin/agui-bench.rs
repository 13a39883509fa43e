//! Cost of AG-UI operations, compared with other Rust implementations. `agui-bench` prints the
//! tables of `RESULTS.md`. It runs itself under callgrind, once for each path.
use ag_ui::client::transport::ReplayTransport;
use ag_ui::client::{Applier, Thread};
use ag_ui::encode::EventStreamFormatter as _;
use agui_types::client::Agent;
use agui_types::enforce;
use agui_types::event::{DeltaRef, Event, TextMessageContentEvent};
use agui_types::reduce::Reducer;
use agui_types::sse::{self, DeltaWriter, JsonString};
use agui_types::verify::Verifier;
use allocation_counter::measure;
use jsonrpc_core::wire;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of repetitions in one measurement.
const TIMES: usize = 200;

/// An identifier that every implementation accepts.
const ID: &str = "0198a2b4-7c00-7000-8000-000000000001";

/// Returns code; about every fortieth byte requires an escape.
fn code(length: usize) -> String {
    let line = "    let total = items.iter().map(|it| it.len()).sum::<usize>();\n\tprintln!(\"{total}\");\n";
    line.chars().cycle().take(length).collect()
}

struct Path {
    group: &'static str,
    name: &'static str,
    /// Runs the path once, with prepared input.
    run: Box<dyn FnMut()>,
}

fn path(group: &'static str, name: &'static str, run: impl FnMut() + 'static) -> Path {
    Path { group, name, run: Box::new(run) }
}

fn encode(group: &'static str, delta: String) -> Vec<Path> {
    let event: Event = TextMessageContentEvent::new(ID, delta.as_str()).into();
    let theirs: ag_ui::Event =
        serde_json::from_value(serde_json::to_value(&event).expect("JSON")).expect("an event");
    let core: ag_ui_core::event::Event =
        serde_json::from_value(serde_json::to_value(&event).expect("JSON")).expect("an event");
    // Lives as long as the paths.
    let quoted: &'static str = serde_json::to_string(&delta).expect("JSON").leak();
    let (escaped, _) = JsonString::parse(quoted).expect("a string");
    let room = || Vec::with_capacity(4 * 1024);
    let mut one = room();
    let mut two = room();
    let mut three = room();
    let writer = DeltaWriter::text_message(&ID.into());
    let again = DeltaWriter::text_message(&ID.into());
    vec![
        path(group, "ag-ui: SseFormatter", move || {
            black_box(ag_ui::SseFormatter::new().encode(black_box(&theirs)).expect("bytes"));
        }),
        path(group, "ag-ui-core: serde_json and format!", move || {
            let json = serde_json::to_string(black_box(&core)).expect("JSON");
            black_box(format!("data: {json}\n\n"));
        }),
        path(group, "ours: write_event", move || {
            one.clear();
            sse::write_event(&mut one, black_box(&event)).expect("JSON");
            black_box(&one);
        }),
        path(group, "ours: DeltaWriter", move || {
            two.clear();
            writer.write(&mut two, black_box(&delta));
            black_box(&two);
        }),
        path(group, "ours: DeltaWriter, escaped text", move || {
            three.clear();
            again.write_escaped(&mut three, black_box(escaped));
            black_box(&three);
        }),
    ]
}

fn decode(group: &'static str, delta: &str) -> Vec<Path> {
    let event: Event = TextMessageContentEvent::new(ID, delta).into();
    let texts: Vec<String> = vec![serde_json::to_string(&event).expect("JSON"); 5];
    let [one, two, three, four, five] = texts.try_into().expect("five");
    vec![
        path(group, "ag-ui: Event", move || {
            black_box(serde_json::from_str::<ag_ui::Event>(black_box(&one)).expect("an event"));
        }),
        path(group, "ag-ui-core: Event", move || {
            let read = serde_json::from_str::<ag_ui_core::event::Event>(black_box(&two));
            black_box(read.expect("an event"));
        }),
        path(group, "ours: wire::decode", move || {
            black_box(wire::decode::<Event>(black_box(&three)).expect("an event"));
        }),
        path(group, "ours: enforce::read_event", move || {
            black_box(enforce::read_event(black_box(&four)).expect("an event"));
        }),
        path(group, "ours: DeltaRef::read", move || {
            black_box(DeltaRef::read(black_box(&five)).expect("a delta"));
        }),
    ]
}

fn opening() -> [Event; 2] {
    [
        wire::decode(
            r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}"#,
        ),
        wire::decode(&format!(r#"{{"type":"TEXT_MESSAGE_START","messageId":"{ID}"}}"#)),
    ]
    .map(|event| event.expect("an event"))
}

fn theirs(event: &Event) -> ag_ui::Event {
    serde_json::from_value(serde_json::to_value(event).expect("JSON")).expect("an event")
}

/// Verification and reduction of one delta of a long message.
fn per_delta() -> Vec<Path> {
    let delta: Event = TextMessageContentEvent::new(ID, "token ").into();
    let mut tolerant = Verifier::tolerant();
    let mut strict = Verifier::strict();
    let mut reducer = Reducer::new();
    let mut other = ag_ui::client::Verifier::new();
    let mut applier = Applier::new();
    for event in opening() {
        tolerant.handle(&event).expect("in order");
        strict.handle(&event).expect("in order");
        let _ = reducer.handle(&event);
        other.verify(&theirs(&event)).expect("in order");
        applier.apply(&theirs(&event)).expect("applied");
    }
    let one = delta.clone();
    let two = delta.clone();
    let three = delta.clone();
    let four = theirs(&delta);
    let five = theirs(&delta);
    vec![
        path("verify, a delta", "ag-ui: client::Verifier", move || {
            other.verify(black_box(&four)).expect("in order")
        }),
        path("verify, a delta", "ours: tolerant", move || {
            tolerant.handle(black_box(&one)).expect("in order")
        }),
        path("verify, a delta", "ours: strict", move || {
            strict.handle(black_box(&two)).expect("in order")
        }),
        path("reduce, a delta", "ag-ui: client::Applier", move || {
            drop(applier.apply(black_box(&five)).expect("applied"))
        }),
        path("reduce, a delta", "ours: Reducer", move || drop(reducer.handle(black_box(&three)))),
    ]
}

fn paths() -> Vec<Path> {
    let mut all = encode("encode, 6 bytes of text", "token ".into());
    all.extend(encode("encode, 2 KB of code", code(2048)));
    all.extend(decode("decode, 6 bytes of text", "token "));
    all.extend(decode("decode, 2 KB of code", &code(2048)));
    all.extend(per_delta());
    all
}

#[inline(never)]
fn measured(path: &mut Path, times: usize) {
    for _ in 0..times {
        (path.run)();
    }
}

fn instructions(index: usize) -> u64 {
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*measured*")
        .arg(std::env::current_exe().expect("a path"))
        .arg(index.to_string())
        .output()
        .expect("valgrind");
    let said = String::from_utf8_lossy(&valgrind.stderr);
    assert!(valgrind.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    let count: u64 = collected.and_then(|(_, count)| count.trim().parse().ok()).expect("a count");
    count / TIMES as u64
}

fn main() {
    let mut paths = paths();
    if let Some(index) = std::env::args().nth(1) {
        let path = &mut paths[index.parse::<usize>().expect("an index")];
        // The first call is not counted.
        (path.run)();
        return measured(path, TIMES);
    }
    let mut group = "";
    let mut base = (0, Duration::ZERO);
    for (index, path) in paths.iter_mut().enumerate() {
        let mut rounds: Vec<Duration> = (0..15)
            .map(|_| {
                let from = Instant::now();
                measured(path, TIMES * 10);
                from.elapsed() / (TIMES * 10) as u32
            })
            .collect();
        rounds.sort();
        let time = rounds[7];
        let allocations = measure(|| measured(path, TIMES)).count_total;
        let counted = instructions(index);
        let Path { group: of, name, .. } = path;
        if *of != group {
            println!(
                "\n## {of}\n\n| path | instructions | times fewer | ns | times faster | allocations |\n|---|---|---|---|---|---|"
            );
            group = *of;
            base = (counted, time);
        }
        println!(
            "| {name} | {counted} | {:.2} | {} | {:.2} | {:.2} |",
            base.0 as f64 / counted as f64,
            time.as_nanos(),
            base.1.as_secs_f64() / time.as_secs_f64(),
            allocations as f64 / TIMES as f64
        );
    }
    end_to_end();
}

/// A message of many deltas, from the bytes of the body to the conversation.
fn end_to_end() {
    println!(
        "\n## A message of many deltas, all stages: microseconds a delta\n\n| deltas | ours: client::Response | ag-ui: Thread over ReplayTransport |\n|---|---|---|"
    );
    for deltas in [1_000, 10_000, 100_000] {
        let mut events = opening().to_vec();
        let delta: Event = TextMessageContentEvent::new(ID, "token ").into();
        events.extend(std::iter::repeat_n(delta, deltas));
        for end in [
            format!(r#"{{"type":"TEXT_MESSAGE_END","messageId":"{ID}"}}"#),
            r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#.into(),
        ] {
            events.push(wire::decode(&end).expect("an event"));
        }
        let mut body = Vec::new();
        events.iter().for_each(|event| sse::write_event(&mut body, event).expect("JSON"));
        let micros = |from: Instant| from.elapsed().as_secs_f64() * 1e6 / deltas as f64;
        let request = Agent::new("t").request("r", Vec::new()).expect("nothing is asked");
        let from = Instant::now();
        let mut response = request.response(200, Some(sse::CONTENT_TYPE));
        for piece in body.chunks(16 * 1024) {
            response.push(piece);
            while let Some(received) = response.poll() {
                black_box(received.expect("an event"));
            }
        }
        response.finish();
        assert!(response.poll().is_none() && response.end().is_some());
        let ours = micros(from);
        let other = if deltas > 10_000 {
            "–".to_owned()
        } else {
            let mut thread: Thread<_> =
                Thread::new(ReplayTransport::new(events.iter().map(theirs)), "t");
            thread.set_next_run_id("r");
            let from = Instant::now();
            let report = futures::executor::block_on(thread.run().expect("a run").collect_report());
            assert!(matches!(report.end, ag_ui::client::RunEnd::Success { .. }), "{report:?}");
            format!("{:.1}", micros(from))
        };
        println!("| {deltas} | {ours:.2} | {other} |");
    }
}
