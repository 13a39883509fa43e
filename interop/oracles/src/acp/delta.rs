//! Difference of two versions of the official schema crate, by the public items of its sources.
//!
//! | item | line |
//! |---|---|
//! | type | `v1::CursorUpdate struct ['unstable_session_cursors']` |
//! | member | `v1::CursorUpdate.meta: Option<Meta> ['_meta'] []` |
//! | variant | `v1::SessionUpdate.CursorUpdate(CursorUpdate) [] ['unstable_session_cursors']` |
//! | text constant | `v1 CONST SESSION_OPTIONS_METHOD_NAME = session/options` |
//! | feature of the crate | `feature unstable_session_cursors` |
//!
//! The lists of members and variants are the name on the wire, where the source states one, and the
//! required features.

use proc_macro2::Span;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io, process};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Field, Fields, Item, Lit, Meta, Token, Visibility};

/// Name of the official crate.
const CRATE: &str = "agent-client-protocol-schema";

/// The public items of one version: the lines of each subject.
#[derive(Debug, Default)]
pub struct Inventory {
    lines: BTreeMap<String, BTreeSet<String>>,
}

impl Inventory {
    /// Reads a version of the official crate, which `cargo` fetches unless it has it.
    pub fn of_version(version: &str) -> Result<Self, Box<dyn Error>> {
        let package = fetch(version)?;
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let source = Path::new(manifest).with_file_name("src");
        let mut inventory = Self::default();
        for feature in package["features"].as_object().into_iter().flat_map(|all| all.keys()) {
            inventory.insert(&format!("feature {feature}"), "");
        }
        for file in rust_files(&source)? {
            let module = match file.strip_prefix(&source)?.iter().next() {
                Some(first) if source.join(first).is_dir() => first.to_string_lossy().into_owned(),
                _ => "crate".to_owned(),
            };
            inventory
                .add_source(&module, &fs::read_to_string(&file)?)
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        Ok(inventory)
    }

    /// Adds the items of a file, which are public in `module`.
    pub fn add_source(&mut self, module: &str, source: &str) -> syn::Result<()> {
        self.add_items(module, &syn::parse_file(source)?.items);
        Ok(())
    }

    fn add_items(&mut self, module: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(item) if is_public(&item.vis) => {
                    let subject = format!("{module}::{}", item.ident);
                    self.insert(&subject, &format!(" struct {}", list(&features(&item.attrs))));
                    self.add_members(&subject, &item.fields, |field| is_public(&field.vis));
                }
                Item::Enum(item) if is_public(&item.vis) => {
                    let subject = format!("{module}::{}", item.ident);
                    self.insert(&subject, &format!(" enum {}", list(&features(&item.attrs))));
                    for variant in &item.variants {
                        let subject = format!("{subject}.{}", variant.ident);
                        let content = unnamed(&variant.fields);
                        self.insert(&subject, &format!("{content} {}", conditions(&variant.attrs)));
                        self.add_members(&subject, &variant.fields, |_| true);
                    }
                }
                Item::Const(item) => {
                    if let Some(value) = text_of(&item.expr) {
                        let subject = format!("{module} CONST {}", item.ident);
                        self.insert(&subject, &format!(" = {value}"));
                    }
                }
                Item::Mod(item) if !is_test(&item.attrs) => {
                    let items = item.content.as_ref().map_or(&[][..], |(_, items)| items);
                    self.add_items(module, items);
                }
                _ => {}
            }
        }
    }

    /// Adds members with names. Those without are a part of the line of their variant.
    fn add_members(&mut self, owner: &str, fields: &Fields, is_listed: impl Fn(&Field) -> bool) {
        for field in fields.iter().filter(|field| is_listed(field)) {
            if let Some(name) = &field.ident {
                let of = source_at(field.ty.span());
                let conditions = conditions(&field.attrs);
                self.insert(&format!("{owner}.{name}"), &format!(": {of} {conditions}"));
            }
        }
    }

    fn insert(&mut self, subject: &str, description: &str) {
        let line = format!("{subject}{description}");
        self.lines.entry(subject.to_owned()).or_default().insert(line);
    }
}

/// Returns the lines that only one version has, in the order of their subjects: `<` before a line of
/// the old one, `>` before a line of the new one.
pub fn delta(old: &Inventory, new: &Inventory) -> Vec<String> {
    let none = BTreeSet::new();
    let subjects: BTreeSet<_> = old.lines.keys().chain(new.lines.keys()).collect();
    let mut delta = Vec::new();
    for subject in subjects {
        let before = old.lines.get(subject).unwrap_or(&none);
        let after = new.lines.get(subject).unwrap_or(&none);
        delta.extend(before.difference(after).map(|line| format!("< {line}")));
        delta.extend(after.difference(before).map(|line| format!("> {line}")));
    }
    delta
}

/// Returns the package of a version, as `cargo metadata` describes it, after it was fetched.
fn fetch(version: &str) -> Result<Value, Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("{CRATE}-{version}-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let output = dependent(&folder, version).and_then(|manifest| {
        Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["metadata", "--quiet", "--format-version", "1", "--manifest-path"])
            .arg(manifest)
            .stderr(Stdio::inherit())
            .output()
    });
    fs::remove_dir_all(&folder)?;
    let metadata: Value = serde_json::from_slice(&output?.stdout)
        .map_err(|_| format!("cargo has no {CRATE} {version}"))?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == CRATE);
    Ok(package.ok_or("the metadata has no such package")?.clone())
}

/// Writes a package that depends on a version. Returns its manifest.
fn dependent(folder: &Path, version: &str) -> io::Result<PathBuf> {
    let manifest = folder.join("Cargo.toml");
    fs::write(folder.join("lib.rs"), "")?;
    fs::write(
        &manifest,
        format!(
            "[workspace]\n[package]\nname = \"dependent\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
             [dependencies]\n{CRATE} = \"={version}\"\n"
        ),
    )?;
    Ok(manifest)
}

fn rust_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|one| one.path().is_ident("cfg") && source_at(one.span()).contains("(test"))
}

/// Returns the types of a variant without names of members.
fn unnamed(fields: &Fields) -> String {
    let Fields::Unnamed(fields) = fields else { return String::new() };
    let types: Vec<_> = fields.unnamed.iter().map(|field| source_at(field.ty.span())).collect();
    format!("({})", types.join(", "))
}

/// Returns the name on the wire and the features of a member or variant.
fn conditions(attributes: &[Attribute]) -> String {
    format!("{} {}", list(&wire_names(attributes)), list(&features(attributes)))
}

fn wire_names(attributes: &[Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("serde")) {
        names.extend(texts_of("rename", &attribute.meta));
    }
    names
}

fn features(attributes: &[Attribute]) -> Vec<String> {
    let mut names = Vec::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("cfg")) {
        names.extend(texts_of("feature", &attribute.meta));
    }
    names
}

/// Returns the values of `name = "value"` in an attribute, at any depth.
fn texts_of(name: &str, meta: &Meta) -> Vec<String> {
    match meta {
        Meta::List(list) => {
            let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            parts.iter().flatten().flat_map(|part| texts_of(name, part)).collect()
        }
        Meta::NameValue(pair) if pair.path.is_ident(name) => {
            text_of(&pair.value).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the value of a text literal.
fn text_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("'{name}'")).collect();
    format!("[{}]", quoted.join(", "))
}

/// Returns the source at a place, on one line as rustfmt would write it.
fn source_at(place: Span) -> String {
    let source = place.source_text().unwrap_or_default();
    let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("< ", "<").replace(", >", ">").replace(" >", ">")
}
