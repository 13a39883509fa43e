//! Access to the gateway.
use crate::gateway::http;
use crate::gateway::{Gateway, command, input, refusal, soon};
use crate::run::Run;
use reqwest::header::{AUTHORIZATION, COOKIE, HOST, HeaderValue, ORIGIN};
use reqwest::redirect::Policy;
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, BufReader};

/// Starts a gateway with authentication as it is by default; returns the URL that it prints.
async fn start_by_default() -> (Gateway, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[auth]\n").unwrap();
    let mut gateway = Gateway::demo(&["--config", file.path().to_str().unwrap()]).await;
    let url = gateway.says("open http://").await["open ".len()..].to_owned();
    (gateway, url)
}

/// An agent is a local process too: without the token it cannot answer its own requests.
#[tokio::test]
async fn token_of_printed_url_is_needed_on_loopback() {
    let (gateway, url) = start_by_default().await;
    let (base, token) = url.split_once("?token=").unwrap();
    assert_eq!(base, &*gateway.url("/"));
    assert_eq!(token.len(), 32);
    let agents = || gateway.client.get(gateway.url("/api/ai/agents"));
    assert_eq!(soon(agents().send()).await.unwrap().status(), 401);
    let cancel = json!({ "cancelled": true });
    assert_eq!(gateway.post("interrupts/1-int-1", &cancel).await.0, 401);
    assert_eq!(soon(agents().bearer_auth(token).send()).await.unwrap().status(), 200);
    let (other, other_url) = start_by_default().await;
    assert!(!other_url.contains(token), "each start has a token of its own");
    let foreign = other.client.get(other.url("/api/ai/agents")).bearer_auth(token);
    assert_eq!(soon(foreign.send()).await.unwrap().status(), 401);
}

#[tokio::test]
async fn token_of_url_is_exchanged_for_cookie() {
    let (gateway, url) = start_by_default().await;
    let client = http().redirect(Policy::none()).build().unwrap();
    let response = soon(client.get(&url).send()).await.unwrap();
    assert_eq!(response.status(), 303);
    let location = response.headers()["location"].to_str().unwrap();
    let key = location.strip_prefix("/#key=").unwrap().to_owned();
    assert_eq!(response.headers()["referrer-policy"], "no-referrer");
    let cookie = response.headers()["set-cookie"].to_str().unwrap().to_owned();
    let (pair, attributes) = cookie.split_once(';').unwrap();
    assert_eq!(attributes, " Path=/; HttpOnly; SameSite=Strict");
    assert!(!pair.contains(url.split_once("token=").unwrap().1), "the cookie is not the token");
    // Another server on this host receives the cookie, but not the key.
    let without_key =
        |cookie: &str| client.get(gateway.url("/api/ai/agents")).header(COOKIE, cookie);
    assert_eq!(soon(without_key(pair).send()).await.unwrap().status(), 401);
    let wrong_key = without_key(pair).header("sign-in-key", &key[1..]);
    assert_eq!(soon(wrong_key.send()).await.unwrap().status(), 401);
    assert!(!pair.contains(&key) && !url.contains(&key), "the key is neither cookie nor token");
    let agents = |cookie: &str| without_key(cookie).header("sign-in-key", &key);
    let many = format!("other=1; {pair}; third=3");
    for (cookie, status) in
        [(pair, 200), (&*many, 200), (&pair[..pair.len() - 1], 401), ("a=b", 401)]
    {
        assert_eq!(soon(agents(cookie).send()).await.unwrap().status(), status, "{cookie}");
    }
    let wrong = soon(client.get(gateway.url("/?token=wrong")).send()).await.unwrap();
    assert_eq!(wrong.status(), 303);
    assert!(!wrong.headers().contains_key("set-cookie"));
    for site in ["cross-site", "same-site"] {
        let embedded = agents(pair).header("sec-fetch-site", site);
        assert_eq!(soon(embedded.send()).await.unwrap().status(), 403, "{site}");
    }
    let own = soon(agents(pair).header("sec-fetch-site", "same-origin").send()).await.unwrap();
    assert_eq!(own.status(), 200);
    for (header, value) in [
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(own.headers()[header], value, "{header}");
    }
    for path in ["/", "/assets/main.js", "/healthz", "/readyz", "/none"] {
        let response = soon(client.get(gateway.url(path)).send()).await.unwrap();
        assert_eq!(response.headers()["x-content-type-options"], "nosniff", "{path}");
    }
}

#[tokio::test]
async fn missing_authentication_is_announced() {
    let mut child = command(&["--no-auth", "--listen", "127.0.0.1:0"]);
    let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = soon(lines.next_line()).await.unwrap().unwrap();
    assert!(first.starts_with("WARNING: --no-auth: all users and programs"), "{first}");
}

#[tokio::test]
async fn wrong_tokens_are_limited() {
    // The one with a token that can be guessed refuses even the right one for a while.
    for (token, status) in [("too-short", 429), ("a-token-that-nothing-guesses", 200)] {
        let mut gateway = Gateway::with_environment(&[("GATEWAY_TOKEN", token)]).await;
        let with = |token: &str| {
            soon(gateway.client.get(gateway.url("/api/ai/agents")).bearer_auth(token).send())
        };
        assert_eq!(with(token).await.unwrap().status(), 200);
        for _ in 0..8 {
            assert_eq!(with("wrong").await.unwrap().status(), 401);
        }
        let refused = with("wrong").await.unwrap();
        assert_eq!(refused.status(), 429);
        let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=10).contains(&wait), "{wait}");
        assert_eq!(with(token).await.unwrap().status(), status);
        let logged = gateway.says("invalid token").await;
        assert!(logged.contains("127.0.0.1") && !logged.contains("wrong"), "{logged}");
    }
}

/// The authority of HTTP/2 takes the place of the `Host` header.
#[tokio::test]
async fn http2_requests_are_accepted() {
    let gateway = Gateway::demo(&[]).await;
    let client = http().http2_prior_knowledge().build().unwrap();
    let response = soon(client.get(gateway.url("/api/ai/agents")).send()).await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    assert_eq!(response.version(), reqwest::Version::HTTP_2);
    let port = gateway.address.rsplit_once(':').unwrap().1;
    let address = gateway.address.parse().unwrap();
    let client = http().http2_prior_knowledge().resolve("other.example", address).build().unwrap();
    let url = format!("http://other.example:{port}/api/ai/agents");
    assert_eq!(soon(client.get(url).send()).await.unwrap().status(), 403);
}

#[tokio::test]
async fn requests_of_user_are_limited() {
    let settings =
        "[limits]\nrequests-a-minute = 3\n[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";
    let gateway = Gateway::configured(settings).await;
    let with = |token: &str| {
        soon(gateway.client.get(gateway.url("/api/ai/agents")).bearer_auth(token).send())
    };
    for _ in 0..3 {
        assert_eq!(with("a-secret").await.unwrap().status(), 200);
    }
    let refused = with("a-secret").await.unwrap();
    assert!(refused.headers().contains_key("retry-after"));
    let (status, error) = refusal(refused).await;
    assert_eq!(status, 429);
    assert!(error.starts_with("more than 3 requests in a minute; try again in "), "{error}");
    assert_eq!(with("b-secret").await.unwrap().status(), 200);
}

/// A body without a declared length counts as the largest one.
#[tokio::test]
async fn large_bodies_of_user_are_limited() {
    let settings = "[limits]\nrequests-a-minute = 3\n[auth.tokens]\n\
                    alice = 'a-secret'\nbob = 'b-secret'\ncarol = 'c-secret'";
    let gateway = Gateway::configured(settings).await;
    let post = |token: &str, body: reqwest::Body| {
        let request = gateway.client.post(gateway.url("/api/ai/markdown")).bearer_auth(token);
        soon(request.header("content-type", "application/json").body(body).send())
    };
    let blank = |length: usize| format!("[{}]", " ".repeat(length));
    let in_parts = || reqwest::Body::wrap_stream(futures::stream::iter([Ok::<_, String>("[]")]));
    for (token, body, next) in [
        ("a-secret", blank(10).into(), 200),
        ("b-secret", blank(600_000).into(), 429),
        ("c-secret", in_parts(), 429),
    ] {
        assert_eq!(post(token, body).await.unwrap().status(), 200, "{token}");
        assert_eq!(post(token, "[]".into()).await.unwrap().status(), next, "{token}");
    }
}

#[tokio::test]
async fn streams_of_user_are_limited() {
    // A quarter of four.
    let settings = "permission = 'ask-in-stream'\n[limits]\nconnections = 4\n\
                    [auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";
    let gateway = Gateway::configured(settings).await;
    let chat = |run: &str, token: &str| {
        let request = gateway.client.post(gateway.url("/api/ai/chat")).bearer_auth(token);
        soon(request.json(&input("t", run, "permission")).send())
    };
    let mut run = Run::new(&input("t", "1", "permission"), chat("1", "a-secret").await.unwrap());
    run.until_asked().await;
    assert_eq!(chat("2", "a-secret").await.unwrap().status(), 429);
    assert_eq!(chat("1", "b-secret").await.unwrap().status(), 200);
}

const TOKENS: &str =
    "permission = 'ask-in-stream'\n[auth.tokens]\nalice = 'a-secret'\nbob = 'b-secret'";

#[tokio::test]
async fn requests_without_token_are_refused() {
    for authorization in [
        None,
        Some("Bearer "),
        Some("Bearer a-secre"),
        Some("Bearer a-secret2"),
        Some("Basic a-secret"),
    ] {
        // One for each, as invalid tokens are limited.
        let gateway = Gateway::configured(TOKENS).await;
        let post =
            |path: &str| gateway.client.post(gateway.url(path)).json(&input("t", "1", "hello"));
        let get = |path: &str| gateway.client.get(gateway.url(path));
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
            assert_eq!(status.as_u16(), 401);
            assert_eq!(&*said, "a bearer token is needed");
        }
    }
    let gateway = Gateway::configured(TOKENS).await;
    let get = |path: &str| gateway.client.get(gateway.url(path));
    for path in ["/", "/assets/main.js", "/healthz"] {
        assert_eq!(soon(get(path).send()).await.unwrap().status(), 200, "{path}");
    }
    let chat = gateway.client.post(gateway.url("/api/ai/chat")).json(&input("t", "1", "hello"));
    let request = chat.header(AUTHORIZATION, "bearer a-secret");
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
    let settings = "[auth]\ntrusted-header = 'X-User'\ntrusted-proxies = ['127.0.0.1', '::1']";
    let gateway = Gateway::configured(settings).await;
    let agents = || gateway.client.get(gateway.url("/api/ai/agents"));
    assert_eq!(soon(agents().send()).await.unwrap().status(), 401);
    assert_eq!(soon(agents().header("x-user", "").send()).await.unwrap().status(), 401);
    assert_eq!(soon(agents().header("x-user", "carol").send()).await.unwrap().status(), 200);
    assert_eq!(soon(agents().header("x-user", "Jörg").send()).await.unwrap().status(), 200);
    let latin1 = HeaderValue::from_bytes(b"J\xf6rg").unwrap();
    assert_eq!(soon(agents().header("x-user", latin1).send()).await.unwrap().status(), 400);
    let two = agents().header("x-user", "eve").header("x-user", "carol");
    assert_eq!(soon(two.send()).await.unwrap().status(), 400, "which one the proxy set is unknown");
}

/// A client that is no proxy cannot choose its name.
#[tokio::test]
async fn trusted_header_needs_proxies() {
    let settings = "[auth]\ntrusted-header = 'X-User'\ntrusted-proxies = ['192.0.2.0/24']";
    let gateway = Gateway::configured(settings).await;
    let agents = gateway.client.get(gateway.url("/api/ai/agents"));
    assert_eq!(soon(agents.header("x-user", "carol").send()).await.unwrap().status(), 401);
    let mut missing = command(&["--listen", "127.0.0.1:0"]);
    missing.env("GATEWAY_AUTH_TRUSTED_HEADER", "x-user");
    let missing = soon(missing.output()).await.unwrap();
    let said = String::from_utf8(missing.stderr).unwrap();
    assert!(said.starts_with("gateway: auth.trusted-proxies: expected the addresses"), "{said}");
}

#[cfg(unix)]
#[tokio::test]
async fn tokens_are_read_again_on_hangup() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let write = |text: &str| std::fs::write(file.path(), text).unwrap();
    write("[auth.tokens]\nalice = 'the-first-token'");
    let mut gateway = Gateway::demo(&["--config", file.path().to_str().unwrap()]).await;
    let status = async |gateway: &Gateway, token: &str| {
        let agents = gateway.client.get(gateway.url("/api/ai/agents")).bearer_auth(token);
        soon(agents.send()).await.unwrap().status().as_u16()
    };
    assert_eq!(status(&gateway, "the-first-token").await, 200);
    write("[auth.tokens]\nalice = 'the-second-token'");
    gateway.signal(nix::sys::signal::Signal::SIGHUP);
    gateway.says("were read again").await;
    assert_eq!(status(&gateway, "the-first-token").await, 401);
    assert_eq!(status(&gateway, "the-second-token").await, 200);
    write("[auth.tokens]\nalice = ''");
    gateway.signal(nix::sys::signal::Signal::SIGHUP);
    gateway.says("auth.tokens.alice: expected a token, got an empty one; the earlier").await;
    assert_eq!(status(&gateway, "the-second-token").await, 200);
}

/// A setting below the tokens would become a user that can be guessed.
#[tokio::test]
async fn setting_below_the_tokens_is_no_user() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (below, expected) in [
        ("login = 'true'", "auth.tokens.login: expected at least 8 characters, got 4; `openssl"),
        (
            "trusted-header = 'x-forwarded-user'",
            "auth.tokens.trusted-header: expected the name of a user, got a setting; write it in",
        ),
        ("[auth.tokens.bob]\ntoken = 'a-token-of-bob'", "invalid type: map, expected a string"),
        ("bob.token = 'a-token-of-bob'", "invalid type: map, expected a string"),
    ] {
        let settings = format!("[auth.tokens]\nalice = 'a-token-of-alice'\n{below}");
        std::fs::write(file.path(), settings).unwrap();
        let config = ["--print-config", "--config", file.path().to_str().unwrap()];
        let refused = soon(command(&config).output()).await.unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(expected), "{below}: {said}");
        assert_eq!(refused.status.code(), Some(1), "{below}");
    }
}

/// A page of another site can send the request.
#[tokio::test]
async fn readiness_without_a_token_starts_no_agent() {
    let gateway = Gateway::with_environment(&[("GATEWAY_TOKEN", "a-token-of-the-test")]).await;
    let ready = |token: Option<&str>| {
        let request = gateway.client.get(gateway.url("/readyz"));
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        async { soon(request.send()).await.unwrap().json::<Value>().await.unwrap() }
    };
    let unknown = json!({ "hybrid": true });
    let started = json!({ "demo": true, "hybrid": true });
    assert_eq!(ready(None).await["agents"], unknown);
    assert_eq!(ready(Some("a-wrong-token")).await["agents"], unknown);
    assert_eq!(ready(Some("a-token-of-the-test")).await["agents"], started);
    assert_eq!(ready(None).await["agents"], started);
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
    let expected = "gateway: --listen: others can reach 0.0.0.0:0: set auth.tokens, auth.oidc.issuer or auth.trusted-header\n";
    assert_eq!(said, expected);
    let mut short = command(&["--listen", "0.0.0.0:0"]);
    let short = soon(short.env("GATEWAY_TOKEN", "fifteen-letters").output()).await.unwrap();
    let said = String::from_utf8(short.stderr).unwrap();
    let expected = "gateway: auth.tokens.user: expected at least 16 characters, got fewer";
    assert!(said.starts_with(expected), "{said}");
    let mut clear = command(&["--listen", "0.0.0.0:0"]);
    let clear = soon(clear.env("GATEWAY_TOKEN", "sixteen-letters.").output()).await.unwrap();
    let said = String::from_utf8(clear.stderr).unwrap();
    let expected = "gateway: --listen: others can reach 0.0.0.0:0, and read tokens and chats";
    assert!(said.starts_with(expected), "{said}");
    let mut allowed = command(&["--listen", "0.0.0.0:0", "--clear-text"]);
    allowed.env("GATEWAY_TOKEN", "sixteen-letters.").stderr(Stdio::piped());
    let mut allowed = allowed.spawn().unwrap();
    let mut lines = BufReader::new(allowed.stderr.take().unwrap()).lines();
    let first = soon(lines.next_line()).await.unwrap().unwrap();
    assert!(first.starts_with("listening on http://0.0.0.0:"), "{first}");
    let mut off = command(&["--listen", "127.0.0.1:0", "--no-auth"]);
    let off = soon(off.env("GATEWAY_TOKEN", "fifteen-letters").output()).await.unwrap();
    let said = String::from_utf8(off.stderr).unwrap();
    assert!(said.starts_with("gateway: auth.required: expected true with auth.tokens"), "{said}");
}

#[tokio::test]
async fn secrets_are_not_shown() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "[agents.own]\nurl = 'ws://u:s3cret@127.0.0.1:1/p?key=s3cret#s3cret'\ntoken = 's3cret-token'\n\
         [agents.model.model]\nname = 'm'\nurl = 'https://s3cret@a.example/v1?key=s3cret'\n\
         [mcp-servers.docs]\nurl = 'https://a.example/mcp?api_key=s3cret'",
    )
        .unwrap();
    let mut command = command(&["--print-config", "--config", file.path().to_str().unwrap()]);
    command.env("GATEWAY_TOKEN", "s3cret-token").env("GATEWAY_TIMES_TURN", "5");
    command.env("GATEWAY_AGENT_URL", "ws://127.0.0.1:1").env("GATEWAY_AGENT_TOKEN", "s3cret-token");
    let output = soon(command.output()).await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.contains("s3cret"), "{printed}");
    let settings: toml::Table = printed.parse().unwrap();
    assert_eq!(settings["agents"]["own"]["url"].as_str(), Some("ws://127.0.0.1:1/p"));
    assert_eq!(settings["agents"]["model"]["model"]["url"].as_str(), Some("https://a.example/v1"));
    assert_eq!(settings["mcp-servers"]["docs"]["url"].as_str(), Some("https://a.example/mcp"));
    assert_eq!(settings["auth"]["tokens"]["user"].as_str(), Some("(hidden)"));
    for agent in ["agent", "own"] {
        assert_eq!(settings["agents"][agent]["token"].as_str(), Some("(hidden)"), "{agent}");
    }
    let mut gateway = Gateway::with_environment(&[
        ("GATEWAY_TOKEN", "s3cret-token"),
        ("GATEWAY_TIMES_TURN", "5"),
        ("RUST_LOG", "trace"),
    ])
    .await;
    let agents = gateway.client.get(gateway.url("/api/ai/agents")).bearer_auth("s3cret-token");
    let listed: Value = soon(agents.send()).await.unwrap().json().await.unwrap();
    assert_eq!(listed["agents"][0]["name"], "demo");
    gateway.signal(nix::sys::signal::Signal::SIGTERM);
    while let Some(line) = gateway.line().await {
        assert!(!line.contains("s3cret-token"), "{line}");
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
