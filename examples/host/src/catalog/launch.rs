//! The command of an agent, from its name or as a command line.
use crate::catalog::{Agent, Catalog, Programs};
use std::collections::BTreeMap;
use std::path::MAIN_SEPARATOR;

/// A command that runs an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Variables that are set for the agent.
    pub variables: BTreeMap<String, String>,
    /// The id of the agent, if it was named.
    pub agent: Option<String>,
    /// Whether `npx` or `uvx` may download the agent.
    pub is_downloaded: bool,
}

/// A command line is no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A quote is not closed.
    #[error("unbalanced quotes in `{0}`")]
    Quotes(String),
    /// There is no word.
    #[error("the command is empty")]
    Empty,
    /// The program does not exist.
    #[error("command not found: {program}{}", .hint.as_ref().map_or_else(String::new, |hint| format!("; install it: {hint}")))]
    NotFound {
        /// The program.
        program: String,
        /// How it is installed, if it is that of a known agent.
        hint: Option<String>,
    },
    /// The word is neither an agent nor a command, but similar to names of agents.
    #[error("`{name}` is neither an agent nor a command; similar agents: {}", .nearest.join(", "))]
    Unknown {
        /// The word.
        name: String,
        /// Ids of agents with similar names.
        nearest: Vec<String>,
    },
    /// The word is not the name of an agent.
    #[error("expected the name of an agent, got `{name}`{}", .nearest.first().map_or_else(String::new, |_| format!("; similar agents: {}", .nearest.join(", "))))]
    NoAgent {
        /// The word.
        name: String,
        /// Ids of agents with similar names.
        nearest: Vec<String>,
    },
    /// The agent is known but not installed, and cannot be run without.
    #[error("{title} is not installed: {hint}")]
    NotInstalled {
        /// The name of the agent.
        title: String,
        /// The next step.
        hint: String,
    },
}

impl Catalog {
    /// Returns the command for a command line, which is split into words as a shell would.
    ///
    /// | words | result |
    /// |---|---|
    /// | one, the name of an agent | the agent: installed, else by `npx` or `uvx` |
    /// | one, another program on the path, or with a separator of paths | that program |
    /// | several | that command |
    ///
    /// # Errors
    /// The line is invalid, the program does not exist, or the agent is not installed.
    pub fn launch(&self, line: &str, programs: &Programs) -> Result<Launch, LaunchError> {
        let words = shlex::split(line).ok_or_else(|| LaunchError::Quotes(line.to_owned()))?;
        self.launch_words(words, programs)
    }

    /// Returns the command for words, as [`launch`](Self::launch) does.
    ///
    /// # Errors
    /// The program does not exist, or the agent is not installed.
    pub fn launch_words(
        &self,
        words: Vec<String>,
        programs: &Programs,
    ) -> Result<Launch, LaunchError> {
        let program = words.first().ok_or(LaunchError::Empty)?;
        let is_bare = words.len() == 1 && !program.contains(['/', MAIN_SEPARATOR]);
        if let (true, Some(agent)) = (is_bare, self.agent(program)) {
            return agent.launch(programs);
        }
        if programs.has(program) {
            let variables = BTreeMap::new();
            return Ok(Launch { words, variables, agent: None, is_downloaded: false });
        }
        let nearest = if is_bare { self.nearest(program) } else { Vec::new() };
        if !nearest.is_empty() {
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(LaunchError::Unknown { name: program.clone(), nearest });
        }
        let known = self.agents().iter().find(|it| it.command.first() == Some(program));
        let hint = known.map(Agent::install_hint);
        Err(LaunchError::NotFound { program: program.clone(), hint })
    }
}

impl Agent {
    /// Returns whether the program of the agent is on the path, or installed from its registry.
    pub fn is_installed(&self, programs: &Programs) -> bool {
        self.is_on_path(programs) || self.installed(programs).is_some()
    }

    fn is_on_path(&self, programs: &Programs) -> bool {
        self.command.first().is_some_and(|program| programs.has(program))
    }

    /// Returns the program that was installed from the registry.
    fn installed(&self, programs: &Programs) -> Option<String> {
        let program = programs.agents.as_ref()?.join(&self.id).join(&self.binary.as_ref()?.program);
        program.is_file().then(|| program.to_str().map(str::to_owned)).flatten()
    }

    /// Returns the command: of the program on the path, else of the one installed from a registry,
    /// else of `npx` or `uvx` with the package.
    ///
    /// # Errors
    /// The agent is not installed, and neither `npx` nor `uvx` can run it.
    pub fn launch(&self, programs: &Programs) -> Result<Launch, LaunchError> {
        let (words, is_downloaded) = if self.is_on_path(programs) {
            (self.command.clone(), false)
        } else if let Some(program) = self.installed(programs) {
            let arguments = self.command.iter().skip(1).cloned();
            ([program].into_iter().chain(arguments).collect(), false)
        } else {
            (self.runner(programs)?, true)
        };
        let variables = self.variables.clone();
        let agent = Some(self.id.clone());
        Ok(Launch { words, variables, agent, is_downloaded })
    }

    /// Returns the command of `npx` or `uvx`.
    fn runner(&self, programs: &Programs) -> Result<Vec<String>, LaunchError> {
        let missing = |runner: &str, from: &str| LaunchError::NotInstalled {
            title: self.title.clone(),
            hint: format!("install {runner} ({from}), or {}", self.install_hint()),
        };
        let run = if self.run.is_empty() { &self.command } else { &self.run };
        let mut words: Vec<String> = Vec::new();
        let mut add = |more: &[&str]| words.extend(more.iter().map(|&word| word.to_owned()));
        match (&self.npx, &self.uvx) {
            (Some(_), _) if !programs.has("npx") => {
                return Err(missing("npx", "Node.js, https://nodejs.org"));
            }
            (Some(npx), _) if run.is_empty() => add(&["npx", "--yes", npx]),
            (Some(npx), _) => {
                add(&["npx", "--yes", "--package", npx]);
                self.with.iter().for_each(|with| add(&["--package", with]));
                add(&["--"]);
            }
            (None, Some(_)) if !programs.has("uvx") => {
                return Err(missing("uvx", "uv, https://docs.astral.sh/uv"));
            }
            (None, Some(uvx)) => {
                add(&["uvx", "--from", uvx]);
                self.with.iter().for_each(|with| add(&["--with", with]));
            }
            (None, None) => {
                let is_known = self.install.is_some() || self.binary.is_some();
                let run = |hint: String| if is_known { format!("run `{hint}`") } else { hint };
                let title = self.title.clone();
                let hint = run(self.install_hint());
                return Err(LaunchError::NotInstalled { title, hint });
            }
        }
        words.extend(run.iter().cloned());
        Ok(words)
    }
}
