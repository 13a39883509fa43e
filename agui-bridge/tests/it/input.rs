//! The mapping of a run's input to a prompt.
use acp_types::v1::initialization::PromptCapabilities;
use agui_bridge::input::{
    InputError, MAX_CONTEXT_BYTES, MAX_CONTEXT_ENTRIES, MAX_MEDIA_BYTES, Prompt, Work, work,
};
use agui_types::id::MessageId;
use serde_json::{Value, json};

fn ask(members: Value, capabilities: Value, accepted: Option<&str>) -> Result<Work, InputError> {
    let mut input = json!({"threadId": "t", "runId": "r"});
    let (Some(input_members), Value::Object(members)) = (input.as_object_mut(), members) else {
        panic!()
    };
    input_members.extend(members);
    let input = serde_json::from_str(&input.to_string()).unwrap();
    let capabilities: PromptCapabilities = serde_json::from_value(capabilities).unwrap();
    work(&input, &capabilities, accepted.map(MessageId::from).as_ref())
}

fn prompt(work: Result<Work, InputError>) -> Prompt {
    match work {
        Ok(Work::Prompt(prompt)) => prompt,
        other => panic!("no prompt: {other:?}"),
    }
}

fn blocks(members: Value, capabilities: Value) -> Value {
    serde_json::to_value(prompt(ask(members, capabilities, None)).blocks).unwrap()
}

fn user(id: &str, content: Value) -> Value {
    json!({"id": id, "role": "user", "content": content})
}

fn assistant(id: &str) -> Value {
    json!({"id": id, "role": "assistant", "content": "said"})
}

fn parts(parts: Value) -> Value {
    json!({"messages": [user("u", parts)]})
}

fn all() -> Value {
    json!({"image": true, "audio": true, "embeddedContext": true})
}

#[test]
fn new_messages_become_the_prompt() {
    let history = json!([
        {"id": "s", "role": "system", "content": "Be kind."},
        user("u1", json!("one")),
        assistant("a1"),
        {"id": "t1", "role": "tool", "toolCallId": "c", "content": "r"},
        {"id": "r1", "role": "reasoning", "content": "hm"},
        {"id": "x1", "role": "activity", "activityType": "PLAN", "content": {}},
        {"id": "d2", "role": "developer", "content": "Now briefly."},
        user("u2", json!("two")),
        {"id": "n", "role": "newer", "content": "?"},
        user("u3", json!("three")),
    ]);
    let table = [
        (Some("u3"), None),
        (Some("u2"), Some((json!(["three"]), "u3", 0))),
        (Some("u1"), Some((json!(["Now briefly.", "two", "three"]), "u3", 0))),
        (Some("t1"), Some((json!(["Now briefly.", "two", "three"]), "u3", 0))),
        (None, Some((json!(["three"]), "u3", 9))),
        (Some("edited away"), Some((json!(["three"]), "u3", 9))),
    ];
    for (accepted, expected) in table {
        let given = match ask(json!({"messages": history}), json!({}), accepted) {
            Ok(Work::Prompt(prompt)) => {
                let texts = serde_json::to_value(&prompt.blocks).unwrap();
                let texts: Vec<_> =
                    texts.as_array().unwrap().iter().map(|block| block["text"].clone()).collect();
                Some((Value::Array(texts), prompt.last_message.to_string(), prompt.unseen))
            }
            Ok(Work::Nothing) => None,
            Err(error) => panic!("{error}"),
        };
        let expected = expected.map(|(texts, last, unseen)| (texts, last.to_owned(), unseen));
        assert_eq!(given, expected, "{accepted:?}");
    }
}

#[test]
fn first_prompt_has_the_system_message() {
    let messages =
        json!([{"id": "s", "role": "system", "content": "Be kind."}, user("u", json!("Hi"))]);
    let given = prompt(ask(json!({"messages": messages}), json!({}), None));
    assert_eq!(
        serde_json::to_value(given.blocks).unwrap(),
        json!([
        {"type": "text", "text": "Be kind."}, {"type": "text", "text": "Hi"}])
    );
    assert_eq!(given.unseen, 0);
}

#[test]
fn input_without_a_new_user_message_has_no_work() {
    let table = [
        json!([assistant("a")]),
        json!([user("u", json!("x")), assistant("a")]),
        json!([{"id": "s", "role": "system", "content": "Be kind."}]),
    ];
    for messages in table {
        assert_eq!(ask(json!({"messages": messages}), json!({}), None), Ok(Work::Nothing));
    }
}

#[test]
fn each_part_has_a_block() {
    let data = |kind: &str, mime: &str| json!({"type": kind, "source": {"type": "data", "value": "AAAA", "mimeType": mime}});
    let blob = |mime: &str| {
        json!({"type": "resource", "annotations": {"audience": ["assistant"]},
        "resource": {"uri": "agui-attachment://0", "blob": "AAAA", "mimeType": mime}})
    };
    let url = |kind: &str| json!({"type": kind, "source": {"type": "url", "value": "https://h.example/a/b.png?c=d/e"}});
    let link =
        json!({"type": "resource_link", "name": "b.png", "uri": "https://h.example/a/b.png?c=d/e"});
    let table = [
        (json!({"type": "text", "text": "x"}), json!({"type": "text", "text": "x"})),
        (
            data("image", "image/png"),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        ),
        (
            data("audio", "audio/wav"),
            json!({"type": "audio", "data": "AAAA", "mimeType": "audio/wav"}),
        ),
        (data("video", "video/mp4"), blob("video/mp4")),
        (data("document", "application/pdf"), blob("application/pdf")),
        (url("image"), link.clone()),
        (url("audio"), link.clone()),
        (url("video"), link.clone()),
        (url("document"), link.clone()),
        (
            json!({"type": "binary", "mimeType": "image/png", "data": "AAAA"}),
            json!({"type": "image", "data": "AAAA", "mimeType": "image/png"}),
        ),
        (
            json!({"type": "binary", "mimeType": "application/pdf", "data": "AAAA"}),
            blob("application/pdf"),
        ),
    ];
    for (part, block) in table {
        assert_eq!(blocks(parts(json!([part])), all()), json!([block]), "{part}");
    }
    // A media block requires data, so a part with only a URL becomes a link for every agent.
    for (kind, mime) in [("document", "text/html"), ("image", "image/png"), ("audio", "audio/wav")]
    {
        let part = json!({"type": kind, "source": {"type": "url", "value": "http://host.example", "mimeType": mime}});
        for capabilities in [json!({}), all()] {
            assert_eq!(
                blocks(parts(json!([part])), capabilities),
                json!([{"type": "resource_link", "name": "host.example", "uri": "http://host.example", "mimeType": mime}])
            );
        }
    }
}

#[test]
fn unsupported_content_is_an_error_with_its_place() {
    let data = |kind: &str| json!({"type": kind, "source": {"type": "data", "value": "AAAA", "mimeType": "a/b"}});
    let file =
        json!({"type": "document", "source": {"type": "file", "value": "f-1", "provider": "p"}});
    let table = [
        (data("image"), json!({}), "images"),
        (data("audio"), json!({"image": true}), "audio"),
        (data("video"), json!({"image": true, "audio": true}), "videos"),
        (data("document"), json!({"embeddedContext": false}), "documents"),
        (file, all(), "files that a provider holds"),
        (
            json!({"type": "binary", "mimeType": "a/b", "id": "f"}),
            all(),
            "files that a provider holds",
        ),
        (json!({"type": "hologram"}), all(), "content of this kind"),
    ];
    for (part, capabilities, what) in table {
        let error = ask(parts(json!([{"type": "text", "text": "x"}, part])), capabilities, None)
            .unwrap_err();
        assert_eq!(
            error,
            InputError::Unsupported { pointer: "/messages/0/content/1".into(), what: what.into() }
        );
        assert_eq!(error.status(), 415);
    }
}

#[test]
fn invalid_parts_are_errors_with_their_place() {
    let data = |value: &str, mime: &str| json!({"type": "image", "source": {"type": "data", "value": value, "mimeType": mime}});
    let url = |value: &str| json!({"type": "image", "source": {"type": "url", "value": value}});
    let table = [
        (data("A", "image/png"), "value"),
        (data("", "image/png"), "value"),
        (data("AA=A", "image/png"), "value"),
        (data("A===", "image/png"), "value"),
        (data("AA-_", "image/png"), "value"),
        (data("AAAA", "png"), "mimeType"),
        (data("AAAA", "image/"), "mimeType"),
        (data("AAAA", "ima ge/png"), "mimeType"),
        (url("file:///etc/passwd"), "value"),
        (url("https://"), "value"),
        (url("https://h/a b"), "value"),
        (url("data:image/png;base64,AAAA"), "value"),
    ];
    for (part, member) in table {
        let error = ask(parts(json!([part])), all(), None).unwrap_err();
        let InputError::Invalid { pointer, .. } = &error else { panic!("{error:?}: {part}") };
        assert_eq!(*pointer, format!("/messages/0/content/0/source/{member}"), "{part}");
        assert_eq!(error.status(), 400);
    }
    for value in ["AAAA", "AAA=", "AA==", "+/09azAZ"] {
        assert!(
            ask(parts(json!([data(value, "image/svg+xml; charset=utf-8")])), all(), None).is_ok(),
            "{value}"
        );
    }
}

#[test]
fn blank_inputs_are_errors() {
    let error = ask(json!({"messages": []}), json!({}), None).unwrap_err();
    assert_eq!(error.status(), 400);
    assert_eq!(error.to_string().as_str(), "at /messages: expected at least one message");
    for content in [json!(""), json!(" \n"), json!([]), json!([{"type": "text", "text": ""}])] {
        let error = ask(json!({"messages": [assistant("a"), user("u", content)]}), json!({}), None)
            .unwrap_err();
        assert_eq!(error, InputError::Blank { pointer: "/messages/1/content".into() });
        assert_eq!(error.status(), 400);
    }
}

#[test]
fn context_follows_the_prompt() {
    let input = json!({"messages": [user("u", json!("Hi"))], "context": [
        {"description": "page", "value": "home"},
        {"description": "nothing", "value": " "},
        {"description": "", "value": "alone"},
    ]});
    assert_eq!(
        blocks(input.clone(), json!({})),
        json!([
            {"type": "text", "text": "Hi"},
            {"type": "text", "text": "page:\nhome"},
            {"type": "text", "text": "alone"},
        ])
    );
    let resource = |uri: &str, text: &str| {
        json!({"type": "resource", "annotations": {"audience": ["assistant"]},
        "resource": {"uri": uri, "text": text, "mimeType": "text/plain"}})
    };
    assert_eq!(
        blocks(input, all()),
        json!([
            {"type": "text", "text": "Hi"},
            resource("agui-context://0", "page:\nhome"),
            resource("agui-context://2", "alone"),
        ])
    );
}

#[test]
fn oversized_values_are_errors_with_their_place() {
    let entry = json!({"description": "d", "value": "v"});
    let long = json!({"description": "d", "value": "v".repeat(MAX_CONTEXT_BYTES)});
    let media = json!({"type": "image", "source": {"type": "data", "mimeType": "image/png",
        "value": "A".repeat(MAX_MEDIA_BYTES / 3 * 4)}});
    let table = [
        (
            json!({"messages": [user("u", json!("Hi"))], "context": vec![entry.clone(); MAX_CONTEXT_ENTRIES + 1]}),
            "/context",
        ),
        (json!({"messages": [user("u", json!("Hi"))], "context": [entry, long]}), "/context/1"),
        (
            parts(
                json!([media, {"type": "image", "source": {"type": "data", "value": "AAAA", "mimeType": "image/png"}}]),
            ),
            "/messages/0/content/1/source/value",
        ),
    ];
    for (input, place) in table {
        let error = ask(input, all(), None).unwrap_err();
        let InputError::TooLarge { pointer, .. } = &error else { panic!("{error:?}") };
        assert_eq!(pointer, place);
        assert_eq!(error.status(), 413);
    }
}
