//! Sessions that are ended by signals.

use crate::collector::{Collector, attributes};
use crate::editor::Editor;
use crate::proxy::{NO_COLLECTOR, Proxy};
use nix::sys::signal::Signal;
use opentelemetry_proto::tonic::common::v1::any_value::Value;

#[test]
fn signal_of_an_agent_becomes_its_exit_status() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGABRT] {
        let number = signal as i32;
        let end = Proxy::start(&["raise", &number.to_string()]).wait();
        assert_eq!(end.status, Some(128 + number), "{signal}");
    }
}

#[test]
fn agent_that_ignores_sigterm_is_killed() {
    let mut proxy =
        Proxy::with_options(&["--otlp-endpoint", NO_COLLECTOR, "--grace", "0"], &["ignore-term"]);
    assert_eq!(proxy.read_line(), "ready\n");
    let (end, _) = proxy.finish();
    assert_eq!(end.status, Some(128 + Signal::SIGKILL as i32));
}

#[test]
fn signals_go_to_the_agent() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut proxy = Proxy::start(&["stay"]);
        assert_eq!(proxy.read_line(), "ready\n");
        proxy.signal(signal);
        assert_eq!(proxy.wait().status, Some(128 + signal as i32));
    }
}

#[test]
fn spans_are_sent_after_sigterm() {
    let collector = Collector::start();
    let proxy = Proxy::with_options(&["--otlp-endpoint", &collector.url()], &["demo"]);
    let mut editor = Editor::start(proxy);
    editor.begin("slow");
    editor.proxy.read_line();
    editor.proxy.signal(Signal::SIGTERM);
    assert_eq!(editor.proxy.exit_status(), Some(128 + Signal::SIGTERM as i32));
    let trace = collector.received();
    let turn = trace.span("invoke_agent demo-agent");
    let error = attributes(&turn.attributes).remove("error.type");
    assert_eq!(error, Some(Value::StringValue("client_closed".to_owned())));
}
