//! The agents that are known, from the data of this package and from a document of the official
//! registry.
use crate::catalog::document::read_file;
use crate::catalog::{Agent, CatalogError, Programs, download, registry};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of names that are suggested for an unknown one.
const MAX_SUGGESTIONS: usize = 3;

/// Minimum similarity of a suggested name, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.6;

/// Maximum distance of a suggested name from the most similar one.
const MAX_DISTANCE: f64 = 0.1;

/// The agents that are known.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    #[serde(rename = "agent")]
    agents: Vec<Agent>,
    #[serde(skip)]
    warning: Option<String>,
}

impl Catalog {
    /// Returns the agents of this package.
    ///
    /// # Errors
    /// The data of the package is invalid, which its tests exclude.
    pub fn known() -> Result<Self, CatalogError> {
        Ok(toml::from_str(include_str!("catalog.toml"))?)
    }

    /// Returns the agents of this package, with those of a document of the official registry over
    /// them: a file, or an address with `https://`, or with `http://` on this machine.
    ///
    /// A downloaded document is copied to the cache folder of the user, and requested again after
    /// six hours. If it is not available then, the copy is used, and there is a
    /// [warning](Self::warning).
    ///
    /// # Errors
    /// The document cannot be read or downloaded, or is not such a document.
    pub fn load(document: Option<&Path>) -> Result<Self, CatalogError> {
        Self::load_with_copies(document, download::cache_folder().as_deref())
    }

    /// As [`load`](Self::load), with the folder for copies of downloaded documents; without one
    /// there are no copies.
    ///
    /// # Errors
    /// The document cannot be read or downloaded, or is not such a document.
    pub fn load_with_copies(
        document: Option<&Path>,
        folder: Option<&Path>,
    ) -> Result<Self, CatalogError> {
        let known = Self::known()?;
        let Some(path) = document else { return Ok(known) };
        let with = |text: &str| known.clone().with_registry(text);
        let loaded = match download::address(path) {
            Some(address) => download::read(address, folder, with),
            None => read_file(path).and_then(|text| Ok((with(&text)?, None))),
        };
        let (catalog, warning) = loaded.map_err(|error| match error {
            error @ (CatalogError::Read { .. } | CatalogError::Size(_)) => error,
            error => CatalogError::Document { path: path.to_owned(), error: Box::new(error) },
        })?;
        let mut catalog = Self { warning, ..catalog };
        for binary in catalog.agents.iter_mut().filter_map(|agent| agent.binary.as_mut()) {
            binary.document = Some(path.to_owned());
        }
        Ok(catalog)
    }

    /// Returns why the document is older than the one at its address, if it is.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Adds the agents of a document of the official registry. An agent that is known, by its id or
    /// its package, is started as the document says.
    ///
    /// Spec: [ACP registry](https://agentclientprotocol.com/registry)
    ///
    /// # Errors
    /// The text is not such a document.
    pub fn with_registry(mut self, text: &str) -> Result<Self, CatalogError> {
        for agent in registry::agents(text)? {
            let known = self.agents.iter_mut().find(|it| it.id == agent.id || is_same(it, &agent));
            match known {
                Some(known) => registry::merge(known, agent),
                None => self.agents.push(agent),
            }
        }
        Ok(self)
    }

    /// Returns all agents.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Returns the ids of the installed agents. Of agents with the same command, the first one
    /// counts.
    pub fn installed(&self, programs: &Programs) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let installed = self.agents.iter().filter(|agent| agent.is_installed(programs));
        installed.filter(|agent| seen.insert(&agent.command)).map(|agent| &*agent.id).collect()
    }

    /// Returns the agent with this id, or with this alias.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        let with_id = self.agents.iter().find(|agent| agent.id == name);
        with_id.or_else(|| self.agents.iter().find(|agent| agent.has_name(name)))
    }

    /// Returns the agent that a command line runs: by its name, or by its program and arguments.
    pub fn of_command(&self, line: &str) -> Option<&Agent> {
        let words = shlex::split(line)?;
        let named = self.agent(words.first()?).filter(|_| words.len() == 1);
        let is_run =
            |agent: &&Agent| !agent.command.is_empty() && words.starts_with(&agent.command);
        named.or_else(|| self.agents.iter().filter(is_run).max_by_key(|agent| agent.command.len()))
    }

    /// Returns the MCP transports that the agent of a command line is known to refuse, in the names
    /// of ACP.
    pub fn refused_transports(&self, line: Option<&str>) -> impl Iterator<Item = &str> {
        let known = line.and_then(|line| self.of_command(line));
        let refused = known.into_iter().flat_map(|agent| &agent.quirks.refused_transports);
        refused.map(|transport| transport.as_str())
    }

    /// Returns the ids of the agents with the most similar names, the best first.
    pub fn nearest(&self, name: &str) -> Vec<&str> {
        let name = name.to_lowercase();
        let likeness = |agent: &Agent| {
            let all = agent.names().map(|own| strsim::normalized_damerau_levenshtein(own, &name));
            all.fold(0.0, f64::max)
        };
        let mut found: Vec<_> =
            self.agents.iter().map(|agent| (likeness(agent), agent.id.as_str())).collect();
        let best = found.iter().map(|(likeness, _)| *likeness).fold(0.0, f64::max);
        let least = MIN_SIMILARITY.max(best - MAX_DISTANCE);
        found.retain(|(likeness, _)| *likeness >= least);
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        found.into_iter().take(MAX_SUGGESTIONS).map(|(_, id)| id).collect()
    }
}

/// Returns whether two agents have the same package, in any version.
fn is_same(known: &Agent, other: &Agent) -> bool {
    let same = |a: &Option<String>, b: &Option<String>| match (a, b) {
        (Some(a), Some(b)) => registry::package_name(a) == registry::package_name(b),
        _ => false,
    };
    same(&known.npx, &other.npx) || same(&known.uvx, &other.uvx)
}
