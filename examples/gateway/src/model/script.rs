//! A model with scripted answers, for demonstrations and tests.
use agui_bridge::chat_history::{ChatMessage, ChatRole};
use agui_bridge::hybrid_tools::runner::{Model, ModelRequest};
use agui_bridge::hybrid_tools::{ModelEvent, RunFailure};
use async_trait::async_trait;
use serde::Deserialize;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use tokio::time::sleep;
use toml::Table;

/// Placeholder in a text for the results of the previous step's tools.
const RESULT: &str = "{result}";

/// The answers of a model, selected by words of the user.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    /// Time between two events, in milliseconds.
    #[serde(default)]
    pause: u64,
    /// The first answer with a word in the user's last message applies. An answer without a word
    /// always matches.
    answers: Vec<Answer>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    word: String,
    /// The turns in order, one for each request.
    steps: Vec<Turn>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Turn {
    think: String,
    say: String,
    call: Vec<Call>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    #[serde(default)]
    arguments: Table,
}

/// An error reading a script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("model.script: {path}: {error}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file is not a valid script.
    #[error("model.script: {0}")]
    Parse(#[from] toml::de::Error),
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Self, ScriptError> {
        Ok(toml::from_str(text)?)
    }

    pub(super) fn read(path: &Path) -> Result<Self, ScriptError> {
        let read = fs::read_to_string(path);
        Self::parse(&read.map_err(|error| ScriptError::Read { path: path.to_owned(), error })?)
    }

    pub(super) fn open(&self) -> ScriptRun<'_> {
        ScriptRun { script: self, said: VecDeque::new() }
    }

    /// Returns the next turn. The user's message selects the answer, the number of replies since
    /// then the step.
    fn next(&self, history: &[ChatMessage]) -> Option<(&Turn, String)> {
        let last = history.iter().rposition(|message| message.role == ChatRole::User)?;
        let (asked, since) = history.get(last..)?.split_first()?;
        let text = asked.text().to_lowercase();
        let answer = self.answers.iter().find(|answer| text.contains(&answer.word))?;
        let steps = since.iter().filter(|message| message.role == ChatRole::Assistant).count();
        let results = since.rsplit(|message| message.role == ChatRole::Assistant).next();
        let results: Vec<_> = results.into_iter().flatten().map(ChatMessage::text).collect();
        Some((answer.steps.get(steps)?, results.join(", ")))
    }
}

/// A script in one run.
pub(super) struct ScriptRun<'a> {
    script: &'a Script,
    said: VecDeque<ModelEvent>,
}

#[async_trait]
impl Model for ScriptRun<'_> {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<(), RunFailure> {
        self.said.clear();
        let Some((turn, result)) = self.script.next(request.history) else { return Ok(()) };
        let words = |text: &str| {
            let text = text.replace(RESULT, &result);
            text.split_inclusive(' ').map(str::to_owned).collect::<Vec<_>>()
        };
        self.said.extend(words(&turn.think).into_iter().map(ModelEvent::Reasoning));
        self.said.extend(words(&turn.say).into_iter().map(ModelEvent::Text));
        let at = request.history.len();
        for (number, call) in turn.call.iter().enumerate() {
            let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
            let id = format!("call-{at}-{number}");
            self.said.push_back(ModelEvent::call(id, &*call.tool, arguments));
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<ModelEvent>, RunFailure> {
        let said = self.said.pop_front();
        if said.is_some() && self.script.pause > 0 {
            sleep(Duration::from_millis(self.script.pause)).await;
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_that_is_built_in_can_be_read() {
        let script = Script::parse(crate::model::BUILT_IN).unwrap();
        assert!(script.answers.iter().all(|answer| !answer.steps.is_empty()));
        assert_eq!(script.answers.last().unwrap().word, "", "something is said to everything");
    }

    #[test]
    fn steps_follow_what_was_said_since_the_user_spoke() {
        let script = "[[answers]]\nword='a'\nsteps=[{say='1'},{say='2 {result}'}]";
        let script = Script::parse(script).unwrap();
        let user = ChatMessage::new(ChatRole::User, "An A");
        let said = ChatMessage::new(ChatRole::Assistant, "1");
        let result = ChatMessage::tool_result("c", "red");
        let mut history = vec![user.clone(), said.clone(), user];
        assert_eq!(script.next(&history).unwrap().0.say, "1");
        history.extend([said.clone(), result.clone(), result]);
        let (turn, results) = script.next(&history).unwrap();
        assert_eq!(&*turn.say, "2 {result}");
        assert_eq!(&*results, "red, red");
        history.push(said);
        assert!(script.next(&history).is_none(), "nothing is left to say");
        assert!(script.next(&[]).is_none());
    }
}
