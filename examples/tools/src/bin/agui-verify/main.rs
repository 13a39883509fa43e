//! Checks a stream of AG-UI events, captured or live, and explains its first problem.
mod check;
mod cli;
mod live;
mod report;

use agui_types::enforce::{self, SchemaError};
use agui_types::input::RunAgentInput;
use check::{Checker, Form, Strictness};
use clap::Parser;
use cli::Cli;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// An error before or during the check.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is not a run input: {problem}", path.display())]
    Input { path: PathBuf, problem: SchemaError },
    #[error(transparent)]
    Live(#[from] live::LiveError),
    #[error("cannot start: {0}")]
    Runtime(io::Error),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let strictness = Strictness::from(cli.profile);
    match run(&cli) {
        Ok(checker) => {
            let said = if cli.json {
                format!("{}\n", report::json(&checker, strictness))
            } else {
                report::text(&checker, strictness)
            };
            // A closed output is not an error.
            let _ = io::stdout().write_all(said.as_bytes());
            ExitCode::from(u8::from(checker.problem().is_some()))
        }
        Err(failure) => {
            let _ = writeln!(io::stderr(), "agui-verify: {failure}");
            ExitCode::from(3)
        }
    }
}

fn run(cli: &Cli) -> Result<Checker, Failure> {
    let input = cli.input.as_deref().map(read_input).transpose()?;
    if let Some(url) = &cli.url {
        let input = match input {
            Some(input) => input,
            None => live::greeting(&cli.prompt).map_err(live::LiveError::from)?,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let checked = runtime.map_err(Failure::Runtime)?.block_on(live::check(url, cli, &input));
        return Ok(checked?);
    }
    let strictness = Strictness::from(cli.profile);
    let mut checker =
        Checker::new(strictness, cli.form.map(Form::from), input.as_ref(), cli.context);
    let failed = |source| Failure::Read { path: cli.file.clone(), source };
    let mut stream: Box<dyn Read> = if cli.file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(&cli.file).map_err(failed)?)
    };
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = stream.read(&mut buffer).map_err(failed)?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        if !checker.push(bytes) {
            return Ok(checker);
        }
    }
    checker.finish();
    Ok(checker)
}

fn read_input(path: &Path) -> Result<RunAgentInput, Failure> {
    let text = fs::read_to_string(path)
        .map_err(|source| Failure::Read { path: path.to_owned(), source })?;
    let read = enforce::read_input(&text);
    let (input, _) = read.map_err(|problem| Failure::Input { path: path.to_owned(), problem })?;
    Ok(input)
}
