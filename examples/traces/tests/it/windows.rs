//! Windows specifics: exit statuses, scripts, arguments.

use crate::proxy::{PATIENCE, Proxy, acp_traces, test_agent};
use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

/// A status has 32 bits. Statuses of crashes use the high bits.
#[test]
fn exit_status_has_32_bits() {
    for status in [256, 0x1_0001, 0xC000_0005_u32.cast_signed(), -1] {
        let end = Proxy::start(&["exit", &status.to_string()]).wait();
        assert_eq!(end.status, Some(status));
        assert_eq!(&*end.stderr, "");
    }
}

/// Arguments that require quoting on Windows.
const ARGUMENTS: [&str; 8] =
    ["", "a b", "a\"b", "\"a b\"", r"C:\a b\", r"a\\", "\u{e9}\u{20ac}", "--x=y z"];

/// Arguments that scripts pass on unchanged.
const PLAIN_ARGUMENTS: [&str; 4] = ["-y", "@scope/agent", "a b", "--x=y"];

fn shown(arguments: &[&str]) -> Vec<u8> {
    format!("{arguments:?}\n").into_bytes()
}

#[test]
fn arguments_pass_as_they_are() {
    let end = Proxy::start(&[&["arguments"], &ARGUMENTS[..]].concat()).wait();
    assert_eq!(end.stdout, shown(&ARGUMENTS), "{}", String::from_utf8_lossy(&end.stdout));
}

/// The test agent as a script created by npm: next to a script for Unix without an extension.
#[test]
fn agent_may_be_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let without_ending = folder.path().join("an-agent");
    let script = without_ending.with_extension("cmd");
    fs::write(&without_ending, "#!/bin/sh\nexit 9\n").unwrap();
    fs::write(&script, format!("@echo off\r\n\"{}\" %*\r\n", test_agent().display())).unwrap();
    let others = env::var_os("PATH").unwrap();
    let folders = [folder.path().to_owned()].into_iter().chain(env::split_paths(&others));
    let path = env::join_paths(folders).unwrap();
    for command in [Path::new("an-agent"), Path::new("an-agent.cmd"), &script, &without_ending] {
        let start = |agent: &[&str]| {
            let mut proxy = acp_traces(&["--file", "NUL", "--"]);
            proxy.arg(command).args(agent).env("PATH", &path);
            Proxy::spawn(proxy)
        };
        let end = start(&[&["arguments"], &PLAIN_ARGUMENTS[..]].concat()).wait();
        assert_eq!(&*end.stderr, "", "{command:?}");
        assert_eq!(end.stdout, shown(&PLAIN_ARGUMENTS), "{command:?}");
        let mut proxy = start(&["echo"]);
        proxy.write(b"{}\r\n{}\n");
        let (end, _) = proxy.finish();
        assert_eq!(end.status, Some(0), "{command:?}");
        assert_eq!(&*end.stdout, &b"{}\r\n{}\n"[..], "{command:?}");
        assert_eq!(start(&["exit", "7"]).wait().status, Some(7), "{command:?}");
        // A script would execute it as a second command.
        assert_eq!(start(&["arguments", "a\nb"]).wait().status, Some(126), "{command:?}");
    }
}

/// A process that leaves the job, like a process that leaves a process group on Unix.
#[test]
fn process_outside_the_job_survives() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut proxy = Proxy::start(&["leave-a-caller", &address]);
    proxy.close();
    assert_eq!(proxy.exit_status(), Some(0));
    let (mut caller, _) = listener.accept().unwrap();
    caller.set_read_timeout(Some(PATIENCE)).unwrap();
    caller.write_all(b"there?").unwrap();
    let mut answer = [0; 6];
    caller.read_exact(&mut answer).unwrap();
    assert_eq!(answer, *b"there?");
}
