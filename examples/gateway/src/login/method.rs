//! Authentication methods of an agent, and what a user does for each.
use crate::hub::{AgentCommand, Variables};
use crate::login::error::LoginError;
use acp_types::client::{AuthMethods, Initialization};
use acp_types::v1::session_setup::EnvVariable;
use agui_bridge::excerpt;
use host::catalog::Agent;
use jsonrpc_core::wire::Raw;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of methods, and of variables of a method.
const MAX_ENTRIES: usize = 16;

/// Maximum number of bytes of an id or a name.
const MAX_NAME: usize = 200;

/// Maximum number of bytes of a description.
const MAX_DESCRIPTION: usize = 1000;

/// Maximum number of bytes of the value of a variable.
const MAX_VALUE: usize = 8 * 1024;

/// An authentication method.
///
/// Spec: [Authentication methods](https://agentclientprotocol.com/protocol/v1/authentication)
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Method {
    pub(crate) id: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// A page with instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(flatten)]
    pub(crate) kind: Kind,
}

/// What a user does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The agent logs in by itself.
    Agent,
    /// The user enters values, with which the agent is restarted.
    Variables { variables: Vec<Variable> },
    /// The user works with the program of the agent in a terminal.
    Terminal {
        command: String,
        #[serde(skip)]
        arguments: Vec<String>,
        #[serde(skip)]
        environment: BTreeMap<String, String>,
    },
    /// The user does this elsewhere.
    Manual { step: String },
}

/// A variable of the agent's environment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Variable {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default = "yes")]
    secret: bool,
    #[serde(default)]
    optional: bool,
}

/// A method in the forms that agents use; members without a use here are ignored.
#[derive(Deserialize)]
struct MethodMembers {
    id: Option<String>,
    /// The id in version 2.
    #[serde(rename = "methodId")]
    method_id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(default)]
    env: Option<Environment>,
    #[serde(default)]
    vars: Option<Vec<Variable>>,
    /// An earlier form of the protocol.
    #[serde(rename = "varName")]
    variable: Option<String>,
    link: Option<String>,
}

/// Variables of a terminal, in the form of each version.
#[derive(Deserialize)]
#[serde(untagged)]
enum Environment {
    Map(BTreeMap<String, String>),
    List(Vec<EnvVariable>),
}

impl From<Environment> for BTreeMap<String, String> {
    fn from(environment: Environment) -> Self {
        match environment {
            Environment::Map(map) => map,
            Environment::List(list) => list.into_iter().map(|it| (it.name, it.value)).collect(),
        }
    }
}

fn yes() -> bool {
    true
}

/// Returns the methods of an agent. `command` is that of an agent on this machine; `known` is its
/// entry of the catalogue, which knows the variables of methods that do not declare them.
pub(crate) fn methods(
    initialized: &Initialization,
    command: Option<&AgentCommand>,
    known: Option<&Agent>,
) -> Vec<Method> {
    let methods: Vec<_> = match initialized.response.value.auth_methods() {
        AuthMethods::V1(methods) => methods.iter().map(|it| Raw::of(it)).collect(),
        AuthMethods::V2(methods) => methods.iter().map(|it| Raw::of(it)).collect(),
        _ => Vec::new(),
    };
    let written = methods.iter().filter_map(|raw| raw.decode_serde::<MethodMembers>().ok());
    written.take(MAX_ENTRIES).filter_map(|it| Method::read(it, command, known)).collect()
}

impl Method {
    fn read(
        written: MethodMembers,
        command: Option<&AgentCommand>,
        known: Option<&Agent>,
    ) -> Option<Self> {
        let MethodMembers { id, method_id, name, description, kind, args, env, .. } = written;
        let MethodMembers { vars, variable, link, .. } = written;
        let id = id.or(method_id)?;
        if id.is_empty() || id.len() > MAX_NAME {
            return None;
        }
        let known = known.and_then(|agent| agent.login.iter().find(|method| method.id == id));
        let known = known.into_iter().flat_map(|method| method.variables.iter().cloned());
        let unnamed = variable.into_iter().chain(known).map(Variable::secret);
        let variables: Vec<_> = match vars {
            Some(variables) if !variables.is_empty() => variables,
            _ => unnamed.collect(),
        };
        let kind = match (kind.as_deref(), command) {
            (Some("terminal"), _) => terminal(command, args, env.map(BTreeMap::from)),
            (_, Some(_)) if !variables.is_empty() => {
                Kind::Variables { variables: valid(variables)? }
            }
            (Some("env_var"), _) => {
                let names: Vec<_> =
                    variables.iter().map(|it| excerpt(&it.name, MAX_NAME)).collect();
                Kind::Manual { step: format!("Set {} where the agent runs.", names.join(", ")) }
            }
            _ => Kind::Agent,
        };
        let name = name.filter(|name| !name.is_empty()).unwrap_or_else(|| id.clone());
        let description = description.filter(|text| !text.is_empty());
        Some(Self {
            name: excerpt(&name, MAX_NAME),
            description: description.map(|text| excerpt(&text, MAX_DESCRIPTION)),
            link: link.filter(|link| link.starts_with("https://") || link.starts_with("http://")),
            id,
            kind,
        })
    }

    /// Returns the variables for the agent, from the entered values.
    pub(crate) fn values(
        &self,
        mut entered: BTreeMap<String, String>,
    ) -> Result<Variables, LoginError> {
        let variables = match &self.kind {
            Kind::Variables { variables } => variables.as_slice(),
            _ => &[],
        };
        let mut values = Vec::new();
        for Variable { name, optional, .. } in variables {
            let value = entered.remove(name).unwrap_or_default();
            if value.len() > MAX_VALUE {
                let place = format!("variables.{name}");
                let length = value.len();
                return Err(LoginError::TooLong { place, limit: MAX_VALUE, length });
            }
            match value.as_str() {
                "" if *optional => {}
                "" => return Err(LoginError::Variables(format!("expected a value for {name}"))),
                text if text.contains(char::is_control) => {
                    let why = format!("the value for {name} has a control character");
                    return Err(LoginError::Variables(why));
                }
                _ => values.push((name.clone(), value)),
            }
        }
        match entered.keys().next() {
            None => Ok(values.into_iter().collect()),
            Some(other) => {
                let names: Vec<_> = variables.iter().map(|it| it.name.as_str()).collect();
                let names = names.join(", ");
                let other = excerpt(other, MAX_NAME);
                Err(LoginError::Variables(format!("expected only [{names}], got {other}")))
            }
        }
    }
}

impl Variable {
    fn secret(name: String) -> Self {
        Self { name, label: None, secret: true, optional: false }
    }
}

/// Returns the variables, unless one has a name that is invalid.
fn valid(mut variables: Vec<Variable>) -> Option<Vec<Variable>> {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.len() <= MAX_NAME
    };
    for variable in &mut variables {
        variable.label = variable.label.take().map(|label| excerpt(&label, MAX_NAME));
    }
    let is_valid = variables.len() <= MAX_ENTRIES && variables.iter().all(|it| is_name(&it.name));
    is_valid.then_some(variables)
}

fn terminal(
    command: Option<&AgentCommand>,
    arguments: Option<Vec<String>>,
    environment: Option<BTreeMap<String, String>>,
) -> Kind {
    let arguments = arguments.unwrap_or_default();
    let words = |words: &[String]| {
        let words = words.iter().chain(&arguments).map(String::as_str);
        excerpt(&shlex::try_join(words).unwrap_or_default(), MAX_DESCRIPTION)
    };
    match command {
        Some(command) if cfg!(unix) => {
            let environment = environment.unwrap_or_default();
            Kind::Terminal { command: words(&command.words), arguments, environment }
        }
        Some(command) => {
            let step = format!("Run `{}` in a terminal.", words(&command.words));
            Kind::Manual { step }
        }
        None => {
            let step = format!("Run the agent with `{}` where it is.", words(&[]));
            Kind::Manual { step }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn command() -> AgentCommand {
        let words = vec!["agent".to_owned(), "--acp".to_owned()];
        AgentCommand { words, secrets: Vec::new(), variables: BTreeMap::new() }
    }

    fn read(method: Value, command: Option<&AgentCommand>) -> Option<Value> {
        let catalog = host::catalog::Catalog::known().unwrap();
        let written = serde_json::from_value(method).ok()?;
        let method = Method::read(written, command, catalog.agent("gemini"))?;
        Some(serde_json::to_value(method).unwrap())
    }

    #[test]
    fn each_kind_of_method_has_its_form() {
        let variable = |name: &str| json!({ "name": name, "secret": true, "optional": false });
        let of_terminal = if cfg!(unix) {
            json!({ "kind": "terminal", "command": "agent --acp login 'a b'" })
        } else {
            json!({ "kind": "manual", "step": "Run `agent --acp login 'a b'` in a terminal." })
        };
        for (method, here, remote) in [
            (json!({}), json!({ "kind": "agent" }), json!({ "kind": "agent" })),
            (json!({ "type": "newer" }), json!({ "kind": "agent" }), json!({ "kind": "agent" })),
            (
                json!({ "type": "env_var", "vars": [{ "name": "A" }, { "name": "B", "new": 1 }] }),
                json!({ "kind": "variables", "variables": [variable("A"), variable("B")] }),
                json!({ "kind": "manual", "step": "Set A, B where the agent runs." }),
            ),
            (
                json!({ "type": "env_var", "varName": "A" }),
                json!({ "kind": "variables", "variables": [variable("A")] }),
                json!({ "kind": "manual", "step": "Set A where the agent runs." }),
            ),
            (
                json!({ "type": "terminal", "args": ["login", "a b"] }),
                of_terminal,
                json!({ "kind": "manual", "step": "Run the agent with `login 'a b'` where it is." }),
            ),
            (
                // The catalogue knows the variable of this method.
                json!({ "id": "gemini-api-key" }),
                json!({ "kind": "variables", "variables": [variable("GEMINI_API_KEY")] }),
                json!({ "kind": "agent" }),
            ),
        ] {
            for (command, expected) in [(Some(command()), here), (None, remote)] {
                let mut whole = json!({ "id": "m", "name": "M" });
                whole.as_object_mut().unwrap().extend(method.as_object().unwrap().clone());
                let mut shown = read(whole, command.as_ref()).unwrap();
                for member in ["id", "name"] {
                    shown.as_object_mut().unwrap().remove(member);
                }
                assert_eq!(shown, expected, "{method}");
            }
        }
    }

    #[test]
    fn unusable_methods_and_members_are_left_out() {
        for method in [
            json!({ "name": "without an id" }),
            json!({ "id": "" }),
            json!({ "id": "x".repeat(MAX_NAME + 1) }),
            json!({ "id": "m", "vars": [{ "name": "A=B" }] }),
            json!({ "id": "m", "vars": [{ "name": "1" }] }),
            json!({ "id": "m", "vars": vec![json!({ "name": "A" }); MAX_ENTRIES + 1] }),
        ] {
            assert_eq!(read(method.clone(), Some(&command())), None, "{method}");
        }
        let method =
            json!({ "id": "m", "name": "", "description": "a\u{1b}[1mb", "link": "javascript:x" });
        let expected = json!({ "id": "m", "name": "m", "description": "ab", "kind": "agent" });
        assert_eq!(read(method, None), Some(expected));
    }
}
