//! Links in the documentation of the wire types.
use crate::wire_types::VERSIONS;
use std::fs;
use std::path::Path;

/// A type, and its documentation in the source.
struct TypeDocs {
    name: String,
    doc: String,
}

/// Returns the types of a source file, in order.
fn types(text: &str) -> Vec<TypeDocs> {
    let mut types = Vec::new();
    let mut doc = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("///") {
            doc.push_str(said);
            doc.push('\n');
            continue;
        }
        let item = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
        if let Some(item) = item {
            let name = item.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            types.push(TypeDocs { name: name.to_owned(), doc: doc.clone() });
        }
        if !line.starts_with("#[") {
            doc.clear();
        }
    }
    types
}

/// The site of the specification.
const SITE: &str = "https://agentclientprotocol.com/protocol/";

/// Returns the source files of a folder: path and text.
fn pages(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

fn has_spec_link_on_top(text: &str) -> bool {
    let mut head = text.lines().take_while(|line| line.starts_with("//!"));
    head.any(|line| line.contains("Spec: "))
}

/// Each page and each type links to the specification of its version, and to the draft exactly if
/// the type is marked as unstable.
#[test]
fn every_type_links_to_its_specification() {
    for version in VERSIONS {
        let mut count = 0;
        for (path, text) in pages(version.name) {
            assert!(has_spec_link_on_top(&text), "{path}");
            for TypeDocs { name, doc } in types(&text) {
                let here = format!("{path}: {name}");
                let links: Vec<_> = doc.split(SITE).skip(1).collect();
                assert!(doc.contains("Spec: ") && !links.is_empty(), "{here}");
                let is_of_version = |link: &&str| link.starts_with(version.name);
                assert!(links.iter().all(is_of_version), "{here}: {links:?}");
                let is_draft = links.iter().any(|link| link[2..].starts_with("/draft/"));
                assert_eq!(doc.contains("**Unstable.**"), is_draft, "{here}");
                count += 1;
            }
        }
        assert!(count > version.types.len() / 4, "{count} types in {}", version.name);
    }
}

/// Each shared type links to both versions, and states in which of them it is unstable.
#[test]
fn every_shared_type_links_to_both_specifications() {
    let mut count = 0;
    for (path, text) in pages("shared") {
        for TypeDocs { name, doc } in types(&text) {
            let here = format!("{path}: {name}");
            assert!(doc.contains("Spec: "), "{here}");
            let links = |version: &str| {
                let start = format!("{SITE}{version}/");
                doc.split(&start).skip(1).map(|link| link.starts_with("draft/")).collect::<Vec<_>>()
            };
            let first = links("v1");
            let second = links("v2");
            assert!(!first.is_empty() && first.len() == second.len(), "{here}");
            let of_first =
                doc.contains("**Unstable.**") || doc.contains("**Unstable** in version 1");
            assert_eq!(first.contains(&true), of_first, "{here}");
            assert_eq!(second.contains(&true), doc.contains("**Unstable.**"), "{here}");
            count += 1;
        }
    }
    assert!(count > 100, "{count} shared types");
}

/// The parameters of each method have the method's name as an alias.
#[test]
fn every_method_name_is_an_alias_of_its_parameters() {
    for version in VERSIONS {
        let texts: Vec<_> = ["shared", version.name].into_iter().flat_map(pages).collect();
        for method in version.methods {
            let of_alias = format!("#[doc(alias = \"{}\")]", method.name);
            let of_type = format!("pub struct {} ", method.params);
            let has_alias = |text: &str| {
                let lines: Vec<_> = text.lines().map(str::trim).collect();
                lines.windows(2).any(|pair| pair[0] == of_alias && pair[1].starts_with(&of_type))
            };
            assert!(texts.iter().any(|(_, text)| has_alias(text)), "{}", method.name);
        }
    }
}
