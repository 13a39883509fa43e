//! A step curve of a quantity over the time of a session.

use core::fmt::Write;
use core::time::Duration;

/// Size of the picture in its own units. It is scaled to the width of the page.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 200.0;

/// Distance of points in the picture. Of points that are closer, only the last is drawn, because
/// the size of a page is limited.
const STEP: f64 = 1.0;

/// Creates an SVG of `points`, which are values with their start times. The last value is marked
/// with a dot.
pub(crate) fn svg(points: &[(Duration, f64)], from: Duration, to: Duration, top: f64) -> String {
    let length = to.saturating_sub(from).as_secs_f64().max(f64::MIN_POSITIVE);
    let x = |time: Duration| WIDTH * time.saturating_sub(from).as_secs_f64() / length;
    let y = |value: f64| HEIGHT * (1.0 - value / top.max(f64::MIN_POSITIVE));
    let mut line = format!("M0 {HEIGHT}");
    let cell = |time: Duration| (x(time) / STEP).floor();
    let last_of_cells = points.chunk_by(|(one, _), (other, _)| cell(*one) == cell(*other));
    for (time, value) in last_of_cells.filter_map(|points| points.last()) {
        // Writing to a `String` does not fail.
        let _ = write!(line, "H{:.1}V{:.1}", x(*time), y(*value));
    }
    let _ = write!(line, "H{WIDTH}");
    let area = format!("{line}V{HEIGHT}H0Z");
    let last = points.last().map(|(time, value)| (x(*time), y(*value)));
    let dot = last.map(|(x, y)| format!("<path class=\"dot\" d=\"M{x:.1} {y:.1}h0\"/>"));
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
         <path class=\"area\" d=\"{area}\"/><path class=\"line\" d=\"{line}\"/>{dot}</svg>",
        dot = dot.unwrap_or_default(),
    )
}
