//! Errors of requests about logins.
use crate::tools::sources::AuthError;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use host::http::RequestError;
use serde_json::json;

/// A request that is refused. No message has the value of a variable.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum LoginError {
    #[error("logins over HTTP are off; the setting `login` turns them on")]
    Off,
    #[error("there is no agent `{0}`")]
    UnknownAgent(String),
    #[error("the agent `{0}` is a model, which has no login")]
    Model(String),
    #[error("{0}")]
    Unavailable(String),
    #[error("methodId: there is no authentication method `{got}`; {valid}")]
    UnknownMethod { got: String, valid: String },
    #[error("{0}")]
    Manual(String),
    #[error("variables: {0}")]
    Variables(String),
    #[error("{place}: expected at most {limit} bytes, got {length}")]
    TooLong { place: String, limit: usize, length: usize },
    #[error("a login to this agent is going on; wait for its end, or cancel it")]
    GoingOn,
    #[error(
        "{0} logins of yours are going on, which is the limit; wait for the end of one, or cancel it"
    )]
    TooMany(usize),
    #[error("no login to this agent is going on")]
    None,
    #[error("the login has no terminal")]
    NoTerminal,
    #[error("the program does not read its input; try again")]
    Unread,
    #[error("the agent does not support `logout`")]
    NoLogout,
    #[error("no MCP server `{0}` with sign-in; `GET /api/ai/mcp-servers` lists the servers")]
    UnknownServer(String),
    #[error(
        "`{0}` is no address of this program; set site.hosts or site.origins for a sign-in there"
    )]
    OtherSite(String),
    #[error("{0}")]
    SignIn(AuthError),
    #[error("logout: {0}")]
    Refused(String),
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl LoginError {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Off | Self::OtherSite(_) => StatusCode::FORBIDDEN,
            Self::UnknownAgent(_)
            | Self::UnknownServer(_)
            | Self::Model(_)
            | Self::None
            | Self::NoLogout => StatusCode::NOT_FOUND,
            Self::SignIn(error) => Self::of_sign_in(error),
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::UnknownMethod { .. } | Self::Manual(_) | Self::Variables(_) => {
                StatusCode::BAD_REQUEST
            }
            Self::TooLong { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::GoingOn | Self::NoTerminal => StatusCode::CONFLICT,
            Self::Unread | Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Refused(_) => StatusCode::BAD_GATEWAY,
            Self::Request(error) => error.status,
        }
    }
}

impl IntoResponse for LoginError {
    fn into_response(self) -> Response {
        (self.status(), Json(json!({ "error": self.to_string() }))).into_response()
    }
}
