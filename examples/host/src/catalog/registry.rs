//! The document of the official agent registry.
//!
//! Spec: [ACP registry](https://agentclientprotocol.com/registry)
use crate::catalog::archive::inner_path;
use crate::catalog::{Agent, Binary, CatalogError};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};
use std::path::Path;

/// Maximum number of agents of a document.
const MAX_AGENTS: usize = 10_000;

#[derive(Deserialize)]
struct Document {
    agents: Vec<Entry>,
}

/// An agent of the registry; members without a use here are ignored.
#[derive(Deserialize)]
struct Entry {
    id: String,
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    distribution: Distribution,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Distribution {
    npx: Option<Package>,
    uvx: Option<Package>,
    binary: BTreeMap<String, Archive>,
}

#[derive(Deserialize)]
struct Package {
    package: String,
    cmd: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Archive {
    archive: String,
    cmd: String,
    sha256: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Returns the agents of a document.
pub(crate) fn agents(text: &str) -> Result<Vec<Agent>, CatalogError> {
    let document: Document = serde_json::from_str(text)?;
    if document.agents.len() > MAX_AGENTS {
        let why = format!("expected at most {MAX_AGENTS} agents");
        return Err(CatalogError::Entry { index: MAX_AGENTS, why });
    }
    let entries = document.agents.into_iter().enumerate();
    entries
        .map(|(index, entry)| agent(entry).map_err(|why| CatalogError::Entry { index, why }))
        .collect()
}

/// Replaces how a known agent is started; its other names, keys and authentication methods stay.
pub(crate) fn merge(known: &mut Agent, newer: Agent) {
    let Agent { id, title, command, npx, uvx, install, binary, variables, .. } = newer;
    if !known.has_name(&id) {
        known.aliases.push(id);
    }
    let has_same_package = npx.is_some() == known.npx.is_some();
    // Programs of a package of another kind have other names.
    match known.command.first() {
        Some(program) if has_same_package => {
            let arguments = command.into_iter().skip(1);
            known.command = [program.clone()].into_iter().chain(arguments).collect();
        }
        _ => known.command = command,
    }
    known.with.retain(|_| has_same_package);
    known.title = title;
    known.npx = npx;
    known.uvx = uvx;
    known.install = install;
    known.binary = binary;
    known.variables = variables;
}

/// Returns the name of a package without its version and its extras.
pub(crate) fn package_name(package: &str) -> &str {
    let (scope, name) = match package.strip_prefix('@') {
        Some(scoped) => (1, scoped),
        None => (0, package),
    };
    let end = name.find(['@', '=', '[', '<', '>', '~', '!']).unwrap_or(name.len());
    package.get(..scope + end).unwrap_or(package)
}

fn agent(entry: Entry) -> Result<Agent, String> {
    let Entry { id, name, version, distribution } = entry;
    let mut letters = id.chars();
    let is_id = letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !is_id {
        return Err(format!("id: expected lowercase letters, digits and `-`, got {id:?}"));
    }
    let mut agent = Agent { id, title: name, ..Agent::default() };
    let Distribution { npx, uvx, mut binary } = distribution;
    if let Some(npx) = npx {
        agent.npx = Some(take_package(&mut agent, npx)?);
    } else if let Some(uvx) = uvx {
        agent.uvx = Some(take_package(&mut agent, uvx)?);
    } else if let Some(binary) = binary.remove(&platform()) {
        take_archive(&mut agent, binary, version)?;
    }
    Ok(agent)
}

/// Sets the program for this system: one of the same name on the path, or an installed one.
fn take_archive(agent: &mut Agent, binary: Archive, version: String) -> Result<(), String> {
    let Archive { archive, cmd, sha256, args, env } = binary;
    let mut words = shlex::split(&cmd.replace('\\', "/")).unwrap_or_default();
    let program = words.first_mut().ok_or("cmd: expected a command, got an empty one")?;
    let path = inner_path(Path::new(program)).filter(|path| path.file_name().is_some());
    let path = path.ok_or_else(|| format!("cmd: expected a path in the archive, got {cmd:?}"))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    *program = name.unwrap_or_default();
    let sha256 = sha256.map(|sum| checksum(&sum)).transpose()?;
    agent.binary = Some(Binary { archive, program: path, sha256, version, document: None });
    agent.command = words.into_iter().chain(args).collect();
    agent.variables = env;
    Ok(())
}

/// Returns the digits of a SHA-256, which may have its name before it.
fn checksum(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    let is_sum = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_sum.then_some(digits).ok_or_else(|| format!("sha256: expected 64 digits, got {text:?}"))
}

/// Sets command and variables; returns the package, which is an argument of `npx` or `uvx` and must
/// be no option.
fn take_package(agent: &mut Agent, package: Package) -> Result<String, String> {
    let Package { package, cmd, args, env } = package;
    if package.is_empty() || package.starts_with('-') || package.contains(char::is_whitespace) {
        return Err(format!("package: expected the name of a package, got {package:?}"));
    }
    let program = cmd.unwrap_or_else(|| {
        let name = package_name(&package);
        name.rsplit('/').next().unwrap_or(name).to_owned()
    });
    if program.starts_with('-') {
        return Err(format!("cmd: expected a program, got {program:?}"));
    }
    agent.command = [program].into_iter().chain(args).collect();
    agent.variables = env;
    Ok(package)
}

/// The name of this system in the registry.
fn platform() -> String {
    let os = if OS == "macos" { "darwin" } else { OS };
    format!("{os}-{ARCH}")
}
