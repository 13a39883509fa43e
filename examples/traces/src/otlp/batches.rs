//! Batches of spans that are sent in the background.

use crate::otlp::collector::{Collector, Tally};
use crate::otlp::{MAX_DELAY, number};
use core::time::Duration;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor};
use std::sync::Arc;

/// Defaults of the queue size, the batch size and the interval in milliseconds.
///
/// Spec: [Batch Span
/// Processor](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-span-processor)
const QUEUE_SIZE: usize = 2048;
const BATCH_SIZE: usize = 512;
const DELAY: u64 = 5000;

/// Upper bound of the queue size. The queue preallocates about 400 bytes per span.
const MAX_QUEUE_SIZE: usize = 100_000;

/// Sends spans in batches of `OTEL_BSP_MAX_EXPORT_BATCH_SIZE`, every `OTEL_BSP_SCHEDULE_DELAY`,
/// from a dedicated thread. Spans beyond the queue size `OTEL_BSP_MAX_QUEUE_SIZE` are dropped and
/// counted.
///
/// Spec: [Batch Span
/// Processor](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#batch-span-processor)
#[derive(Debug)]
pub(crate) struct Batches {
    processor: BatchSpanProcessor,
    tally: Arc<Tally>,
}

impl Batches {
    /// Starts the thread for a collector.
    pub(crate) fn new(collector: Collector) -> Self {
        let tally = collector.tally();
        let program = collector.program();
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

    /// Queues a span without blocking.
    pub(crate) fn export(&self, span: SpanData) {
        self.tally.count_made();
        self.processor.on_end(span);
    }

    /// Returns the counts of sent and dropped spans.
    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.tally
    }

    /// Sends the queued spans for at most `timeout`. The tally contains the spans that were not
    /// delivered.
    pub(crate) fn shutdown(&self, timeout: Duration) {
        let _ = self.processor.shutdown_with_timeout(timeout);
    }
}
