//! Calls and sessions over HTTP: `peer-ours` and `peer-rmcp` under the same load, in turn.
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

/// Calls of a run, in both generations together.
const CALLS: usize = 100_000;
/// Connections that call at the same time.
pub(crate) const CONNECTIONS: usize = 8;
/// Sessions that are open at the same time.
pub(crate) const SESSIONS: usize = 1000;
/// Runs of each server. They alternate, and the medians are compared.
pub(crate) const ROUNDS: usize = 3;
/// Clock ticks of a second in `/proc`.
const TICKS: f64 = 100.0;
/// Time limit of a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// The versions of the two generations.
const VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// A running server.
struct Server {
    child: Child,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that the server has ended.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

impl Server {
    fn start(name: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe()?.with_file_name(name);
        let mut child = Command::new(program).arg("127.0.0.1:0").stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stderr.take().ok_or("no output")?).read_line(&mut line)?;
        let address = line.split('/').nth(2).ok_or_else(|| format!("{name}: {line}"))?.parse()?;
        Ok(Self { child, address })
    }

    /// Returns the resident memory in bytes.
    fn memory(&self) -> Result<f64, Failure> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes: f64 =
            line.and_then(|line| line.split_whitespace().next()).ok_or("no memory")?.parse()?;
        Ok(kilobytes * 1024.0)
    }

    /// Returns the used processor time.
    fn processor(&self) -> Result<f64, Failure> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = stat.rsplit_once(')').ok_or("no name")?;
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
    }
}

/// A connection of a client, with its session up to 2025-11-25.
struct Client {
    stream: BufReader<TcpStream>,
    version: &'static str,
    session: Option<String>,
    id: usize,
}

impl Client {
    fn connect(address: SocketAddr, version: &'static str) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut client = Self { stream: BufReader::new(stream), version, session: None, id: 0 };
        if version == "2025-11-25" {
            client.open()?;
        }
        Ok(client)
    }

    /// Opens a session.
    fn open(&mut self) -> Result<(), Failure> {
        self.session = None;
        let me = json!({ "name": "load", "version": "1" });
        let params =
            json!({ "protocolVersion": self.version, "capabilities": {}, "clientInfo": me });
        let (status, headers, body) = self.ask("initialize", &params)?;
        let session = headers.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("mcp-session-id:")
                .map(|_| line[15..].trim().to_owned())
        });
        self.session = Some(session.ok_or_else(|| format!("{status}: {headers}{body}"))?);
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post("notifications/initialized", "", &begun)?;
        Ok(())
    }

    /// Calls `add`. Returns whether the sum is the expected one.
    fn call(&mut self, a: usize) -> Result<bool, Failure> {
        let mut params = json!({ "name": "add", "arguments": { "a": a, "b": 1 } });
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientInfo": { "name": "load", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let (_, _, body) = self.ask("tools/call", &params)?;
        // An event stream ends with the result.
        let line = body.lines().rev().find_map(|line| line.strip_prefix("data:"));
        let result: Value = serde_json::from_str(line.unwrap_or(&body)).unwrap_or_default();
        Ok(result["result"]["structuredContent"]["sum"] == a + 1)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<(u16, String, String), Failure> {
        self.id += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.post(method, "add", &request)
    }

    /// Sends a message. Returns the status, the headers and the body of the response.
    fn post(
        &mut self,
        method: &str,
        tool: &str,
        message: &Value,
    ) -> Result<(u16, String, String), Failure> {
        let body = message.to_string();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\nContent-Length: {}\r\n",
            self.version,
            body.len()
        );
        match &self.session {
            Some(session) => write!(head, "Mcp-Session-Id: {session}\r\n\r\n{body}")?,
            None if method == "tools/call" => {
                write!(head, "Mcp-Method: {method}\r\nMcp-Name: {tool}\r\n\r\n{body}")?;
            }
            None => write!(head, "\r\n{body}")?,
        }
        self.stream.get_mut().write_all(head.as_bytes())?;
        let mut headers = String::new();
        while self.stream.read_line(&mut headers)? > 2 {}
        let status = headers.split(' ').nth(1).ok_or("no status")?.parse()?;
        let lower = headers.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
        let mut body = Vec::new();
        if lower.contains("transfer-encoding: chunked") {
            while self.read_chunk(&mut body)? {}
        } else if let Some(length) = length {
            body.resize(length.trim().parse()?, 0);
            self.stream.read_exact(&mut body)?;
        }
        Ok((status, headers, String::from_utf8(body)?))
    }

    /// Appends a chunk. Returns whether others follow.
    fn read_chunk(&mut self, body: &mut Vec<u8>) -> Result<bool, Failure> {
        let mut size = String::new();
        self.stream.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16)?;
        let begin = body.len();
        body.resize(begin + size + 2, 0);
        self.stream.read_exact(&mut body[begin..])?;
        body.truncate(begin + size);
        Ok(size > 0)
    }
}

/// Figures of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    /// Calls per second, in each generation.
    rate: [f64; 2],
    /// Microseconds of the server's processor time for a call, in each generation.
    cost: [f64; 2],
    /// Bytes of memory for a session.
    session: f64,
    /// Calls without the expected result.
    refused: usize,
}

impl Figures {
    fn get(&self) -> [f64; 5] {
        let ([old, new], [old_cost, new_cost]) = (self.rate, self.cost);
        [old, new, old_cost, new_cost, self.session / 1024.0]
    }
}

/// Calls from all connections. Returns the number of refusals.
fn call_all(address: SocketAddr, version: &'static str) -> Result<usize, Failure> {
    let calls = CALLS / VERSIONS.len() / CONNECTIONS;
    let work = move || -> Result<usize, Failure> {
        let mut client = Client::connect(address, version)?;
        let mut refused = 0;
        for call in 0..calls {
            refused += usize::from(!client.call(call)?);
        }
        Ok(refused)
    };
    let threads: Vec<_> = (0..CONNECTIONS).map(|_| thread::spawn(work)).collect();
    threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).sum()
}

fn run(name: &str) -> Result<Figures, Failure> {
    let mut figures = Figures::default();
    let server = Server::start(name)?;
    for (index, version) in VERSIONS.into_iter().enumerate() {
        let begin = Instant::now();
        let used = server.processor()?;
        figures.refused += call_all(server.address, version)?;
        let calls = (CALLS / VERSIONS.len()) as f64;
        figures.rate[index] = calls / begin.elapsed().as_secs_f64();
        figures.cost[index] = (server.processor()? - used) / calls * 1e6;
    }
    // A new process has no memory that was released by the calls.
    let server = Server::start(name)?;
    let mut client = Client::connect(server.address, VERSIONS[0])?;
    let before = server.memory()?;
    for _ in 0..SESSIONS {
        client.open()?;
    }
    figures.session = (server.memory()? - before) / SESSIONS as f64;
    Ok(figures)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Runs both servers, and returns a table and the number of refusals of ours.
pub(crate) fn table() -> Result<(String, usize), Failure> {
    let mut runs = [Vec::new(), Vec::new()];
    for round in 1..=ROUNDS {
        for (name, runs) in ["peer-ours", "peer-rmcp"].into_iter().zip(&mut runs) {
            let figures = run(name)?;
            eprintln!("{name} {round}: {figures:?}");
            runs.push(figures);
        }
    }
    let [ours, rmcp] = &runs;
    let names = [
        "calls per second, 2025-11-25",
        "calls per second, 2026-07-28",
        "processor time of a call, 2025-11-25, µs",
        "processor time of a call, 2026-07-28, µs",
        "memory of a session, 2025-11-25, KiB",
    ];
    let mut table = "| figure | mcp-bridge | rmcp | ratio |\n|---|---|---|---|\n".to_owned();
    for (index, name) in names.iter().enumerate() {
        let of = |runs: &[Figures]| median(runs.iter().map(|it| it.get()[index]).collect());
        let ours = of(ours);
        let rmcp = of(rmcp);
        writeln!(table, "| {name} | {ours:.1} | {rmcp:.1} | {:.2} |", ours / rmcp)?;
    }
    let refused = |runs: &[Figures]| runs.iter().map(|it| it.refused).sum::<usize>();
    let all = CALLS * ROUNDS;
    writeln!(table, "| refused of {all} calls | {} | {} | |", refused(ours), refused(rmcp))?;
    Ok((table, refused(ours)))
}
