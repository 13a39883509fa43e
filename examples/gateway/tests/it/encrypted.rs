//! TLS of the gateway's listener.
use crate::certificate::Certificate;
use crate::gateway::{Gateway, command, http, input, script, soon};
use crate::run::Run;
use nix::sys::signal::Signal;
use std::fs;

/// A client that trusts only this certificate.
fn trusting(certificate: &Certificate) -> reqwest::Client {
    let trusted = reqwest::Certificate::from_pem(certificate.pem.as_bytes()).unwrap();
    http().tls_certs_only([trusted]).build().unwrap()
}

#[tokio::test]
async fn listener_is_encrypted_and_certificate_is_replaced() {
    let first = Certificate::new();
    let second = Certificate::new();
    let [cert, key] = ["certificate.pem", "key.pem"].map(|name| first.file(name));
    let mut command = command(&["--agent", &script("tells-servers")]);
    command.env("GATEWAY_SITE_TLS_CERT", &cert).env("GATEWAY_SITE_TLS_KEY", &key);
    command.env("GATEWAY_TOKEN", "a-token-of-the-test");
    let mut gateway = Gateway::listening(command).await;
    let url = |path: &str| format!("https://{}{path}", gateway.address);
    let page = |client: &reqwest::Client, query: &str| soon(client.get(url(query)).send());
    let trusts_first = trusting(&first);
    let trusts_second = trusting(&second);
    let response = page(&trusts_first, "/healthz").await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(response.version(), reqwest::Version::HTTP_2);
    assert!(page(&trusts_second, "/healthz").await.is_err());
    let client = http().redirect(reqwest::redirect::Policy::none());
    let trusted = reqwest::Certificate::from_pem(first.pem.as_bytes()).unwrap();
    let client = client.tls_certs_only([trusted]).build().unwrap();
    let login = page(&client, "/?token=a-token-of-the-test").await.unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Secure"), "{cookie}");

    let chat = input("t", "1", "hello");
    let request = trusts_first.post(url("/api/ai/chat")).bearer_auth("a-token-of-the-test");
    let mut run = Run::new(&chat, soon(request.json(&chat).send()).await.unwrap());
    run.until("working").await;

    fs::write(&cert, &second.pem).unwrap();
    fs::write(&key, &second.key).unwrap();
    gateway.signal(Signal::SIGHUP);
    gateway.says("were read again").await;
    let url = format!("https://{}/healthz", gateway.address);
    assert_eq!(soon(trusts_second.get(&url).send()).await.unwrap().status(), 200);
}

#[tokio::test]
async fn certificate_needs_its_key() {
    let certificate = Certificate::new();
    let mut command = command(&["--listen", "127.0.0.1:0"]);
    command.env("GATEWAY_SITE_TLS_CERT", certificate.file("certificate.pem"));
    let output = soon(command.output()).await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let expected =
        "gateway: site.tls-cert and site.tls-key: expected both or neither, got one of them\n";
    assert_eq!(said, expected);
}
