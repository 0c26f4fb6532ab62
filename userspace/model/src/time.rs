//! Instants, and the calendar for partitions and text output.
//!
//! Nothing here reads a clock: callers pass the time.

use core::fmt;

/// Nanoseconds in a second.
pub const SECOND_NS: i64 = 1_000_000_000;
/// Nanoseconds in a minute.
pub const MINUTE_NS: i64 = 60 * SECOND_NS;
/// Nanoseconds in an hour.
pub const HOUR_NS: i64 = 60 * MINUTE_NS;
/// Nanoseconds in a day.
pub const DAY_NS: i64 = 24 * HOUR_NS;

/// An instant: nanoseconds since 1970-01-01 00:00 UTC. Covers 1677 to 2262.
///
/// ```
/// use rocescope_model::Time;
///
/// let time = Time(1_795_228_209_000_000_001);
/// assert_eq!(time.to_string(), "2026-11-21T02:30:09.000000001Z");
/// assert_eq!(time.micros(), 1_795_228_209_000_000);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// Returns microseconds since 1970, rounded down, as files store them.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Returns the instant `micros` microseconds after 1970, clamped to the range of nanoseconds.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// Returns hours since 1970, rounded down: the number of the partition.
    #[must_use]
    pub const fn hours(self) -> i64 {
        self.0.div_euclid(HOUR_NS)
    }

    /// Returns midnight of a Gregorian date; `None` outside the range of nanoseconds.
    ///
    /// A day beyond the end of its month is a day of the next month.
    #[must_use]
    pub const fn from_date(year: i64, month: i64, day: i64) -> Option<Self> {
        if year < 1677 || year > 2262 || month < 1 || month > 12 || day < 1 || day > 31 {
            return None;
        }
        // `days_from_civil`, the inverse of `date` below.
        let year = if month <= 2 { year - 1 } else { year };
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let of_era = year % 400 * 365 + year % 400 / 4 - year % 400 / 100 + of_year;
        let days = year / 400 * 146_097 + of_era - 719_468;
        match days.checked_mul(DAY_NS) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }

    /// Returns the date and time of day in UTC.
    #[must_use]
    pub const fn civil(self) -> Civil {
        let seconds = self.0.div_euclid(SECOND_NS);
        let (year, month, day) = date(seconds.div_euclid(86_400));
        let of_day = seconds.rem_euclid(86_400);
        Civil {
            year,
            month,
            day,
            hour: of_day / 3_600,
            minute: of_day / 60 % 60,
            second: of_day % 60,
            nanosecond: self.0.rem_euclid(SECOND_NS),
        }
    }
}

/// Writes RFC 3339 in UTC with nine decimals, or as many as the precision (`{:.3}`); truncates, does not round.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = self.civil();
        write!(f, "{:04}-{:02}-{:02}", c.year, c.month, c.day)?;
        write!(f, "T{:02}:{:02}:{:02}", c.hour, c.minute, c.second)?;
        let decimals = f.precision().unwrap_or(9).min(9);
        if decimals > 0 {
            let mut fraction = c.nanosecond;
            for _ in decimals..9 {
                fraction /= 10;
            }
            write!(f, ".{fraction:0decimals$}")?;
        }
        f.write_str("Z")
    }
}

/// Calendar date and time of day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// Year.
    pub year: i64,
    /// Month, 1 to 12.
    pub month: i64,
    /// Day of the month, 1 to 31.
    pub day: i64,
    /// Hour, 0 to 23.
    pub hour: i64,
    /// Minute, 0 to 59.
    pub minute: i64,
    /// Second, 0 to 59. Leap seconds do not exist in Unix time.
    pub second: i64,
    /// Nanosecond of the second.
    pub nanosecond: i64,
}

/// Returns the Gregorian date of a day number counted from 1970-01-01.
///
/// `civil_from_days` of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013): years
/// begin in March, so that the leap day is the last of a year; an era is the 400 years after which
/// the calendar repeats.
const fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // since 0000-03-01
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153; // 0 is March
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let january_or_february = if month <= 2 { 1 } else { 0 };
    (year + era * 400 + january_or_february, month, day)
}

#[cfg(test)]
mod tests {
    use super::{Time, date};
    use std::format;
    use std::string::ToString;

    #[test]
    fn the_calendar_advances_by_one_day_at_a_time() {
        let length = |year: i64, month: i64| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut day) = (1677, 9, 21);
        for number in -106_752..=106_751 {
            assert_eq!(date(number), (year, month, day), "day {number}");
            let midnight = number.checked_mul(86_400_000_000_000).map(Time);
            assert_eq!(Time::from_date(year, month, day), midnight);
            day += 1;
            if day > length(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        assert_eq!((year, month), (2262, 4));
    }

    #[test]
    fn times_before_1970_and_the_ends_of_the_range_are_printed() {
        assert_eq!(Time(-1).to_string(), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(Time(-1).micros(), -1);
        assert_eq!(Time(-1).hours(), -1);
        assert_eq!(Time(i64::MIN).to_string(), "1677-09-21T00:12:43.145224192Z");
        assert_eq!(Time(i64::MAX).to_string(), "2262-04-11T23:47:16.854775807Z");
    }

    #[test]
    fn precision_truncates() {
        let time = Time(1_700_000_000_987_654_321);
        assert_eq!(format!("{time:.0}"), "2023-11-14T22:13:20Z");
        assert_eq!(format!("{time:.3}"), "2023-11-14T22:13:20.987Z");
        assert_eq!(format!("{:.3}", Time(5_000_000)), "1970-01-01T00:00:00.005Z");
    }
}
