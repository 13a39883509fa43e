//! Times in the format of RFC 3339.
use alloc::format;
use alloc::string::String;
use core::time::Duration;

const SECONDS_PER_DAY: u64 = 86_400;

/// Formats a Unix time as RFC 3339, in UTC with milliseconds.
///
/// The calendar: H. Hinnant,
/// [`civil_from_days`](https://howardhinnant.github.io/date_algorithms.html#civil_from_days).
pub(crate) fn timestamp(time: Duration) -> String {
    let days = time.as_secs() / SECONDS_PER_DAY;
    let second = time.as_secs() % SECONDS_PER_DAY;
    // Days since 0000-03-01, in eras of 400 years of 146,097 days; years that begin in March end
    // with the leap day.
    let days = days + 719_468;
    let era = days / 146_097;
    let day = days % 146_097;
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + later;
    let hour = second / 3_600;
    let minute = second / 60 % 60;
    let second = second % 60;
    let milli = time.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected times are those of GNU `date -u -d @SECONDS`.
    #[test]
    fn times_are_written_as_utc() {
        let table = [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_799, "2000-02-29T23:59:59.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_735_689_599, "2024-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ];
        for (seconds, expected) in table {
            assert_eq!(timestamp(Duration::new(seconds, 7_000_000)), expected);
        }
    }
}
