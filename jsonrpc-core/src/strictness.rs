//! Decoding of messages, stricter and more lenient than [`Message::decode`].
use crate::decode::open;
use crate::decode_error::{MessageError, Shape};
use crate::envelope::{Envelope, NAMES};
use crate::json_str::JsonStr;
use crate::member_reader::peek_member;
use crate::message::{Extras, Kind, Message, Notification, Request, Response, Version};
use crate::wire::{self, Diagnostic, DiagnosticCode, Raw};
use crate::{ErrorCode, ErrorObject, RequestId, checked};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};
use serde_json::value::RawValue;

impl<'a> Message<'a> {
    /// Decodes one message exactly as JSON-RPC 2.0 defines it, for tests of peers and for peers that require it. The
    /// [crate documentation](crate#odd-input) lists the differences from [`decode`](Self::decode).
    ///
    /// ```
    /// use jsonrpc_core::Message;
    ///
    /// let error = Message::decode_strict(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "not a JSON-RPC message: expected `params` to be an object or an array");
    /// ```
    ///
    /// # Errors
    /// As for [`decode`](Self::decode), and for violations of a "must" of JSON-RPC 2.0.
    pub fn decode_strict(text: &'a str) -> Result<Self, MessageError> {
        let message = Self::decode(text)?;
        let (envelope, _) = open(text)?;
        match refused(envelope.texts(text)) {
            None => Ok(message),
            Some(problem) => Err(MessageError::Shape {
                problem,
                kind: Some(message.kind()),
                id: message.id().cloned(),
            }),
        }
    }

    /// Decodes any text that can be interpreted as one message, and reports up to a dozen deviations from JSON-RPC 2.0,
    /// for peers that cannot be fixed and for reports about them. Text that [`decode_strict`](Self::decode_strict)
    /// accepts has no diagnostics. The [crate documentation](crate#odd-input) has the table.
    ///
    /// ```
    /// use jsonrpc_core::{Message, wire::DiagnosticCode};
    ///
    /// let text = r#"{"jsonrpc":"2.0","id":1,"result":null,"error":"no such file"}"#;
    /// let (message, diagnostics) = Message::decode_lenient(text)?;
    /// let Message::Response(response) = message else { panic!("not a response") };
    /// assert_eq!(response.outcome.unwrap_err().message, "no such file");
    /// let codes: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    /// assert_eq!(codes, [DiagnosticCode::NullMember, DiagnosticCode::BadErrorObject]);
    /// # Ok::<(), jsonrpc_core::MessageError>(())
    /// ```
    ///
    /// # Errors
    /// The text is not JSON, or not a request, notification or response.
    pub fn decode_lenient(text: &'a str) -> Result<(Self, Vec<Diagnostic>), MessageError> {
        let (envelope, extras) = open(text)?;
        let is_only_repeated = matches!(envelope.problem, None | Some(Shape::Duplicate(_)));
        if !is_only_repeated || envelope.unknown > Self::MAX_EXTRA {
            return Ok((Self::decode(text)?, Vec::new()));
        }
        let mut lenient = Lenient::new(text, &envelope, extras);
        let message = lenient.message()?;
        Ok((message, lenient.diagnostics))
    }
}

/// Returns the violation that [`Message::decode`] accepts and JSON-RPC 2.0 does not.
fn refused([version, id, method, params, result, error]: [Option<&str>; 6]) -> Option<Shape> {
    let is_call = method.is_some();
    if !matches!(version.map(Version::of), Some(Version::V2)) {
        return Some(Shape::Version);
    }
    if is_call && params == Some("null") {
        return Some(Shape::Params);
    }
    if usize::from(is_call) + usize::from(result.is_some()) + usize::from(error.is_some()) > 1 {
        return Some(Shape::Ambiguous);
    }
    (!is_call && id.is_none()).then_some(Shape::ErrorWithoutId)
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// A message during lenient decoding.
struct Lenient<'a> {
    members: [Option<&'a RawValue>; 6],
    envelope: Extras<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Lenient<'a> {
    fn new(text: &'a str, envelope: &Envelope, extras: Extras<'a>) -> Self {
        let mut diagnostics = vec![];
        match extras.version {
            Version::V2 => {}
            Version::Missing => diagnostics.push(Diagnostic::new(
                DiagnosticCode::MissingVersion,
                "",
                "expected member `jsonrpc`",
            )),
            Version::Other(_) => diagnostics.push(Diagnostic::new(
                DiagnosticCode::OtherVersion,
                "/jsonrpc",
                "expected \"2.0\", got another value",
            )),
        }
        for (name, _) in NAMES.iter().zip(envelope.repeated).filter(|(_, repeated)| *repeated) {
            diagnostics.push(Diagnostic::new(
                DiagnosticCode::DuplicateMember,
                format!("/{name}"),
                "expected one member of this name, got two",
            ));
        }
        let members = envelope.texts(text).map(|text| text.and_then(checked::raw));
        Self { members, envelope: extras, diagnostics }
    }

    fn message(&mut self) -> Result<Message<'a>, MessageError> {
        let [_, _, method, ..] = self.members;
        match method {
            Some(method) if !(is_null(method) && self.has_outcome()) => self.call(method),
            method => {
                self.tell_null("method", method);
                self.response()
            }
        }
    }

    fn has_outcome(&self) -> bool {
        let [_, _, _, _, result, error] = self.members;
        result.is_some() || error.is_some_and(|error| !is_null(error))
    }

    fn call(&mut self, method: &'a RawValue) -> Result<Message<'a>, MessageError> {
        let [_, id, _, params, result, error] = self.members;
        let kind = if id.is_some() { Kind::Request } else { Kind::Notification };
        let id = self.id(id, kind)?;
        let Some(method) = JsonStr::new(method.get()).and_then(|method| method.decode()) else {
            return Err(MessageError::Shape { problem: Shape::Method, kind: None, id });
        };
        self.stray("result", result);
        self.stray("error", error);
        let params = params.filter(|params| {
            self.tell_null("params", Some(params));
            !is_null(params)
        });
        if params.is_some_and(|params| !params.get().starts_with(['{', '['])) {
            self.report(DiagnosticCode::ScalarParams, "/params", "expected an object or an array");
        }
        let envelope = core::mem::take(&mut self.envelope);
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params, envelope }),
            None => Message::Notification(Notification { method, params, envelope }),
        })
    }

    fn response(&mut self) -> Result<Message<'a>, MessageError> {
        let [_, id, _, params, result, error] = self.members;
        let id = self.id(id, Kind::Response)?;
        let outcome = match (result, error.filter(|error| !is_null(error))) {
            (result, Some(error)) => {
                if result.is_some_and(is_null) {
                    self.tell_null("result", result);
                } else {
                    self.stray("result", result);
                }
                Err(self.error_object(error))
            }
            (Some(result), None) => {
                self.tell_null("error", error);
                Ok(result)
            }
            (None, None) if id.is_some() => {
                let problem = "expected one of `result` and `error`";
                self.report(DiagnosticCode::MissingResult, "", problem);
                Ok(RawValue::NULL)
            }
            (None, None) => {
                return Err(MessageError::Shape { problem: Shape::Empty, kind: None, id });
            }
        };
        let id = id.unwrap_or_else(|| {
            self.report(DiagnosticCode::MissingId, "", "expected member `id`");
            RequestId::NULL
        });
        let mut envelope = core::mem::take(&mut self.envelope);
        envelope.members.extend(params.map(|params| (Cow::Borrowed("params"), params)));
        Ok(Message::Response(Response { id, outcome, envelope }))
    }

    fn id(&self, id: Option<&RawValue>, kind: Kind) -> Result<Option<RequestId>, MessageError> {
        let Some(raw) = id else { return Ok(None) };
        let error = || MessageError::Shape { problem: Shape::Id, kind: Some(kind), id: None };
        RequestId::from_text(raw.get()).ok_or_else(error).map(Some)
    }

    /// Returns the intended error object. A value that is not one becomes its data.
    fn error_object(&mut self, error: &RawValue) -> ErrorObject {
        let source = match wire::decode(error.get()) {
            Ok(error) => return error,
            Err(source) => source,
        };
        let pointer = format!("/error{}", source.pointer());
        self.report(DiagnosticCode::BadErrorObject, pointer, source.problem());
        let member = |name| peek_member(error.get(), name).ok().flatten();
        let code = member("code").and_then(RequestId::from_text).and_then(|code| code.as_i64());
        let message = member("message").or(Some(error.get())).and_then(JsonStr::new);
        let message = message.and_then(|message| message.decode());
        let mut object = ErrorObject::new(
            code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode),
            message.as_deref().unwrap_or("the peer's error is not an error object"),
        );
        object.data = Some(Raw::from(error));
        object
    }

    /// Keeps a member that this kind of message does not define.
    fn stray(&mut self, name: &'static str, value: Option<&'a RawValue>) {
        if let Some(value) = value {
            let pointer = format!("/{name}");
            self.report(DiagnosticCode::StrayMember, pointer, "unexpected member");
            self.envelope.members.push((Cow::Borrowed(name), value));
        }
    }

    fn tell_null(&mut self, name: &str, value: Option<&RawValue>) {
        if value.is_some_and(is_null) {
            let pointer = format!("/{name}");
            self.report(
                DiagnosticCode::NullMember,
                pointer,
                "expected another value or no member, got null",
            );
        }
    }

    fn report(
        &mut self,
        code: DiagnosticCode,
        pointer: impl Into<String>,
        problem: impl Into<String>,
    ) {
        self.diagnostics.push(Diagnostic::new(code, pointer, problem));
    }
}
