//! Laws of bound tokens, for any responses.
use super::*;
use crate::auth::CALLBACK;

/// A response of the peers: the expected one for the URL, or another one.
#[derive(Clone, Debug)]
struct Answer {
    other: Option<(u16, &'static str)>,
    nonce: Option<&'static str>,
}

fn answer() -> impl Strategy<Value = Answer> {
    let other = prop::sample::select(vec![
        (400, REJECTED),
        (401, REJECTED),
        (400, r#"{"error":"invalid_dpop_proof"}"#),
        (404, ""),
        (200, REJECTED),
        (200, "null"),
        (200, r#"{"access_token":"t2","token_type":"Bearer"}"#),
    ]);
    let nonce = prop::sample::select(vec!["n1", "n2", "n3", "", "a b", "\u{0}"]);
    let other = prop::option::weighted(0.4, other);
    let nonce = prop::option::of(nonce);
    (other, nonce).prop_map(|(other, nonce)| Answer { other, nonce })
}

/// A response of the token endpoint, which often rejects the nonce.
fn token_answer() -> impl Strategy<Value = Answer> {
    let rejects = prop::sample::select(vec!["n1", "n2", "n3"])
        .prop_map(|nonce| Answer { other: Some((400, REJECTED)), nonce: Some(nonce) });
    prop_oneof![3 => rejects, 1 => answer()]
}

fn good(url: &str) -> Value {
    match url.rsplit('/').next() {
        Some("register") => json!({ "client_id": "c1" }),
        Some("token") => {
            json!({ "access_token": "t1", "token_type": "DPoP", "refresh_token": "r1" })
        }
        _ if url.contains("protected-resource") => resource(&["read"]),
        _ => able(),
    }
}

proptest! {
    /// For any responses, a sign-in ends after a limited number of requests, and only token
    /// requests have proofs.
    #[test]
    fn responses_cause_a_limited_number_of_requests(
        answers in prop::collection::vec(answer(), 1..12),
        token_answers in prop::collection::vec(token_answer(), 1..4),
        grant in prop::sample::select(vec![Grant::AuthorizationCode, Grant::ClientSecret, Grant::ClientAssertion, Grant::JwtBearer]),
        is_required in any::<bool>(),
        is_known in any::<bool>(),
    ) {
        let mut options = with_key(options(), is_required);
        options.grant = grant;
        if grant != Grant::AuthorizationCode {
            options.registration = Some(ClientRegistration::new(ISSUER, "c1", Some("s1".into())));
        }
        let mut authorizer = authorizer(options);
        if is_known {
            authorizer = authorizer.with_credentials(signed_in().credentials().expect("some").clone());
        }
        authorizer.handle_challenge(401, Some("DPoP"), RANDOM);
        let mut answers = answers.iter().cycle();
        let mut token_answers = token_answers.iter().cycle();
        let mut requests = 0;
        let mut is_ended = false;
        while !is_ended {
            while let Some(request) = authorizer.poll_request() {
                requests += 1;
                // Two places of the server, three of the authorization server, a registration, a
                // refresh and a code, the last two repeated.
                prop_assert!(requests <= 10);
                let is_token = request.url == "https://as.example/token";
                prop_assert_eq!(request.proof.is_some(), is_token);
                let answer = if is_token { token_answers.next() } else { answers.next() };
                let answer = answer.expect("a cycle");
                if let Some(nonce) = answer.nonce {
                    authorizer.handle_nonce(nonce);
                }
                match answer.other {
                    Some((status, body)) => authorizer.handle_response(status, body),
                    None => authorizer.handle_response(200, &good(&request.url).to_string()),
                }
            }
            match authorizer.poll_event() {
                Some(AuthEvent::Open { url }) => {
                    let state = url.split('&').find_map(|pair| pair.strip_prefix("state=")).expect("a state");
                    let redirect = format!("{CALLBACK}?code=x1&state={state}");
                    prop_assert!(authorizer.handle_redirect(&redirect).is_ok());
                }
                Some(AuthEvent::Assert(_)) => authorizer.handle_assertion("a.b.c"),
                event => {
                    prop_assert!(matches!(event, Some(AuthEvent::SignedIn | AuthEvent::Failed(_))), "{:?}", event);
                    is_ended = true;
                }
            }
        }
        prop_assert_eq!(authorizer.poll_request(), None);
        prop_assert_eq!(authorizer.poll_event(), None);
    }
}
