//! A missing login: the authentication methods of the agent, and the next step of the user.
use crate::json::{self, Members};
use crate::reason::excerpt;
use acp_types::client::AuthMethods;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use jsonrpc_core::ErrorObject;
use jsonrpc_core::wire::{Extra, Raw};
use serde::{Deserialize, Serialize};

/// Maximum number of methods in a message.
const MAX_METHODS: usize = 16;

/// Maximum number of bytes of a name or a command.
const MAX_TEXT: usize = 200;

/// Next steps of a user for the authentication methods of an agent; see
/// [`ConversationOptions::sign_in`](crate::conversation::ConversationOptions::sign_in).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SignIn {
    /// The command of the agent, for methods that run it in a terminal.
    pub command: Option<String>,
    /// The next step for a method of the agent itself, in which `{id}` is replaced by the id of the
    /// method.
    pub authenticate: Option<String>,
}

/// A method, as far as it is described for a user.
struct Method {
    id: String,
    name: String,
    arguments: Option<Vec<String>>,
    variables: Vec<String>,
}

impl SignIn {
    /// Returns the error for a user: with the methods and the next step in its message, and with
    /// the methods in its data.
    pub(crate) fn explain(&self, error: &ErrorObject, methods: &AuthMethods) -> ErrorObject {
        let methods = raw_methods(methods);
        let described: Vec<_> = methods.iter().filter_map(Method::read).collect();
        let mut message = crate::reason::reason(error);
        if !described.is_empty() {
            let steps: Vec<_> = described.iter().map(|method| self.step(method)).collect();
            let message_end = if message.ends_with(['.', '!', '?']) { "" } else { "." };
            message = format!("{message}{message_end} Sign in: {}.", steps.join("; or "));
        }
        let mut explained = ErrorObject::new(error.code, message);
        if !methods.is_empty() {
            explained.data = Some(Members::new().with(AUTH_METHODS, &methods).into_raw());
        }
        explained
    }

    /// Returns the error of `authenticate` with the valid ids.
    pub(crate) fn explain_method(error: &ErrorObject, methods: &AuthMethods) -> ErrorObject {
        let methods = raw_methods(methods);
        let ids: Vec<_> = methods.iter().filter_map(Method::read).map(|it| it.quoted()).collect();
        let known = match ids.is_empty() {
            true => "the agent has no authentication methods".to_string(),
            false => format!("the authentication methods of the agent are {}", ids.join(", ")),
        };
        let message = format!("authenticate: {}; {known}", crate::reason::reason(error));
        ErrorObject::new(error.code, message)
    }

    fn step(&self, method: &Method) -> String {
        let name = method.quoted();
        match (&method.arguments, method.variables.is_empty()) {
            (Some(arguments), _) => {
                let command = self.command.as_deref().unwrap_or("the agent");
                let words = [command].into_iter().chain(arguments.iter().map(String::as_str));
                format!("{name}: run `{}`", words.collect::<Vec<_>>().join(" "))
            }
            (None, false) => format!("{name}: set {}", method.variables.join(", ")),
            (None, true) => match &self.authenticate {
                Some(step) => format!("{name}: {}", step.replace("{id}", &method.id)),
                None => name,
            },
        }
    }
}

/// Name of the member with the methods, in the data of an error and in the metadata of an event.
pub(crate) const AUTH_METHODS: &str = "authMethods";

/// Returns the methods in the data of an explained error.
pub(crate) fn methods_of(error: &ErrorObject) -> Option<Raw> {
    error.data.as_ref()?.decode::<Extra>().ok()?.get(AUTH_METHODS).cloned()
}

/// Returns the methods as JSON: both versions, and kinds without a type.
fn raw_methods(methods: &AuthMethods) -> Vec<Raw> {
    match methods {
        AuthMethods::V1(methods) => {
            methods.iter().take(MAX_METHODS).map(|it| Raw::of(it)).collect()
        }
        AuthMethods::V2(methods) => {
            methods.iter().take(MAX_METHODS).map(|it| Raw::of(it)).collect()
        }
        _ => Vec::new(),
    }
}

impl Method {
    fn read(raw: &Raw) -> Option<Self> {
        let members = raw.decode::<Extra>().ok()?;
        let text = |members: &Extra, name| {
            let text = members.get(name)?.decode::<String>().ok()?;
            Some(excerpt(&text, MAX_TEXT))
        };
        let id = text(&members, "id").or_else(|| text(&members, "methodId"))?;
        let name = text(&members, "name").unwrap_or_default();
        let is_terminal = text(&members, "type").as_deref() == Some("terminal");
        let arguments = members.get("args").and_then(|args| args.decode::<Vec<String>>().ok());
        let arguments = arguments.unwrap_or_default();
        let arguments = is_terminal.then(|| {
            arguments.iter().take(MAX_METHODS).map(|it| json::head(it, MAX_TEXT).into()).collect()
        });
        let variables = members.get("vars").and_then(|vars| vars.decode::<Vec<Extra>>().ok());
        let variables = variables.unwrap_or_default();
        let variables = variables.iter().take(MAX_METHODS).filter_map(|it| text(it, "name"));
        let mut variables: Vec<_> = variables.collect();
        // An earlier form of the protocol.
        variables.extend(text(&members, "varName"));
        Some(Self { id, name, arguments, variables })
    }

    fn quoted(&self) -> String {
        let Self { id, name, .. } = self;
        if name.is_empty() || name == id { format!("`{id}`") } else { format!("{name} (`{id}`)") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_types::v1::authentication::AuthMethod;
    use jsonrpc_core::ErrorCode;
    use serde_json::Value;

    fn methods(text: &str) -> AuthMethods {
        AuthMethods::V1(Raw::from_text(text).unwrap().decode::<Vec<AuthMethod>>().unwrap())
    }

    fn explained(text: &str) -> ErrorObject {
        let sign_in = SignIn {
            command: Some("agent --acp".to_string()),
            authenticate: Some("start with `--authenticate {id}`".to_string()),
        };
        let error = ErrorObject::new(ErrorCode(-32000), "Authentication required");
        sign_in.explain(&error, &methods(text))
    }

    #[test]
    fn each_kind_of_method_has_next_step() {
        for (method, step) in [
            (
                r#"{"id":"oauth","name":"Log in"}"#,
                "Log in (`oauth`): start with `--authenticate oauth`",
            ),
            (
                r#"{"id":"cli","name":"Terminal","type":"terminal","args":["auth","login"]}"#,
                "Terminal (`cli`): run `agent --acp auth login`",
            ),
            (r#"{"id":"t","name":"t","type":"terminal"}"#, "`t`: run `agent --acp`"),
            (
                r#"{"id":"key","name":"Key","type":"env_var","vars":[{"name":"A_KEY"},{"name":"B"}]}"#,
                "Key (`key`): set A_KEY, B",
            ),
            (r#"{"id":"key","name":"Key","type":"env_var","varName":"A"}"#, "Key (`key`): set A"),
            (
                r#"{"id":"new","name":"New","type":"newer"}"#,
                "New (`new`): start with `--authenticate new`",
            ),
        ] {
            let error = explained(&format!("[{method}]"));
            assert_eq!(error.message, format!("Authentication required. Sign in: {step}."));
            let methods: Value = methods_of(&error).unwrap().decode_serde().unwrap();
            assert_eq!(methods, serde_json::from_str::<Value>(&format!("[{method}]")).unwrap());
        }
        let both = explained(r#"[{"id":"a","name":"A"},{"id":"b","name":"B","type":"terminal"}]"#);
        assert!(both.message.contains("`--authenticate a`; or B (`b`): run"), "{}", both.message);
    }

    #[test]
    fn error_without_methods_keeps_its_message() {
        let error = explained("[]");
        assert_eq!(&*error.message, "Authentication required");
        assert_eq!(error.data, None);
    }

    #[test]
    fn refused_method_is_followed_by_valid_ones() {
        let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, "Invalid params");
        let valid = methods(r#"[{"id":"a","name":"A"},{"id":"b","name":"b"}]"#);
        assert_eq!(
            SignIn::explain_method(&error, &valid).message,
            "authenticate: Invalid params; the authentication methods of the agent are A (`a`), `b`"
        );
        assert_eq!(
            SignIn::explain_method(&error, &methods("[]")).message,
            "authenticate: Invalid params; the agent has no authentication methods"
        );
    }
}
