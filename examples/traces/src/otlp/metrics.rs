//! Measurements as metrics of the OpenTelemetry SDK.

use super::collector::MetricCollector;
use crate::otlp::exemplars::{Exemplars, Filter};
use crate::otlp::spans::attributes;
use crate::otlp::{MAX_DELAY, Program, number};
use core::time::Duration;
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, MeterProvider, UpDownCounter};
use opentelemetry::trace::SpanContext;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use semconv_map::metric::{self, Measurement, Metric, MetricValue};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Default export interval in milliseconds.
///
/// Spec: [Periodic exporting
/// MetricReader](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#periodic-exporting-metricreader)
const INTERVAL: u64 = 60_000;

/// Aggregates measurements and exports them every `OTEL_METRIC_EXPORT_INTERVAL`, from a dedicated
/// thread.
#[derive(Debug)]
pub struct Metrics {
    provider: SdkMeterProvider,
    meter: Meter,
    instruments: HashMap<&'static str, Instrument>,
    filter: Filter,
    exemplars: Arc<Mutex<Exemplars>>,
    error: Arc<Mutex<Option<String>>>,
}

/// The instrument of a metric.
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
    /// `resource` describes the program, and `schema_url` the names of the metrics.
    pub fn new(
        program: Program,
        collector: MetricCollector,
        resource: Resource,
        schema_url: &'static str,
    ) -> Self {
        let error = collector.error();
        let exemplars = collector.exemplars();
        let filter = Filter::of_environment(program);
        let interval = number(program, "OTEL_METRIC_EXPORT_INTERVAL", 1..=MAX_DELAY);
        let interval = Duration::from_millis(interval.unwrap_or(INTERVAL));
        let reader = PeriodicReader::builder(collector).with_interval(interval).build();
        let provider =
            SdkMeterProvider::builder().with_resource(resource).with_reader(reader).build();
        let meter = provider.meter_with_scope(program.scope(schema_url));
        Self { provider, meter, instruments: HashMap::new(), filter, exemplars, error }
    }

    /// Records a measurement of the traffic. If `span`, in which it was made, is sampled, the
    /// measurement may become an exemplar.
    pub(crate) fn record(&mut self, measured: Measurement, span: Option<&SpanContext>) {
        let Measurement { metric, value, time, attributes: told, .. } = measured;
        let meter = &self.meter;
        let instrument =
            self.instruments.entry(metric.name).or_insert_with(|| of_metric(meter, metric, value));
        let attributes = attributes(told);
        let is_counted = instrument.record(value, &attributes);
        let span = span.filter(|span| span.is_sampled());
        if is_counted && self.filter.admits(span.is_some()) {
            let mut exemplars = self.exemplars.lock().unwrap_or_else(PoisonError::into_inner);
            exemplars.offer(metric, value, time, &attributes, span);
        }
    }

    /// Returns the meter for measurements of the program itself.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Exports the remaining metrics.
    pub(crate) fn shutdown(&self) {
        // Failures are available in `error`.
        let _ = self.provider.shutdown();
    }

    /// Returns the last export failure, which may change at any time. `None` after a success.
    pub(crate) fn error(&self) -> Arc<Mutex<Option<String>>> {
        Arc::clone(&self.error)
    }
}

fn of_metric(meter: &Meter, metric: &Metric, value: MetricValue) -> Instrument {
    let name = metric.name;
    let unit = metric.unit;
    let description = metric.description;
    let buckets = || metric.boundaries.to_vec();
    match (metric.instrument, value) {
        (metric::Instrument::Counter, MetricValue::F64(_)) => Instrument::Counter(
            meter.f64_counter(name).with_unit(unit).with_description(description).build(),
        ),
        (metric::Instrument::Counter, _) => Instrument::CounterOfWhole(
            meter.u64_counter(name).with_unit(unit).with_description(description).build(),
        ),
        (metric::Instrument::UpDownCounter, _) => Instrument::UpDownCounter(
            meter.i64_up_down_counter(name).with_unit(unit).with_description(description).build(),
        ),
        (metric::Instrument::Gauge, _) => Instrument::Gauge(
            meter.i64_gauge(name).with_unit(unit).with_description(description).build(),
        ),
        (_, MetricValue::I64(_)) => {
            let histogram = meter.u64_histogram(name).with_unit(unit).with_description(description);
            Instrument::Counts(histogram.with_boundaries(buckets()).build())
        }
        (_, _) => {
            let histogram = meter.f64_histogram(name).with_unit(unit).with_description(description);
            Instrument::Seconds(histogram.with_boundaries(buckets()).build())
        }
    }
}

impl Instrument {
    /// Records a value. All values of a metric have the same type; negative counts are dropped.
    /// Returns whether the value was recorded.
    fn record(&self, value: MetricValue, attributes: &[KeyValue]) -> bool {
        match (self, value) {
            (Self::Counts(histogram), MetricValue::I64(count)) => {
                let Ok(count) = u64::try_from(count) else { return false };
                histogram.record(count, attributes);
            }
            (Self::Seconds(histogram), MetricValue::F64(value)) => {
                histogram.record(value, attributes);
            }
            (Self::Counter(counter), MetricValue::F64(value)) => counter.add(value, attributes),
            (Self::CounterOfWhole(counter), MetricValue::I64(count)) => {
                let Ok(count) = u64::try_from(count) else { return false };
                counter.add(count, attributes);
            }
            (Self::UpDownCounter(counter), MetricValue::I64(change)) => {
                counter.add(change, attributes);
            }
            (Self::Gauge(gauge), MetricValue::I64(value)) => gauge.record(value, attributes),
            _ => return false,
        }
        true
    }
}
