//! Dates for lists of recordings.

/// Date and time of day in UTC of a number of seconds since 1970, such as [`Header::recorded_at_secs`](super::Header).
///
/// ```
/// assert_eq!(rebout::replay::utc(1_800_000_000), "2027-01-15 08:00");
/// ```
#[must_use]
pub fn utc(secs: u64) -> String {
    let (days, minutes) = (secs / 86_400, secs % 86_400 / 60);
    // Years that begin in March have their leap day at the end; 719,468 days lie between their year 0 and 1970.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (secs, date) in [
            (0, "1970-01-01 00:00"),
            (951_868_799, "2000-02-29 23:59"),
            (1_709_251_199, "2024-02-29 23:59"),
            (1_800_000_000, "2027-01-15 08:00"),
            (4_107_542_400, "2100-03-01 00:00"),
        ] {
            assert_eq!(utc(secs), date);
        }
        // A header may claim any time.
        assert!(utc(u64::MAX).ends_with("-11-09 07:00"), "{}", utc(u64::MAX));
    }
}
