//! Which questions a tool asks, as types.
use crate::context::{self, ModelContext};
use crate::mcp::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use crate::schema::{AnswerProblems, Form, Violation};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Raw};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The questions that a tool can ask. [`elicitations!`](crate::elicitations) implements it.
#[diagnostic::on_unimplemented(
    message = "the tool does not declare its questions",
    label = "call `.elicits::<...>()` before `.execute(...)`",
    note = "write `.elicits::<NoElicitations>()` for a tool without questions",
    note = "declare questions with the macro `elicitations!`, and name its set in `.elicits::<...>()`"
)]
pub trait Elicitations: Send + Sync + 'static {
    /// The form of each question, by its name.
    ///
    /// # Errors
    /// The answer to one has no form.
    fn forms() -> Result<Vec<(&'static str, Form)>, Violation>;
}

/// No questions.
#[derive(Clone, Copy, Debug)]
pub enum NoElicitations {}

impl Elicitations for NoElicitations {
    fn forms() -> Result<Vec<(&'static str, Form)>, Violation> {
        Ok(Vec::new())
    }
}

/// A question: what it shows, and what it gives.
pub trait ElicitKey {
    /// The questions that it is one of.
    type Set: Elicitations;
    /// What it shows beside the message, for rich forms: an object.
    type Context: Serialize + DeserializeOwned;
    /// What it gives: an object that has a [form](Form).
    type Answer: Serialize + DeserializeOwned + JsonSchema;
    /// Its name: what an answer is for.
    const NAME: &'static str;
}

/// What the user did about a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Elicited<T> {
    /// Answered it.
    Accept(T),
    /// Said no.
    Decline,
    /// Turned away without an answer. So reads an action that this version does not know: it is no consent.
    Cancel,
}

/// A question as a handler gets it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question<C> {
    /// The question, for people to read, without the section of the context.
    pub message: String,
    /// What it shows.
    pub context: C,
}

/// A question cannot be handled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// There is no such question.
    #[error("no question is named `{0}`")]
    UnknownKey(String),
    /// It came without a context that can be used.
    #[error("no context in the question")]
    NoContext,
    /// The context is not that of this question.
    #[error("the context is not that of the question")]
    Context(#[source] DecodeError),
    /// What the handler gave does not fit into the form.
    #[error("the answer does not fit into the form: {0}")]
    Answer(AnswerProblems),
    /// What the handler gave is not an object.
    #[error("the answer is not an object")]
    NotAnObject,
    /// The answer has no form.
    #[error(transparent)]
    Form(#[from] Violation),
}

impl<C: DeserializeOwned> Question<C> {
    /// Reads a question.
    ///
    /// # Errors
    /// Its context is missing, or another one.
    pub fn read(params: &ElicitRequestParams) -> Result<Self, HandleError> {
        let extracted = context::extract(params, &context::Limits::default());
        let context = match &extracted.context {
            Some(context) => context.decode().map_err(HandleError::Context)?,
            // An empty context is not sent.
            None => wire::decode_serde("{}").map_err(|_| HandleError::NoContext)?,
        };
        let message = extracted.request.message().unwrap_or_default().to_string();
        Ok(Self { message, context })
    }
}

impl<T: Serialize + DeserializeOwned + JsonSchema> Elicited<T> {
    /// The result to send.
    ///
    /// # Errors
    /// The answer does not fit into its own form; one with objects inside of it does not.
    pub fn to_result(&self) -> Result<ElicitResult, HandleError> {
        let answer = match self {
            Self::Accept(answer) => answer,
            Self::Decline => return Ok(ElicitResult::new(ElicitAction::Decline)),
            Self::Cancel => return Ok(ElicitResult::new(ElicitAction::Cancel)),
        };
        let content = Raw::from_value(answer).map_err(|_| HandleError::NotAnObject)?;
        let content = content.decode().map_err(|_| HandleError::NotAnObject)?;
        let _fits: T = Form::of::<T>()?.read(&content).map_err(HandleError::Answer)?;
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some(content);
        Ok(result)
    }

    /// Reads a result with the form of the question.
    pub(super) fn read(form: &Form, result: &ElicitResult) -> Result<Self, AnswerProblems> {
        match result.action {
            ElicitAction::Accept => {
                form.read(&result.content.clone().unwrap_or_default()).map(Self::Accept)
            }
            ElicitAction::Decline => Ok(Self::Decline),
            _ => Ok(Self::Cancel),
        }
    }
}

/// The text that a digest of a context is made of.
pub(super) fn context_text(context: Option<&ModelContext>) -> String {
    context.map(|context| context.as_str().to_string()).unwrap_or_default()
}

/// The name in a key: a question that is asked again has its number behind `#`.
pub fn key_name(key: &str) -> &str {
    key.split_once('#').map_or(key, |(name, _)| name)
}

/// Declares the questions that a tool asks: a type for all, one for each, and a trait with a method for each, which whoever
/// shows the questions implements. A question without a handler does not compile.
///
/// ```
/// use mcp_bridge::elicitations;
/// use mcp_bridge::plugin::{Elicited, Question};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// pub struct Sizes {
///     sizes: Vec<String>,
/// }
///
/// #[derive(Serialize, Deserialize, JsonSchema)]
/// pub struct Size {
///     size: String,
/// }
///
/// elicitations! {
///     /// What ordering asks.
///     pub Ordering handled by OrderingHandlers {
///         /// Which size?
///         pick_size: PickSize = "pickSize" (Sizes => Size),
///     }
/// }
///
/// struct First;
///
/// impl OrderingHandlers for First {
///     async fn pick_size(&self, question: Question<Sizes>) -> Elicited<Size> {
///         question.context.sizes.into_iter().next().map_or(Elicited::Decline, |size| Elicited::Accept(Size { size }))
///     }
/// }
/// ```
///
/// Without a handler:
///
/// ```compile_fail,E0046
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Sizes {}
/// # #[derive(Serialize, Deserialize, JsonSchema)]
/// # pub struct Size {}
/// mcp_bridge::elicitations! {
///     /// What ordering asks.
///     pub Ordering handled by OrderingHandlers {
///         /// Which size?
///         pick_size: PickSize = "pickSize" (Sizes => Size),
///     }
/// }
///
/// struct First;
///
/// impl OrderingHandlers for First {}
/// ```
#[macro_export]
macro_rules! elicitations {
    (
        $(#[$set_attr:meta])*
        $vis:vis $Set:ident handled by $Handlers:ident {
            $( $(#[$attr:meta])* $method:ident: $Key:ident = $name:literal ($Context:ty => $Answer:ty) ),+ $(,)?
        }
    ) => {
        $(#[$set_attr])*
        #[derive(Clone, Copy, Debug)]
        $vis enum $Set {}

        $(
            $(#[$attr])*
            #[derive(Clone, Copy, Debug)]
            $vis enum $Key {}

            impl $crate::plugin::ElicitKey for $Key {
                type Set = $Set;
                type Context = $Context;
                type Answer = $Answer;
                const NAME: &'static str = $name;
            }
        )+

        impl $crate::plugin::Elicitations for $Set {
            fn forms() -> ::core::result::Result<
                $crate::plugin::__private::Vec<(&'static str, $crate::schema::Form)>,
                $crate::schema::Violation,
            > {
                let mut forms = $crate::plugin::__private::Vec::new();
                $( forms.push(($name, $crate::schema::Form::of::<$Answer>()?)); )+
                ::core::result::Result::Ok(forms)
            }
        }

        /// Shows the questions, and gives what the user did about each.
        $vis trait $Handlers {
            $(
                $(#[$attr])*
                fn $method(
                    &self,
                    question: $crate::plugin::Question<$Context>,
                ) -> impl ::core::future::Future<Output = $crate::plugin::Elicited<$Answer>> + Send;
            )+
        }

        impl $Set {
            /// Handles a question by its key.
            ///
            /// # Errors
            /// There is no such question, it has no context, or the answer does not fit.
            $vis async fn handle<H: $Handlers + Sync>(
                handlers: &H,
                key: &str,
                params: &$crate::mcp::elicitation::ElicitRequestParams,
            ) -> ::core::result::Result<
                $crate::mcp::elicitation::ElicitResult,
                $crate::plugin::HandleError,
            > {
                match $crate::plugin::key_name(key) {
                    $(
                        $name => {
                            let question = $crate::plugin::Question::read(params)?;
                            handlers.$method(question).await.to_result()
                        }
                    )+
                    other => ::core::result::Result::Err(
                        $crate::plugin::HandleError::UnknownKey(other.into()),
                    ),
                }
            }
        }
    };
}
