//! An agent of the catalogue.
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How an agent is started, installed and logged in to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Agent {
    /// The name of the agent.
    pub id: String,
    /// The name for people.
    pub title: String,
    /// Further names.
    pub aliases: Vec<String>,
    /// The program and its arguments. An agent is installed if its program is.
    pub command: Vec<String>,
    /// The program and its arguments within the package, if its program has no name of its own.
    pub run: Vec<String>,
    /// The npm package, with its version, which `npx` can run.
    pub npx: Option<String>,
    /// The Python package, with its version, which `uvx` can run.
    pub uvx: Option<String>,
    /// Packages that are needed beside it.
    pub with: Vec<String>,
    /// How the agent is installed, if neither npm nor uv has it.
    pub install: Option<String>,
    /// The program that a registry has for this system.
    #[serde(skip)]
    pub binary: Option<Binary>,
    /// Variables of which one has the key of a model.
    pub keys: Vec<String>,
    /// Other variables that the agent reads.
    pub settings: Vec<String>,
    /// Variables that are set for the agent.
    pub variables: BTreeMap<String, String>,
    /// Versions of ACP that the agent is known to speak.
    pub versions: Vec<u16>,
    /// Authentication methods.
    pub login: Vec<LoginMethod>,
    /// Peculiarities that a program takes into account before it has seen them.
    pub quirks: Quirks,
}

/// Peculiarities of an agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[non_exhaustive]
pub struct Quirks {
    /// Transports of MCP servers that the agent announces, but with which it refuses sessions.
    pub refused_transports: Vec<Transport>,
}

/// A transport of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Transport {
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
    /// Standard input and output of a command.
    Stdio,
}

impl Transport {
    /// Returns the name of the transport.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Stdio => "stdio",
        }
    }
}

/// An authentication method of an agent.
///
/// Spec: [Authentication](https://agentclientprotocol.com/protocol/v1/initialization#authentication-methods)
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LoginMethod {
    /// The id of the method in ACP.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// Variables that the method reads.
    pub variables: Vec<String>,
    /// Arguments of the program that log in on a terminal.
    pub terminal: Vec<String>,
}

impl Agent {
    /// Returns whether `name` is the id or an alias of the agent.
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Returns the id and the aliases.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        core::iter::once(&self.id).chain(&self.aliases).map(String::as_str)
    }

    /// Returns how a user installs the agent.
    pub fn install_hint(&self) -> String {
        let with = |first: &str, rest: &[String], option: &str| {
            rest.iter().fold(first.to_owned(), |words, with| words + option + with)
        };
        if let Some(binary) = &self.binary {
            let document = binary.document.as_ref().map(|path| path.to_string_lossy());
            let document =
                document.and_then(|path| Some(shlex::try_quote(&path).ok()?.into_owned()));
            let document = document.map_or_else(String::new, |path| format!(" --agents {path}"));
            return format!("gateway agents install {}{document}", self.id);
        }
        match (&self.npx, &self.uvx, &self.install) {
            (_, _, Some(install)) => install.clone(),
            (Some(npx), ..) => format!("npm install --global {}", with(npx, &self.with, " ")),
            (_, Some(uvx), _) => {
                format!("uv tool install {}", with(&quoted(uvx), &self.with, " --with "))
            }
            (None, None, None) => "no way to install it is known".to_owned(),
        }
    }
}

/// Quotes the brackets of extras, which shells would expand.
fn quoted(package: &str) -> String {
    if package.contains('[') { format!("'{package}'") } else { package.to_owned() }
}

/// A program behind an address, alone or in an archive.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Binary {
    /// Address of a tar.gz, a zip or a program.
    pub archive: String,
    /// Path of the program in the archive.
    pub program: PathBuf,
    /// SHA-256 of the file at the address, in hexadecimal digits.
    pub sha256: Option<String>,
    /// Version of the agent.
    pub version: String,
    /// The document that has the address, if it is not part of this package.
    pub document: Option<PathBuf>,
}
