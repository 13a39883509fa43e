//! What the README names is there, and what is there it names.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What stands between backticks in the tables of a chapter.
fn named(readme: &str, chapter: &str) -> BTreeSet<String> {
    let start = readme.find(&format!("\n## {chapter}\n")).expect(chapter) + 1;
    let text = &readme[start..];
    let text = &text[..text[1..].find("\n## ").map_or(text.len(), |end| end + 1)];
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.flat_map(|row| row.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// The names of the Rust files below a folder.
fn files(folder: &Path) -> BTreeSet<String> {
    fn look(folder: &Path, prefix: &str, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() {
                look(&path, &format!("{prefix}{name}/"), found);
            } else if name.ends_with(".rs") {
                found.insert(format!("{prefix}{name}"));
            }
        }
    }
    let mut found = BTreeSet::new();
    look(folder, "", &mut found);
    found
}

#[test]
fn the_map_of_the_source_is_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = named(&fs::read_to_string(root.join("README.md")).unwrap(), "Source");
    let named = named.into_iter().filter(|name| name.ends_with(".rs")).collect();
    let there = files(&root.join("src"));
    assert_eq!(there, named);
}

/// A name may be cut at its front, as in `…of_the_next`, or stand for all of a file, as in `ending::*`.
#[test]
fn each_test_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let folder = root.join("tests/it");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let tests = files(&folder).iter().map(|name| (name.clone(), text(name))).collect::<Vec<_>>();
    let is_test = |file: &str, name: &str| {
        let file = format!("{file}.rs");
        let found = tests.iter().find(|(it, _)| *it == file);
        found.is_some_and(|(_, text)| name == "*" || text.contains(&format!("fn {name}()")))
    };
    for chapter in ["Who may use it", "What can go wrong"] {
        let named = named(&readme, chapter);
        let full = named.iter().filter_map(|name| name.split_once("::"));
        let unknown: Vec<_> = full.filter(|(file, name)| !is_test(file, name)).collect();
        assert_eq!(unknown, [], "{chapter}");
        let cut = named.iter().filter_map(|name| name.strip_prefix('…'));
        let is_end = |cut: &&str| tests.iter().any(|(_, text)| text.contains(&format!("{cut}()")));
        let unknown: Vec<_> = cut.filter(|cut| !is_end(cut)).collect();
        assert_eq!(unknown, [""; 0], "{chapter}");
    }
}
