//! Server-sent events: the decoder against the algorithm of the HTML specification, the encoder
//! against the decoder.
use crate::generate;
use agui_types::event::{CustomEvent, Event, TextMessageContentEvent};
use agui_types::sse::{self, Decoder, Frame, FrameError};
use jsonrpc_core::wire::Raw;
use proptest::prelude::*;

fn frames(mut decoder: Decoder, pieces: &[&[u8]]) -> Vec<Result<Frame, FrameError>> {
    let mut frames = Vec::new();
    for piece in pieces {
        decoder.push(piece);
        frames.extend(std::iter::from_fn(|| decoder.next_frame()));
    }
    decoder.finish();
    frames.extend(std::iter::from_fn(|| decoder.next_frame()));
    frames
}

/// Lines and line ends as on the wire, some of them malformed.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "data", ":", "data:", "data: ", "event: e", "id: 1", "id: \0", "retry: 10", "retry: x", "id", ": c", " ",
            "\u{feff}", "é", "\u{1f44b}", "{\"a\":1}", "datax: ", "x",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        8 => prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\n\r\n"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// The specification's algorithm for a whole body, with the first-party client's extension: the end
/// of the body ends a frame.
fn by_the_book(body: &str) -> Vec<(String, Option<String>, String)> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body);
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut data = String::new();
    let mut event = String::new();
    let mut id = String::new();
    let mut dispatched = vec![];
    let mut has_event = false;
    for line in body.split('\n').chain([""]) {
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                let event = has_event.then(|| event.clone());
                dispatched.push((data.clone(), event, id.clone()));
            }
            data.clear();
            event.clear();
            has_event = false;
            continue;
        }
        if line.starts_with(':') {
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                data.push_str(value);
                data.push('\n');
            }
            "event" => {
                event = value.to_owned();
                has_event = true;
            }
            "id" if !value.contains('\0') => id = value.to_owned(),
            _ => {}
        }
    }
    dispatched
}

proptest! {
    #![proptest_config(generate::cases(256))]

    /// The frames do not depend on how a body is split.
    #[test]
    fn frames_do_not_depend_on_the_split(body in body(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8), limit in 0_usize..40) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut begin = 0;
        for cut in cuts {
            pieces.push(&body[begin..cut]);
            begin = cut;
        }
        pieces.push(&body[begin..]);
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        let whole = frames(Decoder::with_limit(limit), &[&body]);
        prop_assert_eq!(&frames(Decoder::with_limit(limit), &pieces), &whole);
        prop_assert_eq!(&frames(Decoder::with_limit(limit), &bytes), &whole);
    }

    /// The frames of a body are those of the specification.
    #[test]
    fn frames_match_the_specification(body in body()) {
        let Ok(text) = String::from_utf8(body) else { return Ok(()) };
        let found: Vec<_> = frames(Decoder::default(), &[text.as_bytes()])
            .into_iter()
            .map(|frame| frame.map(|frame| (frame.data, frame.event, frame.last_event_id)))
            .collect();
        let expected: Vec<_> = by_the_book(&text).into_iter().map(Ok).collect();
        prop_assert_eq!(found, expected);
    }

    /// No frame exceeds the limit.
    #[test]
    fn frames_are_within_the_limit(body in body(), limit in 0_usize..40) {
        for frame in frames(Decoder::with_limit(limit), &[&body]).into_iter().flatten() {
            prop_assert!(frame.data.len() + frame.event.map_or(0, |event| event.len()) <= limit);
        }
    }

    /// An event is written as one `data` line with line feeds only, and decodes unchanged.
    #[test]
    fn events_round_trip(delta in any::<String>(), gap in "[ \n\r\t]{0,3}", id in any::<String>(), comment in any::<String>()) {
        let value = Raw::from_text(format!("[{gap}1{gap},{gap}\"\\n\"]")).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let events: [Event; 2] = [
            TextMessageContentEvent::new("m", delta).into(),
            CustomEvent::new("acme.x", value).into(),
        ];
        let mut body = Vec::new();
        for event in &events {
            sse::write_comment(&mut body, &comment);
            sse::write_id(&mut body, &id);
            let begin = body.len();
            sse::write_event(&mut body, event).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let written = &body[begin..];
            let framed = written.starts_with(b"data: {") && written.ends_with(b"}\n\n");
            prop_assert!(framed);
            prop_assert_eq!(written.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count(), 2);
        }
        prop_assert!(!body.contains(&b'\r'));
        let read = frames(Decoder::default(), &[&body]);
        prop_assert_eq!(read.len(), 2);
        for (frame, event) in read.into_iter().zip(&events) {
            let frame = frame.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(frame.last_event_id, id.replace(['\n', '\r', '\0'], ""));
            let read: serde_json::Value = serde_json::from_str(&frame.data).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(read, serde_json::to_value(event).map_err(|error| TestCaseError::fail(error.to_string()))?);
        }
    }
}

#[test]
fn unreadable_frame_is_one_error() {
    let limit = Decoder::with_limit(10);
    let body: &[u8] = b"data: 123456789012\ndata: more\n\ndata: ok\n\ndata: 1234\n\n: a comment may be long\ndata: 12\n\n";
    let found: Vec<_> =
        frames(limit, &[body]).into_iter().map(|frame| frame.map(|frame| frame.data)).collect();
    assert_eq!(
        found,
        [
            Err(FrameError::TooLong { limit: 10 }),
            Ok("ok".into()),
            Ok("1234".into()),
            Ok("12".into())
        ]
    );
    let body: &[u8] = b"data: \xff\ndata: b\n\n: \xff\ndata: c\n\n";
    let found: Vec<_> = frames(Decoder::default(), &[body])
        .into_iter()
        .map(|frame| frame.map(|frame| frame.data))
        .collect();
    assert_eq!(found, [Err(FrameError::NotUtf8), Ok("c".into())]);
    assert_eq!(
        FrameError::TooLong { limit: 10 }.to_string(),
        "the frame is longer than the limit of 10 bytes"
    );
}

#[test]
fn reconnection_delay_is_read() {
    let mut decoder = Decoder::default();
    assert_eq!(decoder.retry(), None);
    decoder.push(b"retry: 1500\nretry: soon\nretry: 99999999999999999999\nretry:\n");
    assert_eq!(decoder.retry(), Some(std::time::Duration::from_millis(1500)));
}
