//! Configuration of the requests of tools to a model: preferences, limits, a guard, and redaction.
use super::error::PluginError;
use crate::mcp::sampling::{CreateMessageRequestParams, CreateMessageResult, ModelPreferences};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde_json::Number;

/// A request of a tool to a model, as seen by the functions of a [`Sampling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingContext<'a> {
    /// Key of the request, unique within the call.
    pub key: &'a str,
    /// The caller of the tool.
    pub principal: &'a str,
    /// Id of the call.
    pub call_id: &'a str,
    /// Number of the request within the call, starting with 1.
    pub number: u32,
}

impl<'a> SamplingContext<'a> {
    /// Creates the context of a request. `number` starts with 1 in each call.
    pub fn new(key: &'a str, principal: &'a str, call_id: &'a str, number: u32) -> Self {
        Self { key, principal, call_id, number }
    }
}

type Before = Arc<
    dyn Fn(
            CreateMessageRequestParams,
            SamplingContext<'_>,
        ) -> Result<CreateMessageRequestParams, String>
        + Send
        + Sync,
>;
type After = Arc<
    dyn Fn(CreateMessageResult, SamplingContext<'_>) -> Result<CreateMessageResult, String>
        + Send
        + Sync,
>;

/// Configuration of the requests to a model, of a [tool](super::PluginToolBuilder::sampling) or of
/// all tools of a [host](super::PluginHost::with_sampling).
///
/// A request passes the configuration of its tool and then that of the host, and the response
/// passes both in reverse order. Functions are called in the order in which they were added. They
/// run again in each replay, with the same results.
///
/// A client that answers the requests of a server applies it with [`before`](Self::before) and
/// [`after`](Self::after).
///
/// ```
/// use mcp_bridge::mcp::sampling::ModelPreferences;
/// use mcp_bridge::plugin::Sampling;
///
/// let sampling = Sampling::new()
///     .with_model_preferences(ModelPreferences::new())
///     .with_max_tokens(500)
///     .with_max_requests(3)
///     .with_before(|mut request, _| {
///         request.system_prompt = request.system_prompt.map(|prompt| prompt.replace("4111 1111", "[card]"));
///         Ok(request)
///     })
///     .with_after(|result, context| match result.model.as_str() {
///         "local" => Ok(result),
///         other => Err(format!("the model `{other}` answered request {}", context.number)),
///     });
/// # let _ = sampling;
/// ```
#[derive(Clone, Default)]
pub struct Sampling {
    model_preferences: Option<ModelPreferences>,
    max_tokens: Option<u64>,
    max_requests: Option<u32>,
    before: Vec<Before>,
    after: Vec<After>,
}

impl fmt::Debug for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampling")
            .field("model_preferences", &self.model_preferences)
            .field("max_tokens", &self.max_tokens)
            .field("max_requests", &self.max_requests)
            .finish_non_exhaustive()
    }
}

impl Sampling {
    /// Creates a configuration that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the preferences of requests without any.
    #[must_use]
    pub fn with_model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Sets the maximum number of tokens of one response. Larger values in a request are reduced to
    /// it.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the maximum number of requests of one call. Further requests are errors.
    #[must_use]
    pub fn with_max_requests(mut self, requests: u32) -> Self {
        self.max_requests = Some(requests);
        self
    }

    /// Adds a function that modifies or rejects each request, for example to remove what the model
    /// must not receive. The text of its error is that of the [`PluginError::Sampling`].
    #[must_use]
    pub fn with_before(
        mut self,
        before: impl Fn(
            CreateMessageRequestParams,
            SamplingContext<'_>,
        ) -> Result<CreateMessageRequestParams, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.before.push(Arc::new(before));
        self
    }

    /// Adds a function that modifies or rejects each response.
    #[must_use]
    pub fn with_after(
        mut self,
        after: impl Fn(CreateMessageResult, SamplingContext<'_>) -> Result<CreateMessageResult, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.after.push(Arc::new(after));
        self
    }

    /// Returns the request to send to the model.
    ///
    /// # Errors
    /// Returns a [`PluginError::Sampling`] if the call has too many requests, or a function rejects
    /// this one.
    pub fn before(
        &self,
        mut params: CreateMessageRequestParams,
        context: SamplingContext<'_>,
    ) -> Result<CreateMessageRequestParams, PluginError> {
        if let Some(most) = self.max_requests.filter(|most| context.number > *most) {
            return Err(rejected(
                format!("a call has at most {most} requests to a model"),
                context,
            ));
        }
        if params.model_preferences.is_none() {
            params.model_preferences.clone_from(&self.model_preferences);
        }
        let params = self.before.iter().try_fold(params, |params, before| before(params, context));
        let mut params = params.map_err(|reason| rejected(reason, context))?;
        // The limit holds for what the functions return.
        let is_within =
            |most: &u64| params.max_tokens.as_f64().is_some_and(|it| it <= *most as f64);
        if let Some(most) = self.max_tokens.filter(|most| !is_within(most)) {
            params.max_tokens = Number::from(most);
        }
        Ok(params)
    }

    /// Returns the response for the tool.
    ///
    /// # Errors
    /// Returns a [`PluginError::Sampling`] if a function rejects the response.
    pub fn after(
        &self,
        result: CreateMessageResult,
        context: SamplingContext<'_>,
    ) -> Result<CreateMessageResult, PluginError> {
        let result = self.after.iter().try_fold(result, |result, after| after(result, context));
        result.map_err(|reason| rejected(reason, context))
    }
}

fn rejected(reason: String, context: SamplingContext<'_>) -> PluginError {
    PluginError::Sampling { key: context.key.into(), reason }
}
