//! Tokens of an OpenID provider. `tests/fixtures/oidc/make.py` signs them with PyJWT.
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use host::http::{
    Access, AccessError, AuthSettings, OidcSettings, Principal, SignatureAlgorithm, SiteSettings,
    UserLimits, authenticate, sign_in,
};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::advance;
use tower::ServiceExt;

pub(crate) const ISSUER: &str = "https://login.example/realm";
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/oidc");

pub(crate) fn tokens() -> BTreeMap<String, String> {
    let text = fs::read_to_string(Path::new(FIXTURES).join("tokens.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub(crate) fn token(name: &str) -> String {
    tokens().remove(name).unwrap_or_else(|| panic!("no token `{name}`"))
}

pub(crate) fn key_set() -> String {
    fs::read_to_string(Path::new(FIXTURES).join("keys.json")).unwrap()
}

/// Returns the settings for the tokens of the fixtures.
pub(crate) fn settings() -> OidcSettings {
    OidcSettings {
        issuer: Some(ISSUER.to_owned()),
        audience: Some("spanwire".to_owned()),
        jwks_file: Some(Path::new(FIXTURES).join("keys.json")),
        ..OidcSettings::default()
    }
}

pub(crate) fn auth(oidc: &OidcSettings) -> AuthSettings {
    AuthSettings { oidc: oidc.clone(), ..AuthSettings::default() }
}

pub(crate) fn new_access(oidc: &OidcSettings) -> Result<Arc<Access>, AccessError> {
    let limits = UserLimits { at_work: 100, a_minute: 1000 };
    let listen = ([127, 0, 0, 1], 8080).into();
    let (access, token) = Access::new(&SiteSettings::default(), &auth(oidc), limits, listen)?;
    assert!(token.is_none(), "users are configured");
    Ok(Arc::new(access))
}

pub(crate) async fn request(access: &Arc<Access>, request: Request<Body>) -> Response {
    let name = async |Extension(user): Extension<Principal>| user.as_str().to_owned();
    let api = Router::new().route("/name", get(name));
    let api = api.route_layer(from_fn_with_state(access.clone(), authenticate));
    let page = Router::new().route("/", get(async || "the page"));
    let page = page.route_layer(from_fn_with_state(access.clone(), sign_in));
    api.merge(page).oneshot(request).await.unwrap()
}

/// Sends a token. Returns the status, and the name of the user or the error.
pub(crate) async fn send(access: &Arc<Access>, token: &str) -> (u16, String) {
    let with_token = Request::get("/name").header(header::AUTHORIZATION, format!("Bearer {token}"));
    answer(request(access, with_token.body(Body::empty()).unwrap()).await).await
}

async fn answer(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), 10_000).await.unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let error = serde_json::from_str::<Value>(&text).ok().map(|it| it["error"].clone());
    (status, error.and_then(|it| it.as_str().map(str::to_owned)).unwrap_or(text))
}

const HEADER: &str =
    "expected a signed JWT of at most 16384 bytes, with a permitted algorithm and type";

/// The expected error for each invalid token of the fixtures.
const INVALID: [(&str, &str); 40] = [
    ("wrong issuer", "the token has another issuer"),
    ("list of issuers", "the token has another issuer"),
    ("no issuer", "the token has no valid claim `iss`"),
    ("wrong audience", "the token is for another audience"),
    ("no audience", "the token has no valid claim `aud`"),
    ("expired", "the token has expired"),
    ("no exp", "the token has no valid claim `exp`"),
    ("exp as text", "the token has no valid claim `exp`"),
    ("not yet", "the token is not valid yet"),
    ("nbf as text", "the token has no valid claim `nbf`"),
    ("issued in future", "the token is not valid yet"),
    ("iat as text", "the token has no valid claim `iat`"),
    ("unknown key", "the key of the token is unknown"),
    ("no key id, several such keys", "the key of the token is unknown"),
    ("key of a stranger", "the signature is invalid"),
    ("key in header", "the signature is invalid"),
    ("other claims", "the signature is invalid"),
    ("no signature", "the signature is invalid"),
    ("none", HEADER),
    ("HMAC with public key", HEADER),
    ("HMAC with key of set", HEADER),
    ("RS512", HEADER),
    ("ES384", HEADER),
    ("RSA key for ES256", "the key of the token is unknown"),
    ("key of 1024 bits", "the key of the token is unknown"),
    ("key for encryption", "the key of the token is unknown"),
    ("key that only signs", "the key of the token is unknown"),
    ("key for PS256", "the key of the token is unknown"),
    ("logout token", HEADER),
    ("critical extension", HEADER),
    ("more than 16 KiB", HEADER),
    ("no user", "the token has no valid claim `sub`"),
    ("empty user", "the token has no valid claim `sub`"),
    ("user as number", "the token has no valid claim `sub`"),
    ("user of two lines", "the token has no valid claim `sub`"),
    ("long user", "the token has no valid claim `sub`"),
    ("two parts", HEADER),
    ("no base64", "the signature is invalid"),
    ("no JSON", "the signature is invalid"),
    // Not of the file.
    ("", HEADER),
];

/// Each token of the fixtures is accepted, or refused with the expected reason.
#[tokio::test]
async fn tokens_of_another_implementation_are_validated() {
    let expected: BTreeMap<_, _> = INVALID.into();
    for (name, token) in tokens().iter().chain([(&String::new(), &"guess".to_owned())]) {
        // An access of its own, since invalid tokens are slowed.
        let answer = send(&new_access(&settings()).unwrap(), token).await;
        match expected.get(&**name) {
            Some(error) => assert_eq!(answer, (401, (*error).to_owned()), "{name}"),
            None => assert_eq!(answer, (200, "alice".to_owned()), "{name}"),
        }
    }
    assert!(expected.keys().all(|name| name.is_empty() || tokens().contains_key(*name)));
}

#[tokio::test]
async fn refusal_names_the_scheme_and_the_error() {
    let access = new_access(&settings()).unwrap();
    let ask = async |token: &str| {
        let with = Request::get("/name").header(header::AUTHORIZATION, format!("Bearer {token}"));
        let response = request(&access, with.body(Body::empty()).unwrap()).await;
        response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap().to_owned()
    };
    assert_eq!(ask(&token("expired")).await, r#"Bearer error="invalid_token""#);
    let response = request(&access, Request::get("/name").body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
    assert_eq!(answer(response).await, (401, "a bearer token is needed".to_owned()));
}

#[tokio::test]
async fn scopes_and_claims_are_required() {
    let mut needed = settings();
    needed.scope = Some("files chat".to_owned());
    needed.claims = BTreeMap::from([("groups".to_owned(), "staff".to_owned())]);
    let access = new_access(&needed).unwrap();
    for accepted in ["scopes and groups", "scopes as list"] {
        assert_eq!(send(&access, &token(accepted)).await, (200, "alice".to_owned()), "{accepted}");
    }
    let error = "the token does not have the needed scope `files`".to_owned();
    assert_eq!(send(&access, &token("RS256")).await, (403, error));
    needed.claims = BTreeMap::from([("groups".to_owned(), "st".to_owned())]);
    let error = "the token does not have the needed value of the claim `groups`".to_owned();
    let access = new_access(&needed).unwrap();
    assert_eq!(send(&access, &token("scopes and groups")).await, (403, error.clone()));
    assert_eq!(send(&access, &token("scopes as list")).await, (403, error));
}

#[tokio::test]
async fn user_claim_names_user() {
    let mut settings = settings();
    settings.user_claim = "email".to_owned();
    let access = new_access(&settings).unwrap();
    let named = (200, "alice@login.example".to_owned());
    assert_eq!(send(&access, &token("scopes and groups")).await, named);
    let error = "the token has no valid claim `email`".to_owned();
    assert_eq!(send(&access, &token("RS256")).await, (401, error));
}

#[tokio::test]
async fn only_algorithms_of_settings_are_accepted() {
    let mut settings = settings();
    settings.algorithms = vec![SignatureAlgorithm::Es256];
    let access = new_access(&settings).unwrap();
    assert_eq!(send(&access, &token("ES256")).await, (200, "alice".to_owned()));
    for other in ["RS256", "PS256", "EdDSA"] {
        assert_eq!(send(&access, &token(other)).await, (401, HEADER.to_owned()), "{other}");
    }
}

/// Clocks may differ by a minute.
#[tokio::test]
async fn times_have_leeway() {
    let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    let key = Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap();
    let x = base64(key.public_key().as_ref());
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings();
    settings.jwks_file = Some(folder.path().join("keys.json"));
    let set = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "x": x }] });
    fs::write(settings.jwks_file.as_ref().unwrap(), set.to_string()).unwrap();
    let access = new_access(&settings).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for (claim, time, expected) in [
        ("exp", now - 30, "alice"),
        ("exp", now - 90, "the token has expired"),
        ("nbf", now + 30, "alice"),
        ("nbf", now + 600, "the token is not valid yet"),
        ("iat", now + 30, "alice"),
        ("iat", now + 600, "the token is not valid yet"),
    ] {
        let mut claims =
            json!({ "iss": ISSUER, "aud": "spanwire", "sub": "alice", "exp": now + 600 });
        claims[claim] = time.into();
        let message =
            [json!({ "alg": "EdDSA" }), claims].map(|it| base64(it.to_string())).join(".");
        let signature = base64(key.sign(message.as_bytes()));
        let (_, given) = send(&access, &format!("{message}.{signature}")).await;
        assert_eq!(given, expected, "{claim} {}", time as i64 - now as i64);
    }
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::Engine;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

#[tokio::test]
async fn invalid_tokens_are_slowed_and_valid_ones_are_not() {
    let access = new_access(&settings()).unwrap();
    for _ in 0..8 {
        assert_eq!(send(&access, &token("expired")).await.0, 401);
    }
    assert_eq!(send(&access, &token("expired")).await.0, 429);
    assert_eq!(send(&access, &token("RS256")).await, (200, "alice".to_owned()));
}

/// A browser exchanges a token for a cookie, which is accepted as long as the token is.
#[tokio::test]
async fn token_is_exchanged_for_cookie() {
    let access = new_access(&settings()).unwrap();
    let open = async |token: &str| {
        let page = Request::get(format!("/?token={token}")).header(header::HOST, "localhost:8080");
        let page = page.header("sec-fetch-site", "none");
        request(&access, page.body(Body::empty()).unwrap()).await
    };
    let response = open(&token("RS256")).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    let location = response.headers()[header::LOCATION].to_str().unwrap();
    let key = location.strip_prefix("/#key=").unwrap();
    let ask = async |cookie: &str, key: &str| {
        let name = Request::get("/name").header(header::HOST, "localhost:8080");
        let name = name.header(header::COOKIE, cookie).header("sign-in-key", key);
        answer(request(&access, name.body(Body::empty()).unwrap()).await).await
    };
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(ask(cookie, key).await, (200, "alice".to_owned()));
    for part in token("RS256").split('.') {
        assert!(!cookie.contains(part) && !key.contains(part), "the session is not the token");
    }
    let refused = (401, "a bearer token is needed".to_owned());
    assert_eq!(ask(cookie, "").await, refused);
    for refused in ["expired", "more than 16 KiB"] {
        let response = open(&token(refused)).await;
        assert!(!response.headers().contains_key(header::SET_COOKIE), "{refused}");
    }
    let mut other = settings();
    other.scope = Some("chat".to_owned());
    access.reload(&auth(&other)).unwrap();
    assert_eq!(ask(cookie, key).await, refused, "the settings have changed");
}

#[test]
fn settings_without_sense_are_refused() {
    type Change = fn(&mut OidcSettings);
    let cases: [(Change, &str); 9] = [
        (|it| it.issuer = None, "auth.oidc: expected auth.oidc.issuer"),
        (|it| it.audience = None, "auth.oidc.audience: expected the `aud`"),
        (|it| it.algorithms.clear(), "auth.oidc.algorithms: expected at least one"),
        (|it| it.user_claim.clear(), "auth.oidc.user-claim: expected the name"),
        (|it| it.jwks_url = Some("https://a".to_owned()), "auth.oidc: expected one of jwks-file"),
        (
            |it| it.issuer = Some("http://login.example".to_owned()),
            "auth.oidc.issuer: expected https",
        ),
        (
            |it| it.issuer = Some("https://a:b@login.example".to_owned()),
            "auth.oidc.issuer: expected https",
        ),
        (|it| it.issuer = Some("login.example".to_owned()), "auth.oidc.issuer: expected https"),
        (|it| it.jwks_file = Some("missing.json".into()), "auth.oidc.jwks-file: missing.json: "),
    ];
    for (change, expected) in cases {
        let mut changed = settings();
        change(&mut changed);
        let error = new_access(&changed).unwrap_err().to_string();
        assert!(error.starts_with(expected) && !error.contains("a:b"), "{error}");
    }
    let mut changed = settings();
    changed.jwks_file = None;
    changed.jwks_url = Some("http://10.0.0.1/keys".to_owned());
    let error = new_access(&changed).unwrap_err().to_string();
    assert!(error.starts_with("auth.oidc.jwks-url: expected https"), "{error}");
}

#[test]
fn key_files_have_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    let secret = json!({ "kty": "oct", "k": "c2VjcmV0" });
    let ed = json!({ "kty": "OKP", "crv": "Ed25519", "x": base64([1; 32]) });
    let cases = [
        ("[]".to_owned(), "expected a JWK set"),
        (json!({ "keys": [] }).to_string(), "expected a public key for signatures"),
        (json!({ "keys": [secret] }).to_string(), "expected a public key for signatures"),
        (json!({ "keys": vec![ed; 65] }).to_string(), "expected at most 64 keys, got 65"),
        (" ".repeat(256 * 1024) + &key_set(), "expected at most 262144 bytes, got more"),
    ];
    for (text, expected) in cases {
        fs::write(&path, text).unwrap();
        let mut settings = settings();
        settings.jwks_file = Some(path.clone());
        let error = new_access(&settings).unwrap_err().to_string();
        let prefix = format!("auth.oidc.jwks-file: {}: {expected}", path.display());
        assert!(error.starts_with(&prefix), "{error}");
    }
}

/// A file is read again after an hour, and its keys are used for a day without it.
#[tokio::test(start_paused = true)]
async fn keys_are_read_again_and_expire() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keys.json");
    fs::write(&path, key_set()).unwrap();
    let mut settings = settings();
    settings.jwks_file = Some(path.clone());
    let access = new_access(&settings).unwrap();
    let rsa = token("RS256");
    let ec = token("ES256");
    assert_eq!(send(&access, &rsa).await.0, 200);
    // The key of the token is withdrawn.
    let mut set: Value = serde_json::from_str(&key_set()).unwrap();
    set["keys"].as_array_mut().unwrap().retain(|key| key["kid"] != "rsa");
    fs::write(&path, set.to_string()).unwrap();
    assert_eq!(send(&access, &rsa).await.0, 200);
    advance(Duration::from_secs(60 * 60)).await;
    assert_eq!(send(&access, &rsa).await.0, 200, "the request does not wait for the newer keys");
    // Virtual time stands still while the file is read.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(send(&access, &rsa).await.0, 401);
    fs::remove_file(&path).unwrap();
    advance(Duration::from_secs(23 * 60 * 60)).await;
    assert_eq!(send(&access, &ec).await.0, 200);
    advance(Duration::from_secs(60 * 60)).await;
    let error = "the keys of the OpenID provider cannot be read; try again in 30 s".to_owned();
    assert_eq!(send(&access, &ec).await, (503, error));
}
