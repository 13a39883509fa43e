//! The command of the agent, which may be the name of a known one, or of an MCP server.
use host::catalog::{Catalog, CatalogError, Launch, LaunchError, Programs};
use host::permissions::{FileError, Files, Rules, read_rules};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// A command, and the variables that are set for it.
pub(crate) struct Command {
    pub(crate) words: Vec<OsString>,
    pub(crate) variables: BTreeMap<String, String>,
    /// The name of the agent for rules: that of a known agent, else of the program.
    pub(crate) name: String,
}

impl Command {
    /// Creates the command that consists of these words.
    pub(crate) fn of_words(words: &[OsString]) -> Self {
        let program = words.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default();
        let name = program.to_string_lossy().into_owned();
        Self { words: words.to_vec(), variables: BTreeMap::new(), name }
    }
}

/// The words do not start an agent.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("--agents: {0}")]
    Catalog(#[from] CatalogError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// Returns the command of an agent, if `words` are the name of a known one, else the words.
/// `registry` is a document of the official registry.
///
/// # Errors
/// The document is invalid, the agent is not installed, or the word is a mistyped name.
pub(crate) fn command(words: &[OsString], registry: Option<&Path>) -> Result<Command, Error> {
    let catalog = Catalog::load(registry)?;
    if let Some(warning) = catalog.warning() {
        eprintln!("acp-traces: {warning}");
    }
    let as_given = Command::of_words(words);
    let text: Option<Vec<_>> = words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let Some(text) = text else { return Ok(as_given) };
    match catalog.launch_words(text, &Programs::of_environment()) {
        // The guard of the agent reports it, with the error of the system.
        Err(LaunchError::NotFound { hint: None, .. }) => Ok(as_given),
        Err(error) => Err(error.into()),
        Ok(Launch { words, variables, agent, is_downloaded, .. }) => {
            if let (Some(agent), true) = (&agent, is_downloaded) {
                eprintln!("acp-traces: {agent} is not installed; running {}", words.join(" "));
            }
            let words = words.into_iter().map(OsString::from).collect();
            let name = agent.map_or(as_given.name, |id| id.to_string());
            Ok(Command { words, variables, name })
        }
    }
}

/// Reads the rules for an agent; without a file the list is empty.
///
/// # Errors
/// The file cannot be read, or has a mistake.
pub(crate) fn rules(command: &Command, file: Option<&Path>) -> Result<Rules, FileError> {
    let rules = file.map(read_rules).transpose()?.unwrap_or_default();
    Ok(Rules::new(&rules, &command.name, Files::Local))
}
