//! What comes in one array is answered in one.
use super::{Bench, options};
use jsonrpc_core::driver::RequestError;
use jsonrpc_core::{ErrorCode, Limits};

#[test]
fn a_batch_has_one_answer_when_all_of_it_is_handled() {
    let mut bench = Bench::new(options(), 4);
    let open = bench.handler.gate("[1]");
    let asked = bench.ask("a");
    assert!(bench.take().is_some());
    bench.put(
        r#"[{"id":"a","method":"wait","params":[1]}, {"method":"told"}, {"id":1,"result":5}, 7,
            {"id":"a","method":"twice"}, {"id":"b","method":"quick"}]"#,
    );
    assert!(matches!(asked.take(), Some(Ok(five)) if five.as_str() == "5"));
    assert_eq!(bench.take(), None);
    bench.put(r#"{"id":"c","method":"alone"}"#);
    assert_eq!(bench.take().as_deref(), Some(r#"{"jsonrpc":"2.0","id":"c","result":0}"#));
    open.send(()).expect("it waits");
    let expected = concat!(
        r#"[{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC message: expected an object"}},"#,
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"a request of this id is open"}},"#,
        r#"{"jsonrpc":"2.0","id":"b","result":0},"#,
        r#"{"jsonrpc":"2.0","id":"a","result":true}]"#,
    );
    assert_eq!(bench.take().as_deref(), Some(expected));
    assert_eq!(bench.take(), None);
}

#[test]
fn a_batch_without_requests_has_no_answer() {
    let mut bench = Bench::new(options(), 4);
    bench.put(r#"[{"method":"one"},{"method":"two"},{"id":9,"result":1}]"#);
    assert_eq!(bench.handler.log(), "unmatched, one, two");
    assert_eq!(bench.take(), None);
}

#[test]
fn an_array_that_is_no_batch_has_one_answer_to_nobody() {
    let mut options = options();
    options.limits.theirs = 2;
    let mut bench = Bench::new(options, 4);
    for (text, code) in [
        ("[]", ErrorCode::INVALID_REQUEST),
        (r#"[{"method":"a"},{"method":"b"},{"method":"c"}]"#, ErrorCode::INVALID_REQUEST),
        (r#" [{"method":"a"}"#, ErrorCode::PARSE_ERROR),
    ] {
        bench.put(text);
        let answer = bench.take().expect(text);
        let start = format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"#);
        assert!(answer.starts_with(&start), "{answer}");
    }
    assert_eq!(bench.handler.log(), "malformed, malformed, malformed");
}

#[test]
fn answers_that_wait_are_bounded() {
    let mut options = options();
    options.limits = Limits { ours: 4, theirs: 2 };
    let mut bench = Bench::new(options, 8);
    let open = bench.handler.gate("[1]");
    // While a request of ours is open, theirs are refused rather than left unread.
    let asked = bench.ask("a");
    assert!(bench.take().is_some());
    bench.put(r#"[{"id":1,"method":"wait","params":[1]},{"id":2,"method":"until_cancelled"}]"#);
    bench.put(r#"[{"id":3,"method":"m"},{"id":4,"method":"m"}]"#);
    let refused = bench.take().expect("all of it is refused");
    assert_eq!(refused.matches("too many open requests").count(), 2);
    bench.put(r#"{"method":"$/cancel_request","params":{"requestId":2}}"#);
    open.send(()).expect("it waits");
    let answered = bench.take().expect("all of it is handled");
    assert!(answered.contains("-32800") && answered.contains(r#""result":true"#), "{answered}");
    drop(bench.client);
    drop(bench.writer);
    bench.tasks.run_until_idle();
    assert!(matches!(asked.take(), Some(Err(RequestError::Closed))));
}
