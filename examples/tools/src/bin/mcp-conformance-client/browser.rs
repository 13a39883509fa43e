//! A browser for the pages of the suite, which redirect at once, as if the user had approved.
use crate::without_user;
use async_trait::async_trait;
use mcp_bridge::client::auth::{AuthOptions, ClientRegistration};
use mcp_bridge_http::{Browser, Es256Key, SignIn};
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use serde_json::Value;
use std::error::Error;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The metadata document that the suite expects.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

struct BrowserApproval {
    http: reqwest::Client,
    redirect: Mutex<Option<String>>,
}

/// Creates the sign-in of a scenario. Its context may contain a registration.
pub(crate) async fn sign_in(url: &str, context: &Value) -> Result<SignIn, Box<dyn Error>> {
    let http = reqwest::Client::builder().redirect(Policy::none()).build()?;
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut options = AuthOptions::new("mcp-conformance-client", "http://127.0.0.1:8971/callback");
    let key = Arc::new(Es256Key::from_pkcs8(&Es256Key::generate_pkcs8()?)?);
    options.dpop_key = Some(key.dpop_key());
    if let Some(identity) = without_user::identity(&http, url, context).await? {
        options.grant = identity.grant;
        options.registration = Some(identity.registration);
        return Ok(SignIn::without_user(http, url, options, identity.assertions)?.with_signer(key));
    }
    options.metadata_url = Some(METADATA_URL.to_owned());
    options.registration = text("issuer")
        .zip(text("client_id"))
        .map(|(issuer, id)| ClientRegistration::new(issuer, id, text("client_secret")));
    let browser = BrowserApproval { http: http.clone(), redirect: Mutex::default() };
    Ok(SignIn::new(http, url, options, None, Arc::new(browser))?.with_signer(key))
}

#[async_trait]
impl Browser for BrowserApproval {
    async fn open(&self, url: &str) -> io::Result<()> {
        let response = self.http.get(url).send().await.map_err(io::Error::other)?;
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let mut redirect = self.redirect.lock().unwrap_or_else(PoisonError::into_inner);
        *redirect = location.map(str::to_owned);
        Ok(())
    }

    async fn redirect(&self) -> io::Result<String> {
        let redirect = self.redirect.lock().unwrap_or_else(PoisonError::into_inner).take();
        redirect.ok_or_else(|| io::Error::other("the page did not redirect"))
    }
}
