//! Conversations that the page has changed.
use super::*;
use agui_bridge::input::Divergence;

#[test]
fn client_with_new_ids_keeps_its_session() {
    let conversation = knowing(&history());
    let texts_of = history();
    let texts_of: Vec<_> = texts_of.as_array().unwrap().iter().collect();
    let renamed = |round: &str| {
        let renamed = texts_of.iter().enumerate().map(|(index, message)| {
            let mut message = (*message).clone();
            message["id"] = json!(format!("{round}-{index}"));
            message
        });
        Value::Array(renamed.collect())
    };
    let mut after = conversation;
    let mut known = renamed("a");
    for round in ["b", "c"] {
        let question = user(round, round);
        known.as_array_mut().unwrap().push(question);
        let input = said(known.clone());
        let next = plan(&after, &input);
        assert_eq!(next.session.clone(), SessionStep::Keep);
        assert_eq!(next.diverged.clone(), None);
        assert_eq!(texts(&next), [round]);
        after.accept(&input, &next);
        // Each input has other ids.
        for (index, message) in known.as_array_mut().unwrap().iter_mut().enumerate() {
            message["id"] = json!(format!("{round}-{index}"));
        }
    }
    // An edit is seen under a known id and under a new one.
    for id in ["b-0", "new"] {
        let mut edited = known.clone();
        edited[0] = user(id, "edited");
        assert_eq!(plan(&after, &said(edited)).diverged.as_deref(), Some("/messages/0"), "{id}");
    }
}

#[test]
fn changed_conversation_begins_a_session_with_its_text() {
    let conversation = knowing(&history());
    for (messages, pointer, unseen) in changed() {
        let input = said(messages.clone());
        let plan = plan(&conversation, &input);
        assert_eq!(plan.session.clone(), new(), "{messages}");
        assert_eq!(plan.diverged.as_deref(), Some(pointer), "{messages}");
        let mut told = texts(&plan);
        let last =
            messages.as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        assert_eq!(told.pop(), Some(last));
        assert_eq!(plan.prompt.as_ref().unwrap().unseen, unseen);
        let transcript = told.pop().unwrap_or_default();
        for message in &messages.as_array().unwrap()[..unseen] {
            assert!(transcript.contains(message["content"].as_str().unwrap()), "{transcript}");
        }
        let mut after = conversation.clone();
        after.accept(&input, &plan);
        let more = with(&messages, &[user("next", "more")]);
        let next = self::plan(&after, &more);
        assert_eq!(next.session.clone(), SessionStep::Keep, "{messages}");
        assert_eq!(next.diverged.clone(), None, "{messages}");
        assert_eq!(texts(&next), ["more"]);
    }
}

#[test]
fn changed_conversation_follows_the_other_rules() {
    let conversation = knowing(&history());
    let mut rules = Rules::new();
    for (messages, pointer, unseen) in changed() {
        let input = said(messages.clone());
        rules.divergence = Divergence::Reject;
        let error = plan_by(&conversation, &input, &rules).unwrap_err();
        assert_eq!(&error, &InputError::Diverged { pointer: pointer.into() });
        assert_eq!(error.status(), 409);
        rules.divergence = Divergence::Ignore;
        let ignored = plan_by(&conversation, &input, &rules).unwrap();
        assert_eq!(ignored.session.clone(), SessionStep::Keep);
        assert_eq!(texts(&ignored).len(), 1);
        rules.divergence = Divergence::Fork;
        let forked = plan_by(&conversation, &input, &rules).unwrap();
        assert_eq!(forked.session.clone(), SessionStep::Fork { cursor: None });
        assert_eq!(texts(&forked).len(), 2);
        let last = unseen
            .checked_sub(1)
            .map_or("said before.", |last| messages[last]["content"].as_str().unwrap());
        assert!(texts(&forked)[0].ends_with(last), "{:?}", texts(&forked));
    }
}

#[test]
fn truncated_answer_is_accepted_if_the_user_continues() {
    let conversation = knowing(&history());
    let [u1, a1, u2] = [user("u1", "one"), agent("a1", "first"), user("u2", "two")];
    for messages in [
        json!([u1, a1, u2, user("u3", "three")]),
        json!([u1, a1, u2, agent("a2", "sec"), user("u3", "three")]),
    ] {
        let plan = plan(&conversation, &said(messages));
        assert_eq!(plan.session.clone(), SessionStep::Keep);
        assert_eq!(plan.diverged.clone(), None);
        assert_eq!(texts(&plan), ["three"]);
    }
}

/// User messages from the agent are part of the user's messages: the page may omit them, but not
/// change or move them.
#[test]
fn user_messages_of_the_agent_are_not_repeated() {
    let mut conversation = knowing(&json!([user("u1", "one")]));
    for event in [
        json!({"type": "TEXT_MESSAGE_START", "messageId": "told", "role": "user"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "told", "delta": "as you said"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "told"}),
    ] {
        conversation.handle_event(&decode::<Event>(&event.to_string()).unwrap());
    }
    let [u1, told, u2] = [user("u1", "one"), user("told", "as you said"), user("u2", "two")];
    let table = [
        (json!([u1, told, u2]), None, vec!["two"]),
        (json!([u1, u2]), None, vec!["two"]),
        (json!([u1, u2, told]), Some("/messages/1"), vec!["one", "two", "as you said"]),
        (
            json!([u1, user("told", "as you never said"), u2]),
            Some("/messages/1"),
            vec!["one", "as you never said", "two"],
        ),
    ];
    for (messages, diverged, expected) in table {
        let plan = plan(&conversation, &said(messages.clone()));
        assert_eq!(plan.diverged.as_deref(), diverged, "{messages}");
        assert_eq!(texts(&plan), expected, "{messages}");
    }
}
