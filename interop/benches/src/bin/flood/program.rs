//! A program under test: its start, one run of it, and the processor time that the run takes.
use crate::agent::WORDS;
use crate::folder::Folder;
use nix::sys::signal::{Signal, kill};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Largest number of bytes of a response for each chunk.
const MAX_CHUNK: usize = 256;

/// Largest number of runs until one is complete.
const MAX_RUNS: usize = 50;

/// The end of a response to a client that fell behind.
const BEHIND: &[u8] = b"read on with Last-Event-ID\n\n";

/// Returns the command of a gateway with this agent.
pub fn gateway<'a>(gateway: &'a str, agent: &'a str) -> [&'a str; 6] {
    [gateway, "--no-auth", "--listen", "127.0.0.1:0", "--agent", agent]
}

/// A program that serves the flood.
pub struct Program {
    pub name: &'static str,
    process: Child,
    /// Where it stores conversations.
    _state: Folder,
    address: String,
    /// Member of an event that has the text of a chunk.
    member: &'static str,
    runs: usize,
}

/// One run.
pub struct Sample {
    /// Processor time of all threads of the program, without that of the agent.
    pub cpu: Duration,
    pub time: Duration,
    /// Size of the response.
    pub bytes: usize,
}

impl Program {
    /// Starts a program, and waits until it listens.
    pub fn start(
        name: &'static str,
        command: &[&str],
        environment: &[(&str, &str)],
        member: &'static str,
    ) -> Self {
        let state = Folder::new();
        let mut process = Command::new(command[0])
            .args(&command[1..])
            .env("XDG_STATE_HOME", state.path())
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a program");
        let errors = BufReader::new(process.stderr.take().expect("a pipe"));
        let mut lines = errors.lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| Some(line.strip_prefix("listening on http://")?.to_owned()));
        let address = address.expect("a program that listens");
        // The log is read, so that the program does not block on it.
        std::thread::spawn(move || lines.for_each(|line| eprintln!("{name}: {line}")));
        Self { name, process, _state: state, address, member, runs: 0 }
    }

    /// Runs a flood of `chunks` token chunks, and checks that the text of the response is complete.
    /// A run is repeated if other programs delayed the client so much that it would have to
    /// reconnect for the rest.
    pub fn run(&mut self, chunks: usize) -> Sample {
        let mut runs = (0..MAX_RUNS).filter_map(|_| self.try_run(chunks));
        runs.next().expect("a machine that lets the client read")
    }

    fn try_run(&mut self, chunks: usize) -> Option<Sample> {
        self.runs += 1;
        let id = self.runs;
        let input = format!(
            r#"{{"protocolVersion":"1.0","threadId":"flood-{id}","runId":"flood-{id}","messages":[{{"id":"m","role":"user","content":"flood {chunks}"}}]}}"#
        );
        // With HTTP/1.0 the body is not chunked.
        let request = format!(
            "POST /api/ai/chat HTTP/1.0\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{input}",
            self.address,
            input.len(),
        );
        // The memory is written before the run, since the system provides it then: otherwise the
        // client would pause while it reads.
        let mut response = vec![b' '; chunks * MAX_CHUNK];
        let cpu = self.cpu();
        let start = Instant::now();
        let mut connection = TcpStream::connect(&self.address).expect("a connection");
        connection.write_all(request.as_bytes()).expect("a server that reads");
        let bytes = read_all(&mut connection, &mut response);
        let sample = Sample { cpu: self.cpu() - cpu, time: start.elapsed(), bytes };
        let response = &response[..bytes];
        if response.ends_with(BEHIND) {
            return None;
        }
        self.check(response, chunks);
        Some(sample)
    }

    /// Asserts that the texts in the response are as long as those that the agent wrote.
    fn check(&self, response: &[u8], chunks: usize) {
        let response = str::from_utf8(response).expect("UTF-8");
        assert!(response.starts_with("HTTP/1.0 200 "), "{}: {response:.300}", self.name);
        let opening = format!(r#""{}":""#, self.member);
        let texts = response.lines().filter_map(|line| line.split_once(&opening));
        let size: usize = texts.filter_map(|(_, rest)| rest.find('"')).sum();
        let sent: usize = WORDS.iter().cycle().take(chunks).map(|word| word.len()).sum();
        let end = &response[response.len().saturating_sub(200)..];
        assert_eq!(size, sent, "{}: the text has another length; the end: {end}", self.name);
    }

    fn cpu(&self) -> Duration {
        let clock = clock_getcpuclockid(self.pid()).expect("a process");
        clock_gettime(clock).expect("a clock").into()
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.process.id().try_into().expect("a process number"))
    }

    /// Returns the peak resident memory of the program.
    pub fn peak_mebibytes(&self) -> usize {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).expect("a process");
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes =
            peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<usize>().ok());
        kibibytes.expect("a number") / 1024
    }
}

/// Reads to the end. Returns the number of bytes.
fn read_all(connection: &mut TcpStream, buffer: &mut [u8]) -> usize {
    let mut bytes = 0;
    loop {
        match connection.read(&mut buffer[bytes..]).expect("a server that writes") {
            0 => return bytes,
            read => bytes += read,
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = kill(self.pid(), Signal::SIGTERM);
        let _status = self.process.wait();
    }
}
