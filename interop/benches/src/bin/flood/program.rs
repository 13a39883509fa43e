//! A program under test: its start, one run of it, and the processor time that the run takes.
use crate::agent::WORDS;
use nix::sys::signal::{Signal, kill};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that serves the flood.
pub struct Program {
    pub name: &'static str,
    process: Child,
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
        let mut process = Command::new(command[0])
            .args(&command[1..])
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
        Self { name, process, address, member, runs: 0 }
    }

    /// Runs a flood of `chunks` token chunks, and checks that the text of the response is complete.
    pub fn run(&mut self, chunks: usize) -> Sample {
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
        let mut response = Vec::with_capacity(chunks * 256);
        let (cpu, start) = (self.cpu(), Instant::now());
        let mut connection = TcpStream::connect(&self.address).expect("a connection");
        connection.write_all(request.as_bytes()).expect("a server that reads");
        connection.read_to_end(&mut response).expect("a server that writes");
        let sample = Sample { cpu: self.cpu() - cpu, time: start.elapsed(), bytes: response.len() };
        self.check(&response, chunks);
        sample
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

impl Drop for Program {
    fn drop(&mut self) {
        let _ended = kill(self.pid(), Signal::SIGTERM);
        let _status = self.process.wait();
    }
}
