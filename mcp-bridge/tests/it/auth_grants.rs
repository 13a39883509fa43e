//! Grants of clients without a user.
use crate::auth::{
    RANDOM, authorizer, failed, options, parameters, resource, respond, sent, server, with,
};
use mcp_bridge::client::auth::{AuthError, AuthEvent, Authorizer, ClientRegistration, Grant};
use serde_json::{Value, json};

const ISSUER: &str = "https://as.example";
const SERVER: &str = "https://mcp.example/mcp";

/// The metadata of an authorization server without a page.
fn machines(methods: &[&str]) -> Value {
    json!({
        "issuer": ISSUER,
        "token_endpoint": "https://as.example/token",
        "scopes_supported": ["read", "offline_access"],
        "token_endpoint_auth_methods_supported": methods,
    })
}

fn client(grant: Grant, id: &str, secret: Option<&str>) -> Authorizer {
    let mut options = options();
    options.grant = grant;
    options.registration = Some(ClientRegistration::new(ISSUER, id, secret.map(str::to_owned)));
    authorizer(options)
}

fn challenge(authorizer: &mut Authorizer, metadata: &Value) {
    authorizer.handle_challenge(401, Some("Bearer scope=\"read\""), RANDOM);
    respond(authorizer, &resource(&[]));
    respond(authorizer, metadata);
}

/// Returns the header and the sorted form of the token request.
fn token_request(authorizer: &mut Authorizer) -> (Option<String>, Vec<(String, String)>) {
    let request = sent(authorizer);
    assert_eq!(request.url, "https://as.example/token");
    let mut form = parameters(&request.body.expect("a form").1);
    form.sort();
    (request.authorization, form)
}

fn expected(form: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut form: Vec<_> =
        form.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    form.sort();
    form
}

fn assert_signed_in(authorizer: &mut Authorizer, token: &str) {
    let body = json!({ "access_token": token, "token_type": "Bearer", "refresh_token": "r1" });
    authorizer.handle_response(200, &body.to_string());
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
    assert_eq!(authorizer.authorization(), Some(format!("Bearer {token}")));
}

/// The forms are those of the examples of the specification.
#[test]
fn client_with_a_secret_needs_no_page() {
    let common = [("grant_type", "client_credentials"), ("resource", SERVER), ("scope", "read")];
    let cases = [
        ("client_secret_basic", Some("Basic YzE6czE="), &[][..]),
        ("client_secret_post", None, &[("client_id", "c1"), ("client_secret", "s1")][..]),
    ];
    for (method, header, further) in cases {
        let mut authorizer = client(Grant::ClientSecret, "c1", Some("s1"));
        // A rejected token is requested again and not refreshed.
        for token in ["t1", "t2"] {
            challenge(&mut authorizer, &machines(&[method]));
            let (authorization, form) = token_request(&mut authorizer);
            assert_eq!(authorization.as_deref(), header);
            assert_eq!(form, expected(&[&common, further].concat()));
            assert_signed_in(&mut authorizer, token);
        }
    }
}

/// Spec: [RFC 6749, section 5.2](https://www.rfc-editor.org/rfc/rfc6749#section-5.2)
#[test]
fn rejected_client_is_told_from_other_errors() {
    for (status, error) in [(401, "invalid_client"), (400, "unauthorized_client")] {
        let mut authorizer = client(Grant::ClientSecret, "c1", Some("s1"));
        challenge(&mut authorizer, &machines(&["client_secret_basic"]));
        sent(&mut authorizer);
        let body = json!({ "error": error, "error_description": "No." });
        authorizer.handle_response(status, &body.to_string());
        assert_eq!(failed(&mut authorizer), AuthError::Client(format!("{error}: No.")));
    }
}

#[test]
fn client_with_a_key_authenticates_with_its_jwt() {
    let mut authorizer = client(Grant::ClientAssertion, "c1", None);
    challenge(&mut authorizer, &machines(&["private_key_jwt"]));
    assert_eq!(authorizer.poll_request(), None);
    let Some(AuthEvent::Assert(wanted)) = authorizer.poll_event() else { panic!("no event") };
    assert_eq!(wanted.issuer, ISSUER);
    assert_eq!(wanted.token_endpoint, "https://as.example/token");
    assert_eq!(wanted.resource.as_str(), SERVER);
    assert_eq!(wanted.scopes, vec!["read".to_owned()]);
    assert_eq!(wanted.id, "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk");
    authorizer.handle_assertion("a.b.c");
    let (authorization, form) = token_request(&mut authorizer);
    assert_eq!(authorization, None);
    let assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let example = [
        ("grant_type", "client_credentials"),
        ("client_assertion_type", assertion_type),
        ("client_assertion", "a.b.c"),
        ("resource", SERVER),
        ("scope", "read"),
    ];
    assert_eq!(form, expected(&example));
    // No JWT is awaited.
    authorizer.handle_assertion("d.e.f");
    assert_eq!(authorizer.poll_request(), None);
    assert_signed_in(&mut authorizer, "t1");
}

#[test]
fn jwt_of_a_third_party_is_presented() {
    let cases = [
        ("", None, None, &[][..]),
        ("c1", None, None, &[("client_id", "c1")][..]),
        ("c1", Some("s1"), Some("Basic YzE6czE="), &[][..]),
    ];
    for (id, secret, header, further) in cases {
        let mut authorizer = client(Grant::JwtBearer, id, secret);
        challenge(&mut authorizer, &machines(&["none", "client_secret_basic"]));
        assert!(matches!(authorizer.poll_event(), Some(AuthEvent::Assert(_))));
        authorizer.handle_assertion("a.b.c");
        let (authorization, form) = token_request(&mut authorizer);
        assert_eq!(authorization.as_deref(), header);
        let example = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", "a.b.c"),
            ("resource", SERVER),
            ("scope", "read"),
        ];
        assert_eq!(form, expected(&[&example, further].concat()));
        assert_signed_in(&mut authorizer, "t1");
    }
}

/// The server could name an authorization server of its own.
#[test]
fn secret_reaches_the_authorization_server_of_the_registration_only() {
    for grant in [Grant::ClientSecret, Grant::ClientAssertion, Grant::JwtBearer] {
        let mut options = options();
        options.grant = grant;
        let other = ClientRegistration::new("https://other.example", "c1", Some("s1".into()));
        for registration in [None, Some(other)] {
            options.registration = registration;
            let mut authorizer = authorizer(options.clone());
            challenge(&mut authorizer, &with(machines(&["client_secret_basic"]), server(ISSUER)));
            assert_eq!(failed(&mut authorizer), AuthError::NoRegistration(ISSUER.into()));
            assert_eq!(authorizer.poll_request(), None);
        }
    }
}

#[test]
fn rejected_jwt_ends_the_sign_in() {
    let mut authorizer = client(Grant::JwtBearer, "", None);
    challenge(&mut authorizer, &machines(&["none"]));
    authorizer.poll_event();
    authorizer.handle_unreachable("no request was sent");
    authorizer.handle_assertion("a.b.c");
    sent(&mut authorizer);
    authorizer.handle_response(400, r#"{"error":"invalid_grant"}"#);
    let message = "the token endpoint responded with status 400: invalid_grant";
    assert_eq!(failed(&mut authorizer).to_string(), message);
    assert_eq!(authorizer.poll_request(), None);
    assert_eq!(authorizer.poll_event(), None);
    // The program has no JWT.
    challenge(&mut authorizer, &machines(&["none"]));
    authorizer.poll_event();
    authorizer.cancel("no such file");
    assert_eq!(failed(&mut authorizer), AuthError::Cancelled("no such file".into()));
}

#[test]
fn user_needs_a_page() {
    let mut authorizer = authorizer(options());
    let pkce = json!({ "code_challenge_methods_supported": ["S256"] });
    challenge(&mut authorizer, &with(machines(&["none"]), pkce));
    assert_eq!(failed(&mut authorizer), AuthError::NoPage(ISSUER.into()));
}
