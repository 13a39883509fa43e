use async_trait::async_trait;
use futures::channel::mpsc::{self, SendError};
use futures::executor::block_on;
use futures::{StreamExt, stream};
use jsonrpc_core::driver::{Client, Context, Driver, LocalHandler, Options};
use jsonrpc_core::framing::Frame;
use jsonrpc_core::wire::Raw;
use jsonrpc_core::{
    CancelMethod, DecodeError, Document, ErrorCode, ErrorObject, Message, Notification, Request,
    RequestId,
};
use std::rc::Rc;

/// Whatever lines come, the driver ends when they do, and each request has got one answer. The first byte says how
/// narrow it is.
pub fn driver(data: &[u8]) {
    let Some((&narrow, data)) = data.split_first() else { return };
    let frames: Vec<Frame> = data
        .split(|byte| *byte == b'\n')
        .map(|line| bytes::Bytes::copy_from_slice(line).into())
        .collect();
    let mut options = Options::new(CancelMethod::ACP);
    options.handlers = usize::from(narrow % 4);
    options.notifications = usize::from(narrow / 4 % 4);
    options.outgoing = usize::from(narrow / 16 % 4);
    options.limits.theirs = usize::from(narrow / 64) + 1;
    let most = options.limits.theirs;
    let mut expected: Vec<_> = frames.iter().flat_map(|frame| answered(frame, most)).collect();
    let (sink, written) = mpsc::unbounded();
    let lines = stream::iter(frames.into_iter().map(|frame| Ok::<_, SendError>(Ok(frame))));
    let (driver, _) = Driver::new(lines, sink, Rc::new(Handler), options);
    assert_eq!(block_on(driver), Ok(()));
    let written: Vec<Frame> = block_on(written.collect());
    let mut answers = Vec::new();
    for frame in &written {
        match Document::decode(frame.text().expect("text")).expect("a message or several") {
            Document::Message(Message::Response(response)) => answers.push(response.id),
            Document::Message(_) => {}
            Document::Batch(batch) => answers.extend(batch.messages().map(|message| {
                let Ok(Message::Response(response)) = message else { panic!("not an answer") };
                response.id
            })),
        }
    }
    expected.sort();
    answers.sort();
    assert_eq!(answers, expected);
}

/// The ids that a frame asks to be answered.
fn answered(frame: &Frame, most: usize) -> Vec<RequestId> {
    let answered_message = |message: Result<Message<'_>, DecodeError>| match message {
        Ok(Message::Request(request)) => Some(request.id),
        Ok(_) => None,
        Err(error) => error.reply().map(|reply| reply.id),
    };
    match frame.text().map(|text| Document::decode_within(text, most)) {
        Err(error) => error.reply().map(|reply| reply.id).into_iter().collect(),
        Ok(Err(error)) => answered_message(Err(error)).into_iter().collect(),
        Ok(Ok(Document::Message(message))) => answered_message(Ok(message)).into_iter().collect(),
        Ok(Ok(Document::Batch(batch))) => batch.messages().filter_map(answered_message).collect(),
    }
}

/// Does what the method is the name of.
struct Handler;

#[async_trait(?Send)]
impl LocalHandler for Handler {
    async fn request(&self, request: Request<'_>, context: Context) -> Result<Raw, ErrorObject> {
        let refuse = |_| ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no");
        match &*request.method {
            "ask" => context.client().request("ask", request.params).await.map_err(refuse),
            "tell" => {
                context.client().notify("tell", request.params).await.map_err(refuse)?;
                Ok(Raw::from(serde_json::value::RawValue::NULL))
            }
            "drop" => {
                drop(context.client().send_request("drop", None).await.map_err(refuse)?);
                Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "dropped"))
            }
            "wait" => {
                context.client().caught_up().await;
                Ok(Raw::from(serde_json::value::RawValue::NULL))
            }
            "end" => {
                context.client().shut_down();
                Ok(Raw::from(serde_json::value::RawValue::NULL))
            }
            _ => Err(ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "no such method")),
        }
    }

    async fn notification(&self, notification: Notification<'_>, client: Client) {
        match &*notification.method {
            // What becomes of it is not for a notification to tell.
            "ask" => drop(client.request("ask", notification.params).await),
            "tell" => drop(client.notify("tell", notification.params).await),
            _ => {}
        }
    }
}
