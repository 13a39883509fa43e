//! A driver, a proxy and an agent, connected by pipes.
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::env::current_exe;
use std::fs;
use std::io::Read;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// The proxy between the driver and the agent.
#[derive(Clone, Copy, Debug)]
pub enum Proxy<'a> {
    /// None.
    None,
    /// `cat`, in both directions.
    Cat,
    Copy,
    Lines,
    Official,
    Traces {
        path: &'a str,
        telemetry: bool,
    },
}

impl Proxy<'_> {
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "no proxy",
            Self::Cat => "`cat`",
            Self::Copy => "copy of reads",
            Self::Lines => "line copy",
            Self::Official => "official bridge",
            Self::Traces { telemetry: true, .. } => "acp-traces",
            Self::Traces { .. } => "acp-traces, telemetry off",
        }
    }

    /// Whether the proxy is so slow that it is measured with less data.
    pub fn is_slow(&self) -> bool {
        matches!(self, Self::Official)
    }
}

/// Running processes.
pub struct Chain {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    /// The proxy first, or the agent without a proxy.
    children: Vec<Child>,
}

impl Chain {
    pub fn start(proxy: &Proxy<'_>, agent: &[String]) -> Self {
        let us = current_exe().expect("this program");
        let mut command = match proxy {
            Proxy::None | Proxy::Cat => Command::new(&us),
            Proxy::Copy | Proxy::Lines | Proxy::Official => {
                let word = match proxy {
                    Proxy::Copy => "copy",
                    Proxy::Lines => "lines",
                    _ => "official",
                };
                let mut command = Command::new(&us);
                command.arg(word).arg(&us);
                command
            }
            Proxy::Traces { path, telemetry } => {
                let mut command = Command::new(path);
                command.args(["--file", "/dev/null"]);
                command.env("OTEL_SDK_DISABLED", if *telemetry { "false" } else { "true" });
                command.arg("--").arg(&us);
                command
            }
        };
        command.args(agent).stderr(Stdio::null()).stdin(Stdio::piped()).stdout(Stdio::piped());
        if !matches!(proxy, Proxy::Cat) {
            let mut child = command.spawn().expect("a program");
            let stdin = child.stdin.take().expect("a pipe");
            let stdout = child.stdout.take().expect("a pipe");
            return Self { stdin, stdout, children: vec![child] };
        }
        let cat = |stdin: Stdio| {
            Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().expect("cat")
        };
        let mut before = cat(Stdio::piped());
        let mut agent =
            command.stdin(before.stdout.take().expect("a pipe")).spawn().expect("a program");
        let mut after = cat(agent.stdout.take().expect("a pipe").into());
        let stdin = before.stdin.take().expect("a pipe");
        let stdout = after.stdout.take().expect("a pipe");
        Self { stdin, stdout, children: vec![after, before, agent] }
    }

    /// Reads the first line of `flood`.
    pub fn read_number(&mut self) -> usize {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            self.stdout.read_exact(&mut byte).expect("a line");
            line.push(byte[0]);
        }
        let line: serde_json::Value = serde_json::from_slice(&line).expect("a message");
        line["params"]["total"].as_u64().and_then(|it| usize::try_from(it).ok()).expect("a number")
    }

    /// Returns the processor time of all threads of the proxy, once they are idle.
    pub fn settled_cpu(&self) -> Duration {
        let mut last = self.cpu();
        loop {
            sleep(Duration::from_millis(100));
            let now = self.cpu();
            if now.saturating_sub(last) < Duration::from_micros(200) {
                return now;
            }
            last = now;
        }
    }

    fn cpu(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.children[0].id())).expect("threads");
        let of_task = |task: fs::DirEntry| {
            let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            text.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0)
        };
        Duration::from_nanos(tasks.filter_map(Result::ok).map(of_task).sum())
    }

    pub fn resident_megabytes(&self) -> f64 {
        let path = format!("/proc/{}/status", self.children[0].id());
        let status = fs::read_to_string(path).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib * 1024.0 / 1e6
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Pins this process and its children to one processor, until it is dropped.
pub struct Pinned(CpuSet);

impl Pinned {
    pub fn new() -> Self {
        let us = Pid::from_raw(0);
        let all = sched_getaffinity(us).expect("processors");
        let last = (0..CpuSet::count()).rev().find(|it| all.is_set(*it).unwrap_or(false));
        let mut one = CpuSet::new();
        one.set(last.expect("a processor")).expect("a processor");
        sched_setaffinity(us, &one).expect("one processor");
        Self(all)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        sched_setaffinity(Pid::from_raw(0), &self.0).expect("all processors");
    }
}
