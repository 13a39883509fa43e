//! Messages as nearly all programs write them, in one go. Whatever is written otherwise is left to
//! [`Envelope`](crate::envelope::Envelope), which says the same of these.
use crate::message::{Message, Notification, Request, Response};
use crate::scan::Scanner;
use crate::{RequestId, checked};

/// Reads a message whose members are `jsonrpc`, `method` and `params`, or `jsonrpc` and `result`, in this order, `id` before
/// them or behind, and no others.
#[inline]
pub(crate) fn read(text: &str) -> Option<Message<'_>> {
    let mut scanner = Scanner::of_any_depth(text.as_bytes());
    scanner.literal(br#"{"jsonrpc":"2.0",""#)?;
    let id = match scanner.literal(br#"id":"#) {
        Some(_) => {
            let id = read_id(text, &mut scanner)?;
            scanner.literal(br#",""#)?;
            Some(id)
        }
        None => None,
    };
    let message = if scanner.literal(br#"method":"#).is_some() {
        let method = text.get(scanner.plain_text()?)?;
        let params = match scanner.literal(br#","params":"#) {
            Some(_) => {
                let params = text.get(scanner.value()?)?;
                Some(checked::raw(params).filter(|_| params.starts_with(['{', '[']))?)
            }
            None => None,
        };
        match id_or_behind(id, text, &mut scanner)? {
            Some(id) => Message::Request(Request::new(id, method, params)),
            None => Message::Notification(Notification::new(method, params)),
        }
    } else {
        scanner.literal(br#"result":"#)?;
        let result = checked::raw(text.get(scanner.value()?)?)?;
        let id = id_or_behind(id, text, &mut scanner)?;
        Message::Response(Response::new(id?, Ok(result)))
    };
    scanner.literal(b"}")?;
    scanner.end()?;
    Some(message)
}

/// The id that stood before, or that is the next member.
#[inline(always)]
fn id_or_behind(
    id: Option<RequestId>,
    text: &str,
    scanner: &mut Scanner<'_>,
) -> Option<Option<RequestId>> {
    if id.is_some() || scanner.literal(br#","id":"#).is_none() {
        return Some(id);
    }
    read_id(text, scanner).map(Some)
}

#[inline(always)]
fn read_id(text: &str, scanner: &mut Scanner<'_>) -> Option<RequestId> {
    match scanner.small_number() {
        Some(number) => Some(number.into()),
        None => RequestId::from_text(text.get(scanner.value()?)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::Envelope;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn at_length(text: &str) -> Option<String> {
        let message = Envelope::decode(text).and_then(Message::from_parts);
        message.ok().map(|message| format!("{message:?}"))
    }

    /// What is usual must be read here: to read it at length would be right, and nobody would see it.
    #[test]
    fn what_is_usual_is_read_in_one_go() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"m"}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":{"a":[1,"\"x"]}}"#,
            r#"{"jsonrpc":"2.0","id":-7,"method":"m","params":[ 1 ]}"#,
            r#"{"jsonrpc":"2.0","id":"\u0061","method":"$/m"}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":[],"id":1.0}"#,
            r#"{"jsonrpc":"2.0","method":"m","id":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":null}"#,
            r#"{"jsonrpc":"2.0","result":"text","id":9}  "#,
        ] {
            let read = read(text).map(|message| format!("{message:?}"));
            assert!(read.is_some(), "{text}");
            assert_eq!(read, at_length(text), "{text}");
        }
    }

    /// Members of all kinds in all orders, usual or not: what is read here is what is read at length.
    #[test]
    fn both_ways_say_the_same() {
        const PARTS: &[&str] = &[
            r#""jsonrpc":"2.0""#,
            r#""id":1"#,
            r#""id":{}"#,
            r#""id":01"#,
            r#""id":"\ud800""#,
            r#""method":"m""#,
            r#""method":"\u006d""#,
            r#""method":1"#,
            r#""params":{}"#,
            r#""params":null"#,
            r#""params":"x""#,
            r#""result":1"#,
            r#""error":{"code":1,"message":"no"}"#,
            r#""x":[1"#,
            r#""x":1"#,
            "",
            " ",
        ];
        let mut usual = 0;
        for at in 0..PARTS.len().pow(4) {
            let place = |power| at / PARTS.len().pow(power) % PARTS.len();
            let parts: Vec<_> =
                (0..4).filter_map(|power| PARTS.get(place(power)).copied()).collect();
            // An empty part at the end makes one member less.
            let text = format!("{{{}}}", parts.join(",").trim_end_matches(','));
            if let Some(message) = read(&text) {
                usual += 1;
                assert_eq!(Some(format!("{message:?}")), at_length(&text), "{text}");
            }
        }
        // Each with params and without, and those with an id in two orders.
        assert_eq!(usual, 8);
    }

    #[test]
    fn both_ways_read_the_same_ids() {
        for id in [
            "0",
            "-0",
            "00",
            "01",
            "7",
            "-7",
            "42",
            "1.0",
            "1e3",
            "4x",
            "4.",
            "\"4\"",
            "null",
            "99999999999999999",
            "999999999999999999",
            "9223372036854775807",
            "9223372036854775808",
            "1000000000000000000000",
        ] {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#),
                format!(r#"{{"jsonrpc":"2.0","method":"m","id":{id}}}"#),
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#),
            ] {
                if let Some(message) = read(&text) {
                    assert_eq!(Some(format!("{message:?}")), at_length(&text), "{text}");
                    assert_eq!(message.id().map(|id| format!("{id:?}")).as_deref(), Some(id));
                } else {
                    assert_eq!(at_length(&text), None, "{text}");
                }
            }
        }
    }
}
