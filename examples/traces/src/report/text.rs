//! Texts of a page: escaping, durations, numbers and times.

use core::time::Duration;
use std::time::UNIX_EPOCH;

/// Start of the year 2000 in seconds since the Unix epoch. Earlier times have another epoch.
const YEAR_2000: u64 = 946_684_800;

pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    // Most text is plain, and copied in pieces.
    while let Some(at) = rest.bytes().position(may_need_escape) {
        let (plain, special) = rest.split_at(at);
        safe.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('&') => safe.push_str("&amp;"),
            Some('<') => safe.push_str("&lt;"),
            Some('>') => safe.push_str("&gt;"),
            Some('"') => safe.push_str("&quot;"),
            Some('\'') => safe.push_str("&#39;"),
            Some(character @ ('\n' | '\t')) => safe.push(character),
            // Other control characters, such as those of terminals, are not allowed in HTML.
            Some(character) if !character.is_control() => safe.push(character),
            _ => {}
        }
        rest = characters.as_str();
    }
    safe + rest
}

/// Returns whether a byte is a character with an escape, or the first one of a control character.
/// All of them begin a character.
fn may_need_escape(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | ..b' ' | 0x7f | 0xc2)
}

/// Returns the start of a text, and the number of characters that follow. It ends at a character
/// before `limit` bytes.
pub(super) fn clipped(text: &str, limit: usize) -> (&str, usize) {
    if text.len() <= limit {
        return (text, 0);
    }
    let mut ends = (0..=limit).rev();
    let end = ends.find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    let (start, rest) = text.split_at(end);
    (start, rest.chars().count())
}

/// Formats a duration.
pub(crate) fn span_of_time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_secs() {
        0 if duration.is_zero() => "0 s".to_owned(),
        0 if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        0 if seconds < 0.9995 => format!("{:.0} ms", seconds * 1e3),
        0..60 => format!("{seconds:.1} s"),
        whole @ 60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        whole => format!("{} h {} min", whole / 3600, whole / 60 % 60),
    }
}

/// Formats a count with separated thousands.
pub(super) fn grouped(count: i64) -> String {
    let digits = count.unsigned_abs().to_string();
    let mut text = String::from(if count < 0 { "−" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Formats an amount of money. The currency is escaped.
pub(super) fn money(amount: f64, currency: &str) -> String {
    // Very large amounts use scientific notation.
    let amount = if amount < 1e12 { format!("{amount:.4}") } else { format!("{amount:e}") };
    format!("{amount} {}", escaped(currency))
}

/// Formats a time since the Unix epoch as date and time. A time before 2000 has an unknown epoch.
pub(super) fn utc(time: Duration) -> String {
    let date = UNIX_EPOCH.checked_add(time).filter(|_| time.as_secs() >= YEAR_2000);
    let Some(date) = date else { return "Recording without a date".to_owned() };
    let text = humantime::format_rfc3339_seconds(date).to_string();
    text.replace('T', " ").replace('Z', " UTC")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each character is escaped on its own.
        #[test]
        fn text_is_escaped_by_character(text in r#"([&<>"'\n\ta\x00-\x1f\x7f-\xbf]|.){0,40}"#) {
            let of_character = |character: char| match character {
                '&' => "&amp;".to_owned(),
                '<' => "&lt;".to_owned(),
                '>' => "&gt;".to_owned(),
                '"' => "&quot;".to_owned(),
                '\'' => "&#39;".to_owned(),
                '\n' | '\t' => character.to_string(),
                control if control.is_control() => String::new(),
                other => other.to_string(),
            };
            prop_assert_eq!(escaped(&text), text.chars().map(of_character).collect::<String>());
        }
    }

    /// Expected values of the `date` program: `date -u -d @SECONDS '+%F %T'`.
    #[test]
    fn times_are_shown_as_dates() {
        let table = [
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_164_799, "2024-02-28 23:59:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (1_795_166_045, "2026-11-20 09:14:05 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ];
        for (seconds, expected) in table {
            assert_eq!(utc(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn durations_are_short() {
        let table = [
            (0, "0 s"),
            (999, "999 µs"),
            (1_000, "1 ms"),
            (999_499, "999 ms"),
            (999_500, "1.0 s"),
            (1_500_000, "1.5 s"),
        ];
        for (micros, expected) in table {
            assert_eq!(span_of_time(Duration::from_micros(micros)), expected);
        }
        assert_eq!(span_of_time(Duration::from_secs(7_265)), "2 h 1 min");
    }

    #[test]
    fn clipped_text_ends_at_a_character() {
        for (limit, expected) in [(0, ("", 3)), (1, ("", 3)), (2, ("é", 2)), (6, ("ééé", 0))] {
            assert_eq!(clipped("ééé", limit), expected, "{limit}");
        }
    }
}
