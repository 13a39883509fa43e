//! Sign-in of clients with OAuth 2.1.
use mcp_bridge::client::auth::{
    AuthError, AuthEvent, AuthOptions, AuthRequest, Authorizer, ClientRegistration, Credentials,
};
use serde_json::{Value, json};

const SERVER: &str = "https://mcp.example/mcp";
pub(crate) const CALLBACK: &str = "http://127.0.0.1:7777/callback";

/// Random bytes that begin with the verifier of RFC 7636, appendix B.
pub(crate) const RANDOM: [u8; 64] = {
    let verifier = [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37,
        77, 105, 214, 191, 240, 91, 88, 5, 88, 83, 132, 141, 121,
    ];
    let mut random = [9; 64];
    let mut at = 0;
    while at < verifier.len() {
        random[at] = verifier[at];
        at += 1;
    }
    random
};

pub(crate) fn options() -> AuthOptions {
    AuthOptions::new("Spanwire", CALLBACK)
}

pub(crate) fn authorizer(options: AuthOptions) -> Authorizer {
    Authorizer::new(SERVER, options).expect("a URL")
}

pub(crate) fn resource(scopes: &[&str]) -> Value {
    json!({ "resource": SERVER, "authorization_servers": ["https://as.example"], "scopes_supported": scopes })
}

pub(crate) fn server(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    })
}

/// Returns `value` with the members of `other`.
pub(crate) fn with(mut value: Value, other: Value) -> Value {
    let (Some(members), Value::Object(other)) = (value.as_object_mut(), other) else {
        return value;
    };
    members.extend(other);
    value
}

pub(crate) fn sent(authorizer: &mut Authorizer) -> AuthRequest {
    let event = authorizer.poll_event();
    authorizer.poll_request().unwrap_or_else(|| panic!("no request: {event:?}"))
}

/// Responds to the last request. Returns the URL of the request.
pub(crate) fn respond(authorizer: &mut Authorizer, body: &Value) -> String {
    let request = sent(authorizer);
    authorizer.handle_response(200, &body.to_string());
    request.url
}

/// Returns the parameters of a form or of a query.
pub(crate) fn parameters(form: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').expect("a pair");
        (key.to_owned(), value.replace("%3A", ":").replace("%2F", "/").replace('+', " "))
    };
    form.split('&').map(pair).collect()
}

pub(crate) fn parameter(form: &[(String, String)], name: &str) -> Option<String> {
    form.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
}

/// Returns the parameters of the page to open.
pub(crate) fn page(authorizer: &mut Authorizer) -> Vec<(String, String)> {
    let event = authorizer.poll_event();
    let Some(AuthEvent::Open { url }) = event else { panic!("no page: {event:?}") };
    parameters(url.split_once('?').expect("a query").1)
}

pub(crate) fn failed(authorizer: &mut Authorizer) -> AuthError {
    match authorizer.poll_event() {
        Some(AuthEvent::Failed(error)) => error,
        other => panic!("not failed: {other:?}"),
    }
}

/// Redirects the page of the sign-in, with further parameters.
pub(crate) fn redirect(authorizer: &mut Authorizer, page: &[(String, String)], further: &str) {
    let state = parameter(page, "state").expect("a state");
    let url = format!("{CALLBACK}?state={state}{further}");
    authorizer.handle_redirect(&url).expect("the redirect of the sign-in");
}

/// Signs in up to the page.
pub(crate) fn open(
    authorizer: &mut Authorizer,
    challenge: &str,
    metadata: &Value,
    resource: &Value,
) -> Vec<(String, String)> {
    authorizer.handle_challenge(401, Some(challenge), RANDOM);
    respond(authorizer, resource);
    respond(authorizer, metadata);
    respond(authorizer, &json!({ "client_id": "c1" }));
    page(authorizer)
}

/// Signs in, with a token that has `further` members.
pub(crate) fn sign_in(authorizer: &mut Authorizer, metadata: &Value, further: Value) {
    let page = open(authorizer, "Bearer", metadata, &resource(&["read"]));
    redirect(authorizer, &page, "&code=x1");
    respond(authorizer, &with(json!({ "access_token": "t1", "token_type": "bearer" }), further));
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
}

#[test]
fn code_is_exchanged_with_the_verifier_for_this_server() {
    let mut authorizer = authorizer(options());
    let page = open(
        &mut authorizer,
        "Bearer",
        &server("https://as.example"),
        &resource(&["read", "write"]),
    );
    let expected = [
        ("response_type", "code"),
        ("client_id", "c1"),
        ("redirect_uri", CALLBACK),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
        ("resource", SERVER),
        ("scope", "read write"),
    ];
    for (name, value) in expected {
        assert_eq!(parameter(&page, name).as_deref(), Some(value), "{name}");
    }
    redirect(&mut authorizer, &page, "&code=x%201");
    let request = sent(&mut authorizer);
    assert_eq!(request.url, "https://as.example/token");
    assert_eq!(request.authorization, None);
    let (kind, body) = request.body.expect("a form");
    assert_eq!(kind, "application/x-www-form-urlencoded");
    let expected = [
        ("grant_type", "authorization_code"),
        ("code", "x 1"),
        ("redirect_uri", CALLBACK),
        ("code_verifier", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        ("resource", SERVER),
        ("client_id", "c1"),
    ];
    let form = parameters(&body);
    for (name, value) in expected {
        assert_eq!(parameter(&form, name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(form.len(), expected.len());
    authorizer.handle_response(200, r#"{"access_token":"t1","token_type":"Bearer"}"#);
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
    assert_eq!(authorizer.authorization().as_deref(), Some("Bearer t1"));
    let shown = format!("{authorizer:?}");
    assert!(!shown.contains("t1") && shown.contains("as.example"), "{shown}");
}

#[test]
fn registration_states_what_the_client_is() {
    for (callback, kind) in [(CALLBACK, "native"), ("https://app.example/callback", "web")] {
        let mut authorizer = authorizer(AuthOptions::new("Spanwire", callback));
        authorizer.handle_challenge(401, None, RANDOM);
        respond(&mut authorizer, &resource(&[]));
        respond(&mut authorizer, &server("https://as.example"));
        let request = sent(&mut authorizer);
        let (media, body) = request.body.expect("a body");
        assert_eq!(
            (request.url.as_str(), media),
            ("https://as.example/register", "application/json")
        );
        let expected = json!({
            "client_name": "Spanwire", "redirect_uris": [callback], "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"], "token_endpoint_auth_method": "none", "application_type": kind,
        });
        assert_eq!(serde_json::from_str::<Value>(&body).expect("JSON"), expected);
    }
}

#[test]
fn metadata_is_searched_until_it_is_found() {
    let mut authorizer = authorizer(options());
    authorizer.handle_challenge(401, None, RANDOM);
    let mut urls = Vec::new();
    for _ in 0..2 {
        urls.push(sent(&mut authorizer).url);
        authorizer.handle_response(404, "");
    }
    assert_eq!(urls[1], "https://mcp.example/.well-known/oauth-protected-resource");
    assert_eq!(failed(&mut authorizer), AuthError::NoResourceMetadata);

    let place = "https://mcp.example/elsewhere";
    authorizer.handle_challenge(
        401,
        Some(&format!("Bearer resource_metadata=\"{place}\"")),
        RANDOM,
    );
    assert_eq!(respond(&mut authorizer, &resource(&[])), place);
    for _ in 0..2 {
        sent(&mut authorizer);
        authorizer.handle_response(404, "");
    }
    assert_eq!(failed(&mut authorizer), AuthError::NoServerMetadata("https://as.example".into()));
}

#[test]
fn further_scopes_are_requested_together_with_the_previous_ones() {
    let offline = with(
        server("https://as.example"),
        json!({ "scopes_supported": ["read", "offline_access"] }),
    );
    let mut authorizer = authorizer(options());
    sign_in(&mut authorizer, &offline, json!({}));
    let header = r#"Bearer error="insufficient_scope", scope="write""#;
    assert!(Authorizer::is_challenge(403, Some(header)));
    assert!(!Authorizer::is_challenge(403, Some("Bearer")) && !Authorizer::is_challenge(403, None));
    authorizer.handle_challenge(403, Some(header), RANDOM);
    respond(&mut authorizer, &resource(&["read"]));
    respond(&mut authorizer, &offline);
    // The client is registered already.
    let page = page(&mut authorizer);
    assert_eq!(parameter(&page, "scope").as_deref(), Some("read offline_access write"));
    redirect(&mut authorizer, &page, "&code=x1");
    respond(&mut authorizer, &json!({ "access_token": "t2", "token_type": "Bearer" }));
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));

    // A further sign-in would return the same token.
    authorizer.handle_challenge(403, Some(header), RANDOM);
    respond(&mut authorizer, &resource(&["read"]));
    respond(&mut authorizer, &offline);
    assert_eq!(failed(&mut authorizer), AuthError::Scope("read offline_access write".into()));
}

#[test]
fn registration_has_only_scopes_that_the_authorization_server_lists() {
    let listed =
        |scopes: Value| with(server("https://as.example"), json!({ "scopes_supported": scopes }));
    // oidc-provider, for example, lists its own scopes and none of resources.
    for (metadata, expected) in [
        (server("https://as.example"), json!("read")),
        (listed(json!(["read", "write"])), json!("read")),
        (listed(json!(["openid", "offline_access"])), Value::Null),
    ] {
        let mut authorizer = authorizer(options());
        authorizer.handle_challenge(401, None, RANDOM);
        respond(&mut authorizer, &resource(&["read"]));
        respond(&mut authorizer, &metadata);
        let (_, body) = sent(&mut authorizer).body.expect("a registration");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["scope"], expected);
    }
}

#[test]
fn scope_is_absent_if_none_is_known() {
    let offline =
        with(server("https://as.example"), json!({ "scopes_supported": ["offline_access"] }));
    let mut authorizer = authorizer(options());
    let page = open(&mut authorizer, "Bearer", &offline, &resource(&[]));
    assert_eq!(parameter(&page, "scope"), None);
}

#[test]
fn rejected_token_is_refreshed_without_the_user() {
    let metadata = server("https://as.example");
    let mut authorizer = authorizer(options());
    sign_in(&mut authorizer, &metadata, json!({ "refresh_token": "r1" }));
    let stored = serde_json::to_string(authorizer.credentials().expect("some")).expect("JSON");
    let stored: Credentials = serde_json::from_str(&stored).expect("credentials");
    let mut authorizer = self::authorizer(options()).with_credentials(stored);
    for (token, further, next) in [
        ("t2", json!({}), "r1"),
        ("t3", json!({ "refresh_token": "r2" }), "r1"),
        ("t4", json!({}), "r2"),
    ] {
        authorizer.handle_challenge(401, Some("Bearer error=\"invalid_token\""), RANDOM);
        respond(&mut authorizer, &resource(&["read"]));
        respond(&mut authorizer, &metadata);
        let form = parameters(&sent(&mut authorizer).body.expect("a form").1);
        let expected = [
            ("grant_type", "refresh_token"),
            ("refresh_token", next),
            ("resource", SERVER),
            ("client_id", "c1"),
        ];
        assert_eq!(form, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let answer = with(json!({ "access_token": token, "token_type": "Bearer" }), further);
        authorizer.handle_response(200, &answer.to_string());
        assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
        assert_eq!(authorizer.authorization(), Some(format!("Bearer {token}")));
    }
    authorizer.handle_challenge(401, None, RANDOM);
    respond(&mut authorizer, &resource(&["read"]));
    respond(&mut authorizer, &metadata);
    sent(&mut authorizer);
    authorizer.handle_response(400, r#"{"error":"invalid_grant"}"#);
    assert_eq!(parameter(&page(&mut authorizer), "client_id").as_deref(), Some("c1"));
}

#[test]
fn client_authenticates_as_the_server_supports() {
    let basic = Some("Basic YyUzQTE6cw==");
    let cases = [
        (json!(null), basic, None),
        (json!(["client_secret_post", "client_secret_basic"]), basic, None),
        (json!(["client_secret_post"]), None, Some("s")),
        (json!(["none"]), None, None),
    ];
    for (methods, header, secret) in cases {
        let metadata = with(
            server("https://as.example"),
            json!({ "token_endpoint_auth_methods_supported": methods }),
        );
        let mut options = options();
        options.registration =
            Some(ClientRegistration::new("https://as.example", "c:1", Some("s".into())));
        options.metadata_url = Some("https://app.example/client.json".into());
        let mut authorizer = authorizer(options);
        authorizer.handle_challenge(401, None, RANDOM);
        respond(&mut authorizer, &resource(&[]));
        respond(&mut authorizer, &metadata);
        let page = page(&mut authorizer);
        redirect(&mut authorizer, &page, "&code=x1");
        let request = sent(&mut authorizer);
        let form = parameters(&request.body.expect("a form").1);
        assert_eq!(request.authorization.as_deref(), header);
        assert_eq!(parameter(&form, "client_secret").as_deref(), secret);
        assert_eq!(parameter(&form, "client_id").is_none(), header.is_some());
    }
}

#[test]
fn metadata_document_identifies_the_client_where_supported() {
    let mut options = options();
    options.metadata_url = Some("https://app.example/client.json".into());
    options.registration = Some(ClientRegistration::new("https://other.example", "c9", None));
    let mut authorizer = authorizer(options);
    authorizer.handle_challenge(401, None, RANDOM);
    respond(&mut authorizer, &resource(&[]));
    let supported = json!({ "client_id_metadata_document_supported": true });
    respond(&mut authorizer, &with(server("https://as.example"), supported));
    assert_eq!(
        parameter(&page(&mut authorizer), "client_id").as_deref(),
        Some("https://app.example/client.json")
    );
}
