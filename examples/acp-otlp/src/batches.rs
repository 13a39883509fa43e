//! Spans on their way, some at a time.

use crate::collector::{Collector, Tally};
use crate::{MAX_DELAY, number};
use core::time::Duration;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor};
use std::sync::Arc;

/// How many spans may wait, how many go at once, and how often, in milliseconds, unless the environment says otherwise.
///
/// Spec: [Batch Span Processor](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-span-processor)
const QUEUE_SIZE: usize = 2048;
const BATCH_SIZE: usize = 512;
const DELAY: u64 = 5000;

/// How many spans may wait at most, whatever the environment says: the queue takes some 400 bytes for each from the start.
const MAX_QUEUE_SIZE: usize = 100_000;

/// Sends spans in batches of `OTEL_BSP_MAX_EXPORT_BATCH_SIZE` from a thread of its own, every `OTEL_BSP_SCHEDULE_DELAY`.
/// What does not fit into its queue, of `OTEL_BSP_MAX_QUEUE_SIZE` spans, is dropped and counted.
///
/// Spec: [Batch Span Processor](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-span-processor)
#[derive(Debug)]
pub struct Batches {
    processor: BatchSpanProcessor,
    tally: Arc<Tally>,
}

impl Batches {
    /// For this collector.
    pub fn new(collector: Collector) -> Self {
        let (tally, program) = (collector.tally(), collector.program());
        let size = |name, default| number(program, name, 1..=MAX_QUEUE_SIZE).unwrap_or(default);
        let delay = number(program, "OTEL_BSP_SCHEDULE_DELAY", 1..=MAX_DELAY).unwrap_or(DELAY);
        let queue_size = size("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE_SIZE);
        let batch_size = size("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH_SIZE);
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(queue_size)
            .with_max_export_batch_size(batch_size)
            .with_scheduled_delay(Duration::from_millis(delay))
            .build();
        let processor = BatchSpanProcessor::builder(collector).with_batch_config(config).build();
        Self { processor, tally }
    }

    /// Queues a span; nobody waits.
    pub fn export(&self, span: SpanData) {
        self.tally.count_made();
        self.processor.on_end(span);
    }

    /// What becomes of the spans.
    pub fn tally(&self) -> &Arc<Tally> {
        &self.tally
    }

    /// Sends what is queued, for as long as `timeout`; what did not get through shows in the tally.
    pub fn shutdown(&self, timeout: Duration) {
        let _ = self.processor.shutdown_with_timeout(timeout);
    }
}
