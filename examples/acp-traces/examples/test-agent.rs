//! Agents for the tests of the proxy: the first argument says which.

use nix::sys::signal::{Signal, raise};
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::{env, thread};
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let (agent, argument) = (arguments.next(), arguments.next());
    let number = || argument.as_deref().and_then(|argument| argument.parse::<i32>().ok());
    match agent.as_deref() {
        Some("demo") => return demo_agent::run_stdio(),
        Some("echo") => echo(),
        Some("exit") => {
            return number().and_then(|it| u8::try_from(it).ok()).unwrap_or(1).into();
        }
        Some("raise") => raise_signal(number()),
        Some("complain") => {
            eprintln!("something is wrong");
            Ok(())
        }
        Some("stay") => stay(),
        Some("ignore-term") => ignore_term(),
        Some("close-stdout") => close_stdout(),
        Some("leave-a-child") => leave_a_child(),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
    .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
}

/// Gives back what comes, byte by byte as it comes.
fn echo() -> io::Result<()> {
    io::copy(&mut io::stdin().lock(), &mut unbuffered_stdout()?)?;
    Ok(())
}

fn unbuffered_stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

fn raise_signal(number: Option<i32>) -> io::Result<()> {
    let signal = Signal::try_from(number.unwrap_or_default())?;
    Ok(raise(signal)?)
}

/// Does not end when its input does.
fn stay() -> io::Result<()> {
    say("ready\n")?;
    io::stdin().read_to_end(&mut Vec::new())?;
    loop {
        thread::park();
    }
}

/// Does not even end when it is told to.
fn ignore_term() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _context = runtime.enter();
    let _handled = signal(SignalKind::terminate())?;
    stay()
}

/// Says nothing more, but lives until its input ends.
fn close_stdout() -> io::Result<()> {
    say("last words\n")?;
    nix::unistd::dup2_stdout(File::options().write(true).open("/dev/null")?)?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Ends, but leaves a process that holds its output and its standard error.
fn leave_a_child() -> io::Result<()> {
    Command::new(env::current_exe()?).arg("stay").stdin(Stdio::null()).spawn()?;
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn say(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())?;
    io::stdout().flush()
}
