//! The lines of a stream do not depend on how it is split.
use jsonrpc_core::framing::{FrameError, Lines};
use proptest::prelude::*;

/// A stream of short pieces that interact.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::collection::vec(prop::sample::select(b"ab{} \t\r".to_vec()), 0..14),
        4 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just("\u{feff}".as_bytes().to_vec()),
        1 => Just("é".as_bytes().to_vec()),
        1 => prop::sample::select(vec![0xff, 0xef, 0xbb, 0xc3]).prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// The lines by definition, from the whole stream: text, or whether it is too long (otherwise not
/// UTF-8).
fn expected(stream: &[u8], limit: usize) -> Vec<Result<String, bool>> {
    let stream = stream.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stream);
    stream
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| line.len() > limit || !line.iter().all(|byte| b" \t\r".contains(byte)))
        .map(|line| match line.len() > limit {
            true => Err(true),
            false => String::from_utf8(line.to_vec()).map_err(|_| false),
        })
        .collect()
}

fn take(lines: &mut Lines, most: usize, found: &mut Vec<Result<String, bool>>) {
    for _ in 0..most {
        let Some(line) = lines.next() else { return };
        let short = |error| matches!(error, FrameError::TooLong { .. });
        found.push(line.map(str::to_owned).map_err(short));
    }
}

proptest! {
    /// For any split of a stream, and any delay of taking lines, none is lost, repeated or out of
    /// order.
    #[test]
    fn lines_do_not_depend_on_the_split(
        stream in stream(),
        sizes in prop::collection::vec((1..9_usize, 0..3_usize), 1..8),
        limit in 1..12_usize,
    ) {
        let mut lines = Lines::new(limit);
        let mut found = Vec::new();
        let mut rest = &*stream;
        for (size, most) in sizes.iter().cycle() {
            let (chunk, behind) = rest.split_at(rest.len().min(*size));
            lines.push(chunk);
            take(&mut lines, *most, &mut found);
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        lines.finish();
        take(&mut lines, usize::MAX, &mut found);
        prop_assert_eq!(found, expected(&stream, limit));
    }
}

#[test]
fn line_at_the_limit_is_complete() {
    for end in ["\n", "\r\n"] {
        let mut lines = Lines::new(4);
        lines.push(format!("abcd{end}abcde{end}ok{end}").as_bytes());
        assert_eq!(lines.next(), Some(Ok("abcd")));
        assert_eq!(lines.next(), Some(Err(FrameError::TooLong { limit: 4, kind: None, id: None })));
        assert_eq!(lines.next(), Some(Ok("ok")));
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn oversized_line_is_reported_before_its_end() {
    let mut lines = Lines::new(40);
    lines.push(br#"{"id":"q","method":"m","params":{"a":"aaa"#);
    assert_eq!(
        lines.next().and_then(Result::err).and_then(|error| error.id().cloned()),
        Some("q".into())
    );
    lines.push(&[b'a'; 100]);
    assert_eq!(lines.next(), None);
    lines.push(b"\"}}\n{}\n");
    assert_eq!(lines.next(), Some(Ok("{}")));
    assert_eq!(lines.next(), None);
}

/// Searching from the start for each piece would take about 10^11 steps.
#[test]
fn long_line_in_small_pieces_is_searched_once() {
    let mut lines = Lines::default();
    let piece = [b'a'; 16];
    let pieces = 256 * 1024;
    for _ in 0..pieces {
        lines.push(&piece);
        assert_eq!(lines.next(), None);
    }
    lines.push(b"\n");
    assert_eq!(lines.next().and_then(Result::ok).map(str::len), Some(piece.len() * pieces));
}

/// Moving the rest for each taken line would take about 10^11 steps.
#[test]
fn lines_taken_late_are_moved_rarely() {
    let mut lines = Lines::default();
    lines.push(&b"{}\n".repeat(1024 * 1024));
    for _ in 0..1024 * 1024 {
        lines.push(b"x");
        assert!(lines.next().is_some());
    }
    lines.finish();
    assert_eq!(lines.next().and_then(Result::ok).map(str::len), Some(1024 * 1024));
}
