//! A canary in every place where users, models or tools write text, in both versions of the
//! protocol, is not exported unless content is recorded.

use crate::collector::Collector;
use crate::protocols::HttpCollector;
use crate::proxy::{Proxy, acp_traces};
use std::fs;
use std::io::Write;
use std::process::Command;
use std::thread;

const TRANSCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/canaries.jsonl");
const CANARY: &str = "canary-5e1f";

/// Options, and whether the canary is expected.
const ASKED: [(&[&str], bool); 3] =
    [(&[], false), (&["--record-content"], true), (&["--record-content=event"], true)];
const PROFILES: [&str; 3] = ["v1.39", "v1.41", "genai-dev"];

fn sings(bytes: impl AsRef<[u8]>) -> bool {
    bytes.as_ref().windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
}

/// Runs a command that must not report anything about the transcript.
fn run(mut command: Command) {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(str::from_utf8(&output.stderr).unwrap(), "");
    assert!(output.stdout.is_empty());
}

fn read(task: &str, profile: &str, options: &[&str]) -> Command {
    let mut command = acp_traces(&[task, TRANSCRIPT, "--profile", profile]);
    command.args(options);
    command
}

#[test]
fn exports_contain_no_content_by_default() {
    for ((options, is_heard), profile) in
        ASKED.into_iter().flat_map(|asked| PROFILES.map(|profile| (asked, profile)))
    {
        let shown = format!("{profile} {options:?}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("spans");
        let mut to_file = read("replay", profile, options);
        to_file.arg("--file").arg(&file);
        run(to_file);
        let spans = fs::read(&file).unwrap();
        assert!(!spans.is_empty() && sings(spans) == is_heard, "{shown}, file");

        let collector = Collector::start();
        let mut over_grpc = read("replay", profile, options);
        over_grpc.args(["--otlp-endpoint", &collector.url()]);
        run(over_grpc);
        let trace = collector.received();
        assert!(trace.spans.len() > 20, "{shown}: {:?}", trace.names());
        assert_eq!(sings(format!("{trace:?}")), is_heard, "{shown}, gRPC");

        for protocol in ["http/protobuf", "http/json"] {
            let collector = HttpCollector::start();
            let mut over_http = read("replay", profile, options);
            over_http.args(["--protocol", protocol, "--otlp-endpoint", &collector.url()]);
            run(over_http);
            assert_eq!(sings(collector.request().body()), is_heard, "{shown}, {protocol}");
        }

        let page = file.with_extension("html");
        let mut report = read("report", profile, options);
        report.arg("-o").arg(&page);
        run(report);
        assert_eq!(sings(fs::read(&page).unwrap()), is_heard, "{shown}, report");
    }
}

/// An echoing agent passes each message in both directions. Metrics never contain content.
#[test]
fn metrics_and_standard_error_contain_no_content() {
    let lines = fs::read_to_string(TRANSCRIPT).unwrap();
    let entries = jsonrpc_core::transcript::read(&lines).map(|entry| entry.unwrap().bytes);
    let mut said = entries.flat_map(|line| [&*line, b"\n"].concat()).collect::<Vec<_>>();
    said.extend_from_slice(format!("{{\"{CANARY}\n").as_bytes());
    for (options, is_heard) in ASKED {
        let collector = Collector::start();
        let url = collector.url();
        let all = [&["--otlp-endpoint", &url, "--metrics", "--self-metrics"], options].concat();
        let mut proxy = Proxy::with_options(&all, &["echo"]);
        let mut stdin = proxy.child.stdin.take().unwrap();
        let given = said.clone();
        let writer = thread::spawn(move || stdin.write_all(&given));
        let end = proxy.wait();
        writer.join().unwrap().unwrap();
        assert_eq!(end.status, Some(0));
        assert!(end.stdout == said);
        assert_eq!(&*end.stderr, "");
        let metrics = collector.metrics();
        let trace = collector.received();
        for name in ["acp.tool_call.duration", "rpc.server.call.duration", "acp_traces.spans"] {
            assert!(metrics.contains_key(name), "{name} in {:?}", metrics.keys());
        }
        assert!(!sings(format!("{metrics:?}")));
        assert_eq!(sings(format!("{trace:?}")), is_heard, "{options:?}");
    }
}
