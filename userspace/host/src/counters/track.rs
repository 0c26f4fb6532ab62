//! How a counter changed between two reads.

use rocescope_model::catalogue::Width;

/// The change of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It grew by this much, perhaps by 0.
    Grew(u64),
    /// It passed its largest value, and grew by this much.
    Wrapped(u64),
    /// It went down, and no wrap explains that: it was reset.
    Reset,
    /// It stays at its largest value: what happened since is unknown.
    Stopped,
}

/// A wrap is plausible if the counter moved by less than a quarter of its range; a counter that starts again at 0 from
/// below three quarters of its range moves by more.
const PLAUSIBLE: u32 = 4;

/// Compares two reads of a counter.
///
/// ```
/// use rocescope_host::counters::track::{Change, change};
/// use rocescope_model::catalogue::Width;
///
/// assert_eq!(change(10, 15, Width::Wraps64), Change::Grew(5));
/// assert_eq!(change(i128::from(u32::MAX) - 1, 3, Width::Wraps32), Change::Wrapped(5));
/// assert_eq!(change(1_000, 3, Width::Wraps32), Change::Reset);
/// assert_eq!(change(-5, -2, Width::Unknown), Change::Grew(3));
/// ```
#[must_use]
pub fn change(before: i128, now: i128, width: Width) -> Change {
    if let Width::Stops(largest) = width
        && before == i128::from(largest)
        && now == before
    {
        return Change::Stopped;
    }
    if let Ok(by) = u64::try_from(now - before) {
        return Change::Grew(by);
    }
    // A signed counter has no end that is known.
    let (Ok(before), Ok(now)) = (u64::try_from(before), u64::try_from(now)) else {
        return Change::Reset;
    };
    let by = match width {
        Width::Wraps32 => short(before, now),
        Width::Wraps64 => long(before, now),
        Width::Unknown if before <= u64::from(u32::MAX) => short(before, now),
        Width::Unknown => long(before, now),
        Width::Stops(_) => None,
    };
    by.map_or(Change::Reset, Change::Wrapped)
}

fn short(before: u64, now: u64) -> Option<u64> {
    let (before, now) = (u32::try_from(before).ok()?, u32::try_from(now).ok()?);
    let by = now.wrapping_sub(before);
    (by < u32::MAX / PLAUSIBLE).then_some(by.into())
}

fn long(before: u64, now: u64) -> Option<u64> {
    let by = now.wrapping_sub(before);
    (by < u64::MAX / u64::from(PLAUSIBLE)).then_some(by)
}

#[cfg(test)]
mod tests {
    use super::{Change, change};
    use rocescope_model::catalogue::Width;

    const SHORT: i128 = u32::MAX as i128;
    const LONG: i128 = u64::MAX as i128;

    #[test]
    fn a_wrap_is_a_short_way_over_the_end_and_everything_else_down_a_reset() {
        for (before, now, width, expected) in [
            (5, 5, Width::Wraps64, Change::Grew(0)),
            (SHORT, 0, Width::Wraps32, Change::Wrapped(1)),
            (SHORT - 9, 90, Width::Unknown, Change::Wrapped(100)),
            (LONG, 0, Width::Wraps64, Change::Wrapped(1)),
            (LONG - 9, 90, Width::Unknown, Change::Wrapped(100)),
            // 64 bits are not full at 2^32.
            (SHORT, 0, Width::Wraps64, Change::Reset),
            (SHORT + 9, 3, Width::Unknown, Change::Reset),
            (3_000_000_000, 0, Width::Wraps32, Change::Reset),
            (LONG / 2, 0, Width::Wraps64, Change::Reset),
            // What never wraps.
            (65_534, 3, Width::Stops(65_535), Change::Reset),
            (65_534, 65_535, Width::Stops(65_535), Change::Grew(1)),
            (65_535, 65_535, Width::Stops(65_535), Change::Stopped),
            // A driver that has more bits than the specification.
            (65_535, 65_536, Width::Stops(65_535), Change::Grew(1)),
            // Signed numbers.
            (-3, 4, Width::Unknown, Change::Grew(7)),
            (4, -3, Width::Unknown, Change::Reset),
        ] {
            assert_eq!(change(before, now, width), expected, "{before} to {now}, {width:?}");
        }
    }
}
