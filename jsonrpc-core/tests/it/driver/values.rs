//! Params that are written into the message, and what is kept from one message to the next.
use super::{Bench, options};
use futures::executor::block_on;
use futures::{FutureExt, join};
use jsonrpc_core::driver::{Context, Driver, LocalHandler, RequestError};
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{ErrorObject, Notification, Request, memory};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

#[test]
fn a_value_is_written_as_its_text_would_be() {
    let mut bench = Bench::new(options(), 8);
    let client = bench.client.clone();
    bench.tasks.spawn(async move {
        client.notify_value("n", &[1, 2]).await.expect("open");
        client.notify("n", Raw::from_value(&[1, 2]).expect("JSON").as_ref()).await.expect("open");
        client
            .request_value("r", &BTreeMap::from([("text", "line\nend")]))
            .await
            .expect("answered");
    });
    bench.tasks.run_until_idle();
    let notification = r#"{"jsonrpc":"2.0","method":"n","params":[1,2]}"#;
    assert_eq!(bench.take().as_deref(), Some(notification));
    assert_eq!(bench.take().as_deref(), Some(notification));
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"r","params":{"text":"line\nend"}}"#;
    assert_eq!(bench.take().as_deref(), Some(request));
    assert!(bench.put(r#"{"jsonrpc":"2.0","id":1,"result":null}"#));
}

#[test]
fn a_value_that_is_no_json_is_not_sent() {
    let mut bench = Bench::new(options(), 8);
    let value = BTreeMap::from([([1_u8], 2)]);
    let sent = bench.client.notify_value("n", &value).now_or_never();
    assert!(matches!(sent, Some(Err(RequestError::Unwritten(_)))));
    let sent = bench.client.request_value("r", &value).now_or_never();
    assert!(matches!(sent, Some(Err(RequestError::Unwritten(_)))));
    bench.tasks.run_until_idle();
    assert_eq!(bench.take(), None);
}

/// Keeps the contexts of all requests.
#[derive(Default)]
struct Keeper(RefCell<Vec<Context>>);

#[async_trait::async_trait(?Send)]
impl LocalHandler for Keeper {
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        if request.method == "stop" {
            self.0.borrow_mut().push(context.clone());
            context.cancelled().await;
        }
        assert_eq!(context.is_cancelled(), request.method == "stop");
        Ok(request.params.map_or_else(|| Raw::from_text("null").expect("JSON"), Raw::from))
    }

    async fn notification(&self, _: Notification<'_>, _: jsonrpc_core::driver::Client) {}
}

/// A worker and what belongs to it serve many requests; nothing of one is seen by the next.
#[test]
fn nothing_is_left_of_a_request_for_the_next() {
    let ((theirs, to_us), (ours, to_them)) = memory::duplex(8);
    let keeper = Rc::new(Keeper::default());
    let (server, _) = Driver::new(theirs, to_us, Rc::clone(&keeper), options());
    let (driver, client) = Driver::new(ours, to_them, Rc::new(Keeper::default()), options());
    let ask = async {
        for number in 0..50 {
            if number % 7 == 0 {
                let stopped = client.send_request("stop", None).await.expect("sent");
                stopped.cancel();
                stopped.await.expect("answered");
            }
            // Texts of all lengths, after longer and after shorter ones.
            let text = "x".repeat(number * 1_000 % 20_011);
            let echo = client.request_value("echo", &[&text]).await.expect("answered");
            assert_eq!(echo.decode::<[String; 1]>().expect("a text"), [text]);
        }
        client.shut_down();
    };
    let (server, driver, ()) = block_on(async { join!(server, driver, ask) });
    server.and(driver).expect("no IO");
    let contexts = keeper.0.borrow();
    assert_eq!(contexts.len(), 8);
    assert!(contexts.iter().all(Context::is_cancelled));
}
