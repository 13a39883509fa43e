//! Documents of the official registry.
use crate::catalog::with_programs;
use host::catalog::{Catalog, CatalogError, MAX_DOCUMENT_BYTES};
use std::env::consts::{ARCH, OS};
use std::fs::File;

fn document(agents: &str) -> String {
    format!(r#"{{"version":"1.0.0","agents":[{agents}],"extensions":[]}}"#)
}

fn launched(catalog: &Catalog, name: &str, installed: &[&str]) -> String {
    let (_folder, programs) = with_programs(installed);
    catalog.launch(name, &programs).unwrap().words.join(" ")
}

#[test]
fn entry_replaces_version_and_arguments_of_known_agent() {
    let text = document(
        r#"{"id":"factory-droid","name":"Factory Droid","version":"0.218.0","description":"An agent","icon":"x",
            "distribution":{"npx":{"package":"droid@0.218.0","args":["exec","--output-format","acp-daemon"],
            "env":{"DROID_DISABLE_AUTO_UPDATE":"true"}}}},
           {"id":"fast-agent","name":"fast-agent","version":"0.11.0","description":"An agent",
            "distribution":{"uvx":{"package":"fast-agent-acp==0.11.0","args":["-x"]}}}"#,
    );
    let catalog = Catalog::known().unwrap().with_registry(&text).unwrap();
    assert_eq!(catalog.agents().len(), Catalog::known().unwrap().agents().len());
    assert_eq!(
        launched(&catalog, "droid", &["npx"]),
        "npx --yes --package droid@0.218.0 -- droid exec --output-format acp-daemon"
    );
    assert_eq!(
        launched(&catalog, "factory-droid", &["droid"]),
        "droid exec --output-format acp-daemon"
    );
    assert_eq!(
        launched(&catalog, "fast-agent", &["uvx"]),
        "uvx --from fast-agent-acp==0.11.0 fast-agent-acp -x"
    );
    let droid = catalog.agent("droid").unwrap();
    assert_eq!(droid.keys, ["FACTORY_API_KEY"], "what the registry does not have stays");
    assert_eq!(droid.variables["DROID_DISABLE_AUTO_UPDATE"], "true");
}

#[test]
fn entry_adds_unknown_agent() {
    let text = document(
        r#"{"id":"new-one","name":"New one","version":"1.0.0","description":"An agent",
            "distribution":{"npx":{"package":"@new/one@1.0.0","cmd":"one-acp","args":["--acp"]}}},
           {"id":"nowhere","name":"Nowhere","version":"1.0.0","description":"An agent",
            "distribution":{"binary":{"plan9-mips":{"archive":"https://x.example/a","cmd":"./a"}}}}"#,
    );
    let catalog = Catalog::known().unwrap().with_registry(&text).unwrap();
    assert_eq!(
        launched(&catalog, "new-one", &["npx"]),
        "npx --yes --package @new/one@1.0.0 -- one-acp --acp"
    );
    let (_folder, programs) = with_programs(&["npx"]);
    assert_eq!(
        catalog.launch("nowhere", &programs).unwrap_err().to_string(),
        "Nowhere is not installed: no way to install it is known"
    );
}

#[test]
fn binary_is_not_downloaded_without_consent() {
    let os = if OS == "macos" { "darwin" } else { OS };
    let text = document(&format!(
        r#"{{"id":"kiro","name":"Kiro","version":"2.2.0","description":"An agent","distribution":{{"binary":{{
            "{os}-{ARCH}":{{"archive":"https://x.example/kiro.tar.gz","cmd":"./bin/kiro-cli acp","args":["-v"]}}}}}}}}"#
    ));
    let catalog = Catalog::known().unwrap().with_registry(&text).unwrap();
    assert_eq!(launched(&catalog, "kiro", &["kiro-cli"]), "kiro-cli acp -v");
    let (_folder, programs) = with_programs(&["npx", "uvx"]);
    assert_eq!(
        catalog.launch("kiro", &programs).unwrap_err().to_string(),
        "Kiro is not installed: run `gateway agents install kiro`"
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let catalog = Catalog::load(Some(file.path())).unwrap();
    let expected = format!("gateway agents install kiro --agents {}", file.path().display());
    assert_eq!(catalog.agent("kiro").unwrap().install_hint(), expected);
}

#[test]
fn invalid_documents_are_explained() {
    let entry = |id: &str, package: &str| {
        document(&format!(
            r#"{{"id":"{id}","name":"N","version":"1.0.0","description":"D","distribution":{{"npx":{{"package":"{package}"}}}}}}"#
        ))
    };
    let os = if OS == "macos" { "darwin" } else { OS };
    let binary = |cmd: &str, sum: &str| {
        document(&format!(
            r#"{{"id":"a","name":"N","distribution":{{"binary":{{"{os}-{ARCH}":{{"archive":"https://x.example/a","cmd":"{cmd}"{sum}}}}}}}}}"#
        ))
    };
    for (text, message) in [
        (binary("../a", ""), "cmd: expected a path in the archive"),
        (binary("/bin/sh", ""), "cmd: expected a path in the archive"),
        (binary("", ""), "cmd: expected a command"),
        (binary("./a", r#","sha256":"12""#), "sha256: expected 64 digits"),
        ("[]".to_owned(), "expected a document of the agent registry"),
        (document(r#"{"id":"a"}"#), "missing field `name`"),
        (
            entry("A b", "p"),
            r#"agents[0]: id: expected lowercase letters, digits and `-`, got "A b""#,
        ),
        (entry("a", "--yes"), r#"agents[0]: package: expected the name of a package, got "--yes""#),
        (entry("a", ""), "agents[0]: package"),
    ] {
        let error = Catalog::known().unwrap().with_registry(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn large_document_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    File::create(file.path()).unwrap().set_len(MAX_DOCUMENT_BYTES + 1).unwrap();
    let error = Catalog::load(Some(file.path())).unwrap_err();
    assert!(matches!(error, CatalogError::Size(_)), "{error}");
    let error = Catalog::load(Some("/no/such/file".as_ref())).unwrap_err();
    assert!(error.to_string().starts_with("/no/such/file: "), "{error}");
}
