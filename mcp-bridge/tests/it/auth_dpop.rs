//! Tokens that are bound to a key of the client (DPoP).
use crate::auth::{
    RANDOM, authorizer, failed, open, options, page, redirect, resource, respond, sent, server,
    with,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use core::time::Duration;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::{
    AuthError, AuthEvent, AuthOptions, Authorizer, ClientRegistration, Credentials, DpopKey,
    DpopProof, Grant,
};
use proptest::prelude::*;
use serde_json::{Value, json};

mod laws;

const ISSUER: &str = "https://as.example";

/// The error of a token endpoint that requires another nonce.
const REJECTED: &str = r#"{"error":"use_dpop_nonce"}"#;

/// The public key of the examples of RFC 9449.
fn key() -> DpopKey {
    let jwk = r#"{"kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA","crv":"P-256"}"#;
    DpopKey::new("ES256", Raw::from_text(jwk).expect("JSON"))
}

fn with_key(mut options: AuthOptions, is_required: bool) -> AuthOptions {
    let mut key = key();
    key.is_required = is_required;
    options.dpop_key = Some(key);
    options
}

/// The metadata of an authorization server that supports the key.
fn able() -> Value {
    with(server(ISSUER), json!({ "dpop_signing_alg_values_supported": ["PS256", "ES256"] }))
}

/// Returns the claims of a proof.
fn claims(proof: &DpopProof) -> Value {
    let input = proof.signing_input(Duration::from_secs(1), "id");
    let (_, claims) = input.split_once('.').expect("two parts");
    let claims = URL_SAFE_NO_PAD.decode(claims).expect("base64");
    serde_json::from_slice(&claims).expect("JSON")
}

/// Returns the nonce of the proof of the token request.
fn requested(authorizer: &mut Authorizer) -> Option<Value> {
    let request = sent(authorizer);
    assert_eq!(request.url, "https://as.example/token");
    let claims = request.proof.as_ref().map(claims)?;
    let expected =
        json!({ "jti": "id", "htm": "POST", "htu": "https://as.example/token", "iat": 1 });
    assert_eq!(with(claims.clone(), expected), claims);
    assert_eq!(claims.get("ath"), None);
    Some(claims["nonce"].clone())
}

fn issue(authorizer: &mut Authorizer, token_type: &str) {
    let token = json!({ "access_token": "t1", "token_type": token_type, "refresh_token": "r1" });
    authorizer.handle_response(200, &token.to_string());
}

fn reject(authorizer: &mut Authorizer, nonce: Option<&str>) {
    if let Some(nonce) = nonce {
        authorizer.handle_nonce(nonce);
    }
    authorizer.handle_response(400, REJECTED);
}

/// Returns an authorizer that waits for the response to a token request.
fn waiting(options: AuthOptions) -> Authorizer {
    let mut authorizer = authorizer(options);
    let page = open(&mut authorizer, "DPoP", &able(), &resource(&[]));
    redirect(&mut authorizer, &page, "&code=x1");
    authorizer
}

fn signed_in() -> Authorizer {
    let mut authorizer = waiting(with_key(options(), false));
    sent(&mut authorizer);
    issue(&mut authorizer, "DPoP");
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
    authorizer
}

/// Begins a refresh.
fn refresh(authorizer: &mut Authorizer, header: Option<&str>) {
    authorizer.handle_challenge(401, header, RANDOM);
    respond(authorizer, &resource(&[]));
    respond(authorizer, &able());
}

/// The proofs of the sections 5 and 7.1 of RFC 9449, without their signatures.
#[test]
fn proofs_are_those_of_the_examples_of_the_specification() {
    let header = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19";
    let exchange = "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ";
    let refresh = "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjY1Mjk2fQ";
    let request = "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9";
    let issuer = "https://server.example.com";
    let listed = json!({ "dpop_signing_alg_values_supported": ["ES256"] });
    let resource = json!({
        "resource": "https://resource.example.org/protectedresource", "authorization_servers": [issuer],
    });
    let url = "https://resource.example.org/protectedresource?key=1#part";
    let mut authorizer = Authorizer::new(url, with_key(options(), false)).expect("a URL");
    let metadata = with(server(issuer), listed);
    let page = open(&mut authorizer, "DPoP algs=\"ES256\"", &metadata, &resource);
    redirect(&mut authorizer, &page, "&code=x1");
    let input = |proof: Option<DpopProof>, issued_at, id| {
        proof.expect("a proof").signing_input(Duration::from_secs(issued_at), id)
    };
    let proof = sent(&mut authorizer).proof;
    assert_eq!(input(proof, 1_562_262_616, "-BwC3ESc6acc2lTc"), format!("{header}.{exchange}"));
    let token = json!({
        "access_token": "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU", "token_type": "DPoP", "expires_in": 2677,
        "refresh_token": "Q..Zkm29lexi8VnWg2zPW1x-tgGad0Ibc3s3EwM_Ni4-g",
    });
    authorizer.handle_response(200, &token.to_string());
    let expected = "DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
    assert_eq!(authorizer.authorization().as_deref(), Some(expected));
    let proof = authorizer.proof("GET");
    assert_eq!(input(proof, 1_562_262_618, "e1j3V_bKic8-LAEB"), format!("{header}.{request}"));

    authorizer.handle_challenge(401, Some("DPoP error=\"invalid_token\""), RANDOM);
    respond(&mut authorizer, &resource);
    respond(&mut authorizer, &metadata);
    let proof = sent(&mut authorizer).proof;
    assert_eq!(input(proof, 1_562_265_296, "-BwC3ESc6acc2lTc"), format!("{header}.{refresh}"));
}

#[test]
fn tokens_are_bound_where_both_servers_support_it() {
    let required = json!({ "dpop_bound_access_tokens_required": true });
    let listed = |algs: Value| json!({ "dpop_signing_alg_values_supported": algs });
    let able = able();
    let unable = server(ISSUER);
    let other = with(server(ISSUER), listed(json!(["RS256"])));
    let no_dpop = || Some(AuthError::NoDpop(ISSUER.into()));
    let cases = [
        // Challenge, metadata of both servers, whether the client requires it, whether a proof is
        // sent, error.
        ("DPoP", json!({}), &able, false, true, None),
        ("Bearer, DPoP algs=\"RS256 ES256\"", json!({}), &able, false, true, None),
        ("Bearer", listed(json!(["ES256"])), &able, false, true, None),
        ("Bearer", required.clone(), &able, false, true, None),
        ("Bearer", json!({}), &able, true, true, None),
        ("Bearer", json!({}), &able, false, false, None),
        ("DPoP", json!({}), &unable, false, false, None),
        ("DPoP", json!({}), &other, false, false, None),
        ("DPoP algs=\"RS256\"", json!({}), &able, false, false, None),
        ("DPoP", listed(json!(["RS256"])), &able, false, false, None),
        ("DPoP", json!({}), &unable, true, false, no_dpop()),
        ("DPoP", required.clone(), &unable, false, false, no_dpop()),
        ("DPoP algs=\"RS256\"", required.clone(), &able, false, false, no_dpop()),
    ];
    for (challenge, further, metadata, is_required, has_proof, error) in cases {
        let case = format!("{challenge} {further} {metadata} {is_required}");
        let mut authorizer = authorizer(with_key(options(), is_required));
        authorizer.handle_challenge(401, Some(challenge), RANDOM);
        respond(&mut authorizer, &with(resource(&[]), further));
        respond(&mut authorizer, metadata);
        if let Some(error) = error {
            assert_eq!(failed(&mut authorizer), error, "{case}");
            assert_eq!(authorizer.poll_request(), None);
            continue;
        }
        let registration = sent(&mut authorizer).body.expect("a registration").1;
        let registration: Value = serde_json::from_str(&registration).expect("JSON");
        let expected = is_required.then_some(&Value::Bool(true));
        assert_eq!(registration.get("dpop_bound_access_tokens"), expected, "{case}");
        authorizer.handle_response(201, r#"{"client_id":"c1"}"#);
        let page = page(&mut authorizer);
        redirect(&mut authorizer, &page, "&code=x1");
        assert_eq!(requested(&mut authorizer).is_some(), has_proof, "{case}");
    }
    let mut without_key = authorizer(options());
    without_key.handle_challenge(401, Some("DPoP"), RANDOM);
    respond(&mut without_key, &with(resource(&[]), required));
    respond(&mut without_key, &able);
    assert_eq!(failed(&mut without_key), AuthError::NoDpopKey);
}

#[test]
fn type_of_the_token_decides() {
    let offered = "DPoP or Bearer";
    let cases = [
        (None, "Bearer", Ok("Bearer t1")),
        (None, "DPoP", Err("Bearer")),
        (Some(false), "dpop", Ok("DPoP t1")),
        (Some(false), "bearer", Ok("Bearer t1")),
        (Some(false), "mac", Err(offered)),
        (Some(true), "DPoP", Ok("DPoP t1")),
        (Some(true), "Bearer", Err("DPoP")),
    ];
    for (key, token_type, expected) in cases {
        let options = match key {
            Some(is_required) => with_key(options(), is_required),
            None => options(),
        };
        let mut authorizer = waiting(options);
        assert_eq!(requested(&mut authorizer).is_some(), key.is_some());
        issue(&mut authorizer, token_type);
        match expected {
            Ok(value) => {
                assert_eq!(authorizer.authorization().as_deref(), Some(value));
                let has_proof = authorizer.proof("POST").is_some();
                assert_eq!(has_proof, value.starts_with("DPoP"));
            }
            Err(expected) => {
                let actual = token_type.into();
                assert_eq!(failed(&mut authorizer), AuthError::TokenType { expected, actual });
                assert_eq!(authorizer.authorization(), None);
            }
        }
    }
}

#[test]
fn token_request_is_repeated_once_with_the_nonce() {
    let mut authorizer = waiting(with_key(options(), false));
    assert_eq!(requested(&mut authorizer), Some(Value::Null));
    reject(&mut authorizer, Some("n1"));
    assert_eq!(requested(&mut authorizer), Some(json!("n1")));
    // A nonce of a successful response is for the next request.
    authorizer.handle_nonce("n2");
    issue(&mut authorizer, "DPoP");
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
    // The refresh token is bound to the key, with any challenge.
    refresh(&mut authorizer, None);
    assert_eq!(requested(&mut authorizer), Some(json!("n2")));
    reject(&mut authorizer, Some("n3"));
    let repeated = authorizer.poll_request().expect("a request");
    assert!(repeated.body.expect("a form").1.contains("refresh_token=r1"));
    assert_eq!(claims(&repeated.proof.expect("a proof"))["nonce"], "n3");
    issue(&mut authorizer, "DPoP");
    assert_eq!(authorizer.poll_event(), Some(AuthEvent::SignedIn));
    // Another sign-in repeats its own request.
    refresh(&mut authorizer, None);
    assert_eq!(requested(&mut authorizer), Some(json!("n3")));
    reject(&mut authorizer, Some("n4"));
    assert_eq!(requested(&mut authorizer), Some(json!("n4")));

    // The authorization server rejects each nonce, or sends none.
    for nonces in [[Some("n1"), Some("n2")], [None, None], [Some("n1"), None]] {
        let mut authorizer = waiting(with_key(options(), false));
        requested(&mut authorizer);
        reject(&mut authorizer, nonces[0]);
        if nonces[0].is_some() {
            requested(&mut authorizer);
            reject(&mut authorizer, nonces[1]);
        }
        let message = "the token endpoint responded with status 400: use_dpop_nonce";
        assert_eq!(failed(&mut authorizer).to_string(), message);
        assert_eq!(authorizer.poll_request(), None);
    }
}

#[test]
fn nonces_stay_with_their_servers() {
    let mut authorizer = waiting(with_key(options(), false));
    requested(&mut authorizer);
    reject(&mut authorizer, Some("issuer"));
    requested(&mut authorizer);
    issue(&mut authorizer, "DPoP");
    let nonce = |authorizer: &Authorizer| {
        claims(&authorizer.proof("POST").expect("a proof")).get("nonce").cloned()
    };
    assert_eq!(nonce(&authorizer), None);
    authorizer.handle_server_nonce("server");
    assert_eq!(nonce(&authorizer), Some(json!("server")));
    // RFC 9449, section 8.1, permits neither spaces nor quotes, and a response without a request
    // has no nonce.
    for other in ["", "a b", "a\"b", "a\\b", "a\nb", "ä", &"n".repeat(1025)] {
        authorizer.handle_server_nonce(other);
        assert_eq!(nonce(&authorizer), Some(json!("server")), "{other}");
    }
    authorizer.handle_nonce("late");
    refresh(&mut authorizer, None);
    authorizer.handle_nonce("a b");
    assert_eq!(requested(&mut authorizer), Some(json!("issuer")));

    let other = "https://other.example";
    authorizer.handle_challenge(401, Some("DPoP"), RANDOM);
    respond(&mut authorizer, &with(resource(&[]), json!({ "authorization_servers": [other] })));
    respond(&mut authorizer, &with(able(), server(other)));
    respond(&mut authorizer, &json!({ "client_id": "c2" }));
    let page = page(&mut authorizer);
    redirect(&mut authorizer, &page, "&code=x1");
    let request = sent(&mut authorizer);
    assert_eq!(request.url, "https://other.example/token");
    assert_eq!(claims(&request.proof.expect("a proof")).get("nonce"), None);
}

#[test]
fn server_asks_for_a_nonce_with_status_401() {
    let header = Some(r#"DPoP error="use_dpop_nonce", error_description="a nonce""#);
    assert!(Authorizer::needs_nonce(401, header));
    assert!(!Authorizer::needs_nonce(403, header) && !Authorizer::needs_nonce(401, None));
    assert!(!Authorizer::needs_nonce(401, Some("DPoP error=\"invalid_token\"")));
    assert!(!Authorizer::needs_nonce(401, Some("Bearer error=\"use_dpop_nonce\"")));
}

/// A JWT may be valid once, so the client provides another one.
#[test]
fn jwt_is_requested_again_with_another_identifier() {
    for (grant, pair) in
        [(Grant::ClientAssertion, "client_assertion=b"), (Grant::JwtBearer, "&assertion=b")]
    {
        let mut options = with_key(options(), true);
        options.grant = grant;
        options.registration = Some(ClientRegistration::new(ISSUER, "c1", None));
        let mut authorizer = authorizer(options);
        refresh(&mut authorizer, None);
        let id = |authorizer: &mut Authorizer| match authorizer.poll_event() {
            Some(AuthEvent::Assert(request)) => request.id,
            other => panic!("no JWT is requested: {other:?}"),
        };
        let first = id(&mut authorizer);
        authorizer.handle_assertion("a");
        assert_eq!(requested(&mut authorizer), Some(Value::Null));
        reject(&mut authorizer, Some("n1"));
        assert_eq!(authorizer.poll_request(), None);
        assert_ne!(id(&mut authorizer), first);
        authorizer.handle_assertion("b");
        let request = authorizer.poll_request().expect("a request");
        assert!(request.body.expect("a form").1.contains(pair));
        assert_eq!(claims(&request.proof.expect("a proof"))["nonce"], "n1");
        reject(&mut authorizer, Some("n2"));
        assert!(matches!(failed(&mut authorizer), AuthError::Status { status: 400, .. }));
    }
}

#[test]
fn stored_token_needs_the_key() {
    let stored = serde_json::to_value(signed_in().credentials()).expect("JSON");
    let load = |stored: &Value, options: AuthOptions| {
        let stored: Credentials = serde_json::from_value(stored.clone()).expect("credentials");
        authorizer(options).with_credentials(stored)
    };
    let bound = load(&stored, with_key(options(), false));
    assert_eq!(bound.authorization().as_deref(), Some("DPoP t1"));
    assert!(bound.proof("POST").is_some());
    let without_key = load(&stored, options());
    assert_eq!(without_key.authorization(), None);
    assert_eq!(without_key.proof("POST"), None);

    // Credentials of a version without DPoP.
    let mut older = stored;
    older.as_object_mut().expect("an object").remove("is_bound").expect("a member");
    for (is_required, expected) in [(false, Some("Bearer t1")), (true, None)] {
        let older = load(&older, with_key(options(), is_required));
        assert_eq!(older.authorization().as_deref(), expected);
        assert_eq!(older.proof("POST"), None);
    }
}

#[test]
fn debug_output_contains_no_secrets() {
    let mut authorizer = signed_in();
    authorizer.handle_server_nonce("canary");
    let proof = authorizer.proof("POST");
    refresh(&mut authorizer, None);
    authorizer.handle_nonce("canary");
    let shown = format!("{authorizer:?} {:?} {proof:?} {:?}", sent(&mut authorizer), key());
    for secret in ["canary", "l8tFrhx", "t1", "r1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
