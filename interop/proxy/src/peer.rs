//! Proxies for comparison.
use crate::agent::{stdin, stdout};
use agent_client_protocol::{AcpAgent, Channel, Client, ConnectTo, Stdio};
use futures::future::{join, try_join};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio as Pipe};
use std::thread;

fn start(command: &[&str]) -> Child {
    let mut started = Command::new(command[0]);
    started.args(&command[1..]).stdin(Pipe::piped()).stdout(Pipe::piped());
    started.spawn().expect("a program")
}

/// Forwards each read in a write.
pub fn copy(command: &[&str]) {
    pass(command, |mut from, mut to| {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if to.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    });
}

/// Forwards each line in a write.
pub fn lines(command: &[&str]) {
    pass(command, |from, mut to| {
        let mut from = BufReader::with_capacity(1 << 16, from);
        let mut line = Vec::new();
        while let Ok(1..) = from.read_until(b'\n', &mut line) {
            if to.write_all(&line).is_err() {
                return;
            }
            line.clear();
        }
    });
}

fn pass(command: &[&str], relay: fn(Box<dyn Read + Send>, Box<dyn Write + Send>)) {
    let mut child = start(command);
    let to = child.stdin.take().expect("a pipe");
    let from = child.stdout.take().expect("a pipe");
    thread::spawn(move || relay(Box::new(stdin()), Box::new(to)));
    relay(Box::new(from), Box::new(stdout()));
    child.wait().expect("an end");
}

/// The bridge of the official crate, with its own transports.
pub fn official(command: &[&str]) {
    let agent = AcpAgent::from_args(command).expect("a command");
    let (editor, of_editor) =
        ConnectTo::<agent_client_protocol::Agent>::into_channel_and_future(Stdio::new());
    let (agent, of_agent) = ConnectTo::<Client>::into_channel_and_future(agent);
    let bridge = Channel::bridge_with_inspection(editor, agent, |_| Ok(()), |_| Ok(()));
    let drivers = try_join(of_editor.expect("a transport"), of_agent.expect("a transport"));
    let _ = futures::executor::block_on(join(bridge, drivers));
}
