//! Access to the gateway.
use crate::gateway::{Gateway, command, input, refusal, soon};
use crate::run::Run;
use reqwest::header::{AUTHORIZATION, HOST, ORIGIN};
use serde_json::{Value, json};

const TOKENS: &str =
    "permission = 'ask-in-stream'\n[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";

#[tokio::test]
async fn requests_without_token_are_refused() {
    let gateway = Gateway::configured(TOKENS).await;
    let post = |path: &str| gateway.client.post(gateway.url(path)).json(&input("t", "1", "hello"));
    let get = |path: &str| gateway.client.get(gateway.url(path));
    for authorization in [
        None,
        Some("Bearer "),
        Some("Bearer a-secre"),
        Some("Bearer a-secret2"),
        Some("Basic a-secret"),
    ] {
        for request in [
            post("/api/ai/chat"),
            post("/api/ai/agents/demo/chat"),
            get("/api/ai/agents"),
            get("/api/ai/chat/runs/1/events"),
            post("/api/ai/chat/runs/1/cancel"),
            post("/api/ai/chat/interrupts/1-int-1"),
        ] {
            let request = match authorization {
                Some(value) => request.header(AUTHORIZATION, value),
                None => request,
            };
            let response = soon(request.send()).await.unwrap();
            assert_eq!(response.headers()["www-authenticate"], "Bearer", "{authorization:?}");
            let (status, said) = refusal(response).await;
            assert_eq!((status.as_u16(), &*said), (401, "a bearer token is needed"));
        }
    }
    for path in ["/", "/assets/main.js", "/healthz"] {
        assert_eq!(soon(get(path).send()).await.unwrap().status(), 200, "{path}");
    }
    let request = post("/api/ai/chat").header(AUTHORIZATION, "bearer a-secret");
    let run = Run::new(&input("t", "1", "hello"), soon(request.send()).await.unwrap());
    assert_eq!(run.rest().await.end(), "success");
}

#[tokio::test]
async fn runs_are_private_to_their_user() {
    let gateway = Gateway::configured(TOKENS).await;
    let send =
        |request: reqwest::RequestBuilder, token: &str| soon(request.bearer_auth(token).send());
    let chat = |run: &str, text: &str| {
        gateway.client.post(gateway.url("/api/ai/chat")).json(&input("t", run, text))
    };
    let response = send(chat("1", "permission"), "a-secret").await.unwrap();
    let mut run = Run::new(&input("t", "1", "permission"), response);
    let asked = run.until_asked().await;
    let answer = || {
        let url = gateway.url(&format!("/api/ai/chat/interrupts/{asked}"));
        gateway.client.post(url).json(&json!({ "optionId": "allow-once" }))
    };
    let events = || gateway.client.get(gateway.url("/api/ai/chat/runs/1/events"));
    let cancel = || gateway.client.post(gateway.url("/api/ai/chat/runs/1/cancel"));
    for request in [answer(), events(), cancel()] {
        assert_eq!(send(request, "b-secret").await.unwrap().status(), 404);
    }
    // The same ids of another user are other runs.
    let response = send(chat("1", "hello"), "b-secret").await.unwrap();
    assert_eq!(Run::new(&input("t", "1", "hello"), response).rest().await.end(), "success");
    assert_eq!(send(events(), "a-secret").await.unwrap().status(), 200);
    assert_eq!(send(answer(), "a-secret").await.unwrap().status(), 202);
    assert_eq!(run.rest().await.end(), "success");
}

#[tokio::test]
async fn trusted_header_names_user() {
    let gateway = Gateway::configured("[auth]\ntrusted-header = 'X-User'").await;
    let agents = || gateway.client.get(gateway.url("/api/ai/agents"));
    assert_eq!(soon(agents().send()).await.unwrap().status(), 401);
    assert_eq!(soon(agents().header("x-user", "").send()).await.unwrap().status(), 401);
    assert_eq!(soon(agents().header("x-user", "carol").send()).await.unwrap().status(), 200);
}

#[tokio::test]
async fn pages_of_named_sites_are_accepted() {
    let settings = "[site]\nhosts = ['chat.example']\norigins = ['https://app.example']";
    let gateway = Gateway::configured(settings).await;
    let agents = || gateway.client.get(gateway.url("/api/ai/agents"));
    let allowed = |response: &reqwest::Response| {
        let origin = response.headers().get("access-control-allow-origin");
        origin.map(|origin| origin.to_str().unwrap().to_owned())
    };
    for (header, value, status, origin) in [
        (HOST, "chat.example", 200, None),
        (HOST, "chat.example:443", 200, None),
        (HOST, "other.example", 403, None),
        (ORIGIN, "https://app.example", 200, Some("https://app.example")),
        (ORIGIN, "http://app.example", 403, None),
        (ORIGIN, "https://app.example.evil.example", 403, None),
        (ORIGIN, "null", 403, None),
    ] {
        let response = soon(agents().header(&header, value).send()).await.unwrap();
        assert_eq!(response.status(), status, "{value}");
        assert_eq!(allowed(&response).as_deref(), origin, "{value}");
        assert!(!response.headers().contains_key("access-control-allow-credentials"));
    }
    let preflight = gateway
        .client
        .request(reqwest::Method::OPTIONS, gateway.url("/api/ai/chat"))
        .header(ORIGIN, "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,authorization");
    let response = soon(preflight.send()).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(allowed(&response).as_deref(), Some("https://app.example"));
    assert_eq!(response.headers()["access-control-allow-methods"], "DELETE,GET,POST");
}

#[tokio::test]
async fn public_address_needs_users() {
    let open = soon(command(&["--listen", "0.0.0.0:0"]).output()).await.unwrap();
    assert_eq!(open.status.code(), Some(1));
    let said = String::from_utf8(open.stderr).unwrap();
    let expected =
        "gateway: --listen: others can reach 0.0.0.0:0: set auth.tokens or auth.trusted-header\n";
    assert_eq!(said, expected);
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[agents.own]\nurl = 'ws://127.0.0.1:1'\ntoken = 's3cret'")
        .unwrap();
    let mut command = command(&["--print-config", "--config", file.path().to_str().unwrap()]);
    command.env("GATEWAY_TOKEN", "s3cret").env("GATEWAY_TIMES_TURN", "5");
    command.env("GATEWAY_AGENT_URL", "ws://127.0.0.1:1").env("GATEWAY_AGENT_TOKEN", "s3cret");
    let output = soon(command.output()).await.unwrap();
    let settings: toml::Table = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!(settings["auth"]["tokens"]["user"].as_str(), Some("(hidden)"));
    for agent in ["agent", "own"] {
        assert_eq!(settings["agents"][agent]["token"].as_str(), Some("(hidden)"), "{agent}");
    }
    let mut gateway = Gateway::with_environment(&[
        ("GATEWAY_TOKEN", "s3cret"),
        ("GATEWAY_TIMES_TURN", "5"),
        ("RUST_LOG", "trace"),
    ])
    .await;
    let agents = gateway.client.get(gateway.url("/api/ai/agents")).bearer_auth("s3cret");
    let listed: Value = soon(agents.send()).await.unwrap().json().await.unwrap();
    assert_eq!(listed["agents"][0]["name"], "demo");
    gateway.signal(nix::sys::signal::Signal::SIGTERM);
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("s3cret"), "{line}");
    }
}

#[tokio::test]
async fn each_file_of_the_page_is_served() {
    let gateway = Gateway::configured("").await;
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap();
        let path = format!("/assets/{}", file.file_name().to_string_lossy());
        let response = soon(gateway.client.get(gateway.url(&path)).send()).await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.bytes().await.unwrap(), std::fs::read(file.path()).unwrap(), "{path}");
    }
}
