//! The versions of ACP that an agent is offered.
use crate::hub::capabilities::initialize;
use acp_types::client::Options;
use acp_types::v1::initialization::{Implementation, InitializeRequest};
use acp_types::v2;
use acp_types::v2::initialization::{
    ClientAuthCapabilities, ClientCapabilities, ClientSessionCapabilities, CommandsCapabilities,
    CommandsSkillCapabilities, PromptSuggestionsCapabilities, ProtocolVersion,
    TerminalAuthCapabilities,
};
use agui_bridge::ElicitationMode;
use host::workspace::Access;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;

/// The versions of ACP that an agent is offered: `"auto"`, `1` or `2` in settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcpVersion {
    /// Version 2 first, with version 1 behind it. An agent with access to files or terminals of the
    /// server is offered version 1 only, since version 2 has no such access.
    #[default]
    Auto,
    /// Version 1 only.
    V1,
    /// Version 2 only.
    V2,
}

impl AcpVersion {
    /// Returns the offer of a program, with its name and its capabilities. A person answers forms
    /// unless the conversations decline them. `has_terminal` states whether a user can run the
    /// agent in a terminal to log in.
    pub fn offer(
        self,
        program: Implementation,
        conversation: &agui_bridge::Options,
        access: Option<&Access>,
        has_terminal: bool,
    ) -> Options {
        let elicits = conversation.elicitation != ElicitationMode::Decline;
        let one = initialize(program.clone(), elicits, access, has_terminal);
        match self {
            Self::V1 => Options::v1(one),
            Self::Auto if access.is_some() => Options::v1(one),
            Self::Auto => {
                let two = in_v2(program, &one);
                Options::v1(one).with_v2(two)
            }
            Self::V2 => Options::v2(in_v2(program, &one)),
        }
    }
}

/// Returns the same request in version 2, as far as it has the capabilities.
fn in_v2(
    program: Implementation,
    one: &InitializeRequest,
) -> v2::initialization::InitializeRequest {
    let mut capabilities = ClientCapabilities::new();
    if let Some(one) = &one.client_capabilities {
        capabilities.elicitation.clone_from(&one.elicitation);
        let shows_suggestions =
            one.session.as_ref().is_some_and(|session| session.prompt_suggestions.is_some());
        let mut commands = CommandsCapabilities::new();
        commands.skill = Some(CommandsSkillCapabilities::new());
        let mut session = ClientSessionCapabilities::new();
        session.prompt_suggestions = shows_suggestions.then(PromptSuggestionsCapabilities::new);
        session.commands = Some(commands);
        capabilities.session = Some(Box::new(session));
        if one.auth.as_ref().is_some_and(|auth| auth.terminal == Some(true)) {
            let mut auth = ClientAuthCapabilities::new();
            auth.terminal = Some(TerminalAuthCapabilities::new());
            capabilities.auth = Some(auth);
        }
    }
    let mut request = v2::initialization::InitializeRequest::new(ProtocolVersion::V2, program);
    request.capabilities = Some(capabilities);
    request
}

impl FromStr for AcpVersion {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        match text {
            "auto" => Ok(Self::Auto),
            "1" => Ok(Self::V1),
            "2" => Ok(Self::V2),
            _ => Err(NotAVersion),
        }
    }
}

/// The text is no version that can be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected auto, 1 or 2")]
pub struct NotAVersion;

impl Serialize for AcpVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::V1 => serializer.serialize_u8(1),
            Self::V2 => serializer.serialize_u8(2),
        }
    }
}

impl<'de> Deserialize<'de> for AcpVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// A number or a name.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum VersionValue {
            Number(i64),
            Name(String),
        }

        let got = match VersionValue::deserialize(deserializer) {
            Ok(VersionValue::Number(1)) => return Ok(Self::V1),
            Ok(VersionValue::Number(2)) => return Ok(Self::V2),
            Ok(VersionValue::Name(name)) if name == "auto" => return Ok(Self::Auto),
            Ok(VersionValue::Number(number)) => number.to_string(),
            Ok(VersionValue::Name(name)) => format!("{name:?}"),
            Err(_) => "another type".to_owned(),
        };
        Err(D::Error::custom(format_args!("expected \"auto\", 1 or 2, got {got}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::files::Root;
    use host::workspace::FsAccess;
    use serde_json::{from_str, to_string};

    #[test]
    fn settings_name_the_versions() {
        for (text, version) in
            [("\"auto\"", AcpVersion::Auto), ("1", AcpVersion::V1), ("2", AcpVersion::V2)]
        {
            assert_eq!(from_str::<AcpVersion>(text).unwrap(), version);
            assert_eq!(to_string(&version).unwrap(), text);
        }
        for text in ["3", "\"2\"", "true"] {
            let error = from_str::<AcpVersion>(text).unwrap_err().to_string();
            assert!(error.contains("expected \"auto\", 1 or 2"), "{error}");
        }
    }

    #[test]
    fn version_2_is_offered_first_and_has_the_same_capabilities() {
        let mut conversation = agui_bridge::Options::new();
        conversation.elicitation = ElicitationMode::Interrupt;
        let program = || Implementation::new("p", "1");
        let offer = |version: AcpVersion| version.offer(program(), &conversation, None, true);
        let one = offer(AcpVersion::V1);
        let two = offer(AcpVersion::V2);
        assert!(one.v2.is_none() && two.v1.is_none());
        let auto = offer(AcpVersion::Auto);
        assert_eq!(&auto.v1, &one.v1);
        assert_eq!(&auto.v2, &two.v2);
        let capabilities = two.v2.unwrap().capabilities.unwrap();
        assert!(capabilities.elicitation.unwrap().form.is_some());
        assert!(capabilities.auth.unwrap().terminal.is_some());
        let session = capabilities.session.unwrap();
        assert!(session.prompt_suggestions.is_some());
        assert!(session.commands.unwrap().skill.is_some());
    }

    #[test]
    fn agent_with_access_is_offered_version_1_by_default() {
        let root = tempfile::tempdir().unwrap();
        let root = Root::open(root.path()).unwrap().into();
        let access = Access { root, fs: FsAccess::default(), terminal: false };
        let conversation = agui_bridge::Options::new();
        for (version, v1, v2) in [
            (AcpVersion::Auto, true, false),
            (AcpVersion::V1, true, false),
            (AcpVersion::V2, false, true),
        ] {
            let program = Implementation::new("p", "1");
            let offer = version.offer(program, &conversation, Some(&access), false);
            assert_eq!(offer.v1.is_some(), v1, "{version:?}");
            assert_eq!(offer.v2.is_some(), v2, "{version:?}");
        }
    }
}
