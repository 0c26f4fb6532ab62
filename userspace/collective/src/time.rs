//! Times as NCCL writes them: local, without an offset.

use rocescope_model::Time;

/// Nanoseconds since 1970 of `2026-06-19 06:51:56`, with or without a fraction, as if it were UTC.
pub(crate) fn local(text: &str) -> Option<i64> {
    const SECOND_NS: i64 = 1_000_000_000;
    let (date, clock) = text.trim().split_once([' ', 'T'])?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let midnight = Time::from_date(date.next()??, date.next()??, date.next()??)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<u32>().ok());
    let (hours, minutes, seconds) = (clock.next()??, clock.next()??, clock.next()??);
    if hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let mut ns = 0_i64;
    let mut unit = SECOND_NS;
    for digit in fraction.chars().map_while(|sign| sign.to_digit(10)) {
        unit /= 10;
        ns += i64::from(digit) * unit;
    }
    let of_day = i64::from(hours * 3_600 + minutes * 60 + seconds) * SECOND_NS;
    midnight.0.checked_add(of_day + ns)
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn a_time_without_an_offset_is_read() {
        let at = Some(1_781_851_916_000_000_000);
        assert_eq!(local("2026-06-19 06:51:56"), at);
        assert_eq!(local("2026-06-19T06:51:56.250"), at.map(|ns| ns + 250_000_000));
        for text in [
            "",
            "2026-06-19",
            "2026-06-19 06:51",
            "2026-13-19 06:51:56",
            "2026-06-19 25:51:56",
            "a-b-c d:e:f",
        ] {
            assert_eq!(local(text), None, "{text}");
        }
    }
}
