//! Runs the program.
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Output and exit status.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) status: Option<i32>,
}

pub(crate) fn run(args: &[&str], stdin: &[u8]) -> ProgramOutput {
    run_with(args, stdin, None)
}

/// Runs the program with a file of trusted certificates.
pub(crate) fn run_with(args: &[&str], stdin: &[u8], trusted: Option<&Path>) -> ProgramOutput {
    let mut child = Command::new(env!("CARGO_BIN_EXE_agui-verify"))
        .args(args)
        .envs(trusted.map(|file| ("SSL_CERT_FILE", file)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program to start");
    // The program may exit before it has read everything.
    let _ = child.stdin.take().expect("its input").write_all(stdin);
    let output = child.wait_with_output().expect("the program to exit");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    ProgramOutput {
        out: text(output.stdout),
        err: text(output.stderr),
        status: output.status.code(),
    }
}
