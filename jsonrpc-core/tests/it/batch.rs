//! Each message of a batch is decoded individually; a batch as such has its own errors.
use jsonrpc_core::{Batch, Document, Message, Notification, Shape};
use proptest::prelude::*;
use std::error::Error;

/// Returns the code of the single response to an invalid document, and the reason.
fn refusal(text: &str) -> (i64, String) {
    let error = Document::decode(text).err().unwrap_or_else(|| panic!("{text} was taken"));
    let reply = error.reply().unwrap_or_else(|| panic!("{text} gets no answer"));
    assert!(reply.id.is_null(), "{text}");
    (error.code().0, error.to_string())
}

#[test]
fn invalid_document_has_one_response() {
    let shape = |shape: Shape| (-32600, format!("not a JSON-RPC message: {shape}"));
    let too_many = format!("[{}0]", "0,".repeat(Batch::MAX_LEN));
    let unclosed = format!("[{}", "[".repeat(100_000));
    let table = [
        ("[]", shape(Shape::EmptyBatch)),
        (" [ ] ", shape(Shape::EmptyBatch)),
        (&too_many, shape(Shape::TooManyMessages)),
        ("7", shape(Shape::NotAnObject)),
        ("[1", (-32700, "not valid JSON".into())),
        ("[1,]", (-32700, "not valid JSON".into())),
        ("[1] x", (-32700, "not valid JSON".into())),
        ("[1] [2]", (-32700, "not valid JSON".into())),
        (&unclosed, (-32700, "not valid JSON".into())),
        ("", (-32700, "not valid JSON".into())),
    ];
    for (text, expected) in table {
        assert_eq!(refusal(text), expected, "{:.20}", text);
    }
}

#[test]
fn number_of_messages_is_limited() -> Result<(), Box<dyn Error>> {
    let text = "[1,2,3]";
    assert!(
        matches!(Document::decode_within(text, 3)?, Document::Batch(batch) if batch.texts().len() == 3)
    );
    let error = Document::decode_within(text, 2).expect_err("too many");
    assert!(error.to_string().contains("too many messages"), "{error}");
    let broken = Document::decode_within("[1,2,3", 2).expect_err("no JSON");
    assert_eq!(broken.to_string(), "not valid JSON");
    Ok(())
}

#[test]
fn nested_batch_is_not_a_message() -> Result<(), Box<dyn Error>> {
    let text = r#"[[{"jsonrpc":"2.0","id":1,"method":"m"}]]"#;
    let Document::Batch(batch) = Document::decode(text)? else { panic!("not a batch") };
    let errors: Vec<_> =
        batch.messages().filter_map(Result::err).map(|error| error.to_string()).collect();
    assert_eq!(errors, ["not a JSON-RPC message: expected one message, got an array (a batch)"]);
    Ok(())
}

#[test]
fn empty_batch_is_not_written() {
    let mut out = Vec::new();
    Batch::to_line([], &mut out);
    assert!(out.is_empty());
    Batch::to_line(&[Message::from(Notification::new("n", None))], &mut out);
    assert_eq!(out, b"[{\"jsonrpc\":\"2.0\",\"method\":\"n\"}]\n");
}

proptest! {
    /// The messages of a batch equal separately decoded ones, and a written batch decodes to the
    /// same.
    #[test]
    fn messages_equal_separate_ones(
        texts in prop::collection::vec(prop_oneof![crate::json::envelope(), crate::json::value()], 1..6),
        space in crate::json::space(),
    ) {
        let text = format!("{space}[{}]", texts.join(&format!("{space},{space}")));
        let Ok(Document::Batch(batch)) = Document::decode(&text) else {
            return Err(TestCaseError::fail(text));
        };
        let shown = |decoded: Result<Message<'_>, _>| decoded.map(Message::into_owned).map_err(|error: jsonrpc_core::MessageError| {
            error.to_string()
        });
        let found: Vec<_> = batch.messages().map(shown).collect();
        let alone: Vec<_> = texts.iter().map(|text| shown(Message::decode(text))).collect();
        prop_assert_eq!(&found, &alone);

        let good: Vec<_> = batch.messages().filter_map(Result::ok).collect();
        let mut out = Vec::new();
        Batch::to_line(&good, &mut out);
        if good.is_empty() {
            prop_assert!(out.is_empty());
            return Ok(());
        }
        let written = String::from_utf8(out).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(written.find(['\n', '\r']), Some(written.len() - 1));
        let Ok(Document::Batch(again)) = Document::decode(&written) else {
            return Err(TestCaseError::fail(written));
        };
        prop_assert_eq!(again.messages().filter(Result::is_ok).count(), good.len());
    }
}
