//! Permission requests in the stream, answered by separate requests.
use crate::gateway::Gateway;
use serde_json::json;

#[tokio::test]
async fn answer_reaches_agent() {
    let gateway = Gateway::asking_in_stream().await;
    for (answer, said, end) in [
        (json!({ "optionId": "allow-once" }), "I have edited greeting.txt", "success"),
        (json!({ "optionId": "reject-once" }), "Then I leave greeting.txt as it is", "success"),
        (json!({ "cancelled": true }), "", "cancelled"),
    ] {
        let id = answer.to_string();
        let mut run = gateway.ask(&id, &id, "edit").await;
        let asked = run.until_asked().await;
        let (status, _) = gateway.post(&format!("interrupts/{asked}"), &answer).await;
        assert_eq!(status, 202);
        let told = run.rest().await;
        assert_eq!(told.end(), end, "{answer}");
        assert!(told.text().contains(said), "{answer}: {}", told.text());

        let requested = &told.customs("acp.permission.requested")[0];
        assert_eq!(requested["title"], "Edit greeting.txt?");
        let options = requested["options"].as_array().unwrap();
        let options: Vec<_> = options.iter().map(|option| &option["optionId"]).collect();
        assert_eq!(options, ["allow-once", "allow-always", "reject-once"]);

        let mut resolved = json!({ "interruptId": asked, "outcome": "cancelled" });
        if let Some(option) = answer.get("optionId") {
            resolved = json!({ "interruptId": asked, "outcome": "selected", "optionId": option });
        }
        resolved["answeredBy"] = "user".into();
        assert_eq!(told.customs("acp.permission.resolved"), [resolved]);
    }
}

#[tokio::test]
async fn invalid_answer_is_refused_without_effect() {
    let gateway = Gateway::asking_in_stream().await;
    let mut run = gateway.ask("t", "r", "permission").await;
    let asked = run.until_asked().await;
    let here = format!("interrupts/{asked}");
    let either = "expected one of `optionId`, `action`, and `cancelled: true`";
    for (path, body, status, message) in [
        ("interrupts/nothing", json!({ "cancelled": true }), 404, "no question has this id"),
        // Guesses: a number of a thread, and a number in it.
        ("interrupts/1-int-1", json!({ "cancelled": true }), 404, "no question has this id"),
        ("interrupts/1-int-2", json!({ "cancelled": true }), 404, "no question has this id"),
        ("interrupts/7-int-1", json!({ "cancelled": true }), 404, "no question has this id"),
        (&here, json!({ "optionId": "maybe" }), 400, "does not offer this option"),
        (&here, json!({}), 400, either),
        (&here, json!({ "cancelled": false }), 400, either),
        (&here, json!({ "cancelled": true, "optionId": "allow-once" }), 400, either),
        (&here, json!({ "action": "accept", "content": {} }), 400, "another kind"),
        (&here, json!({ "action": "maybe" }), 400, either),
        (&here, json!({ "optionId": 7 }), 400, "at /optionId: expected a string, got number"),
        (&here, json!([]), 400, "expected"),
    ] {
        let (got, said) = gateway.post(path, &body).await;
        assert_eq!(got, status, "{path} {body}: {said}");
        assert!(said.contains(message), "{path} {body}: {said}");
    }
    let allow = json!({ "optionId": "allow-once" });
    assert_eq!(gateway.post(&here, &allow).await.0, 202);
    let (status, said) = gateway.post(&here, &allow).await;
    assert_eq!(status, 409);
    assert!(said.contains("is already answered"), "{said}");
    assert_eq!(run.rest().await.end(), "success");
    // Also after the end of the run.
    assert_eq!(gateway.post(&here, &allow).await.0, 409);
}

/// An agent cannot find the id of its own question: it has 128 random bits.
#[tokio::test]
async fn ids_of_questions_cannot_be_guessed() {
    let mut random = Vec::new();
    for _ in 0..2 {
        let gateway = Gateway::asking_in_stream().await;
        let asked = gateway.ask("t", "r", "permission").await.until_asked().await;
        let part = asked.split('-').find(|part| part.len() == 32).expect(&asked).to_owned();
        assert!(part.chars().all(|digit| digit.is_ascii_hexdigit()), "{asked}");
        random.push(part);
    }
    assert_ne!(random[0], random[1], "each start has its own");
}

#[tokio::test]
async fn requests_of_two_threads_are_separate() {
    let gateway = Gateway::asking_in_stream().await;
    let mut one = gateway.ask("one", "1", "permission").await;
    let mut two = gateway.ask("two", "2", "permission").await;
    let first = one.until_asked().await;
    let second = two.until_asked().await;
    assert_ne!(first, second);
    gateway.post(&format!("interrupts/{second}"), &json!({ "optionId": "reject-once" })).await;
    assert!(two.rest().await.text().contains("As you wish"));
    gateway.post(&format!("interrupts/{first}"), &json!({ "optionId": "allow-once" })).await;
    assert!(one.rest().await.text().contains("Thank you"));
}

#[tokio::test]
async fn policy_answers_at_once() {
    for (policy, said, option) in
        [("allow", "Thank you", "allow-once"), ("reject", "As you wish", "reject-once")]
    {
        let gateway = Gateway::demo(&["--permission", policy]).await;
        let told = gateway.ask("t", "r", "permission").await.rest().await;
        assert_eq!(told.end(), "success");
        assert!(told.text().contains(said), "{policy}: {}", told.text());
        assert_eq!(told.customs("acp.permission")[0]["optionId"], option);
        assert!(told.customs("acp.permission.requested").is_empty());
    }
}
