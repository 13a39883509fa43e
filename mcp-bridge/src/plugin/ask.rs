//! Open questions of a tool.
use super::journal::EntryKind;
use crate::context::{Carriers, EncodeError, EncodeOptions, ModelContext, encode};
use crate::mcp::dispatch::ServerRequest;
use alloc::string::String;
use jsonrpc_core::wire::{DecodeError, Raw};
use serde::{Deserialize, Serialize};

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "StoredAsk", try_from = "StoredAsk")]
#[non_exhaustive]
pub struct Ask {
    /// Key of the question, unique within the call.
    pub key: String,
    /// Whether the question is addressed to the user or to the model.
    pub kind: EntryKind,
    /// The request, without its context.
    pub request: ServerRequest,
    /// Data to display with the message.
    pub context: Option<ModelContext>,
}

impl Ask {
    /// Returns the request with its context in `carriers`.
    ///
    /// # Errors
    /// Returns an error if the request cannot carry the context.
    pub fn to_request(&self, carriers: Carriers) -> Result<ServerRequest, EncodeError> {
        let mut request = self.request.clone();
        if let (ServerRequest::Elicit(params), Some(context)) = (&mut request, &self.context) {
            encode(params, context, &EncodeOptions::new(carriers))?;
        }
        Ok(request)
    }

    /// Returns the approximate size in bytes.
    pub(super) fn size(&self) -> usize {
        let params = self.request.to_params().ok().flatten();
        let context = self.context.as_ref().map_or(0, |context| context.as_str().len());
        self.key.len() + params.map_or(0, |params| params.as_str().len()) + context
    }
}

/// Serialized form of a question, for storage and for other programs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StoredAsk {
    key: String,
    kind: EntryKind,
    method: String,
    params: Option<Raw>,
    context: Option<Raw>,
}

impl From<Ask> for StoredAsk {
    fn from(ask: Ask) -> Self {
        Self {
            // Serialization of these params does not fail.
            params: ask.request.to_params().ok().flatten(),
            method: ask.request.method().into(),
            context: ask.context.map(|context| context.as_raw().clone()),
            key: ask.key,
            kind: ask.kind,
        }
    }
}

impl TryFrom<StoredAsk> for Ask {
    type Error = DecodeError;

    fn try_from(written: StoredAsk) -> Result<Self, DecodeError> {
        let params = written.params.as_ref().map(AsRef::as_ref);
        let request = ServerRequest::decode(&written.method, params)?;
        // The value was written as a context and therefore is an object.
        let context = written.context.and_then(|raw| ModelContext::from_raw(raw).ok());
        Ok(Self { key: written.key, kind: written.kind, request, context })
    }
}
