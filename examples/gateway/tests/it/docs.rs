//! The tables of `docs/` agree with the source and the tests.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The code spans in the tables of a page.
fn code_in_tables(page: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    let text = fs::read_to_string(path).expect(page);
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
fn source_page_lists_each_file_of_the_source() {
    let named = code_in_tables("source.md");
    let named = named.into_iter().filter(|name| name.ends_with(".rs")).collect();
    let existing = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert_eq!(existing, named);
}

/// `ending::*` stands for all tests of a file.
#[test]
fn named_tests_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let tests = files(&folder).iter().map(|name| (name.clone(), text(name))).collect::<Vec<_>>();
    let is_test = |file: &str, name: &str| {
        let file = format!("{file}.rs");
        let found = tests.iter().find(|(it, _)| *it == file);
        found.is_some_and(|(_, text)| name == "*" || text.contains(&format!("fn {name}()")))
    };
    for page in ["secure.md", "failures.md"] {
        let named = code_in_tables(page);
        let full: Vec<_> = named.iter().filter_map(|name| name.split_once("::")).collect();
        assert!(!full.is_empty(), "{page} names no tests");
        let unknown: Vec<_> =
            full.into_iter().filter(|(file, name)| !is_test(file, name)).collect();
        assert_eq!(unknown, [], "{page}");
    }
}
