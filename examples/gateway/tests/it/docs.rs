//! The tables of `docs/` agree with the source and the tests.
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The code spans in the tables of a page of `docs/`.
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
fn source_page_lists_each_module() {
    let named = code_in_tables("source.md");
    let named = named.into_iter().filter(|name| name.ends_with(".rs") && !name.contains('/'));
    let existing = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let modules = existing.into_iter().filter(|name| !name.contains('/') && name != "lib.rs");
    assert_eq!(modules.collect::<BTreeSet<_>>(), named.collect());
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
    let named = code_in_tables("failures.md");
    let full: Vec<_> = named.iter().filter_map(|name| name.split_once("::")).collect();
    assert!(!full.is_empty(), "no tests are named");
    let unknown: Vec<_> = full.into_iter().filter(|(file, name)| !is_test(file, name)).collect();
    assert_eq!(unknown, []);
}

/// Returns whether a file of the repository defines a name: a Rust item, a function of JavaScript
/// or a test of it. The path starts at the root or at `examples`; a name without a folder is a file
/// of these tests.
fn is_defined(file: &str, name: &str) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let own = format!("gateway/tests/it/{file}.rs");
    let paths =
        [root.join(file), root.join("examples").join(file), root.join("examples").join(own)];
    let text = paths.iter().find_map(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    // The last one is that of methods in JavaScript.
    let starts = ["fn ", "const ", "function ", "async ", "test(\"", "name: \"", "\n  "];
    starts.iter().any(|start| {
        text.match_indices(&format!("{start}{name}")).any(|(at, found)| {
            let next = text.get(at + found.len()..).and_then(|rest| rest.chars().next());
            !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
        })
    })
}

/// Each rule has a guard and a test, and they exist.
#[test]
fn guards_and_tests_of_rules_exist() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guards.md");
    let tables = fs::read_to_string(page).unwrap();
    let mut rows = 0;
    for row in tables.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| rule")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, guards, tests] = cells[..] else { panic!("three cells: {row}") };
        for cell in [guards, tests] {
            let named: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
            assert!(!named.is_empty(), "a name: {row}");
            for (file, name) in named.iter().filter_map(|name| name.rsplit_once("::")) {
                assert!(is_defined(file, name), "{file} has no `{name}`: {row}");
            }
        }
        rows += 1;
    }
    assert!(rows > 40, "{rows} rows");
    assert!(!is_defined("site", "public_address"), "the beginning of a name is no name");
}

/// Words in the source that only have the form of an error code: events, variables, placeholders.
const NO_CODES: [&str; 13] = [
    "ACTIVITY_",
    "A_KEY",
    "CARGO_",
    "GEMINI_API_KEY",
    "MESSAGES_",
    "METHOD_ID",
    "OTEL_",
    "OUT_DIR",
    "RUN_",
    "SPANWIRE_",
    "TEXT_MESSAGE_",
    "TOOL_CALL_",
    "XDG_",
];

/// Codes among the names with the prefix of the gateway's variables.
const GATEWAY_CODES: [&str; 2] = ["GATEWAY_SHUTDOWN", "GATEWAY_LOST"];

/// The error codes in the source of a package.
fn codes(package: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(package).join("src");
    let mut found = BTreeSet::new();
    // `acp_agent` reads codes of others.
    for file in files(&folder).into_iter().filter(|file| !file.starts_with("acp_agent")) {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for literal in lines.flat_map(|line| line.split('"').skip(1).step_by(2)) {
            let is_code = literal.contains('_')
                && literal.starts_with(|first: char| first.is_ascii_uppercase())
                && literal.chars().all(|c| c.is_ascii_uppercase() || c == '_');
            let is_other = NO_CODES.iter().any(|prefix| literal.starts_with(prefix))
                || literal.starts_with("GATEWAY_") && !GATEWAY_CODES.contains(&literal);
            if is_code && !is_other {
                found.insert(literal.to_owned());
            }
        }
    }
    found
}

/// A code in the source has a row, and a row has a code in the source.
#[test]
fn each_error_code_has_meaning_and_next_step() {
    let packages = ["agui-bridge", "examples/gateway"];
    let mut existing: BTreeSet<_> = packages.into_iter().flat_map(codes).collect();
    assert!(existing.contains("AGENT_EXITED") && existing.contains("MODEL_FAILED"), "{existing:?}");
    // One word, as many other literals.
    existing.extend(["ASKED", "CANCELLED", "FAILED", "OVERLOADED", "REFUSED"].map(str::to_owned));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/failures.md");
    let text = fs::read_to_string(page).unwrap();
    let (_, tables) = text.split_once("## Error codes").unwrap();
    let mut described = BTreeSet::new();
    for row in tables.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [code, meaning, step] = cells[..] else { panic!("three cells: {row}") };
        for sentence in [meaning, step] {
            assert!(sentence.len() > 4 && sentence.ends_with('.'), "a sentence: {row}");
        }
        assert!(described.insert(code.trim_matches('`').to_owned()), "twice: {row}");
    }
    assert_eq!(existing, described);
}
