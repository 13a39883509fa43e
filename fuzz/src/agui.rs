//! Properties of the AG-UI types and streams.
use agui_types::client::{Agent, ResponseError};
use agui_types::compact::compact;
use agui_types::enforce;
use agui_types::event::{DeltaRef, Event};
use agui_types::expand::Expander;
use agui_types::input::RunAgentInput;
use agui_types::message::Message;
use agui_types::produce::Run;
use agui_types::proto::{self, DecodeError, Frame};
use agui_types::reduce::Reducer;
use agui_types::run_log::{LogRead, PushError, RunLog, RunLogLimits};
use agui_types::sse::{self, Decoder};
use agui_types::verify::Verifier;
use jsonrpc_core::wire;
use serde_json::Value;

/// An event that decodes is encoded as the same JSON value. Its enforced form is stable, is written
/// as any serializer writes it, and round-trips in the binary form if that can express it.
pub fn agui_event(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    if let Ok(input) = wire::decode::<RunAgentInput>(text) {
        let (input, _) = enforce::enforce_input(input);
        assert_eq!(enforce::enforce_input(input.clone()), (input, Vec::new()));
    }
    let Ok(event) = wire::decode::<Event>(text) else {
        assert!(DeltaRef::read(text).is_none(), "a delta that is no event");
        return;
    };
    if let Some(delta) = DeltaRef::read(text) {
        assert_eq!(Event::from(delta), event);
    }
    let written = serde_json::to_string(&event).expect("an event is JSON");
    let again: Event = wire::decode(&written).expect("what was written can be read");
    assert_eq!(again, event);
    let (event, _) = enforce::enforce_event(event);
    let Some(event) = event else { return };
    assert_eq!(enforce::enforce_event(event.clone()), (Some(event.clone()), Vec::new()));
    let mut frame = Vec::new();
    sse::write_event(&mut frame, &event).expect("an event is JSON");
    let lines = frame.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
    assert_eq!(lines, 2, "one line and an empty one");
    let Ok(bytes) = proto::encode_event(&event) else { return };
    // The decoded event may lack empty lists and large numbers, but is stable from then on.
    if let Ok(Frame::Event(event)) = proto::decode_event(&bytes) {
        let bytes = proto::encode_event(&event).expect("what was read can be written");
        assert_same(proto::decode_event(&bytes), &event);
    }
}

/// Bytes are an event in the binary form or an error. An event can be encoded again.
pub fn agui_proto(data: &[u8]) {
    let Ok(Frame::Event(event)) = proto::decode_event(data) else { return };
    // Unknown names can be decoded, but not encoded.
    if let Ok(bytes) = proto::encode_event(&event) {
        assert_same(proto::decode_event(&bytes), &event);
    }
}

/// Members of free objects may be reordered: names that are array indices come first, as in
/// JavaScript.
fn assert_same(read: Result<Frame, DecodeError>, event: &Event) {
    let Ok(Frame::Event(read)) = read else { panic!("{read:?}, but {event:?}") };
    let value = |event: &Event| serde_json::to_value(event).expect("an event is JSON");
    assert_eq!(value(&read), value(event));
}

/// The frames of a body do not depend on how it is split, and are within the limit.
pub fn agui_sse(data: &[u8]) {
    let Some((&[limit, one, other], body)) = data.split_first_chunk::<3>() else { return };
    let frames = |mut sizes: [usize; 2]| {
        let mut decoder = Decoder::with_limit(limit.into());
        let mut frames = Vec::new();
        let mut left = body;
        while !left.is_empty() {
            let (piece, behind) = left.split_at(left.len().min(sizes[0]));
            decoder.push(piece);
            frames.extend(core::iter::from_fn(|| decoder.next_frame()));
            left = behind;
            sizes.reverse();
        }
        decoder.finish();
        frames.extend(core::iter::from_fn(|| decoder.next_frame()));
        (frames, decoder.retry())
    };
    let whole = frames([usize::MAX; 2]);
    assert_eq!(frames([usize::from(one) + 1, usize::from(other) + 1]), whole);
    for frame in whole.0.iter().flatten() {
        assert!(frame.data.len() <= limit.into(), "beyond the limit");
    }
}

/// Decodes the events on the lines of a text.
fn events(data: &[u8]) -> Vec<Event> {
    let Ok(text) = core::str::from_utf8(data) else { return Vec::new() };
    let lines = text.lines().filter_map(|line| wire::decode(line).ok());
    lines.filter_map(|event| enforce::enforce_event(event).0).collect()
}

fn expanded(events: &[Event]) -> Option<Vec<Event>> {
    let mut expander = Expander::new();
    let mut out = Vec::new();
    for event in events {
        expander.handle(event.clone(), &mut out).ok()?;
    }
    Some(out)
}

fn reduced(events: &[Event]) -> (Vec<Message>, Value) {
    let mut reducer = Reducer::new();
    for event in events {
        let _ = reducer.handle(event);
    }
    reducer.into_parts()
}

/// The conversation does not depend on whether deltas are separate, joined or compacted, and no
/// rule is broken.
pub fn agui_stream(data: &[u8]) {
    let mut tolerant = Verifier::tolerant();
    let events: Vec<Event> = events(data)
        .into_iter()
        .filter(|event| {
            let mut tried = tolerant.clone();
            let taken = tried.handle(event).is_ok();
            if taken {
                tolerant = tried;
            }
            taken
        })
        .collect();
    let expanded = expanded(&events).expect("the verifier takes what can be expanded");
    let made = reduced(&expanded);
    let shorter = compact(events).expect("what was expanded can be compacted");
    let mut verifier = Verifier::tolerant();
    for event in &shorter {
        verifier.handle(event).expect("no rule is broken");
    }
    assert_eq!(reduced(&shorter), made);
}

/// A log numbers its events without a gap and stays within its bounds. Each read of the log or of a
/// copy makes progress and ends with the last event.
pub fn agui_run_log(data: &[u8]) {
    let Some((&[count, bytes, every, batch], body)) = data.split_first_chunk::<4>() else { return };
    let input = r#"{"threadId":"t","runId":"r","messages":[]}"#;
    let input: RunAgentInput = wire::decode(input).expect("an input");
    let limits = RunLogLimits { events: count.into(), bytes: usize::from(bytes) * 16 };
    let max = usize::from(batch) * 16;
    let every = usize::from(every) + 1;
    let mut log = RunLog::new(&input, limits);
    let mut copy = log.clone();
    let mut after = 0;
    let mut largest = 0;
    for (place, event) in events(body).iter().enumerate() {
        let last = log.last();
        let frame = log.next_frame(event).expect("an event is JSON");
        largest = largest.max(frame.len());
        match log.push(event) {
            Ok(number) => assert_eq!(number, last + 1),
            Err(error) => assert!(matches!(error, PushError::Full) && log.is_full()),
        }
        if place % every == 0 {
            let part = log.part(copy.last(), max);
            copy.apply(part);
            after = read(&log, after, max).unwrap_or(after);
        }
    }
    // Compaction writes a chunk as three events. Patches may enlarge a state up to a bound of their
    // own.
    if !body.windows(6).any(|it| it == b"STATE_") {
        assert!(log.bytes() <= 6 * limits.bytes + 4 * largest + 400, "{} bytes", log.bytes());
    }
    log.end();
    while !copy.has_ended() {
        let before = copy.last();
        copy.apply(log.part(before, max));
        assert!(copy.last() > before || copy.has_ended());
    }
    assert_eq!(copy.last(), log.last());
    for log in [&log, &copy] {
        let mut after = after;
        while let Some(last) = read(log, after, max) {
            after = last;
        }
        assert_eq!(after, log.last());
        assert_eq!(log.read(after, max), LogRead::Ended);
    }
}

/// Returns the number of the last event of a read, if any.
fn read(log: &RunLog, after: u64, max: usize) -> Option<u64> {
    let frames = match log.read(after, max) {
        LogRead::Frames(frames) | LogRead::Restart(frames) => frames,
        _ => return None,
    };
    assert!(after < frames.last && frames.last <= log.last());
    let mut decoder = Decoder::with_limit(usize::MAX);
    decoder.push(&frames.bytes);
    let ids =
        core::iter::from_fn(|| decoder.next_frame()).map(|it| it.expect("a frame").last_event_id);
    let id = ids.last().filter(|id| !id.is_empty());
    assert!(id.is_none_or(|id| log.number(&id) == Some(frames.last)));
    Some(frames.last)
}

/// The output of a producer keeps every rule, for any calls in any order.
pub fn agui_produce(data: &[u8]) {
    let input =
        r#"{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"page","description":""}]}"#;
    let input: RunAgentInput = wire::decode(input).expect("an input");
    let mut sent = Vec::new();
    {
        let mut run = Run::begin(&input, |event| sent.push(event));
        for event in events(data) {
            let _ = match &event {
                Event::RunFinished(_) => run.finish(),
                Event::RunError(error) => run.fail(&error.message, error.code.as_deref()),
                Event::TextMessageChunk(chunk) => {
                    let id = chunk.message_id.clone().unwrap_or_else(|| run.new_message_id());
                    run.text(&id, chunk.delta.as_deref().unwrap_or_default())
                }
                Event::ToolCallChunk(chunk) => {
                    let id = chunk.tool_call_id.clone().unwrap_or_else(|| run.new_tool_call_id());
                    let name = chunk.tool_call_name.as_deref().unwrap_or("page");
                    run.tool_call(&id, name, chunk.parent_message_id.as_ref())
                }
                _ => run.emit(event),
            };
        }
    }
    let mut verifier = Verifier::strict_for(&input);
    for event in &sent {
        verifier.handle(event).expect("no rule is broken");
    }
    verifier.finish().expect("a run ends");
}

/// A client ends for any response in any pieces, with the same result.
pub fn agui_client(data: &[u8]) {
    let Some((&[status, form, size], body)) = data.split_first_chunk::<3>() else { return };
    let mut agent = Agent::new("t");
    agent.accepts_protobuf = form % 2 == 1;
    let content_type = if agent.accepts_protobuf { proto::CONTENT_TYPE } else { sse::CONTENT_TYPE };
    let request = agent.request("r", Vec::new()).expect("nothing is asked");
    let status = if status < 128 { 200 } else { 300 + u16::from(status) };
    let answer = |size: usize| {
        let mut response = request.response(status, Some(content_type));
        let mut received = Vec::new();
        for piece in body.chunks(size) {
            response.push(piece);
            received.extend(core::iter::from_fn(|| response.poll()));
        }
        response.finish();
        received.extend(core::iter::from_fn(|| response.poll()));
        (received, response.messages().to_vec(), response.state().clone())
    };
    let whole = answer(usize::MAX);
    assert_eq!(answer(usize::from(size) + 1), whole);
    let failures = whole.0.iter().filter(|it| it.is_err()).count();
    assert!(failures <= 1, "nothing comes after a failure");
    assert!(whole.0.iter().rev().skip(1).all(Result::is_ok), "nothing comes after a failure");
    let refused = matches!(whole.0.first(), Some(Err(ResponseError::Status { .. })));
    assert_eq!(refused, status != 200);
}
