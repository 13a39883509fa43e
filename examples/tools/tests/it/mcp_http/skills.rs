//! Skills of a folder.
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::resources::{ReadResourceRequestParams, ReadResourceResult};
use mcp_bridge::skills::{check, verify};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;
use tools::skills::{frontmatter, read_skills};

const REFUNDS: &str = "---\nname: refunds\ndescription: >\n  Handles\n  refunds\nmetadata:\n  version: \"1.0\"\n---\nRead `policy.md`.";

fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    fs::write(path, text).expect("writable");
}

fn problem(files: &[(&str, &str)]) -> String {
    let folder = TempDir::new().expect("writable");
    files.iter().for_each(|(path, text)| write(folder.path(), path, text));
    let problem = read_skills(folder.path()).expect_err("invalid").to_string();
    problem.replace(&*folder.path().to_string_lossy(), "DIR")
}

/// The values are those of the core schema of YAML 1.2.2, section 10.3.2.
#[test]
fn frontmatter_is_yaml_1_2() {
    let table = [
        ("no", json!("no")),
        ("On", json!("On")),
        ("true", json!(true)),
        ("True", json!(true)),
        ("FALSE", json!(false)),
        ("~", json!(null)),
        ("2026-01-02", json!("2026-01-02")),
        ("12:30:00", json!("12:30:00")),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("1.5", json!(1.5)),
        ("\"1.0\"", json!("1.0")),
    ];
    for (yaml, expected) in table {
        let text = format!("---\nname: a\ndescription: d\nown: {yaml}\n---\n");
        let read = frontmatter(&text).expect("valid");
        let own: Value = read.extra.get("own").expect("a field").decode().expect("JSON");
        assert_eq!(own, expected, "{yaml}");
    }
}

#[test]
fn each_directory_with_a_skill_file_is_a_skill() {
    let folder = TempDir::new().expect("writable");
    write(folder.path(), "billing/refunds/SKILL.md", REFUNDS);
    write(folder.path(), "billing/refunds/policy.md", "30 days");
    write(folder.path(), "billing/refunds/data/logo.bin", [0, 255, 1]);
    write(
        folder.path(),
        "billing/refunds/data/deep/SKILL.md",
        "---\nname: deep\ndescription: d\n---\n",
    );
    write(folder.path(), "billing/refunds/.git/config", "secret");
    write(folder.path(), "notes.md", "not in a skill");
    symlink("/etc/passwd", folder.path().join("billing/refunds/passwd")).expect("writable");
    let catalog = read_skills(folder.path()).expect("skills");
    let uris: Vec<_> = catalog.skills().iter().map(|skill| &*skill.uri).collect();
    let deep = "skill://billing/refunds/data/deep/SKILL.md";
    assert_eq!(uris.len(), 2);
    assert!(uris.contains(&"skill://billing/refunds/SKILL.md") && uris.contains(&deep), "{uris:?}");
    let skill = catalog.get("skill://billing/refunds/SKILL.md").expect("listed");
    assert_eq!(skill.frontmatter.description, "Handles refunds\n");
    let files = serde_json::to_value(&skill.resources).expect("JSON");
    let files = files.as_array().expect("files").iter().map(|file| file["uri"].as_str());
    let mut files: Vec<_> =
        files.map(|uri| uri.expect("a URI").replace("skill://billing/refunds/", "")).collect();
    files.sort();
    assert_eq!(files, ["SKILL.md", "data/deep/SKILL.md", "data/logo.bin", "policy.md"]);
    for skill in catalog.skills() {
        check(skill).expect("valid");
    }
    let read = ReadResourceRequestParams::new("skill://billing/refunds/data/logo.bin");
    let read = catalog.handle(&ClientRequest::ReadResource(Box::new(read))).expect("a file");
    let read: ReadResourceResult = read.expect("a result").decode().expect("contents");
    assert_eq!(verify(skill, &read.contents[0]).expect("unchanged"), [0, 255, 1]);
    assert!(!catalog.has_file("skill://billing/refunds/passwd"));
}

#[test]
fn problems_name_the_file_and_what_is_expected() {
    let missing = "expected `---`, the frontmatter, and `---` at the start of the file";
    assert_eq!(problem(&[("a/SKILL.md", "# A")]), format!("a/SKILL.md: {missing}"));
    assert_eq!(
        problem(&[("a/SKILL.md", "---\nname: a\n---\n")]),
        "a/SKILL.md: the frontmatter is invalid: expected member `description`, got none"
    );
    assert_eq!(
        problem(&[("a/SKILL.md", "---\nname: b\ndescription: d\n---\n")]),
        "a/SKILL.md: the skill `b` has the URI `skill://a/SKILL.md`: expected one that ends with `/b/SKILL.md`"
    );
    assert_eq!(
        problem(&[("a/b.md", "")]),
        "DIR: expected a `SKILL.md` in a directory, such as `refunds/SKILL.md`"
    );
    assert_eq!(
        problem(&[("SKILL.md", REFUNDS)]),
        "SKILL.md: expected in a directory with the name of the skill: move it there"
    );
    let deep = "a/".repeat(17) + "SKILL.md";
    assert!(problem(&[(&deep, "")]).ends_with("expected at most 16 levels of directories"));
    let invalid = problem(&[("a/SKILL.md", "---\nname: [a\n---\n")]);
    assert!(invalid.starts_with("a/SKILL.md: the frontmatter is invalid YAML: "), "{invalid}");
}

/// Aliases of YAML that multiply are an error instead of much memory.
#[test]
fn multiplied_aliases_are_an_error() {
    let mut yaml =
        "---\nname: a\ndescription: d\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    for level in 1..10 {
        let last = format!("*x{}", level - 1);
        yaml += &format!("x{level}: &x{level} [{}]\n", [&*last; 10].join(", "));
    }
    let invalid = problem(&[("a/SKILL.md", &(yaml + "---\n"))]);
    assert!(invalid.starts_with("a/SKILL.md: the frontmatter is invalid YAML: "), "{invalid}");
}
