//! Sign-in for tokens that are bound to a key (DPoP), at servers that verify each proof.
use crate::client::connect_with_sign_in;
use crate::sign_in::{TokenIssuer, approved, serve};
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonrpc_core::wire::Raw;
use mcp_bridge::client::auth::Credentials;
use mcp_bridge::client::{CallParams, ConnectError};
use mcp_bridge::mcp::base::Era;
use mcp_bridge_http::{Es256Key, ProofSigner, SignIn, since_1970};
use ring::digest::{SHA256, digest};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Which nonces the servers accept.
#[derive(Clone, Copy, Default, PartialEq)]
enum Nonces {
    #[default]
    Unused,
    Issued,
    None,
}

/// Verifies the proofs of requests to both servers.
#[derive(Default)]
struct Verifier {
    origin: String,
    nonces: Nonces,
    seen: Mutex<ProofLog>,
}

#[derive(Default)]
struct ProofLog {
    /// The key that tokens are bound to.
    jwk: Option<Value>,
    identifiers: Vec<Value>,
    /// Nonces of valid proofs for the MCP server.
    nonces: Vec<Value>,
    issued: usize,
    /// Paths of requests that were rejected because of their nonce.
    rejected: Vec<String>,
    /// Why a proof was rejected otherwise.
    problems: Vec<String>,
}

fn part(text: &str) -> Value {
    let bytes = URL_SAFE_NO_PAD.decode(text).expect("base64url");
    serde_json::from_slice(&bytes).expect("JSON")
}

/// Returns the key and the claims of a proof with a valid signature.
///
/// Spec: [RFC 9449, section 4.3](https://www.rfc-editor.org/rfc/rfc9449.html#section-4.3)
fn verified(proof: &str) -> Option<(Value, Value)> {
    let (input, signature) = proof.rsplit_once('.')?;
    let (header, claims) = input.split_once('.')?;
    let header = part(header);
    let jwk = header["jwk"].clone();
    let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(jwk[name].as_str()?).ok();
    let point = [vec![4], coordinate("x")?, coordinate("y")?].concat();
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(input.as_bytes(), &signature).ok()?;
    let is_typed = header["typ"] == "dpop+jwt" && header["alg"] == "ES256";
    let is_public = jwk["kty"] == "EC" && jwk["crv"] == "P-256" && jwk.get("d").is_none();
    (is_typed && is_public).then(|| (jwk, part(claims)))
}

impl Verifier {
    /// Verifies the proof of a request. Returns the nonce to reject it with, or why it is invalid.
    fn check(&self, headers: &HeaderMap, method: &str, path: &str) -> Result<(), Option<String>> {
        let mut seen = self.seen.lock().expect("seen");
        let problem = |text: &str| Some(format!("{method} {path}: {text}"));
        let proofs: Vec<_> = headers.get_all("dpop").iter().collect();
        let [proof] = proofs[..] else { return Err(problem("not one proof")) };
        let verified = verified(proof.to_str().expect("text"));
        let (jwk, claims) = verified.ok_or_else(|| problem("an invalid proof"))?;
        if claims["htm"] != method || claims["htu"] != format!("{}{path}", self.origin) {
            return Err(problem("the proof of another request"));
        }
        if since_1970().as_secs().abs_diff(claims["iat"].as_u64().expect("a time")) > 300 {
            return Err(problem("an old proof"));
        }
        if seen.identifiers.contains(&claims["jti"]) {
            return Err(problem("a proof was sent twice"));
        }
        seen.identifiers.push(claims["jti"].clone());
        let token = headers.get(AUTHORIZATION).map(|value| value.to_str().expect("text"));
        let token = token.map(|value| value.strip_prefix("DPoP ").expect("the scheme"));
        let hash = token.map(|token| URL_SAFE_NO_PAD.encode(digest(&SHA256, token.as_bytes())));
        if claims["ath"] != json!(hash) {
            return Err(problem("the proof of another token"));
        }
        match &seen.jwk {
            Some(bound) if path == "/mcp" && *bound != jwk => return Err(problem("another key")),
            _ if path == "/token" => seen.jwk = Some(jwk),
            _ => {}
        }
        let is_accepted = match (self.nonces, claims["nonce"].as_str()) {
            (Nonces::Unused, None) => true,
            (Nonces::Issued, Some(nonce)) => nonce.starts_with(path),
            _ => false,
        };
        if !is_accepted {
            seen.rejected.push(path.to_owned());
            return Err(None);
        }
        if path == "/mcp" {
            seen.nonces.push(claims["nonce"].clone());
        }
        Ok(())
    }

    /// Returns the number of rejected requests to a path.
    fn rejected(&self, path: &str) -> usize {
        self.seen.lock().expect("seen").rejected.iter().filter(|it| *it == path).count()
    }

    fn assert_all_valid(&self) {
        assert_eq!(self.seen.lock().expect("seen").problems, [""; 0]);
    }
}

/// Rejects requests without a valid proof. Each response has another nonce, if nonces are used.
async fn verify(State(verifier): State<Arc<Verifier>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let is_checked = path == "/token" || path == "/mcp";
    if !is_checked {
        return next.run(request).await;
    }
    let reject = |error: &str| match &*path {
        "/token" => (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response(),
        _ => {
            let challenge = format!("DPoP algs=\"ES256\", error=\"{error}\"");
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
        }
    };
    let is_first = path == "/mcp" && !request.headers().contains_key(AUTHORIZATION);
    let mut response = match verifier.check(request.headers(), request.method().as_str(), &path) {
        _ if is_first => reject("invalid_token"),
        Ok(()) => next.run(request).await,
        Err(None) => reject("use_dpop_nonce"),
        Err(Some(problem)) => {
            verifier.seen.lock().expect("seen").problems.push(problem);
            reject("invalid_dpop_proof")
        }
    };
    if verifier.nonces != Nonces::Unused && !is_first {
        let mut seen = verifier.seen.lock().expect("seen");
        seen.issued += 1;
        let nonce = format!("{path}-{}", seen.issued);
        response.headers_mut().insert("dpop-nonce", nonce.parse().expect("a value"));
    }
    response
}

async fn server(nonces: Nonces) -> (Arc<TokenIssuer>, Arc<Verifier>) {
    let mut verifier = None;
    let issued = serve(true, |origin, app| {
        let new = Verifier { origin: origin.to_owned(), nonces, ..Verifier::default() };
        let new = verifier.insert(Arc::new(new));
        app.layer(from_fn_with_state(new.clone(), verify))
    });
    (issued.await, verifier.expect("the server has started"))
}

/// Creates a sign-in with a stored key.
async fn sign_in(
    issued: &TokenIssuer,
    key: &[u8],
    credentials: Option<Credentials>,
) -> Arc<SignIn> {
    let key = Arc::new(Es256Key::from_pkcs8(key).expect("a key"));
    let sign_in = approved(issued, credentials, Some(key.dpop_key())).await;
    Arc::new(sign_in.with_signer(key))
}

fn key() -> Vec<u8> {
    Es256Key::generate_pkcs8().expect("a key")
}

/// Connects, lists the tools and calls one.
async fn works(issued: &TokenIssuer, era: Era, sign_in: &Arc<SignIn>) {
    let url = format!("{}/mcp", issued.origin);
    let client = connect_with_sign_in(&url, era, sign_in).await.expect("a server");
    client.tools().await.expect("a list");
    let call = CallParams::new("quick", Raw::from_text("{}").expect("JSON"));
    client.call(call).await.expect("a result");
}

/// The proof of the example of RFC 9449, section 7.1.
#[test]
fn proof_of_the_specification_is_verified() {
    let proof = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19.eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA";
    let (_, claims) = verified(proof).expect("a valid signature");
    assert_eq!(claims["jti"], "e1j3V_bKic8-LAEB");
    assert!(verified(&proof.replace(".2oW", ".2oX")).is_none());
}

#[test]
fn only_keys_on_the_curve_are_read() {
    let stored = key();
    let read = Es256Key::from_pkcs8(&stored).expect("a key");
    assert_eq!(
        format!("{read:?} {:?}", read.dpop_key()),
        r#"Es256Key DpopKey { alg: "ES256", .. }"#
    );
    for other in [&[][..], &stored[1..], &stored[..stored.len() - 1]] {
        let error = Es256Key::from_pkcs8(other).expect_err("no key");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    }
}

#[tokio::test]
async fn each_request_has_a_valid_proof() {
    for era in [Era::Modern, Era::Legacy] {
        let (issued, verifier) = server(Nonces::Unused).await;
        works(&issued, era, &sign_in(&issued, &key(), None).await).await;
        verifier.assert_all_valid();
        assert_eq!(issued.grants(), ["authorization_code"]);
    }
}

#[tokio::test]
async fn nonces_of_both_servers_are_used() {
    for era in [Era::Modern, Era::Legacy] {
        let (issued, verifier) = server(Nonces::Issued).await;
        let sign_in = sign_in(&issued, &key(), None).await;
        works(&issued, era, &sign_in).await;
        issued.revoke();
        works(&issued, era, &sign_in).await;
        verifier.assert_all_valid();
        assert_eq!(issued.grants(), ["authorization_code", "refresh_token"]);
        // The first proof has none. Later ones have the nonce of an earlier response, also of a
        // successful one.
        assert_eq!(verifier.rejected("/token"), 1);
        assert_eq!(verifier.rejected("/mcp"), 1);
        if era == Era::Modern {
            let mut nonces = verifier.seen.lock().expect("seen").nonces.clone();
            let requests = nonces.len();
            nonces.dedup();
            assert_eq!(nonces.len(), requests, "each response changes the nonce");
        }
    }
}

/// The servers reject each proof, with another nonce each time.
#[tokio::test]
async fn request_is_repeated_once_for_a_nonce() {
    let (issued, verifier) = server(Nonces::Issued).await;
    let key = key();
    let first = sign_in(&issued, &key, None).await;
    works(&issued, Era::Modern, &first).await;
    let (other, rejecting) = server(Nonces::None).await;
    let refused = |error: Result<_, ConnectError>| match error {
        Err(ConnectError::Refused(error)) => error.message,
        other => panic!("not refused: {other:?}"),
    };
    let url = format!("{}/mcp", other.origin);
    let second = sign_in(&other, &key, None).await;
    let error = refused(connect_with_sign_in(&url, Era::Modern, &second).await);
    assert_eq!(error, "the token endpoint responded with status 400: use_dpop_nonce");
    assert_eq!(rejecting.rejected("/token"), 2);

    // A token of the first server reaches the second one.
    let third = sign_in(&other, &key, first.credentials().await).await;
    let error = refused(connect_with_sign_in(&url, Era::Modern, &third).await);
    assert_eq!(error, "unexpected status 401 Unauthorized");
    assert_eq!(rejecting.rejected("/mcp"), 2);
    verifier.assert_all_valid();
    rejecting.assert_all_valid();
}

#[tokio::test]
async fn stored_token_needs_the_stored_key() {
    let (issued, verifier) = server(Nonces::Unused).await;
    let key = key();
    let first = sign_in(&issued, &key, None).await;
    works(&issued, Era::Modern, &first).await;
    let stored = serde_json::to_string(&first.credentials().await).expect("JSON");
    let stored = || serde_json::from_str(&stored).expect("credentials");
    works(&issued, Era::Modern, &sign_in(&issued, &key, stored()).await).await;
    verifier.assert_all_valid();
    assert_eq!(issued.grants(), ["authorization_code"]);

    issued.forbid_refresh();
    let other = sign_in(&issued, &self::key(), stored()).await;
    works(&issued, Era::Modern, &other).await;
    assert_eq!(verifier.seen.lock().expect("seen").problems, ["POST /mcp: another key"]);
    assert_eq!(issued.grants(), ["authorization_code", "refresh_token", "authorization_code"]);
}

struct RefusingSigner;

#[async_trait::async_trait]
impl ProofSigner for RefusingSigner {
    async fn sign(&self, _: &[u8]) -> std::io::Result<Vec<u8>> {
        Err(std::io::Error::other("the key is locked"))
    }
}

#[tokio::test]
async fn sign_in_without_a_signature_names_its_reason() {
    let (issued, _) = server(Nonces::Unused).await;
    let key = Es256Key::from_pkcs8(&key()).expect("a key").dpop_key();
    let url = format!("{}/mcp", issued.origin);
    for (signer, reason) in [
        (None, "the program signs no proofs"),
        (Some(Arc::new(RefusingSigner)), "the key is locked"),
    ] {
        let mut sign_in = approved(&issued, None, Some(key.clone())).await;
        if let Some(signer) = signer {
            sign_in = sign_in.with_signer(signer);
        }
        let refused = connect_with_sign_in(&url, Era::Modern, &Arc::new(sign_in)).await;
        let Err(ConnectError::Refused(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.message, format!("the sign-in was cancelled: {reason}"));
    }
}
