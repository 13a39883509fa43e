//! A body is one message, however it comes.
use jsonrpc_core::framing::{Body, FrameError};
use proptest::prelude::*;

/// What comes of a body by the definition: text, nothing, or whether it is too long (else it is not UTF-8).
fn expected(body: &[u8], limit: usize) -> Option<Result<String, bool>> {
    if body.len() > limit {
        return Some(Err(true));
    }
    let body = body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body);
    let is_blank = body.iter().all(|byte| b" \t\r\n".contains(byte));
    (!is_blank).then(|| String::from_utf8(body.to_vec()).map_err(|_| false))
}

fn is_too_long(error: FrameError) -> bool {
    matches!(error, FrameError::TooLong { .. })
}

proptest! {
    /// Bodies that come one after the other, each in any pieces or as a whole, are what each is by itself.
    #[test]
    fn pieces_make_no_difference(
        bodies in prop::collection::vec(prop::collection::vec(
            prop::sample::select(vec![&b"a"[..], b" ", b"\n", b"[]", "é".as_bytes(), b"\xff", b"\xef\xbb\xbf"]), 0..8), 1..5),
        size in 1..5_usize,
        limit in 1..12_usize,
    ) {
        let mut body = Body::new(limit);
        for pieces in bodies {
            let bytes = pieces.concat();
            let mut found = Vec::new();
            // Also what is empty is a body.
            body.push(&[]);
            for piece in bytes.chunks(size) {
                body.push(piece);
                found.extend(body.next().map(|text| text.map(str::to_owned).map_err(is_too_long)));
            }
            body.finish();
            found.extend(body.next().map(|text| text.map(str::to_owned).map_err(is_too_long)));
            prop_assert!(body.next().is_none());
            let expected = expected(&bytes, limit);
            let whole = body.read(&bytes).map(|text| text.map(Into::into).map_err(is_too_long));
            prop_assert_eq!(&whole, &expected);
            prop_assert_eq!(found, Vec::from_iter(expected));
        }
    }
}

#[test]
fn a_body_that_is_too_long_is_known_before_it_ends() {
    let mut body = Body::new(40);
    body.push(br#"{"id":"q","method":"m","params":{"a":"aaa"#);
    let error = body.next().and_then(Result::err);
    assert_eq!(error.and_then(|error| error.id().cloned()), Some("q".into()));
    body.push(&[b'a'; 100]);
    body.finish();
    assert_eq!(body.next(), None);
    body.push(b"{}");
    body.finish();
    assert_eq!(body.next(), Some(Ok("{}")));
}
