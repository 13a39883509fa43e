//! Clients of the suite that sign in without a user. The suite passes their secrets in the context
//! of a scenario.
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_bridge::client::auth::{AssertionRequest, ClientRegistration, Grant};
use mcp_bridge_http::{Assertions, Es256Key, ProofSigner, since_1970};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::error::Error;
use std::io;
use std::sync::Arc;
use url::form_urlencoded::Serializer;

/// Lifetime of a signed JWT, in seconds.
const LIFETIME: u64 = 60;

/// The identity of a client without a user.
pub(crate) struct Identity {
    pub(crate) grant: Grant,
    pub(crate) registration: ClientRegistration,
    pub(crate) assertions: Option<Arc<dyn Assertions>>,
}

/// Returns the identity of the client of a scenario, if the scenario has one.
pub(crate) async fn identity(
    http: &Client,
    server: &str,
    context: &Value,
) -> Result<Option<Identity>, Box<dyn Error>> {
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    // A registration with an issuer is for users.
    let Some(id) = text("client_id").filter(|_| context.get("issuer").is_none()) else {
        return Ok(None);
    };
    let mut grant = Grant::JwtBearer;
    let assertions: Option<Arc<dyn Assertions>> = if let Some(pem) = text("private_key_pem") {
        grant = Grant::ClientAssertion;
        Some(Arc::new(KeyAssertions { key: read_key(&pem)?, id: id.clone() }))
    } else if let Some(jwt) = text("valid_jwt") {
        Some(Arc::new(FixedAssertion(jwt)))
    } else if let Some(subject) = text("idp_id_token") {
        let endpoint = text("idp_token_endpoint").ok_or("expected an identity provider")?;
        let id = text("idp_client_id").ok_or("expected an id at the identity provider")?;
        Some(Arc::new(TokenExchange { http: http.clone(), endpoint, id, subject }))
    } else {
        grant = Grant::ClientSecret;
        None
    };
    let issuer = issuer(http, server).await?;
    let registration = ClientRegistration::new(issuer, id, text("client_secret"));
    Ok(Some(Identity { grant, registration, assertions }))
}

/// Returns the authorization server of a server. The suite does not pass the place of the
/// registration.
async fn issuer(http: &Client, server: &str) -> Result<String, Box<dyn Error>> {
    let mut place = Url::parse(server)?;
    place.set_path(&format!("/.well-known/oauth-protected-resource{}", place.path()));
    let metadata: Value = http.get(place).send().await?.error_for_status()?.json().await?;
    let issuer = metadata.pointer("/authorization_servers/0").and_then(Value::as_str);
    Ok(issuer.ok_or("the server has no authorization server")?.to_owned())
}

fn read_key(pem: &str) -> Result<Es256Key, Box<dyn Error>> {
    let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())?;
    Ok(Es256Key::from_pkcs8(der.secret_pkcs8_der())?)
}

/// Signs JWTs with ES256.
struct KeyAssertions {
    key: Es256Key,
    id: String,
}

#[async_trait]
impl Assertions for KeyAssertions {
    async fn assertion(&self, request: &AssertionRequest) -> io::Result<String> {
        let now = since_1970().as_secs();
        let header = json!({ "alg": "ES256", "typ": "JWT" });
        let claims = json!({
            "iss": self.id, "sub": self.id, "aud": request.issuer, "jti": request.id, "iat": now,
            "exp": now + LIFETIME,
        });
        let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", encode(&header), encode(&claims));
        let signature = self.key.sign(signed.as_bytes()).await?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// The identity of a workload.
struct FixedAssertion(String);

#[async_trait]
impl Assertions for FixedAssertion {
    async fn assertion(&self, _: &AssertionRequest) -> io::Result<String> {
        Ok(self.0.clone())
    }
}

/// Exchanges the identity of a user for a grant (ID-JAG) at the identity provider.
struct TokenExchange {
    http: Client,
    endpoint: String,
    id: String,
    subject: String,
}

#[async_trait]
impl Assertions for TokenExchange {
    async fn assertion(&self, request: &AssertionRequest) -> io::Result<String> {
        let pairs = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
            ("subject_token", &self.subject),
            ("audience", &request.issuer),
            ("resource", &request.resource),
            ("client_id", &self.id),
        ];
        let form = Serializer::new(String::new()).extend_pairs(pairs).finish();
        let kind = "application/x-www-form-urlencoded";
        let sent = self.http.post(&self.endpoint).header(CONTENT_TYPE, kind).body(form).send();
        let response = sent.await.and_then(Response::error_for_status).map_err(io::Error::other)?;
        let response: Value = response.json().await.map_err(io::Error::other)?;
        let token = response.get("access_token").and_then(Value::as_str);
        Ok(token.ok_or_else(|| io::Error::other("no token"))?.to_owned())
    }
}
