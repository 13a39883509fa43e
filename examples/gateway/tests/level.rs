//! What the log costs where nothing is logged.
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

/// Places below the level of all layers are left out before a layer is asked: parsers and
/// connections of dependencies have such places for each byte.
#[test]
fn places_below_the_level_are_left_out() {
    let _log = gateway::log::Log::begin();
    let requested =
        EnvFilter::try_from_default_env().ok().and_then(|filter| filter.max_level_hint());
    // The audit log has this level.
    let expected = requested.map_or(LevelFilter::INFO, |level| level.max(LevelFilter::INFO));
    assert_eq!(LevelFilter::current(), expected);
}
