//! The JSON objects of transcripts and traces.
#![expect(dead_code, unreachable_pub, reason = "the macro defines what models need, too")]
use super::Direction;
use crate::RequestId;
use crate::wire::{Fault, Raw, ValueReader, View, Wire};
use alloc::string::String;

crate::object! {
    /// A line of a transcript.
    pub struct Line {
        /// Seconds.
        time: Raw = "time",
        /// The direction of the message.
        direction: Direction = "direction",
    }
    optional {
        /// The message, if it is UTF-8.
        text: String = "text",
        /// The message in hexadecimal digits.
        hex: String = "hex",
    }
}

crate::object! {
    /// An event in a trace of the official ACP conductor.
    pub struct Event {
        /// `request`, `response` or `notification`.
        kind: String = "type",
        /// Seconds.
        ts: f64 = "ts",
    }
    optional {
        /// The protocol of the message.
        protocol: String = "protocol",
        /// The sender.
        from: String = "from",
        /// The receiver.
        to: String = "to",
        /// The id of a request or response.
        id: RequestId = "id",
        /// The method of a request or notification.
        method: String = "method",
        /// The parameters of a request or notification.
        params: Raw = "params",
        /// Whether a response is an error.
        is_error: bool = "is_error",
        /// The result or error of a response.
        payload: Raw = "payload",
    }
}

impl Wire for Direction {
    fn blank() -> Self {
        Self::Sent
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        *self = match &*reader.string()? {
            "sent" => Self::Sent,
            "received" => Self::Received,
            _ => return Err(reader.invalid("`sent` or `received`")),
        };
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Str(self.as_str())
    }
}
