//! Sign-in of users with a browser elsewhere.
use crate::client::connect_with_sign_in;
use crate::sign_in::{TokenIssuer, server};
use crate::world::http;
use async_trait::async_trait;
use mcp_bridge::client::ConnectError;
use mcp_bridge::client::auth::{AuthError, AuthOptions, Credentials};
use mcp_bridge::mcp::base::Era;
use mcp_bridge_http::{CredentialStore, OpenPage, SignIn};
use reqwest::redirect::Policy;
use std::sync::{Arc, Mutex};

/// Address of the program for browsers.
const CALLBACK: &str = "https://chat.example/callback";

/// The stored text, as a program would store it.
#[derive(Default)]
struct StoredCredentials(Mutex<Option<String>>);

#[async_trait]
impl CredentialStore for StoredCredentials {
    async fn load(&self) -> Option<Credentials> {
        let text = self.0.lock().expect("stored").clone();
        text.map(|text| serde_json::from_str(&text).expect("credentials"))
    }

    async fn save(&self, credentials: &Credentials) {
        let text = serde_json::to_string(credentials).expect("JSON");
        *self.0.lock().expect("stored") = Some(text);
    }

    async fn remove(&self) {
        *self.0.lock().expect("stored") = None;
    }
}

fn sign_in(issued: &TokenIssuer, store: &Arc<StoredCredentials>) -> Arc<SignIn> {
    let http = http().redirect(Policy::none()).build().expect("a client");
    let url = format!("{}/mcp", issued.origin);
    let options = AuthOptions::new("test", "");
    let sign_in = SignIn::without_browser(http, &url, options, store.clone());
    Arc::new(sign_in.expect("a URL"))
}

/// Returns the reason why there is no connection.
async fn refused(issued: &TokenIssuer, sign_in: &Arc<SignIn>) -> String {
    let url = format!("{}/mcp", issued.origin);
    match connect_with_sign_in(&url, Era::Modern, sign_in).await {
        Err(ConnectError::Refused(error)) => error.message,
        other => panic!("not refused: {other:?}"),
    }
}

async fn connects(issued: &TokenIssuer, sign_in: &Arc<SignIn>) {
    let url = format!("{}/mcp", issued.origin);
    connect_with_sign_in(&url, Era::Modern, sign_in).await.expect("a server");
}

/// Begins a sign-in, and returns the redirect of its page, and the secret of the browser.
async fn approved(sign_in: &Arc<SignIn>) -> (String, String) {
    let OpenPage { url: page, browser, .. } =
        sign_in.begin(CALLBACK).await.expect("a page").expect("a user is needed");
    assert!(page.contains("redirect_uri=https%3A%2F%2Fchat.example%2Fcallback"), "{page}");
    let state = page.split('&').find_map(|pair| pair.strip_prefix("state=")).expect("a state");
    (format!("{CALLBACK}?code=c1&state={state}"), browser)
}

#[tokio::test]
async fn request_fails_until_the_user_has_signed_in_elsewhere() {
    let issued = server().await;
    let store = Arc::default();
    let first = sign_in(&issued, &store);
    assert_eq!(refused(&issued, &first).await, "a user has to sign in at the server");
    assert!(matches!(first.user_error(), Some(AuthError::NeedsUser)));
    assert_eq!(issued.registrations(), 0, "without a user, no client is registered");

    let (redirect, browser) = approved(&first).await;
    let other = first.finish(&redirect.replace("state=", "state=x"), &browser).await;
    assert_eq!(other, Err(AuthError::OtherSignIn), "the sign-in continues");
    for other in ["", &browser[1..], &browser.replace(char::is_alphanumeric, "0")] {
        let other = first.finish(&redirect, other).await;
        assert_eq!(other, Err(AuthError::OtherBrowser), "the sign-in continues");
    }
    assert_eq!(issued.grants(), [""; 0]);
    first.finish(&redirect, &browser).await.expect("a token");
    assert!(first.user_error().is_none() && first.has_credentials());
    let again = first.finish(&redirect, &browser).await;
    assert_eq!(again, Err(AuthError::OtherSignIn), "it ends once");
    connects(&issued, &first).await;

    // Another program, or the next run of this one, refreshes the token of the store.
    issued.revoke();
    let second = sign_in(&issued, &store);
    connects(&issued, &second).await;
    assert!(second.user_error().is_none());
    // The first one takes the newer token.
    connects(&issued, &first).await;
    assert_eq!(issued.grants(), ["authorization_code", "refresh_token"]);
    assert_eq!(issued.registrations(), 1);
}

#[tokio::test]
async fn later_sign_in_replaces_an_earlier_one_and_keeps_the_registration() {
    let issued = server().await;
    let store = Arc::default();
    let sign_in = sign_in(&issued, &store);
    let first = approved(&sign_in).await;
    let second = approved(&sign_in).await;
    assert_eq!(sign_in.finish(&first.0, &first.1).await, Err(AuthError::OtherBrowser));
    assert_eq!(sign_in.finish(&first.0, &second.1).await, Err(AuthError::OtherSignIn));
    sign_in.finish(&second.0, &second.1).await.expect("a token");
    let registrations = issued.registrations();
    issued.forbid_refresh();
    issued.revoke();
    assert!(refused(&issued, &sign_in).await.contains("a user has to sign in"));
    let again = approved(&sign_in).await;
    sign_in.finish(&again.0, &again.1).await.expect("a token");
    connects(&issued, &sign_in).await;
    assert_eq!(issued.registrations(), registrations, "the client is known");
}

#[tokio::test]
async fn sign_out_revokes_and_removes_the_tokens() {
    let issued = server().await;
    let store = Arc::default();
    let sign_in = sign_in(&issued, &store);
    let (redirect, browser) = approved(&sign_in).await;
    sign_in.finish(&redirect, &browser).await.expect("a token");
    connects(&issued, &sign_in).await;
    issued.forbid_refresh();
    let waiting = approved(&sign_in).await;
    assert_eq!(sign_in.sign_out().await, Ok(true));
    assert_eq!(issued.revoked(), ["r1", "t0"]);
    assert!(
        store.load().await.is_none()
            && sign_in.user_error().is_some()
            && !sign_in.has_credentials()
    );
    assert_eq!(refused(&issued, &sign_in).await, "a user has to sign in at the server");
    let late = sign_in.finish(&waiting.0, &waiting.1).await;
    assert_eq!(late, Err(AuthError::OtherSignIn), "an open sign-in ends too");
    assert_eq!(sign_in.sign_out().await, Ok(false), "there is nothing to revoke");
    let (redirect, browser) = approved(&sign_in).await;
    sign_in.finish(&redirect, &browser).await.expect("another account");
    connects(&issued, &sign_in).await;
}

/// The browser that follows the redirect may be closed, and a request may be cancelled, while
/// tokens are exchanged.
#[tokio::test]
async fn dropped_requests_lose_no_token() {
    let issued = server().await;
    let store = Arc::<StoredCredentials>::default();
    let sign_in = sign_in(&issued, &store);
    let (redirect, browser) = approved(&sign_in).await;
    let gate = issued.hold_tokens().await;
    {
        let mut finish = std::pin::pin!(sign_in.finish(&redirect, &browser));
        tokio::select! {
            biased;
            _ = &mut finish => panic!("the token is held back"),
            () = issued.token_requested() => {}
        }
    }
    drop(gate);
    // Waits for the exchange, which has the lock.
    assert!(sign_in.credentials().await.is_some());
    assert!(store.load().await.is_some());
    connects(&issued, &sign_in).await;
    assert_eq!(issued.grants(), ["authorization_code"]);
}
