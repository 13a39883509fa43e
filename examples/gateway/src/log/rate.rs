//! The limit of lines of each place in the source.
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::callsite::Identifier;
use tracing::{Event, Level, Metadata};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Filter};

/// Maximum number of lines of one place in [`WINDOW`].
pub const LINES: u64 = 20;

/// Period of the limit.
pub const WINDOW: Duration = Duration::from_secs(10);

/// The lines of each place in its current window. The places are those of the program, so their
/// number is bounded.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    places: Mutex<HashMap<Identifier, Place>>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    metadata: &'static Metadata<'static>,
    began: Instant,
    lines: u64,
}

/// Lines of a place that were left out.
#[derive(Debug)]
pub(crate) struct LeftOut {
    metadata: &'static Metadata<'static>,
    lines: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { metadata, lines } = self;
        let level = metadata.level();
        let target = metadata.target();
        let line = metadata.line();
        let line = line.unwrap_or_default();
        write!(f, "{level:>5} {target}: {lines} further lines of line {line} were left out")
    }
}

impl Rate {
    /// Counts a line. Returns whether it is within the limit.
    fn admit(&self, metadata: &'static Metadata<'static>, now: Instant) -> bool {
        let mut places = self.lock();
        let fresh = Place { metadata, began: now, lines: 0 };
        let place = places.entry(metadata.callsite()).or_insert(fresh);
        // A window with lines to report stays until the report.
        if place.lines <= LINES && now.saturating_duration_since(place.began) >= WINDOW {
            *place = fresh;
        }
        place.lines += 1;
        place.lines <= LINES
    }

    /// Returns what was left out in windows that have ended.
    pub(crate) fn take(&self, now: Instant) -> Vec<LeftOut> {
        self.take_if(|place| now.saturating_duration_since(place.began) >= WINDOW)
    }

    /// Returns what was left out so far.
    pub(crate) fn take_all(&self) -> Vec<LeftOut> {
        self.take_if(|_| true)
    }

    fn take_if(&self, is_due: impl Fn(&Place) -> bool) -> Vec<LeftOut> {
        let mut left_out = Vec::new();
        self.lock().retain(|_, place| {
            if !is_due(place) {
                return true;
            }
            if place.lines > LINES {
                left_out.push(LeftOut { metadata: place.metadata, lines: place.lines - LINES });
            }
            false
        });
        left_out
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Identifier, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The limit as a filter of the layer that writes lines.
#[derive(Debug)]
pub(crate) struct Limit(pub(crate) Arc<Rate>);

impl<S> Filter<S> for Limit {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let metadata = event.metadata();
        *metadata.level() > Level::INFO || self.0.admit(metadata, Instant::now())
    }

    /// Without a level, places that no layer logs would be asked for each time.
    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::TRACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tracing::Subscriber;
    use tracing_subscriber::Layer;
    use tracing_subscriber::prelude::*;

    /// Counts the events that reach it.
    struct Counter(Arc<AtomicUsize>);

    impl<S: Subscriber> Layer<S> for Counter {
        fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Runs this with a limited log. Returns the limit, and the number of events that were logged.
    fn logged(work: impl FnOnce()) -> (Arc<Rate>, usize) {
        let rate = Arc::new(Rate::default());
        let count = Arc::new(AtomicUsize::new(0));
        let layers = tracing_subscriber::registry();
        let layers = layers.with(Counter(count.clone()).with_filter(Limit(rate.clone())));
        tracing::subscriber::with_default(layers, work);
        (rate, count.load(Ordering::Relaxed))
    }

    const FLOOD: u64 = 1000;

    #[test]
    fn flood_of_one_place_is_cut_and_counted() {
        let (rate, logged) = logged(|| {
            for line in 0..FLOOD {
                tracing::warn!(line, "a flood");
            }
            tracing::warn!("another place");
        });
        assert_eq!(logged as u64, LINES + 1);
        assert!(rate.take(Instant::now()).is_empty(), "its window has not ended");
        let left_out = rate.take(Instant::now() + WINDOW);
        let [left_out] = &left_out[..] else { panic!("{left_out:?}") };
        let said = left_out.to_string();
        let expected = format!(" WARN {}: {} further lines", module_path!(), FLOOD - LINES);
        assert!(said.starts_with(&expected), "{said}");
        assert!(rate.take_all().is_empty(), "reported once");
    }

    #[test]
    fn details_that_were_enabled_are_complete() {
        let (_, logged) = logged(|| {
            for line in 0..FLOOD {
                tracing::debug!(line, "a detail");
            }
        });
        assert_eq!(logged as u64, FLOOD);
    }

    #[test]
    fn next_window_is_logged() {
        let rate = Rate::default();
        let now = Instant::now();
        let (found, _) = logged(|| tracing::warn!("one"));
        let metadata = found.lock().values().next().unwrap().metadata;
        let admitted = |now| (0..LINES).filter(|_| rate.admit(metadata, now)).count() as u64;
        assert_eq!(admitted(now), LINES);
        assert_eq!(admitted(now + WINDOW), LINES, "without a report, because nothing was left out");
        assert_eq!(admitted(now + WINDOW * 2 - Duration::from_secs(1)), 0);
        assert_eq!(rate.take(now + WINDOW * 2).len(), 1);
        assert_eq!(admitted(now + WINDOW * 2), LINES);
    }
}
