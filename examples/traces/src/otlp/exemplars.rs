//! Exemplars: sample measurements of a metric point, each with the span in which it was made.
//!
//! The SDK aggregates measurements without keeping exemplars, so they are collected here and
//! inserted into the exported points.
//!
//! Spec: [Exemplar](https://opentelemetry.io/docs/specs/otel/metrics/sdk/#exemplar)

use crate::otlp::{Program, variable};
use core::time::Duration;
use opentelemetry::KeyValue;
use opentelemetry::trace::SpanContext;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue as WireKeyValue;
use opentelemetry_proto::tonic::metrics::v1::exemplar::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Exemplar, Gauge, Sum};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};
use prost::Message;
use semconv_map::metric::{Instrument, Metric, MetricValue};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of points with exemplars per export interval, the same as the limit of the SDK
/// for points of a metric.
const POINTS: usize = 2000;

/// Number of exemplars of a point other than a histogram's.
///
/// Spec: [SimpleFixedSizeExemplarReservoir](https://opentelemetry.io/docs/specs/otel/metrics/sdk/#simplefixedsizeexemplarreservoir)
const FIXED_SIZE: u64 = 1;

/// Selects the measurements that may become exemplars.
///
/// Spec: [ExemplarFilter](https://opentelemetry.io/docs/specs/otel/metrics/sdk/#exemplarfilter)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Measurements in a sampled span.
    #[default]
    TraceBased,
    AlwaysOn,
    AlwaysOff,
}

impl Filter {
    /// Reads `OTEL_METRICS_EXEMPLAR_FILTER`. An invalid value is reported and ignored.
    ///
    /// Spec: [Exemplar](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#exemplar)
    pub(crate) fn of_environment(program: Program) -> Self {
        match variable("OTEL_METRICS_EXEMPLAR_FILTER").as_deref() {
            None | Some("trace_based") => Self::TraceBased,
            Some("always_on") => Self::AlwaysOn,
            Some("always_off") => Self::AlwaysOff,
            Some(other) => {
                let wrong = "expected an exemplar filter: ignored";
                program.report(format!("OTEL_METRICS_EXEMPLAR_FILTER is {other:?}, {wrong}"));
                Self::default()
            }
        }
    }

    /// Returns whether a measurement may become an exemplar. `is_sampled` refers to its span.
    pub(crate) fn admits(self, is_sampled: bool) -> bool {
        match self {
            Self::TraceBased => is_sampled,
            Self::AlwaysOn => true,
            Self::AlwaysOff => false,
        }
    }
}

/// The exemplars of each point since the last export.
#[derive(Debug, Default)]
pub(crate) struct Exemplars {
    reservoirs: HashMap<Point, Reservoir>,
    random: RandomIdGenerator,
}

/// Identifies a point: the metric, and its encoded attributes in any order.
type Point = (String, BTreeSet<Vec<u8>>);

fn point(metric: &str, attributes: impl IntoIterator<Item = WireKeyValue>) -> Point {
    let attributes = attributes.into_iter().map(|it| it.encode_to_vec());
    (metric.to_owned(), attributes.collect())
}

/// The exemplars of a point by slot: the bucket of a histogram, else up to [`FIXED_SIZE`].
#[derive(Debug, Default)]
struct Reservoir {
    kept: BTreeMap<u64, Exemplar>,
    /// Number of measurements.
    seen: u64,
}

impl Exemplars {
    /// Offers an aggregated measurement. `time` is relative to the Unix epoch, and `span` is
    /// sampled.
    pub(crate) fn offer(
        &mut self,
        metric: &Metric,
        value: MetricValue,
        time: Duration,
        attributes: &[KeyValue],
        span: Option<&SpanContext>,
    ) {
        let point = point(metric.name, attributes.iter().map(WireKeyValue::from));
        if self.reservoirs.len() == POINTS && !self.reservoirs.contains_key(&point) {
            return;
        }
        let reservoir = self.reservoirs.entry(point).or_default();
        let place = match metric.instrument {
            // The last measurement of each bucket is kept.
            Instrument::Histogram => bucket(metric.boundaries, value),
            _ => reservoir.place(&self.random),
        };
        reservoir.seen += 1;
        if let Some(place) = place {
            reservoir.kept.insert(place, exemplar(value, time, span));
        }
    }

    /// Inserts the exemplars into their points and starts over.
    pub(crate) fn put_into(&mut self, request: &mut ExportMetricsServiceRequest) {
        let mut reservoirs = core::mem::take(&mut self.reservoirs);
        let mut of = |metric: &str, attributes: &[WireKeyValue]| -> Vec<Exemplar> {
            let reservoir = reservoirs.remove(&point(metric, attributes.iter().cloned()));
            reservoir.map(|it| it.kept.into_values().collect()).unwrap_or_default()
        };
        let scopes = request.resource_metrics.iter_mut().flat_map(|it| &mut it.scope_metrics);
        for metric in scopes.flat_map(|it| &mut it.metrics) {
            let name = &metric.name;
            match &mut metric.data {
                Some(Data::Histogram(histogram)) => {
                    for point in &mut histogram.data_points {
                        point.exemplars = of(name, &point.attributes);
                    }
                }
                Some(Data::Sum(Sum { data_points, .. }) | Data::Gauge(Gauge { data_points })) => {
                    for point in data_points {
                        point.exemplars = of(name, &point.attributes);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Reservoir {
    /// Returns the slot of the next measurement, so that each measurement is kept with the same
    /// probability. Returns `None` if it is dropped.
    fn place(&self, random: &RandomIdGenerator) -> Option<u64> {
        if self.seen < FIXED_SIZE {
            return Some(self.seen);
        }
        let random = u64::from_be_bytes(random.new_span_id().to_bytes());
        Some(random % (self.seen + 1)).filter(|place| *place < FIXED_SIZE)
    }
}

/// Returns the bucket of a value: the first with an upper bound that is not below it.
///
/// Spec: [Histogram](https://opentelemetry.io/docs/specs/otel/metrics/data-model/#histogram)
#[expect(clippy::cast_precision_loss, reason = "the bounds are floating-point numbers")]
fn bucket(boundaries: &[f64], value: MetricValue) -> Option<u64> {
    let value = match value {
        MetricValue::I64(count) => count as f64,
        MetricValue::F64(value) => value,
        _ => return None,
    };
    u64::try_from(boundaries.partition_point(|bound| *bound < value)).ok()
}

fn exemplar(value: MetricValue, time: Duration, span: Option<&SpanContext>) -> Exemplar {
    let id = |bytes: Option<Vec<u8>>| bytes.unwrap_or_default();
    Exemplar {
        // No view removes attributes.
        filtered_attributes: Vec::new(),
        time_unix_nano: u64::try_from(time.as_nanos()).unwrap_or_default(),
        span_id: id(span.map(|span| span.span_id().to_bytes().to_vec())),
        trace_id: id(span.map(|span| span.trace_id().to_bytes().to_vec())),
        value: match value {
            MetricValue::I64(count) => Some(Value::AsInt(count)),
            MetricValue::F64(value) => Some(Value::AsDouble(value)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};
    use opentelemetry_proto::tonic::metrics::v1::{
        self as sent, Histogram, HistogramDataPoint, NumberDataPoint, ResourceMetrics, ScopeMetrics,
    };
    use semconv_map::metric::{
        ACP_PROMPT_DURATION, ACP_SESSION_CONTEXT_USED, GEN_AI_INVOKE_AGENT_TOOL_CALLS,
    };

    fn span(id: u8) -> SpanContext {
        let trace = TraceId::from_bytes([9; 16]);
        let span = SpanId::from_bytes([id; 8]);
        SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
    }

    fn to_wire(attributes: &[KeyValue]) -> Vec<WireKeyValue> {
        attributes.iter().map(WireKeyValue::from).collect()
    }

    /// A point of this metric with these attributes, as created by the SDK.
    fn request(metric: &Metric, attributes: &[KeyValue]) -> ExportMetricsServiceRequest {
        let attributes = to_wire(attributes);
        let data = if metric.instrument == Instrument::Histogram {
            let point = HistogramDataPoint { attributes, ..HistogramDataPoint::default() };
            Data::Histogram(Histogram { data_points: vec![point], ..Histogram::default() })
        } else {
            let point = NumberDataPoint { attributes, ..NumberDataPoint::default() };
            Data::Gauge(Gauge { data_points: vec![point] })
        };
        let name = metric.name.to_owned();
        let metrics = vec![sent::Metric { name, data: Some(data), ..sent::Metric::default() }];
        let scope_metrics = vec![ScopeMetrics { metrics, ..ScopeMetrics::default() }];
        let of_resource = ResourceMetrics { scope_metrics, ..ResourceMetrics::default() };
        ExportMetricsServiceRequest { resource_metrics: vec![of_resource] }
    }

    /// Returns the exemplars of such a point: the first byte of the span id, and the value.
    fn got(
        exemplars: &mut Exemplars,
        metric: &Metric,
        attributes: &[KeyValue],
    ) -> Vec<(u8, Value)> {
        let mut request = request(metric, attributes);
        exemplars.put_into(&mut request);
        let data = request.resource_metrics[0].scope_metrics[0].metrics[0].data.take();
        let of_point = match data.unwrap() {
            Data::Histogram(mut it) => it.data_points.remove(0).exemplars,
            Data::Gauge(mut it) => it.data_points.remove(0).exemplars,
            other => panic!("{other:?}"),
        };
        of_point.into_iter().map(|it| (it.span_id[0], it.value.unwrap())).collect()
    }

    fn offer(exemplars: &mut Exemplars, metric: &Metric, id: u8, value: impl Into<MetricValue>) {
        exemplars.offer(metric, value.into(), Duration::ZERO, &[], Some(&span(id)));
    }

    /// Lower bounds are exclusive and upper bounds inclusive, see
    /// [Histogram](https://opentelemetry.io/docs/specs/otel/metrics/data-model/#histogram).
    #[test]
    fn a_value_on_a_bound_is_in_the_bucket_below() {
        let boundaries = GEN_AI_INVOKE_AGENT_TOOL_CALLS.boundaries;
        for (value, expected) in
            [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (128, 7), (129, 8), (i64::MAX, 8)]
        {
            assert_eq!(bucket(boundaries, value.into()), Some(expected), "{value}");
        }
        assert_eq!(bucket(boundaries, 1.5.into()), Some(1));
    }

    #[test]
    fn each_bucket_keeps_the_last() {
        let mut exemplars = Exemplars::default();
        let metric = &ACP_PROMPT_DURATION;
        for (id, seconds) in [(1, 0.05), (2, 100.0), (3, 0.1), (4, 7200.0), (5, 0.15)] {
            offer(&mut exemplars, metric, id, seconds);
        }
        let expected = [(3, 0.1), (5, 0.15), (2, 100.0), (4, 7200.0)];
        let expected = expected.map(|(id, seconds)| (id, Value::AsDouble(seconds)));
        assert_eq!(got(&mut exemplars, metric, &[]), expected);
        // The next export starts over.
        assert_eq!(got(&mut exemplars, metric, &[]), []);
    }

    /// Each of four measurements is kept in a quarter of all cases: here in 1000 of 4000, within
    /// six standard deviations.
    #[test]
    fn a_gauge_keeps_each_as_often() {
        let mut kept = [0; 4];
        for _ in 0..4000 {
            let mut exemplars = Exemplars::default();
            let metric = &ACP_SESSION_CONTEXT_USED;
            (0..4).for_each(|id| offer(&mut exemplars, metric, id, 7));
            let got = got(&mut exemplars, metric, &[]);
            assert_eq!(got.len() as u64, FIXED_SIZE);
            assert_eq!(got[0].1, Value::AsInt(7));
            kept[usize::from(got[0].0)] += 1;
        }
        assert!(kept.iter().all(|kept| (836..1164).contains(kept)), "{kept:?}");
    }

    #[test]
    fn a_point_is_known_by_its_attributes_in_any_order() {
        let metric = &ACP_PROMPT_DURATION;
        let [one, two] = [KeyValue::new("one", 1), KeyValue::new("two", "2")];
        let mut exemplars = Exemplars::default();
        let attributes = [one.clone(), two.clone()];
        let offered = |exemplars: &mut Exemplars| {
            exemplars.offer(metric, 3.0.into(), Duration::ZERO, &attributes, Some(&span(1)));
        };
        offered(&mut exemplars);
        assert_eq!(got(&mut exemplars, metric, &[two, one.clone()]).len(), 1);
        for other in [vec![], vec![one.clone()], vec![one, KeyValue::new("two", 2)]] {
            offered(&mut exemplars);
            assert_eq!(got(&mut exemplars, metric, &other), [], "{other:?}");
        }
        offered(&mut exemplars);
        assert_eq!(got(&mut exemplars, &ACP_SESSION_CONTEXT_USED, &attributes), []);
    }

    #[test]
    fn points_past_the_limit_have_none() {
        let mut exemplars = Exemplars::default();
        let metric = &ACP_PROMPT_DURATION;
        let attributes = |it| [KeyValue::new("agent", i64::try_from(it).unwrap())];
        for it in 0..POINTS + 10 {
            for seconds in [1.0, 2.0, 50.0] {
                let seconds = MetricValue::F64(seconds);
                exemplars.offer(metric, seconds, Duration::ZERO, &attributes(it), Some(&span(1)));
            }
        }
        assert_eq!(exemplars.reservoirs.len(), POINTS);
        let first = exemplars.reservoirs[&point(metric.name, to_wire(&attributes(0)))].kept.len();
        assert_eq!(first, 3);
        assert_eq!(got(&mut exemplars, metric, &attributes(POINTS)), []);
    }
}
