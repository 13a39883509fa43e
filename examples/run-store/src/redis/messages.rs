//! The messages of a thread, for inputs that leave out the earlier ones.
use super::{REMEMBER_TIME, RedisStore, millis};
use crate::messages::{MessagesAfter, continue_with, latest};
use crate::{RunRecord, RunStore, StoreError};
use agui_types::message::Message;
use redis::AsyncCommands;

fn invalid(error: &serde_json::Error) -> StoreError {
    StoreError(format!("invalid messages of a thread: {error}"))
}

impl RedisStore {
    /// Returns the record of a new run with the earlier messages of its thread, as JSON.
    pub(super) async fn continued(&self, record: &RunRecord) -> Result<String, StoreError> {
        let mut record = record.clone();
        let key = self.key("messages", &record.thread);
        let before: Option<String> = self.connection().get(key).await?;
        if let Some(before) = before {
            let before: Vec<Message> =
                serde_json::from_str(&before).map_err(|error| invalid(&error))?;
            continue_with(&mut record.input.messages, before);
        }
        serde_json::to_string(&record).map_err(|error| invalid(&error))
    }

    /// Stores the messages after a run for the next run of its thread. The run itself expires sooner.
    pub(super) async fn keep_messages(&self, run: &str) {
        if let Err(error) = self.try_keep_messages(run).await {
            tracing::warn!(%error, "the next run of a thread may lack the messages of this run");
        }
    }

    async fn try_keep_messages(&self, run: &str) -> Result<(), StoreError> {
        let Some(record) = self.run(run).await? else { return Ok(()) };
        let key = self.key("messages", &record.thread);
        let (mut messages, mut after) = (MessagesAfter::new(record), 0);
        while let Some(part) = self.read(run, after).await?.filter(|part| !part.is_empty()) {
            let folded = part.base.iter().flat_map(|base| &base.frames);
            folded.chain(&part.frames).for_each(|frame| messages.apply(frame));
            after = part.last();
            if part.has_ended {
                break;
            }
        }
        let messages: Vec<_> = latest(messages.finish()).collect();
        let messages = serde_json::to_string(&messages).map_err(|error| invalid(&error))?;
        Ok(self.connection().pset_ex(key, messages, millis(REMEMBER_TIME)).await?)
    }
}
