//! Types of `params` that keep the additions of newer peers.
//!
//! `cargo run -p spanwire-jsonrpc-core --example wire_types`
#![expect(clippy::print_stdout, reason = "an example prints its result")]

use jsonrpc_core::{object, open_enum, open_union, string_id, wire};

string_id! {
    /// Identifies a job.
    pub struct JobId;
}

open_enum! {
    /// Status of a job.
    pub enum Status {
        /// Running.
        Running = "running",
        /// Finished.
        Done = "done",
    }
}

object! {
    /// A change of a job.
    pub struct StatusChange {
        /// Identifier of the job.
        job_id: JobId = "jobId",
    }
    optional {
        /// New status.
        status: Status = "status",
    }
}

open_union! {
    /// An event.
    pub enum Event by "type" {
        /// A change of a job.
        Changed(StatusChange) = "changed",
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A newer peer sends a status, a member and a variant that this program does not know.
    for text in [
        r#"{"type":"changed","jobId":"7","status":"done"}"#,
        r#"{"type":"changed","jobId":"7","status":"paused","since":1.50}"#,
        r#"{"type":"moved","to":"elsewhere"}"#,
    ] {
        let event: Event = wire::decode(text)?;
        match &event {
            Event::Changed(changed) => println!("changed: {:?}", changed.status),
            other => println!("unknown event: {other:?}"),
        }
        // Encoding writes everything that was decoded.
        assert_eq!(serde_json::to_string(&event)?, text);
    }

    // An error has the JSON pointer of the invalid value.
    if let Err(error) = wire::decode::<Event>(r#"{"type":"changed","jobId":7}"#) {
        println!("error: {error}");
    }
    Ok(())
}
