//! Spans on their way, some at a time.

use crate::collector::{Collector, Tally};
use core::time::Duration;
use opentelemetry_sdk::trace::{BatchSpanProcessor, SpanData, SpanProcessor};
use std::sync::Arc;

/// Sends spans in batches from a thread of its own, every `OTEL_BSP_SCHEDULE_DELAY`. What does not fit into its queue, of
/// `OTEL_BSP_MAX_QUEUE_SIZE` spans, is dropped and counted.
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
        let tally = collector.tally();
        Self { processor: BatchSpanProcessor::builder(collector).build(), tally }
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
