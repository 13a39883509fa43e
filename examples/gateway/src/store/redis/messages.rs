//! The messages of a thread, for inputs that leave out the earlier ones.
use super::{REMEMBER_TIME, RedisStore, millis};
use crate::store::messages::{MessagesAfter, continue_after, continue_with, latest};
use crate::store::{RunRecord, RunStore, StoreError};
use agui_types::message::Message;
use redis::AsyncCommands;

fn invalid(error: &serde_json::Error) -> StoreError {
    StoreError(format!("invalid messages of a thread: {error}"))
}

/// The stored members of a run.
pub(super) struct Fields {
    record: RunRecord,
    /// The run before it, of which the record lacks the messages, and the one after it.
    follows: Option<String>,
    next: Option<String>,
}

impl RedisStore {
    pub(super) async fn fields(&self, run: &str) -> Result<Option<Fields>, StoreError> {
        type Read = (Option<String>, Option<String>, Option<String>, Option<String>);
        let names = ["record", "cancel", "follows", "next"];
        let (record, cancel, follows, next): Read =
            self.connection().hmget(self.key("run", run), &names).await?;
        let Some(record) = record else { return Ok(None) };
        let mut record: RunRecord = serde_json::from_str(&record)
            .map_err(|error| StoreError(format!("invalid record of a run: {error}")))?;
        record.cancel = cancel;
        Ok(Some(Fields { record, follows, next }))
    }

    /// Returns the open run that a new run of a thread waits for.
    pub(super) async fn open_run(&self, thread: &str) -> Result<Option<String>, StoreError> {
        let last: Option<String> = self.connection().get(self.key("last", thread)).await?;
        let Some(last) = last else { return Ok(None) };
        let (record, ended): (Option<String>, Option<u8>) =
            self.connection().hmget(self.key("run", &last), &["record", "ended"]).await?;
        Ok((record.is_some() && ended.is_none()).then_some(last))
    }

    /// Returns the record of a run with the messages before it.
    pub(super) async fn whole(&self, run: &str) -> Result<Option<RunRecord>, StoreError> {
        let Some(Fields { mut record, follows, .. }) = self.fields(run).await? else {
            return Ok(None);
        };
        let Some(before) = follows else { return Ok(Some(record)) };
        match Box::pin(self.whole(&before)).await? {
            Some(asked) => {
                let input = asked.input.clone();
                let messages = self.messages_after(&before, asked).await?;
                continue_after(&mut record.input, Some(&input), messages);
                Ok(Some(record))
            }
            None => Ok(Some(self.continued(record).await?)),
        }
    }

    /// Returns the record of a new run with the earlier messages of its thread.
    pub(super) async fn continued(&self, mut record: RunRecord) -> Result<RunRecord, StoreError> {
        let key = self.key("messages", &record.thread);
        let before: Option<String> = self.connection().get(key).await?;
        if let Some(before) = before {
            let before: Vec<Message> =
                serde_json::from_str(&before).map_err(|error| invalid(&error))?;
            continue_with(&mut record.input, before);
        }
        Ok(record)
    }

    /// Stores the messages after a run for the next run of its thread. The run itself expires
    /// sooner.
    pub(super) async fn keep_messages(&self, run: &str, has_ended: bool) {
        if let Err(error) = self.try_keep_messages(run, has_ended).await {
            tracing::warn!(%error, "the next run of a thread may lack the messages of this run");
        }
    }

    async fn try_keep_messages(&self, run: &str, has_ended: bool) -> Result<(), StoreError> {
        let Some(record) = self.whole(run).await? else { return Ok(()) };
        let key = self.key("messages", &record.thread);
        let messages: Vec<_> = latest(self.messages_after(run, record).await?).collect();
        let messages = serde_json::to_string(&messages).map_err(|error| invalid(&error))?;
        self.connection().pset_ex::<_, _, ()>(key, messages, millis(REMEMBER_TIME)).await?;
        if has_ended { self.complete_next(run).await } else { Ok(()) }
    }

    async fn messages_after(
        &self,
        run: &str,
        record: RunRecord,
    ) -> Result<Vec<Message>, StoreError> {
        let mut messages = MessagesAfter::new(record);
        let mut after = 0;
        while let Some(part) = self.read(run, after).await?.filter(|part| !part.is_empty()) {
            let folded = part.base.iter().flat_map(|base| &base.frames);
            folded.chain(&part.frames).for_each(|frame| messages.apply(frame));
            after = part.last();
            if part.has_ended {
                break;
            }
        }
        Ok(messages.finish())
    }

    /// Completes the record of the run that waited for this one.
    async fn complete_next(&self, run: &str) -> Result<(), StoreError> {
        let Some(next) = self.fields(run).await?.and_then(|it| it.next) else { return Ok(()) };
        let Some(record) = self.whole(&next).await? else { return Ok(()) };
        let record = serde_json::to_string(&record).map_err(|error| invalid(&error))?;
        let script = &self.scripts.complete;
        let mut script = script.key(self.key("run", &next));
        Ok(script.arg(record).invoke_async(&mut self.connection()).await?)
    }

    /// Removes a run from the order of its thread. The one that waited for it has what it would
    /// have had.
    pub(super) async fn unlink(&self, run: &str) -> Result<(), StoreError> {
        let Some(Fields { record, follows, next }) = self.fields(run).await? else {
            return Ok(());
        };
        if follows.is_none() {
            self.complete_next(run).await?;
        }
        let run_key = |name: &Option<String>| self.key("run", name.as_deref().unwrap_or_default());
        let mut script = self.scripts.unlink.key(self.key("last", &record.thread));
        script.key(run_key(&follows)).key(run_key(&next));
        script.arg(run).arg(follows.unwrap_or_default()).arg(next.unwrap_or_default());
        Ok(script.invoke_async(&mut self.connection()).await?)
    }
}
