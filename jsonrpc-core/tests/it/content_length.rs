//! A stream gives the same messages however it was cut, and a bad header loses no other message.
use jsonrpc_core::framing::{ContentLength, FrameError, HeaderProblem, OnInvalid, TextPolicy};
use jsonrpc_core::{Kind, Message, Request};
use proptest::prelude::*;

const LIMIT: usize = 12;

/// What a stream is made of.
#[derive(Clone, Debug)]
enum Piece {
    /// A message behind a good header: how that is written, and the body.
    Good {
        style: usize,
        body: Vec<u8>,
    },
    BlankLines(&'static str),
    /// What is no header, with text behind it.
    Bad {
        header: &'static str,
        problem: HeaderProblem,
        behind: &'static str,
    },
}

const STYLES: [(&str, &str); 6] = [
    ("Content-Length: ", "\r\n\r\n"),
    ("Content-Length: ", "\n\n"),
    ("content-length:", "  \r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n"),
    ("Content-Type: application/json; charset=utf-16\r\nCONTENT-LENGTH: 0", "\r\n\r\n"),
    ("X-Trace: Content-Length 7\nContent-Length:\t", "\n\r\n"),
    ("Content-Length: 000", "\r\nx:\r\n\r\n"),
];

fn piece() -> impl Strategy<Value = Piece> {
    let body = prop_oneof![
        3 => prop::collection::vec(prop::sample::select(b"ab{}\nC: ".to_vec()), 0..20),
        1 => Just("{\"é\":1}".as_bytes().to_vec()),
        1 => Just(b"{\"\xff\":1}".to_vec()),
    ];
    let bad = prop::sample::select(vec![
        ("Starting server\n", HeaderProblem::Field),
        (": 5\r\n", HeaderProblem::Field),
        ("a b: 5\r\n", HeaderProblem::Field),
        ("Content-Type: text\r\n\r\n", HeaderProblem::Missing),
        ("Content-Length: x\r\n\r\n", HeaderProblem::Length),
        ("Content-Length: +5\r\n\r\n", HeaderProblem::Length),
        ("Content-Length:\r\n\r\n", HeaderProblem::Length),
        ("Content-Length: 99999999999999999999\r\n\r\n", HeaderProblem::Length),
    ]);
    let behind = prop::sample::select(vec![
        "",
        "{\"id\":1}",
        "\r\n\r\n",
        "Content-Lengt",
        "cContent-Length: ",
        "{\"a\":\"Content-Length: 5\\r\\n\"}",
    ]);
    prop_oneof![
        6 => (0..STYLES.len(), body).prop_map(|(style, body)| Piece::Good { style, body }),
        1 => prop::sample::select(vec!["\n", "\r\n", " \r\n\n"]).prop_map(Piece::BlankLines),
        2 => (bad, behind).prop_map(|((header, problem), behind)| {
            Piece::Bad { header, problem, behind }
        }),
    ]
}

/// A message, or what is wrong with one.
type Found = Result<String, String>;

/// The stream, and what comes of it by the definition.
fn write(pieces: &[Piece]) -> (Vec<u8>, Vec<Found>) {
    let (mut stream, mut expected, mut is_lost) = (Vec::new(), Vec::new(), false);
    for piece in pieces {
        match piece {
            Piece::Good { style, body } => {
                let (before, behind) = STYLES[*style];
                stream.extend(format!("{before}{}{behind}", body.len()).into_bytes());
                stream.extend(body);
                is_lost = false;
                let is_blank = body.iter().all(u8::is_ascii_whitespace);
                match std::str::from_utf8(body) {
                    _ if body.len() > LIMIT => expected.push(Err("too long".into())),
                    _ if is_blank => {}
                    Ok(text) => expected.push(Ok(text.into())),
                    Err(_) => expected.push(Err("not UTF-8".into())),
                }
            }
            Piece::BlankLines(lines) => stream.extend(lines.bytes()),
            Piece::Bad { header, problem, behind } => {
                stream.extend(format!("{header}{behind}").into_bytes());
                if !is_lost {
                    expected.push(Err(problem.to_string()));
                }
                is_lost = true;
            }
        }
    }
    (stream, expected)
}

fn short(error: FrameError) -> String {
    match error {
        FrameError::TooLong { limit: LIMIT, .. } => "too long".into(),
        FrameError::Utf8 { .. } => "not UTF-8".into(),
        FrameError::Header(problem) => problem.to_string(),
        other => other.to_string(),
    }
}

fn take(messages: &mut ContentLength, most: usize, found: &mut Vec<Found>) {
    for _ in 0..most {
        let Some(message) = messages.next() else { return };
        found.push(message.map(str::to_owned).map_err(short));
    }
}

/// What comes of a stream that comes at once, and ends.
fn all(limit: usize, stream: &[u8]) -> Vec<Result<String, FrameError>> {
    let mut messages = ContentLength::new(limit);
    messages.push(stream);
    messages.finish();
    std::iter::from_fn(|| messages.next().map(|message| message.map(str::to_owned))).collect()
}

proptest! {
    /// However a stream is cut, and however late its messages are taken, none is lost, doubled or out of place.
    #[test]
    fn chunks_make_no_difference(
        pieces in prop::collection::vec(piece(), 0..10),
        has_mark in any::<bool>(),
        sizes in prop::collection::vec((1..30_usize, 0..3_usize), 1..8),
    ) {
        let (mut stream, expected) = write(&pieces);
        if has_mark {
            stream.splice(..0, "\u{feff}".bytes());
        }
        let (mut messages, mut found, mut rest) = (ContentLength::new(LIMIT), Vec::new(), &*stream);
        for (size, most) in sizes.iter().cycle() {
            let (chunk, behind) = rest.split_at(rest.len().min(*size));
            messages.push(chunk);
            take(&mut messages, *most, &mut found);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        messages.finish();
        take(&mut messages, usize::MAX, &mut found);
        prop_assert_eq!(found, expected);
    }

    /// A stream that ends anywhere gives what it would have given until there, and at most one error more.
    #[test]
    fn a_stream_may_end_anywhere(pieces in prop::collection::vec(piece(), 1..6), at in any::<prop::sample::Index>()) {
        let (stream, expected) = write(&pieces);
        let found = all(LIMIT, &stream[..at.index(stream.len())]);
        let whole = found.iter().zip(&expected).take_while(|(found, expected)| {
            match (found, expected) {
                (Ok(found), Ok(expected)) => found == expected,
                (Err(found), Err(expected)) => short(found.clone()) == *expected,
                _ => false,
            }
        });
        let whole = whole.count();
        prop_assert!(whole + 1 >= found.len(), "{:?} {:?}", found, expected);
        if let Some(last) = found.get(whole) {
            prop_assert!(matches!(last, Err(FrameError::Truncated { .. })), "{:?}", last);
        }
    }
}

#[test]
fn errors_name_the_request_where_they_can() {
    let request = r#"{"id":"q","method":"m","params":{"a":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}"#;
    let stream = format!("Content-Length: {}\r\n\r\n{request}", request.len());
    let (kind, id) = (Some(Kind::Request), Some("q".into()));
    let too_long = FrameError::TooLong { limit: 40, kind, id: id.clone() };
    assert_eq!(all(40, stream.as_bytes()), [Err(too_long.clone())]);
    assert_eq!(too_long.reply().map(|reply| reply.id), id);
    let truncated = FrameError::Truncated { kind, id: id.clone() };
    assert_eq!(all(400, &stream.as_bytes()[..80]), [Err(truncated)]);
    assert_eq!(
        all(400, &stream.as_bytes()[..5]),
        [Err(FrameError::Truncated { kind: None, id: None })]
    );
}

#[test]
fn a_message_as_long_as_the_limit_is_whole() {
    let found = all(2, b"Content-Length: 2\n\n{}Content-Length: 3\n\n{ }Content-Length: 2\n\n[]");
    let too_long = FrameError::TooLong { limit: 2, kind: None, id: None };
    assert_eq!(found, [Ok("{}".into()), Err(too_long), Ok("[]".into())]);
}

#[test]
fn a_length_that_comes_twice_has_to_be_the_same() {
    let found = all(9, b"Content-Length: 2\nContent-Length: 02\n\n{}");
    assert_eq!(found, [Ok("{}".into())]);
    let found = all(9, b"Content-Length: 2\nContent-Length: 3\n\n{}\nContent-Length: 2\n\n[]");
    assert_eq!(found, [Err(FrameError::Header(HeaderProblem::Duplicate)), Ok("[]".into())]);
}

#[test]
fn a_header_without_end_is_an_error() {
    let most = ContentLength::MAX_HEADER;
    for unit in ["a", "a: b\n", "Content-Length", "\u{7f}"] {
        let stream = unit.repeat(4 * most) + "\nContent-Length: 2\r\n\r\n{}";
        let (mut messages, mut found) = (ContentLength::default(), Vec::new());
        for chunk in stream.as_bytes().chunks(100) {
            messages.push(chunk);
            take(&mut messages, usize::MAX, &mut found);
        }
        assert_eq!(found, [Err(HeaderProblem::TooLong.to_string()), Ok("{}".into())], "{unit}");
    }
}

/// Searching from the start again with each piece would take some 10^11 steps.
#[test]
fn a_long_message_in_small_pieces_is_searched_once() {
    let (mut messages, piece, pieces) = (ContentLength::default(), [b'a'; 16], 256 * 1024);
    let length = piece.len() * pieces;
    messages.push(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    for _ in 0..pieces {
        assert_eq!(messages.next(), None);
        messages.push(&piece);
    }
    assert_eq!(messages.next().and_then(Result::ok).map(str::len), Some(length));
}

#[test]
fn what_is_written_is_read() {
    let mut out = b"before".to_vec();
    for id in 0..3 {
        ContentLength::write(&Message::from(Request::new(id, "é", None)), &mut out);
    }
    let found = all(1000, &out["before".len()..]);
    let expected: Vec<_> =
        (0..3).map(|id| Ok(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"é"}}"#))).collect();
    assert_eq!(found, expected);
}

#[test]
fn policies_are_those_of_lines() {
    let repair = TextPolicy { utf8: OnInvalid::Repair, surrogates: OnInvalid::Reject };
    let mut messages = ContentLength::default().with_text(repair);
    messages.push(b"Content-Length: 3\n\n\"\xff\"Content-Length: 10\n\n\"a\\udc00b\"");
    assert_eq!(messages.next(), Some(Ok("\"\u{fffd}\"")));
    let error = FrameError::Surrogate { at: 2, kind: None, id: None };
    assert_eq!(messages.next(), Some(Err(error)));
}
