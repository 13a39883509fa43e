//! Skills of a server, and their verification.
use crate::server::{CAPABILITIES, VERSION};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jsonrpc_core::wire::{self, Raw};
use mcp_bridge::mcp::base::{CacheScope, PaginatedRequestParams};
use mcp_bridge::mcp::capabilities::{Implementation, ResourcesCapability};
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::resources::{
    ListResourcesResult, ReadResourceRequestParams, ReadResourceResult,
};
use mcp_bridge::mcp::skills::{
    MAX_SKILL_FILES, ReadResourceDirectoryRequestParams, Skill, SkillFrontmatter, SkillResource,
    SkillResourceMembers, SkillResources, SkillsCapability,
};
use mcp_bridge::server::{Server, ServerEvent, ServerOptions};
use mcp_bridge::skills::{SkillCatalog, SkillError, SkillFile, check, digest, verify};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

/// SHA-256 of `abc`, see FIPS 180-2, appendix B.1.
const ABC: &str = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn catalog() -> SkillCatalog {
    let mut catalog = SkillCatalog::new().with_caching(1000, CacheScope::Public);
    let files = [
        SkillFile::new("SKILL.md", "abc"),
        SkillFile::new("templates/a b.md", "one"),
        SkillFile::new("templates/eu/c.bin", [0xff, 0x00]),
    ];
    catalog.add("pdf", SkillFrontmatter::new("pdf", "Fills forms"), files).expect("valid");
    let files = [SkillFile::new("SKILL.md", "x")];
    let refunds = SkillFrontmatter::new("refunds", "Handles refunds");
    catalog.add("acme/billing/refunds", refunds, files).expect("valid");
    catalog
}

/// A server with skills, and with other resources or without.
fn served(has_resources: bool) -> Server {
    let mut options = ServerOptions::new(Implementation::new("s", "1"), []);
    options.capabilities.resources = has_resources.then(ResourcesCapability::new);
    options.offer_skills(catalog());
    Server::new(options)
}

/// Sends a request, and returns the response, if the server itself answers.
fn ask(server: &mut Server, method: &str, mut params: Value, is_legacy: bool) -> Option<Value> {
    if !is_legacy {
        params["_meta"] = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    }
    let line = json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params });
    server.handle_line(Ok(&line.to_string()));
    let mut line = Vec::new();
    server.poll_outgoing()?.message.as_message().to_line(&mut line);
    Some(serde_json::from_slice(&line).expect("JSON"))
}

/// The messages of the specification, for a client since 2026-07-28.
#[test]
fn server_answers_requests_about_skills() {
    let mut server = served(false);
    let mut ask = |method: &str, params| ask(&mut server, method, params, false).expect("response");
    let capabilities = ask("server/discover", json!({}))["result"]["capabilities"].clone();
    assert_eq!(
        capabilities["extensions"]["io.modelcontextprotocol/skills"],
        json!({ "directoryRead": true })
    );
    assert_eq!(capabilities["resources"], json!({}));

    let listed = ask("skills/list", json!({}))["result"].clone();
    let pdf = json!({
        "uri": "skill://pdf/SKILL.md",
        "frontmatter": { "name": "pdf", "description": "Fills forms" },
        "resources": [
            { "uri": "skill://pdf/SKILL.md", "digest": ABC, "size": 3 },
            { "uri": "skill://pdf/templates/a%20b.md", "digest": digest(b"one"), "size": 3 },
            { "uri": "skill://pdf/templates/eu/c.bin", "digest": digest(&[0xff, 0x00]), "size": 2 },
        ],
    });
    assert_eq!(&listed["skills"][0], &pdf);
    assert_eq!(&listed["resultType"], &json!("complete"));
    assert_eq!(&listed["ttlMs"], &json!(1000));
    assert_eq!(&listed["cacheScope"], &json!("public"));
    assert_eq!(listed["skills"][1]["uri"], "skill://acme/billing/refunds/SKILL.md");
    let one = ask("skills/get", json!({ "uri": "skill://pdf/SKILL.md" }));
    assert_eq!(one["result"]["skill"], pdf);

    let read = ask("resources/read", json!({ "uri": "skill://pdf/templates/eu/c.bin" }));
    let expected = json!([{ "uri": "skill://pdf/templates/eu/c.bin", "mimeType": "application/octet-stream", "blob": "/wA=" }]);
    assert_eq!(read["result"]["contents"], expected);
    let children = ask("resources/directory/read", json!({ "uri": "skill://pdf/templates" }));
    let expected = json!([
        { "uri": "skill://pdf/templates/a%20b.md", "name": "a b.md", "mimeType": "text/markdown", "size": 3 },
        { "uri": "skill://pdf/templates/eu", "name": "eu", "mimeType": "inode/directory" },
    ]);
    assert_eq!(children["result"]["resources"], expected);
    let resources = ask("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(
        resources[0],
        json!({ "uri": "skill://pdf/SKILL.md", "name": "pdf", "description": "Fills forms", "mimeType": "text/markdown", "size": 3 })
    );
    for (method, uri) in [
        ("skills/get", "skill://pdf/templates/a%20b.md"),
        ("skills/get", "skill://pdf"),
        ("resources/read", "skill://pdf/other.md"),
        ("resources/directory/read", "skill://pdf/SKILL.md"),
        ("resources/directory/read", "skill://pdf/templates/"),
        ("resources/directory/read", "skill:/"),
        ("resources/directory/read", "skill://other"),
    ] {
        let error = ask(method, json!({ "uri": uri }))["error"].clone();
        assert_eq!(&error["code"], &json!(-32602), "{method}");
        assert_eq!(&error["data"]["uri"], &json!(uri), "{method}");
    }
}

/// Older clients do not know the methods, and read the files. Requests for other resources are
/// passed on.
#[test]
fn other_requests_are_passed_on() {
    let mut server = served(false);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let hello = ask(&mut server, "initialize", hello, true).expect("response");
    assert_eq!(hello["result"]["capabilities"].get("extensions"), None);
    let unknown = ask(&mut server, "skills/list", json!({}), true).expect("response");
    assert_eq!(unknown["error"]["code"], -32601);
    let uri = json!({ "uri": "skill://pdf/SKILL.md" });
    let read = ask(&mut server, "resources/read", uri, true).expect("response")["result"].clone();
    assert_eq!(
        read,
        json!({ "contents": [{ "uri": "skill://pdf/SKILL.md", "mimeType": "text/markdown", "text": "abc" }] })
    );
    let missing = json!({ "uri": "skill://pdf/other.md" });
    let missing = ask(&mut server, "resources/read", missing, true).expect("response");
    assert_eq!(missing["error"]["code"], -32002);

    let mut server = served(true);
    for (method, uri) in [("resources/read", "file:///a"), ("resources/directory/read", "file:///")]
    {
        assert_eq!(ask(&mut server, method, json!({ "uri": uri }), false), None);
        assert!(matches!(server.poll_event(), Some(ServerEvent::Request { .. })), "{method}");
    }
    assert_eq!(ask(&mut server, "resources/list", json!({}), false), None);
    let mut server = served(true);
    let uri = json!({ "uri": "skill://pdf/SKILL.md" });
    let read = ask(&mut server, "resources/read", uri, false).expect("response");
    assert_eq!(read["result"]["contents"][0]["text"], "abc");
    for uri in ["skill://pdf/SKILL.md", "skill://pdf/none"] {
        let mut server = served(true);
        let refused = ask(&mut server, "resources/directory/read", json!({ "uri": uri }), false);
        assert_eq!(refused.expect("response")["error"]["code"], -32602, "{uri}");
    }
}

#[test]
fn lists_have_pages() -> Result<(), Box<dyn Error>> {
    let catalog = catalog().with_page_size(1);
    let mut cursor = None;
    let mut seen = Vec::new();
    loop {
        let mut params = PaginatedRequestParams::new();
        params.cursor = cursor;
        let page = catalog.handle(&ClientRequest::ListSkills(Box::new(params))).ok_or("list")??;
        let page: mcp_bridge::mcp::skills::ListSkillsResult = page.decode()?;
        seen.extend(page.skills().map(|(_, skill)| skill.map(|skill| skill.frontmatter.name)));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.into_iter().collect::<Result<Vec<_>, _>>()?, ["pdf", "refunds"]);
    for odd in ["x", "3", "-1"] {
        let params = PaginatedRequestParams::new().with_cursor(odd);
        let refused = catalog.handle(&ClientRequest::ListSkills(Box::new(params))).ok_or("list")?;
        assert_eq!(refused.err().map(|error| error.code.0), Some(-32602), "{odd}");
    }
    Ok(())
}

fn entry(uri: &str, name: &str, files: &[(&str, &str, Value)]) -> Skill {
    let files = files
        .iter()
        .map(|(uri, digest, size)| json!({ "uri": uri, "digest": digest, "size": size }));
    let files: Vec<_> = files.collect();
    let text = json!({ "uri": uri, "frontmatter": { "name": name, "description": "d" }, "resources": files });
    wire::decode(&text.to_string()).expect("a skill")
}

/// A host rejects each entry that does not meet the specification.
#[test]
fn invalid_skills_are_rejected() {
    const MAIN: &str = "skill://x/a/SKILL.md";
    let good = (MAIN, ABC, json!(3));
    let only = std::slice::from_ref(&good);
    let with = |other: (&'static str, &'static str, Value)| [good.clone(), other];
    assert_eq!(check(&entry(MAIN, "a", only)), Ok(()));
    assert_eq!(
        check(&entry(
            "github://o/r/a/SKILL.md",
            "a",
            &[("github://o/r/a/SKILL.md", ABC, json!(3))]
        )),
        Ok(())
    );
    let limit = 16_777_216 - 3;
    assert_eq!(check(&entry(MAIN, "a", &with(("skill://x/a/b", ABC, json!(limit))))), Ok(()));
    let uri = |uri: &str| uri.to_owned();
    let table = [
        (entry(MAIN, "A", only), SkillError::Name(uri("A"))),
        (entry(MAIN, "a--b", only), SkillError::Name(uri("a--b"))),
        (entry(MAIN, "b", only), SkillError::Uri { name: uri("b"), uri: uri(MAIN) }),
        (
            entry("skill://x/a", "a", &[]),
            SkillError::Uri { name: uri("a"), uri: uri("skill://x/a") },
        ),
        (entry(MAIN, "a", &[]), SkillError::NoSkillFile { uri: uri(MAIN) }),
        (entry(MAIN, "a", &with(good.clone())), SkillError::Repeated { uri: uri(MAIN) }),
        (
            entry(MAIN, "a", &with(("skill://x/ab", ABC, json!(1)))),
            SkillError::Outside { uri: uri("skill://x/ab") },
        ),
        (
            entry(MAIN, "a", &with(("skill://x/a/../b", ABC, json!(1)))),
            SkillError::Outside { uri: uri("skill://x/a/../b") },
        ),
        (
            entry(MAIN, "a", &[(MAIN, "sha256:00", json!(3))]),
            SkillError::Manifest { uri: uri(MAIN) },
        ),
        (entry(MAIN, "a", &[(MAIN, ABC, json!(-3))]), SkillError::Manifest { uri: uri(MAIN) }),
        (
            entry(MAIN, "a", &with(("skill://x/a/b", ABC, json!(limit + 1)))),
            SkillError::TooLarge(16_777_217),
        ),
    ];
    for (skill, expected) in table {
        assert_eq!(check(&skill), Err(expected), "{skill:?}");
    }
    let many = (0..=MAX_SKILL_FILES).map(|index| {
        let uri = format!("skill://x/a/{index}");
        SkillResource::from(SkillResourceMembers { uri, digest: ABC.into(), size: 0.into() })
    });
    let mut skill = entry(MAIN, "a", &[]);
    skill.resources = SkillResources::Files(many.collect());
    assert_eq!(check(&skill), Err(SkillError::TooManyFiles(513)));
    skill.resources = SkillResources::Dynamic;
    assert_eq!(check(&skill), Ok(()));
    skill.frontmatter.description = " ".into();
    assert_eq!(check(&skill), Err(SkillError::Description("a".into())));
}

/// A catalog rejects paths outside of it, and skills that contradict each other. It is then
/// unchanged.
#[test]
fn catalog_is_consistent() {
    let mut catalog = SkillCatalog::new();
    let a = || SkillFrontmatter::new("a", "d");
    let main = || SkillFile::new("SKILL.md", "abc");
    for path in ["", "/a", "../a", "x//a", "a/"] {
        let error = catalog.add(path, a(), [main()]).map(|_| ());
        assert_eq!(error, Err(SkillError::Path(path.into())));
    }
    let error = catalog.add("a", a(), [main(), SkillFile::new("../b", "")]).map(|_| ());
    assert_eq!(error, Err(SkillError::Path("../b".into())));
    assert_eq!(catalog.add("a", a(), [SkillFile::new("b", "")]).map(|_| ()).ok(), None);
    assert!(!catalog.has_file("skill://a/b") && catalog.skills().is_empty());

    let outer = SkillFrontmatter::new("outer", "d");
    let files = [main(), SkillFile::new("a/SKILL.md", "abc")];
    catalog.add("outer", outer, files).expect("a nested skill");
    let uri = "skill://outer/a/SKILL.md".to_owned();
    let other = catalog.add("outer/a", a(), [SkillFile::new("SKILL.md", "other")]).map(|_| ());
    assert_eq!(other, Err(SkillError::Conflict { uri: uri.clone() }));
    catalog.add("outer/a", a(), [main()]).expect("the nested skill");
    let again = catalog.add("outer/a", a(), [main()]).map(|_| ());
    assert_eq!(again, Err(SkillError::Repeated { uri }));
    assert_eq!(catalog.skills().len(), 2);
}

#[test]
fn settings_are_read() -> Result<(), Box<dyn Error>> {
    for (text, expected) in [
        (
            r#"{"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true}}}"#,
            Some(Some(true)),
        ),
        (r#"{"extensions":{"io.modelcontextprotocol/skills":{}}}"#, Some(None)),
        (r#"{"extensions":{"io.modelcontextprotocol/skills":7}}"#, Some(None)),
        (r#"{"extensions":{}}"#, None),
        ("{}", None),
    ] {
        let settings = SkillsCapability::of(&wire::decode(text)?);
        assert_eq!(settings.map(|it| it.directory_read), expected, "{text}");
    }
    Ok(())
}

fn answered<T: wire::Wire>(catalog: &SkillCatalog, request: &ClientRequest) -> T {
    let result: Raw = catalog.handle(request).expect("about skills").expect("a result");
    result.decode().expect("a result of its type")
}

/// Returns the files below a directory, found by reading directories.
fn walk(catalog: &SkillCatalog, uri: &str, found: &mut BTreeSet<String>) {
    let params = ReadResourceDirectoryRequestParams::new(uri);
    let request = ClientRequest::ReadResourceDirectory(Box::new(params));
    let list: ListResourcesResult = answered(catalog, &request);
    for (_, child) in list.resources() {
        let child = child.expect("a resource");
        if child.mime_type.as_deref() == Some("inode/directory") {
            walk(catalog, &child.uri, found);
        } else {
            assert!(found.insert(child.uri));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each listed file of any directory is found by reading directories, can be read, and is
    /// verified; a changed one is not.
    #[test]
    fn each_file_is_found_and_verified(
        files in prop::collection::btree_map("[a-c é%]{1,2}(/[a-c]{1,2}){0,2}", prop::collection::vec(any::<u8>(), 0..5), 0..6),
        change in any::<u8>(),
    ) {
        // A file is no directory.
        let is_directory = |path: &str| files.keys().any(|other| other.starts_with(&format!("{path}/")));
        let mut files: BTreeMap<_, _> = files.iter().filter(|(path, _)| !is_directory(path)).collect();
        let main = "SKILL.md".to_owned();
        let text = b"---\n".to_vec();
        files.insert(&main, &text);
        let mut catalog = SkillCatalog::new();
        let given = files.iter().map(|(path, bytes)| SkillFile::new(path.as_str(), bytes.as_slice()));
        let skill = catalog.add("x/skill", SkillFrontmatter::new("skill", "d"), given).expect("valid").clone();
        prop_assert_eq!(check(&skill), Ok(()));
        let SkillResources::Files(listed) = &skill.resources else { panic!("files") };
        let mut found = BTreeSet::new();
        walk(&catalog, "skill://x", &mut found);
        prop_assert_eq!(&found, &listed.iter().map(|file| file.uri.clone()).collect());
        for (file, bytes) in listed.iter().zip(files.values()) {
            let read = ReadResourceRequestParams::new(&*file.uri);
            let read: ReadResourceResult = answered(&catalog, &ClientRequest::ReadResource(Box::new(read)));
            let mut contents = read.contents[0].clone();
            prop_assert_eq!(verify(&skill, &contents), Ok(bytes.to_vec()));
            let mut longer = bytes.to_vec();
            longer.push(change);
            let mut other = bytes.to_vec();
            if let Some(byte) = other.first_mut() {
                *byte = byte.wrapping_add(change | 1);
            }
            contents.text = None;
            for changed in [Some(&longer), Some(&other).filter(|_| !bytes.is_empty()), None] {
                let is_encoded = changed.is_some();
                contents.blob = changed.map(|bytes| STANDARD.encode(bytes));
                let uri = file.uri.clone();
                let changed = SkillError::Changed { uri: uri.clone() };
                let expected = if is_encoded { changed } else { SkillError::Contents { uri } };
                prop_assert_eq!(verify(&skill, &contents), Err(expected));
            }
            contents.uri.push('x');
            let unlisted = SkillError::Unlisted { uri: contents.uri.clone() };
            prop_assert_eq!(verify(&skill, &contents), Err(unlisted));
        }
    }
}
