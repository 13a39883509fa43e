//! Credentials in a store, and settings of clients.
use super::{ClientSettings, SealedCredentials, SignInPlace, SignIns};
use crate::store::{MemoryStore, RunStore};
use crate::tools::sources::CredentialStore;
use mcp_bridge::client::auth::Credentials;
use std::sync::Arc;
use tempfile::TempDir;

const URL: &str = "https://docs.example/mcp";

fn credentials() -> Credentials {
    let registration = r#"{"issuer":"https://as.example","client_id":"c1"}"#;
    let text = format!(
        r#"{{"registration":{registration},"resource":"{URL}","scopes":["read"],"access_token":"canary-1","refresh_token":"canary-2"}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn sealed(place: &SignInPlace, url: &str) -> Arc<dyn CredentialStore> {
    let sign_ins = SignIns::open(place).unwrap();
    sign_ins.of_server("docs", url, &ClientSettings::default()).unwrap().store
}

#[tokio::test]
async fn credentials_are_read_again_with_the_same_key_and_for_the_same_server_only() {
    let folder = TempDir::new().unwrap();
    let runs: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
    let place = |file: &str| {
        let key_file = Some(folder.path().join(file));
        SignInPlace::new(runs.clone(), key_file, "test")
    };
    assert!(sealed(&place("key"), URL).load().await.is_none(), "nothing is stored");
    sealed(&place("key"), URL).save(&credentials()).await;
    let text = runs.kept("mcp-sign-in:docs").await.unwrap().unwrap();
    assert!(!text.contains("canary") && !text.contains("docs.example"), "{text}");
    assert!(sealed(&place("key"), URL).load().await == Some(credentials()));
    let other = sealed(&place("key"), "https://evil.example/mcp");
    assert!(other.load().await.is_none(), "another address");
    assert!(sealed(&place("other-key"), URL).load().await.is_none(), "another key");
    let none = SignInPlace::new(runs.clone(), None, "test");
    assert!(sealed(&none, URL).load().await.is_none(), "a random key");
    sealed(&place("key"), URL).remove().await;
    assert!(runs.kept("mcp-sign-in:docs").await.unwrap().is_none());
}

#[tokio::test]
async fn text_that_was_changed_is_not_used() {
    let runs: Arc<dyn RunStore> = Arc::new(MemoryStore::default());
    let key = SignIns::open(&SignInPlace::new(runs.clone(), None, "test")).unwrap().key;
    let place = "docs".to_owned();
    let bound_to = URL.to_owned();
    let sealed = SealedCredentials { store: runs.clone(), key, place, bound_to };
    sealed.save(&credentials()).await;
    let text = runs.kept("docs").await.unwrap().unwrap();
    for at in (0..text.len()).step_by(7) {
        let mut changed = text.clone();
        let new = if changed.as_bytes()[at] == b'A' { "B" } else { "A" };
        changed.replace_range(at..=at, new);
        runs.keep("docs", Some(&changed)).await.unwrap();
        assert!(sealed.load().await.is_none(), "changed at {at}");
    }
}

#[test]
fn client_is_complete_or_the_setting_is_named() {
    let wrong = |text: &str| {
        let settings: ClientSettings = serde_json::from_str(text).unwrap();
        settings.options("test").unwrap_err().0
    };
    assert_eq!(wrong(r#"{"issuer":"https://as.example"}"#), "client-id");
    assert_eq!(wrong(r#"{"client-id":"c1"}"#), "issuer");
    assert_eq!(wrong(r#"{"client-secret":"s"}"#), "issuer");
    assert_eq!(wrong(r#"{"client-secret":"s","grant":"client-credentials"}"#), "issuer");
    let public = r#"{"issuer":"https://as.example","client-id":"c1","grant":"client-credentials"}"#;
    assert_eq!(wrong(public), "client-secret");
    assert_eq!(wrong(r#"{"client-secret-variable":"NO_SUCH_VARIABLE"}"#), "client-secret-variable");
    assert_eq!(wrong(r#"{"client-secret":"s","client-secret-file":"/dev/null"}"#), "client-secret");
}
