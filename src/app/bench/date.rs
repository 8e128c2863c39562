//! The date of a measurement, in UTC and as ISO 8601 writes it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the present date, such as `2026-11-22T16:22:00Z`.
pub(super) fn now() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    from_unix_seconds(since_epoch.as_secs())
}

/// Returns the date of a number of seconds after the start of 1970.
fn from_unix_seconds(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60)
}

/// Returns year, month and day of a number of days after the start of 1970, by Howard Hinnant's `civil_from_days`. Years
/// begin in March there, so the leap day is the last day of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    // Days after March 1 of year 0. Each era of 400 years has the same number of days.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_795_364_520, "2026-11-22T16:22:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(from_unix_seconds(seconds), date, "{seconds}");
        }
    }
}
