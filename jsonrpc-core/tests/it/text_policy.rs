//! Each policy handles its defect, and does not affect other messages.
use jsonrpc_core::framing::{FrameError, InvalidTextAction, Lines, TextPolicy};
use proptest::prelude::*;

/// A string by its UTF-16 units, with lone surrogates.
fn units() -> impl Strategy<Value = Vec<u16>> {
    let unit = prop_oneof![
        2 => 0x20..0x7f_u16,
        2 => 0xd7fe..0xe002_u16,
        1 => prop::sample::select(vec![0xd83d, 0xde00, 0xd800, 0xdfff, 0x5c, 0x75]),
    ];
    prop::collection::vec(unit, 0..8)
}

/// The string as JSON, fully escaped.
fn escaped(units: &[u16]) -> String {
    let escapes: String = units
        .iter()
        .map(|unit| if *unit == 0x5c { r"\\".into() } else { format!("\\u{unit:04X}") })
        .collect();
    format!("\"{escapes}\"")
}

fn policy(utf8: InvalidTextAction, surrogates: InvalidTextAction) -> TextPolicy {
    TextPolicy { utf8, surrogates }
}

proptest! {
    /// Repairing lone surrogates agrees with the standard library, and rejecting finds them.
    #[test]
    fn lone_surrogates(units in units()) {
        let text = escaped(&units);
        let has_half = String::from_utf16(&units).is_err();
        let read = |surrogates| {
            let mut lines = Lines::default().with_text(policy(InvalidTextAction::Reject, surrogates));
            lines.push(text.as_bytes());
            lines.finish();
            lines.next().map(|line| line.map(String::from))
        };
        prop_assert_eq!(read(InvalidTextAction::Pass), Some(Ok(text.clone())));
        prop_assert_eq!(read(InvalidTextAction::Reject).map(|line| line.is_err()), Some(has_half));
        let repaired = read(InvalidTextAction::Repair).and_then(Result::ok).unwrap_or_default();
        prop_assert_eq!(repaired.len(), text.len());
        let meaning: Option<String> = serde_json::from_str(&repaired).ok();
        prop_assert_eq!(meaning, Some(String::from_utf16_lossy(&units)));
    }
}

#[test]
fn invalid_utf8_follows_the_policy() {
    let stream = b"[1]\n[\"\xc3\x28\"]\n[2]\n";
    let utf8 = |at| FrameError::Utf8 { at, kind: None, id: None };
    let as_bytes: [(_, Result<&[u8], _>); 3] = [
        (InvalidTextAction::Reject, Err(utf8(2))),
        (InvalidTextAction::Repair, Ok("[\"\u{fffd}(\"]".as_bytes())),
        (InvalidTextAction::Pass, Ok(b"[\"\xc3\x28\"]")),
    ];
    for (policy_for_utf8, expected) in as_bytes {
        let with = policy(policy_for_utf8, InvalidTextAction::Pass);
        let mut lines = Lines::default().with_text(with);
        lines.push(stream);
        assert_eq!(lines.next_bytes(), Some(Ok(&b"[1]"[..])));
        assert_eq!(lines.next_bytes(), Some(expected.clone()), "{policy_for_utf8:?}");
        assert_eq!(lines.next_bytes(), Some(Ok(&b"[2]"[..])));
        let mut lines = Lines::default().with_text(with);
        lines.push(stream);
        assert_eq!(lines.next(), Some(Ok("[1]")));
        let expected = expected.and_then(|bytes| std::str::from_utf8(bytes).map_err(|_| utf8(2)));
        assert_eq!(lines.next(), Some(expected), "{policy_for_utf8:?}");
        assert_eq!(lines.next(), Some(Ok("[2]")));
    }
}
