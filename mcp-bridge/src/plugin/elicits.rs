//! Questions of a tool as types.
use crate::context::{self, ModelContext};
use crate::mcp::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use crate::schema::{AnswerProblems, Form, SchemaViolation};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::wire::{self, DecodeError, Raw};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The set of questions that a tool can ask. Implemented by [`elicitations!`](crate::elicitations).
#[diagnostic::on_unimplemented(
    message = "the tool does not declare its questions",
    label = "call `.elicits::<...>()` before `.execute(...)`",
    note = "write `.elicits::<NoElicitations>()` for a tool without questions",
    note = "declare questions with the macro `elicitations!` and pass its set to `.elicits::<...>()`"
)]
pub trait Elicitations: Send + Sync + 'static {
    /// Returns the form of each question, by name.
    ///
    /// # Errors
    /// Returns an error if an answer type has no form.
    fn forms() -> Result<Vec<(&'static str, Form)>, SchemaViolation>;
}

/// The empty set of questions.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a type without values")]
pub enum NoElicitations {}

impl Elicitations for NoElicitations {
    fn forms() -> Result<Vec<(&'static str, Form)>, SchemaViolation> {
        Ok(Vec::new())
    }
}

/// A question with its context and answer types.
pub trait ElicitKey {
    /// The set that the question belongs to.
    type Set: Elicitations;
    /// Data for rich forms to display with the message. Serializes to an object.
    type Context: Serialize + DeserializeOwned;
    /// The answer. Serializes to an object that has a [form](Form).
    type Answer: Serialize + DeserializeOwned + JsonSchema;
    /// Name of the question. It identifies the answers.
    const NAME: &'static str;
}

/// The user's response to a question.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "`Cancel` covers each further action")]
pub enum ElicitResponse<T> {
    /// The user submitted an answer.
    Accept(T),
    /// The user declined.
    Decline,
    /// The user dismissed the question without an answer. Unknown actions also map here, because
    /// they are not a consent.
    Cancel,
}

/// A question as a handler receives it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question<C> {
    /// The message for the user, without the section of the context.
    pub message: String,
    /// The context.
    pub context: C,
}

/// An error handling a question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandleError {
    /// The question is unknown.
    #[error("unknown question `{0}`")]
    UnknownKey(String),
    /// The question has no valid context.
    #[error("the question has no context")]
    NoContext,
    /// The context does not match the type of the question.
    #[error("the context does not match the question")]
    Context(#[source] DecodeError),
    /// The answer of the handler violates the form.
    #[error("the answer does not match the form: {0}")]
    Answer(AnswerProblems),
    /// The answer of the handler is not an object.
    #[error("the answer is not an object")]
    NotAnObject,
    /// The answer type has no form.
    #[error(transparent)]
    Form(#[from] SchemaViolation),
}

impl<C: DeserializeOwned> Question<C> {
    /// Decodes a question.
    ///
    /// # Errors
    /// Returns an error if the context is missing or of another type.
    pub fn read(params: &ElicitRequestParams) -> Result<Self, HandleError> {
        let extracted = context::extract(params, &context::ContextLimits::default());
        let context = match &extracted.context {
            Some(context) => context.decode().map_err(HandleError::Context)?,
            // An empty context is not sent.
            None => wire::decode_serde("{}").map_err(|_| HandleError::NoContext)?,
        };
        let message = extracted.request.message().unwrap_or_default().to_string();
        Ok(Self { message, context })
    }
}

impl<T: Serialize + DeserializeOwned + JsonSchema> ElicitResponse<T> {
    /// Returns the result to send.
    ///
    /// # Errors
    /// Returns an error if the answer does not match its own form, for example because it contains
    /// nested objects.
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

    /// Decodes a result with the form of the question.
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

/// Returns the text of a context for its digest.
pub(super) fn context_text(context: Option<&ModelContext>) -> String {
    context.map(|context| context.as_str().to_string()).unwrap_or_default()
}

/// Returns the name in a key. The key of a repeated question ends in `#` and a number.
pub fn key_name(key: &str) -> &str {
    key.split_once('#').map_or(key, |(name, _)| name)
}

/// Declares the questions of a tool.
///
/// The macro defines a type for the set, a type for each question, and a trait with one method for
/// each question. The program that presents the questions implements the trait; a missing method is
/// a compile error.
///
/// ```
/// use mcp_bridge::elicitations;
/// use mcp_bridge::plugin::{ElicitResponse, Question};
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
///     /// Questions of the tool `order`.
///     pub Ordering handled by OrderingHandlers {
///         /// Which size?
///         pick_size: PickSize = "pickSize" (Sizes => Size),
///     }
/// }
///
/// struct First;
///
/// impl OrderingHandlers for First {
///     async fn pick_size(&self, question: Question<Sizes>) -> ElicitResponse<Size> {
///         question.context.sizes.into_iter().next().map_or(ElicitResponse::Decline, |size| ElicitResponse::Accept(Size { size }))
///     }
/// }
/// ```
///
/// A missing handler does not compile:
///
/// ```compile_fail,E0046
/// # use schemars::JsonSchema;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Serialize, Deserialize)]
/// # pub struct Sizes {}
/// # #[derive(Serialize, Deserialize, JsonSchema)]
/// # pub struct Size {}
/// mcp_bridge::elicitations! {
///     /// Questions of the tool `order`.
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
                $crate::schema::SchemaViolation,
            > {
                let mut forms = $crate::plugin::__private::Vec::new();
                $( forms.push(($name, $crate::schema::Form::of::<$Answer>()?)); )+
                ::core::result::Result::Ok(forms)
            }
        }

        /// Presents the questions and returns the user's responses.
        $vis trait $Handlers {
            $(
                $(#[$attr])*
                fn $method(
                    &self,
                    question: $crate::plugin::Question<$Context>,
                ) -> impl ::core::future::Future<Output = $crate::plugin::ElicitResponse<$Answer>> + Send;
            )+
        }

        impl $Set {
            /// Handles a question by its key.
            ///
            /// # Errors
            /// Returns an error if the question is unknown, has no context, or the answer does not
            /// match the form.
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
