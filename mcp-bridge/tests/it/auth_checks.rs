//! Checks of sign-ins: metadata, redirects and tokens of others are rejected.
use crate::auth::{
    CALLBACK, RANDOM, authorizer, failed, open, options, page, parameter, parameters, redirect,
    resource, respond, sent, server, sign_in, with,
};
use mcp_bridge::client::auth::{AuthError, AuthEvent, Authorizer};
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn metadata_of_others_is_rejected() {
    let cases = [
        (
            with(resource(&[]), json!({ "resource": "https://evil.example/mcp" })),
            server("https://as.example"),
            "belongs to",
        ),
        (
            with(resource(&[]), json!({ "authorization_servers": [] })),
            Value::Null,
            "lists no authorization server",
        ),
        (
            with(resource(&[]), json!({ "authorization_servers": ["http://as.example"] })),
            Value::Null,
            "invalid URL",
        ),
        (resource(&[]), server("https://evil.example"), "expected the issuer"),
        (resource(&[]), server("https://as.example/"), "expected the issuer"),
        (
            resource(&[]),
            with(server("https://as.example"), json!({ "token_endpoint": "http://as.example/t" })),
            "token endpoint",
        ),
        (
            resource(&[]),
            with(server("https://as.example"), json!({ "authorization_endpoint": "javascript:x" })),
            "authorization endpoint",
        ),
        (
            resource(&[]),
            with(
                server("https://as.example"),
                json!({ "registration_endpoint": "http://as.example/r" }),
            ),
            "registration endpoint",
        ),
        (
            resource(&[]),
            with(server("https://as.example"), json!({ "registration_endpoint": null })),
            "register this client",
        ),
        (
            resource(&[]),
            with(
                server("https://as.example"),
                json!({ "code_challenge_methods_supported": ["plain"] }),
            ),
            "PKCE",
        ),
        (resource(&[]), json!([]), "metadata of the authorization server"),
    ];
    for (resource, metadata, expected) in cases {
        let mut authorizer = authorizer(options());
        authorizer.handle_challenge(401, None, RANDOM);
        respond(&mut authorizer, &resource);
        if authorizer.poll_request().is_some() {
            authorizer.handle_response(200, &metadata.to_string());
        }
        let error = failed(&mut authorizer).to_string();
        assert!(error.contains(expected), "{expected}: {error}");
        assert_eq!(authorizer.poll_request(), None);
    }
}

/// The program would send requests within its own network for the server.
#[test]
fn public_server_names_no_private_address() {
    let private = "https://169.254.169.254";
    let named = |url: &str, endpoint: &str| {
        let good = server("https://as.example");
        let listed = json!({ "authorization_servers": [url] });
        let at_url = json!({ "resource": url, "authorization_servers": ["https://as.example"] });
        match endpoint {
            "metadata" => (url.to_owned(), Value::Null, Value::Null),
            "issuer" => (String::new(), with(resource(&[]), listed), server(url)),
            "local" => (String::new(), with(at_url, listed), server(url)),
            _ => (String::new(), resource(&[]), with(good, json!({ endpoint: url }))),
        }
    };
    for endpoint in ["metadata", "issuer", "token_endpoint", "registration_endpoint"] {
        for url in [private, "https://10.0.0.1:1/x", "http://localhost:1/x", "https://db.internal"]
        {
            let (place, resource, metadata) = named(url, endpoint);
            let header =
                (!place.is_empty()).then(|| format!("Bearer resource_metadata=\"{place}\""));
            let mut authorizer = authorizer(options());
            authorizer.handle_challenge(401, header.as_deref(), RANDOM);
            for body in [&resource, &metadata] {
                if authorizer.poll_request().is_some() {
                    authorizer.handle_response(200, &body.to_string());
                }
            }
            let error = failed(&mut authorizer);
            assert!(matches!(error, AuthError::Private { .. }), "{endpoint} {url}: {error}");
            assert_eq!(authorizer.poll_request(), None);
        }
    }
    // A server of the own network has its authorization server there.
    let (_, resource, metadata) = named("http://127.0.0.1:1", "local");
    let mut local = Authorizer::new("http://127.0.0.1:1/mcp", options()).expect("a URL");
    local.handle_challenge(401, None, RANDOM);
    respond(&mut local, &resource);
    respond(&mut local, &metadata);
    assert_eq!(sent(&mut local).url, "http://127.0.0.1:1/register");
}

fn signed_out(authorizer: &mut Authorizer) -> bool {
    match authorizer.poll_event() {
        Some(AuthEvent::SignedOut { is_revoked }) => is_revoked,
        other => panic!("not signed out: {other:?}"),
    }
}

#[test]
fn sign_out_revokes_the_tokens_where_supported() {
    let endpoint = json!({ "revocation_endpoint": "https://as.example/revoke" });
    let able = with(server("https://as.example"), endpoint);
    let signed_in = || {
        let mut authorizer = authorizer(options());
        sign_in(&mut authorizer, &able, json!({ "refresh_token": "r1" }));
        authorizer.handle_sign_out();
        assert_eq!(authorizer.authorization(), None, "forgotten at once");
        authorizer
    };
    let mut authorizer = signed_in();
    respond(&mut authorizer, &able);
    for (kind, token) in [("refresh_token", "r1"), ("access_token", "t1")] {
        let request = sent(&mut authorizer);
        assert_eq!(request.url, "https://as.example/revoke");
        let form = parameters(&request.body.expect("a body").1);
        for (name, value) in [("token", token), ("token_type_hint", kind), ("client_id", "c1")] {
            assert_eq!(parameter(&form, name).as_deref(), Some(value));
        }
        match kind {
            "refresh_token" => authorizer.handle_response(200, ""),
            _ => authorizer.handle_response(400, r#"{"error":"unsupported_token_type"}"#),
        }
    }
    assert!(signed_out(&mut authorizer));

    let mut authorizer = signed_in();
    respond(&mut authorizer, &server("https://as.example"));
    assert!(!signed_out(&mut authorizer), "the authorization server cannot revoke");
    authorizer.handle_sign_out();
    assert!(!signed_out(&mut authorizer), "there are no tokens");

    let mut authorizer = signed_in();
    respond(&mut authorizer, &able);
    sent(&mut authorizer);
    authorizer.handle_response(503, "");
    assert!(matches!(failed(&mut authorizer), AuthError::Status { status: 503, .. }));
    assert_eq!(authorizer.authorization(), None);
    assert_eq!(authorizer.poll_request(), None);
}

#[test]
fn issuer_of_the_redirect_is_compared() {
    let advertised = with(
        server("https://as.example"),
        json!({ "authorization_response_iss_parameter_supported": true }),
    );
    let cases = [
        (server("https://as.example"), "", true),
        (server("https://as.example"), "&iss=https://as.example", true),
        (server("https://as.example"), "&iss=https://evil.example", false),
        (advertised.clone(), "&iss=https%3A%2F%2Fas.example", true),
        (advertised.clone(), "&iss=https://as.example/", false),
        (advertised.clone(), "", false),
    ];
    for (metadata, further, is_accepted) in cases {
        let mut authorizer = authorizer(options());
        let page = open(&mut authorizer, "Bearer", &metadata, &resource(&[]));
        redirect(&mut authorizer, &page, &format!("&code=x1{further}"));
        assert_eq!(authorizer.poll_request().is_some(), is_accepted, "{further}");
        if !is_accepted {
            assert!(matches!(failed(&mut authorizer), AuthError::Issuer { .. }));
        }
    }
}

#[test]
fn redirect_of_another_sign_in_is_ignored() {
    let mut authorizer = authorizer(options());
    assert_eq!(
        authorizer.handle_redirect(&format!("{CALLBACK}?code=x1&state=a")),
        Err(AuthError::OtherSignIn)
    );
    let page = open(&mut authorizer, "Bearer", &server("https://as.example"), &resource(&[]));
    for other in ["?code=x1&state=a", "?code=x1", "", "?code=x1&state="] {
        assert_eq!(
            authorizer.handle_redirect(&format!("{CALLBACK}{other}")),
            Err(AuthError::OtherSignIn)
        );
    }
    assert_eq!(authorizer.poll_request(), None);
    assert_eq!(authorizer.poll_event(), None);
    redirect(&mut authorizer, &page, "&error=access_denied&error_description=no");
    assert_eq!(failed(&mut authorizer), AuthError::Denied("access_denied: no".into()));
}

#[test]
fn credentials_stay_with_their_authorization_server() {
    let mut authorizer = authorizer(options());
    sign_in(&mut authorizer, &server("https://as.example"), json!({ "refresh_token": "r1" }));
    authorizer.handle_challenge(401, None, RANDOM);
    respond(
        &mut authorizer,
        &with(resource(&["read"]), json!({ "authorization_servers": ["https://new.example"] })),
    );
    respond(&mut authorizer, &server("https://new.example"));
    let request = sent(&mut authorizer);
    assert_eq!(request.url, "https://new.example/register");
    assert!(!request.body.expect("a body").1.contains("r1"));
    authorizer.handle_response(201, r#"{"client_id":"c2"}"#);
    assert_eq!(parameter(&page(&mut authorizer), "client_id").as_deref(), Some("c2"));
}

#[test]
fn unusable_tokens_are_rejected() {
    for token in [
        json!({ "access_token": "t1", "token_type": "DPoP" }),
        json!({ "access_token": "", "token_type": "Bearer" }),
        json!({ "access_token": "a\r\nX: b", "token_type": "Bearer" }),
        json!({ "token_type": "Bearer" }),
    ] {
        let mut authorizer = authorizer(options());
        let page = open(&mut authorizer, "Bearer", &server("https://as.example"), &resource(&[]));
        redirect(&mut authorizer, &page, "&code=x1");
        respond(&mut authorizer, &token);
        failed(&mut authorizer);
        assert_eq!(authorizer.authorization(), None);
    }
}

/// An input of the peers, the user, or the caller.
#[derive(Clone, Debug)]
enum Input {
    Challenge(u16, Option<String>),
    Response(u16, String),
    Redirect { has_state: bool, rest: String },
    Cancel,
    SignOut,
}

fn input() -> impl Strategy<Value = Input> {
    let good = server("https://as.example");
    let bodies = vec![
        resource(&["read"]).to_string(),
        good.to_string(),
        with(good, json!({ "registration_endpoint": "http://evil.example" })).to_string(),
        server("https://evil.example").to_string(),
        json!({ "client_id": "c1", "client_secret": "s" }).to_string(),
        json!({ "access_token": "t1", "token_type": "Bearer", "refresh_token": "r1" }).to_string(),
        json!({ "error": "invalid_grant" }).to_string(),
        "<html>".into(),
    ];
    let headers = prop::sample::select(vec![
        None,
        Some("Bearer".to_owned()),
        Some("Bearer scope=\"a\", error=\"insufficient_scope\"".to_owned()),
        Some("Bearer resource_metadata=\"http://evil.example/\"".to_owned()),
    ]);
    let further =
        prop::sample::select(vec!["&code=x1", "&iss=https://evil.example&code=x1", "&error=e", ""]);
    prop_oneof![
        1 => (prop::sample::select(vec![401, 403]), headers).prop_map(|(status, header)| Input::Challenge(status, header)),
        6 => (prop::sample::select(vec![200, 200, 200, 404, 500]), prop::sample::select(bodies))
            .prop_map(|(status, body)| Input::Response(status, body)),
        2 => (prop::bool::weighted(0.8), further)
            .prop_map(|(has_state, rest)| Input::Redirect { has_state, rest: rest.into() }),
        1 => Just(Input::Cancel),
        1 => Just(Input::SignOut),
    ]
}

proptest! {
    /// For any inputs, secrets are sent to the token endpoint of the listed authorization server
    /// only, and a token is accepted only as the response to a request with the code of the
    /// sign-in, or with a refresh token.
    #[test]
    fn secrets_stay_with_the_authorization_server(inputs in prop::collection::vec(input(), 0..60)) {
        let mut authorizer = authorizer(options());
        let mut state = None::<String>;
        let mut can_sign_in = false;
        let mut is_open = false;
        for input in inputs {
            let is_redirect = matches!(input, Input::Redirect { has_state: true, .. });
            match input {
                Input::Challenge(status, header) => {
                    can_sign_in = false;
                    is_open = false;
                    authorizer.handle_challenge(status, header.as_deref(), RANDOM);
                }
                Input::Response(status, body) => authorizer.handle_response(status, &body),
                Input::Redirect { has_state, rest } => {
                    let state = state.clone().filter(|_| has_state).unwrap_or_default();
                    let handled = authorizer.handle_redirect(&format!("{CALLBACK}?state={state}{rest}"));
                    prop_assert_eq!(handled.is_ok(), is_open && has_state);
                    is_open &= handled.is_err();
                }
                Input::Cancel => {
                    is_open = false;
                    authorizer.cancel("enough");
                }
                Input::SignOut => {
                    can_sign_in = false;
                    is_open = false;
                    authorizer.handle_sign_out();
                    prop_assert_eq!(authorizer.authorization(), None);
                }
            }
            if let Some(request) = authorizer.poll_request() {
                prop_assert!(request.url.starts_with("https://mcp.example/.well-known/") || request.url.starts_with("https://as.example/"), "{}", request.url);
                let body = request.body.map(|(_, body)| body).unwrap_or_default();
                let has_secret = ["code_verifier", "refresh_token=", "client_secret"].iter().any(|it| body.contains(it));
                prop_assert!(!has_secret || request.url == "https://as.example/token");
                prop_assert!(!body.contains("code_verifier") || is_redirect);
                can_sign_in |= request.url == "https://as.example/token";
            }
            while let Some(event) = authorizer.poll_event() {
                match event {
                    AuthEvent::Open { url } => {
                        prop_assert!(url.starts_with("https://as.example/authorize?"));
                        state = parameter(&parameters(url.split_once('?').expect("a query").1), "state");
                        is_open = true;
                    }
                    AuthEvent::SignedIn => prop_assert!(std::mem::take(&mut can_sign_in)),
                    _ => is_open = false,
                }
            }
        }
    }
}
