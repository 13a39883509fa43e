//! The wire types as declared in the source, so that no test can omit one.
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The wire form of a type.
#[derive(Debug)]
pub(crate) enum Shape {
    Object {
        required: Vec<Member>,
        optional: Vec<Member>,
    },
    /// The name of the tag, and the variants by tag.
    Union {
        tag: String,
        variants: Vec<Member>,
    },
    Names(Vec<String>),
    /// Written by hand or by a macro of its own.
    Leaf,
}

/// The wire name of a member and its type, or the tag of a variant and its payload.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) wire: String,
    pub(crate) kind: String,
}

/// Every public wire type of the crate.
pub(crate) fn types() -> BTreeMap<String, Shape> {
    let mut types = BTreeMap::new();
    read_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut types);
    assert!(types.len() > 100, "the source is read: {} types", types.len());
    types
}

fn read_folder(folder: &Path, types: &mut BTreeMap<String, Shape>) {
    for entry in fs::read_dir(folder).expect("the source is there") {
        let path = entry.expect("an entry").path();
        if path.ends_with("src/proto") {
            // The same types again, in their binary form.
        } else if path.is_dir() {
            read_folder(&path, types);
        } else {
            read_file(&fs::read_to_string(&path).expect("text"), types);
        }
    }
}

fn read_file(text: &str, types: &mut BTreeMap<String, Shape>) {
    let mut item: Option<Vec<&str>> = None;
    for line in text.lines() {
        let code = line.trim();
        match &mut item {
            _ if code.starts_with("//") || code.starts_with('#') => {}
            None if is_item(line) => item = Some(vec![line]),
            None => {
                if let Some(rest) = line.strip_prefix("impl Wire for ") {
                    types.insert(until(rest, ' ').to_owned(), Shape::Leaf);
                }
            }
            Some(_) if line == "}" => read_item(&item.take().unwrap_or_default(), types),
            Some(lines) => lines.push(code),
        }
    }
}

fn is_item(line: &str) -> bool {
    ["event! {", "events! {", "object! {", "open_union! {", "open_enum! {", "integer! {"]
        .contains(&line)
        || line == "jsonrpc_core::string_id! {"
}

fn read_item(lines: &[&str], types: &mut BTreeMap<String, Shape>) {
    if lines[0].contains("string_id!") || lines[0].contains("integer!") {
        for name in lines.iter().filter_map(|line| line.strip_prefix("pub struct ")) {
            types.insert(until(until(name, ';'), '(').to_owned(), Shape::Leaf);
        }
        return;
    }
    let mut name = None;
    let mut tag = None;
    let mut optional = false;
    let mut sections = [vec![], vec![]];
    let mut names = Vec::new();
    for line in &lines[1..] {
        if let Some(rest) = line.strip_prefix("pub struct ") {
            name = Some(until(rest, ' '));
        } else if let Some(rest) = line.strip_prefix("pub enum ") {
            name = Some(until(rest, ' '));
            tag = rest.split('"').nth(1).map(str::to_owned);
        } else if *line == "optional {" {
            optional = true;
        } else if *line == "attributable" {
            sections[1].push(member("subagentRunId", "SubagentRunId"));
        } else if let Some((left, wire)) = line.split_once(" = \"") {
            let wire = until(wire, '"');
            match (left.split_once(": "), left.split_once('(')) {
                (Some((_, kind)), _) => sections[usize::from(optional)].push(member(wire, kind)),
                (None, Some((_, kind))) => sections[0].push(member(wire, until(kind, ')'))),
                (None, None) => names.push(wire.to_owned()),
            }
        }
    }
    if lines[0] == "event! {" {
        sections[1].extend([
            member("timestamp", "SafeInteger"),
            member("rawEvent", "Raw"),
            member("metadata", "Metadata"),
        ]);
    }
    let [first, second] = sections;
    let shape = match (tag, names.is_empty()) {
        (Some(tag), _) => Shape::Union { tag, variants: first },
        (None, false) => Shape::Names(names),
        (None, true) => Shape::Object { required: first, optional: second },
    };
    types.insert(name.expect("an item has a name").to_owned(), shape);
}

fn member(wire: &str, kind: &str) -> Member {
    Member { wire: wire.to_owned(), kind: kind.to_owned() }
}

fn until(text: &str, end: char) -> &str {
    text.split(end).next().unwrap_or(text)
}
