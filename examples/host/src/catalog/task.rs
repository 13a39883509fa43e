//! The command of a program for the known agents: the table, and installations.
use crate::catalog::archive::ArchiveLimits;
use crate::catalog::install::{InstallError, Installation, agents_folder};
use crate::catalog::{Catalog, CatalogError, LaunchError, table};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The command `gateway agents`.
#[derive(Clone, Debug, clap::Args)]
pub struct AgentsCommand {
    /// A document of the official agent registry, with agents beside the known ones.
    #[arg(long, value_name = "FILE", env = "GATEWAY_AGENTS_FILE", global = true)]
    agents: Option<PathBuf>,
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Install an agent from the archive of its registry entry, after a question.
    Install {
        /// Name of the agent.
        name: String,
        /// Install it without a question.
        #[arg(long)]
        yes: bool,
    },
}

/// A command for the known agents fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// The document of the registry cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The name is not that of an agent.
    #[error(transparent)]
    Name(#[from] LaunchError),
    /// The agent cannot be installed.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// There is no terminal for the question.
    #[error("expected `--yes`, because standard input is no terminal; nothing was installed")]
    NoTerminal,
    /// The user did not agree.
    #[error("nothing was installed")]
    Declined,
    /// The terminal is gone.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl AgentsCommand {
    /// Shows the table of agents, or installs one.
    ///
    /// # Errors
    /// The document cannot be read, or the installation fails.
    pub fn run(&self) -> Result<(), TaskError> {
        let document = self.agents.as_deref();
        match &self.task {
            Some(Task::Install { name, yes }) => install(document, name, *yes),
            None => {
                let table = table::table_of_environment(document)?;
                Ok(io::stdout().write_all(table.as_bytes())?)
            }
        }
    }
}

fn install(document: Option<&Path>, name: &str, is_agreed_before: bool) -> Result<(), TaskError> {
    let mut output = io::stdout();
    let catalog = Catalog::load(document)?;
    let agent = catalog.agent(name).ok_or_else(|| LaunchError::NoAgent {
        name: name.to_owned(),
        nearest: catalog.nearest(name).into_iter().map(str::to_owned).collect(),
    })?;
    let folder = agents_folder().ok_or(InstallError::NoFolder)?;
    let installation = Installation::new(agent, &folder)?;
    write!(output, "{installation}")?;
    if !is_agreed_before {
        if !io::stdin().is_terminal() {
            return Err(TaskError::NoTerminal);
        }
        write!(output, "The archive is code that runs with your rights. Install it? [y/N] ")?;
        output.flush()?;
        if !is_agreed(&mut io::stdin().lock())? {
            return Err(TaskError::Declined);
        }
    }
    let program = installation.run(&ArchiveLimits::default())?;
    writeln!(output, "installed {}", program.display())?;
    Ok(())
}

/// Returns whether the next line agrees.
fn is_agreed(input: &mut impl BufRead) -> io::Result<bool> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(["y", "yes"].contains(&line.trim().to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_agreed;

    #[test]
    fn only_yes_agrees() {
        for (line, expected) in [
            ("y\n", true),
            ("Yes\r\n", true),
            ("\n", false),
            ("", false),
            ("no\n", false),
            ("yy\n", false),
        ] {
            assert_eq!(is_agreed(&mut line.as_bytes()).ok(), Some(expected), "{line:?}");
        }
    }
}
