//! Measurements as metrics of the OpenTelemetry SDK, and metrics of the proxy itself.

use super::collector::MetricCollector;
use crate::spans::attributes;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, MeterProvider, UpDownCounter};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use semconv_map::metric::{self, Measurement, Metric, MetricValue};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Adds up measurements and sends the sums from a thread of its own, every `OTEL_METRIC_EXPORT_INTERVAL`.
#[derive(Debug)]
pub(crate) struct Metrics {
    provider: SdkMeterProvider,
    meter: Meter,
    instruments: HashMap<&'static str, Instrument>,
    own: Option<Own>,
    error: Arc<Mutex<Option<String>>>,
}

/// An instrument of a metric.
#[derive(Debug)]
enum Instrument {
    /// A histogram of counts.
    Counts(Histogram<u64>),
    /// A histogram of seconds.
    Seconds(Histogram<f64>),
    Counter(Counter<f64>),
    CounterOfWhole(Counter<u64>),
    UpDownCounter(UpDownCounter<i64>),
    Gauge(Gauge<i64>),
}

impl Metrics {
    /// `with_own`: those of the proxy as well.
    pub(crate) fn new(
        collector: MetricCollector,
        resource: Resource,
        schema_url: &'static str,
        with_own: bool,
    ) -> Self {
        let error = collector.error();
        let provider = SdkMeterProvider::builder()
            .with_resource(resource)
            .with_periodic_exporter(collector)
            .build();
        let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url(schema_url)
            .build();
        let meter = provider.meter_with_scope(scope);
        let own = with_own.then(|| Own::new(&meter));
        Self { provider, meter, instruments: HashMap::new(), own, error }
    }

    /// Takes in what was measured on what passed.
    pub(crate) fn record(&mut self, measured: Measurement) {
        let Measurement { metric, value, attributes: told, .. } = measured;
        let meter = &self.meter;
        let instrument =
            self.instruments.entry(metric.name).or_insert_with(|| of_metric(meter, metric, value));
        instrument.record(value, &attributes(told));
    }

    /// Takes in how far things are with the proxy itself.
    pub(crate) fn see(&mut self, seen: Seen) {
        if let Some(own) = &mut self.own {
            own.add(seen);
        }
    }

    /// Sends what is left.
    pub(crate) fn shutdown(&self) {
        // What did not get through is in `error`.
        let _ = self.provider.shutdown();
    }

    /// Why metrics did not get through, in words, also while they are sent; nothing while they do.
    pub(crate) fn error(&self) -> Arc<Mutex<Option<String>>> {
        Arc::clone(&self.error)
    }
}

/// What an error slot says.
pub(crate) fn complaint(error: &Mutex<Option<String>>) -> Option<String> {
    error.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn of_metric(meter: &Meter, metric: &Metric, value: MetricValue) -> Instrument {
    let (name, unit) = (metric.name, metric.unit);
    let buckets = || metric.boundaries.to_vec();
    match (metric.instrument, value) {
        (metric::Instrument::Counter, MetricValue::F64(_)) => {
            Instrument::Counter(meter.f64_counter(name).with_unit(unit).build())
        }
        (metric::Instrument::Counter, _) => {
            Instrument::CounterOfWhole(meter.u64_counter(name).with_unit(unit).build())
        }
        (metric::Instrument::UpDownCounter, _) => {
            Instrument::UpDownCounter(meter.i64_up_down_counter(name).with_unit(unit).build())
        }
        (metric::Instrument::Gauge, _) => {
            Instrument::Gauge(meter.i64_gauge(name).with_unit(unit).build())
        }
        (_, MetricValue::I64(_)) => {
            let histogram = meter.u64_histogram(name).with_unit(unit);
            Instrument::Counts(histogram.with_boundaries(buckets()).build())
        }
        (_, _) => {
            let histogram = meter.f64_histogram(name).with_unit(unit);
            Instrument::Seconds(histogram.with_boundaries(buckets()).build())
        }
    }
}

impl Instrument {
    /// The values of a metric are of one kind; a count below zero is none.
    fn record(&self, value: MetricValue, attributes: &[KeyValue]) {
        match (self, value) {
            (Self::Counts(histogram), MetricValue::I64(count)) => {
                if let Ok(count) = u64::try_from(count) {
                    histogram.record(count, attributes);
                }
            }
            (Self::Seconds(histogram), MetricValue::F64(value)) => {
                histogram.record(value, attributes);
            }
            (Self::Counter(counter), MetricValue::F64(value)) => counter.add(value, attributes),
            (Self::CounterOfWhole(counter), MetricValue::I64(count)) => {
                counter.add(u64::try_from(count).unwrap_or_default(), attributes);
            }
            (Self::UpDownCounter(counter), MetricValue::I64(change)) => {
                counter.add(change, attributes);
            }
            (Self::Gauge(gauge), MetricValue::I64(value)) => gauge.record(value, attributes),
            _ => {}
        }
    }
}

/// How far things are with the proxy: totals since its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Messages that were looked at.
    pub(crate) messages: u64,
    /// Bytes that passed faster than they could be looked at.
    pub(crate) unread_bytes: u64,
    /// Messages that were too long to be looked at.
    pub(crate) long_messages: u64,
    /// Lines that are no message.
    pub(crate) invalid_lines: u64,
    /// Spans, events and values that were too many at a time.
    pub(crate) dropped_records: u64,
    /// Spans for the collector.
    pub(crate) spans: u64,
    /// Spans that the collector took.
    pub(crate) delivered_spans: u64,
}

/// The instruments of the proxy.
#[derive(Debug)]
struct Own {
    instruments: [Counter<u64>; 7],
    last: Seen,
}

impl Own {
    fn new(meter: &Meter) -> Self {
        let counter = |name, unit| meter.u64_counter(name).with_unit(unit).build();
        let instruments = [
            counter("acp_traces.messages", "{message}"),
            counter("acp_traces.unread", "By"),
            counter("acp_traces.long_messages", "{message}"),
            counter("acp_traces.invalid_lines", "{line}"),
            counter("acp_traces.dropped_records", "{record}"),
            counter("acp_traces.spans", "{span}"),
            counter("acp_traces.spans.delivered", "{span}"),
        ];
        let mut own = Self { instruments, last: Seen::default() };
        // What did not happen is told as well: as zero.
        own.instruments.iter_mut().for_each(|counter| counter.add(0, &[]));
        own
    }

    fn add(&mut self, seen: Seen) {
        let (totals, before) = (seen.totals(), self.last.totals());
        for ((counter, total), before) in self.instruments.iter().zip(totals).zip(before) {
            counter.add(total.saturating_sub(before), &[]);
        }
        self.last = seen;
    }
}

impl Seen {
    /// In the order of the instruments.
    fn totals(&self) -> [u64; 7] {
        [
            self.messages,
            self.unread_bytes,
            self.long_messages,
            self.invalid_lines,
            self.dropped_records,
            self.spans,
            self.delivered_spans,
        ]
    }
}
