//! What the documentation of the wire types says about where they come from.
use crate::wire_types::VERSIONS;
use std::fs;
use std::path::Path;

/// A type, and what a source file says about it.
struct Documented {
    name: String,
    doc: String,
}

/// The types of a source file, in order.
fn types(text: &str) -> Vec<Documented> {
    let (mut types, mut doc) = (Vec::new(), String::new());
    for line in text.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("///") {
            doc.push_str(said);
            doc.push('\n');
            continue;
        }
        let item = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
        if let Some(item) = item {
            let name = item.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            types.push(Documented { name: name.to_owned(), doc: doc.clone() });
        }
        if !line.starts_with("#[") {
            doc.clear();
        }
    }
    types
}

/// Each page and each type has a link to the specification of its version, and to its draft where the type says that it is
/// unstable, and only there.
#[test]
fn every_type_says_where_it_comes_from() {
    for version in VERSIONS {
        let site = format!("https://agentclientprotocol.com/protocol/{}/", version.name);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(version.name);
        let mut count = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let head = text.lines().take_while(|line| line.starts_with("//!"));
            assert!(head.into_iter().any(|line| line.contains("Spec: ")), "{}", path.display());
            for Documented { name, doc } in types(&text) {
                let links: Vec<_> =
                    doc.split("https://agentclientprotocol.com/protocol/").skip(1).collect();
                let here = format!("{}: {name}", path.display());
                assert!(doc.contains("Spec: ") && doc.contains(&site), "{here}");
                let is_of_version = |link: &&str| link.starts_with(version.name);
                assert!(links.iter().all(is_of_version), "{here}: {links:?}");
                let is_draft = links.iter().any(|link| link[2..].starts_with("/draft/"));
                assert_eq!(doc.contains("**Unstable.**"), is_draft, "{here}");
                count += 1;
            }
        }
        assert!(count > version.types.len(), "{count} types in {}", version.name);
    }
}
