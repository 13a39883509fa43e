//! Bytes pass through unchanged.

use crate::proxy::Proxy;
use proptest::prelude::*;
use std::thread;

/// Arbitrary input: text, invalid UTF-8, lines of all lengths, with and without line breaks.
fn chunk() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n".to_vec()),
        Just(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0..200_000_usize).prop_map(|(byte, length)| vec![byte; length]),
        "[ -~\n]{0,80}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any input in any chunks, both directions pass through byte for byte.
    #[test]
    fn both_directions_are_byte_identical(chunks in prop::collection::vec(chunk(), 0..40)) {
        let mut proxy = Proxy::start(&["echo"]);
        let mut stdin = proxy.child.stdin.take().unwrap();
        let given = chunks.concat();
        let writer = thread::spawn(move || {
            chunks.iter().try_for_each(|chunk| std::io::Write::write_all(&mut stdin, chunk))
        });
        let end = proxy.wait();
        writer.join().unwrap().unwrap();
        prop_assert_eq!(end.status, Some(0));
        prop_assert!(end.stdout == given, "{} bytes in, {} bytes out", given.len(), end.stdout.len());
    }
}

/// A line far beyond the size limit passes through.
#[test]
fn line_over_the_limit_passes() {
    let mut proxy = Proxy::start(&["echo"]);
    let mut stdin = proxy.child.stdin.take().unwrap();
    let mut given = vec![b'x'; 50 << 20];
    given.push(b'\n');
    let expected = given.clone();
    let writer = thread::spawn(move || std::io::Write::write_all(&mut stdin, &given));
    let end = proxy.wait();
    writer.join().unwrap().unwrap();
    assert!(end.stdout == expected);
    assert_eq!(end.status, Some(0));
}

/// An incomplete message passes through before the next chunk is written.
#[test]
fn incomplete_messages_pass_immediately() {
    let mut proxy = Proxy::start(&["echo"]);
    for byte in *b"{\"id\"" {
        proxy.write(&[byte]);
        assert_eq!(proxy.read_byte(), byte);
    }
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(0));
}
